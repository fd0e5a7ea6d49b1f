//! Layers above the protocols know none of them by name.

use regex::Regex;

use crate::sources::shipped;
use crate::workspace::none;

/// The layers above the protocols.
const ABOVE: [&str; 4] = [
    "crates/app/",
    "crates/mcp/",
    "crates/rekindle/",
    "crates/runner/",
];

/// Protocols whose names are ordinary words: they count only as a whole text or before a colon.
const ORDINARY_WORDS: [&str; 2] = ["map", "sessions"];

/// Files that may name a protocol, with the reason.
const EXCEPT: [(&str, &str, &str); 7] = [
    (
        "crates/app/src/install/mod.rs",
        "map",
        "`install map` replaces a script of that tool",
    ),
    (
        "crates/app/src/install/map.rs",
        "map",
        "`install map` replaces a script of that tool",
    ),
    (
        "crates/mcp/src/tools/report_event.rs",
        "agent-memory",
        "the description names the events of the only protocol that has some",
    ),
    (
        "crates/mcp/src/tools/rollback.rs",
        "bifrost",
        "the description names the only protocol with a rollback",
    ),
    (
        "crates/rekindle/src/commands/demo.rs",
        "agent-memory",
        "the demo looks into the folder of its run, as a user would",
    ),
    (
        "crates/rekindle/src/commands/resume.rs",
        "kiln",
        "the protocol prescribes a text for the case that no project is known",
    ),
    (
        "crates/rekindle/src/failure.rs",
        "bifrost",
        "the hint names the protocol that an option is for",
    ),
];

#[test]
fn no_layer_above_the_protocols_names_one() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for (file, code) in shipped()? {
        if ABOVE.iter().any(|layer| file.starts_with(layer)) {
            faults.extend(named_in(&file, &code)?);
        }
    }
    none(&faults);
    Ok(())
}

fn named_in(file: &str, code: &str) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for protocol in rekindle_app::protocol_names() {
        let name = protocol.as_str();
        let is_expected =
            |(path, expected, _): &(&str, &str, &str)| *path == file && *expected == name;
        if EXCEPT.iter().any(is_expected) {
            continue;
        }
        let pattern = if ORDINARY_WORDS.contains(&name) {
            format!("\"{name}[\":]")
        } else {
            let spelled = name.replace('-', "[-_]");
            format!(r"(?i)(^|[^a-z0-9_-]){spelled}($|[^a-z0-9_-])")
        };
        for found in Regex::new(&pattern)?.find_iter(code) {
            let line = code[..found.start()].matches('\n').count() + 1;
            faults.push(format!(
                "{file}:{line}: `{name}`: ask the protocol for a capability instead"
            ));
        }
    }
    Ok(faults)
}

#[test]
fn a_name_is_found_as_a_word_and_an_ordinary_word_only_as_an_id() -> anyhow::Result<()> {
    let found = |code: &str| named_in("crates/app/src/x.rs", code).map(|faults| faults.len());
    assert_eq!(found("let a = \"kiln\"; use agent_memory::X;")?, 2);
    assert_eq!(found("let a = \"see .bifrost/x\";")?, 1);
    assert_eq!(found("let a = \"kilns\"; items.iter().map(f)")?, 0);
    assert_eq!(found("let a = \"map:main\"; let b = \"map\";")?, 2);
    Ok(())
}
