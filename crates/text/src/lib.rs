//! Byte-exact edits of text files, and tolerant reading of lines and fields.
//!
//! All functions are pure: they open no file and read no clock. No content makes them fail or
//! panic; only an edit can be refused. Start reading at [`Document`].

mod branch_name;
mod claude_folder;
mod counts;
mod diff;
mod display;
mod document;
mod encoding;
mod json_edit;
mod json_settings;
mod json_style;
mod lines;
pub mod markdown;
mod nearest;
pub mod python_json;
pub mod python_text;
mod time;
mod toml_table;
mod yaml;

pub use branch_name::is_branch_name;
pub use claude_folder::claude_folder_name;
pub use counts::{count, times};
pub use diff::diff;
pub use display::{
    excerpt, fence, hex, is_plain_word, is_printable, option_words, printable, printable_block,
    shell_word, visible_command,
};
pub use document::{Document, Edit, EditError, Line, Lines, Span};
pub use encoding::{percent_decoded, percent_encoded, sha256_hex};
pub use json_edit::{JsonChange, JsonEditError, JsonValue, edit_json};
pub use json_settings::{
    add_to_list, json_keys, json_member, json_text, list_elements, remove_from_list,
    remove_json_member, set_json_member,
};
pub use lines::{LineSplitter, RawLine, Text};
pub use markdown::{Heading, headings, opening, prose};
pub use nearest::nearest;
pub use time::{file_stamp, format_instant, format_seconds, parse_instant, spoken_seconds};
pub use toml_table::{TomlEditError, TomlTable, add_toml_table, remove_toml_table, toml_table};
pub use yaml::{YamlError, parse_yaml};

/// The UTF-8 byte order mark.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";
