//! libFuzzer for `rekindle_fuzz::mcp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::mcp(data));
