//! libFuzzer for `rekindle_fuzz::checklist`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::checklist(data));
