//! libFuzzer for `rekindle_fuzz::mcp_project`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::mcp_project(data));
