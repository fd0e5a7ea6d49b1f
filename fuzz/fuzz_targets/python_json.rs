//! libFuzzer for `rekindle_fuzz::python_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::python_json(data));
