//! libFuzzer for `rekindle_fuzz::agent_traces`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::agent_traces(data));
