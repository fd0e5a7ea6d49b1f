//! libFuzzer for `rekindle_fuzz::agent_memory`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::agent_memory(data));
