//! libFuzzer for `rekindle_fuzz::kiln`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::kiln(data));
