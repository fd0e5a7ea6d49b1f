//! libFuzzer for `rekindle_fuzz::hook_input`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::hook_input(data));
