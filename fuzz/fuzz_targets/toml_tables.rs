//! libFuzzer for `rekindle_fuzz::toml_tables`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::toml_tables(data));
