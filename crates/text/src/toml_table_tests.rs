use proptest::prelude::*;

use super::*;

const PATH: [&str; 2] = ["servers", "ours"];

fn ours(command: &str) -> TomlTable {
    TomlTable {
        texts: vec![("command".to_owned(), command.to_owned())],
        lists: vec![("args".to_owned(), vec!["mcp".to_owned()])],
    }
}

fn added(source: Option<&str>) -> String {
    add_toml_table(source, &PATH, &ours("ours")).unwrap()
}

/// Adds and removes the table, checks that the source is restored, and returns the text between.
fn round_trip(source: &str) -> String {
    let with = added(Some(source));
    assert_eq!(added(Some(&with)), with);
    assert_eq!(
        toml_table(&with, &PATH).unwrap(),
        Some(ours("ours")),
        "{with}"
    );
    let left = remove_toml_table(&with, &PATH).unwrap();
    assert_eq!(left.as_deref(), Some(source), "{with}");
    with
}

#[test]
fn a_created_text_is_removed_completely() {
    let made = added(None);
    assert_eq!(
        made,
        "[servers.ours]\ncommand = \"ours\"\nargs = [\"mcp\"]\n"
    );
    assert_eq!(remove_toml_table(&made, &PATH).unwrap(), None);
}

#[test]
fn removal_restores_the_source_byte_for_byte() {
    for source in [
        "",
        "\n",
        "# mine\n",
        "# mine",
        "a = 1",
        "a = 1\n",
        "a = 1\n\n\n",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "a = 1\r\n[b]\r\nc = 2",
        "[servers.theirs]\ncommand = \"x\"\n",
        "[servers]\nx = 1\n[[list]]\na = [\n[1],\n]\n",
        "servers.theirs.command = 'x'\n",
    ] {
        round_trip(source);
    }
    assert_eq!(
        round_trip("a = 1\n"),
        "a = 1\n\n[servers.ours]\ncommand = \"ours\"\nargs = [\"mcp\"]\n"
    );
}

#[test]
fn later_additions_stay_and_tables_below_are_removed() {
    let with = added(Some("a = 1\n"));
    let since = format!(
        "{with}\n[servers.ours.tools.x]\nmode = \"ask\"\n\n# theirs\n[servers.theirs]\ncommand = \"x\"\n"
    );
    assert_eq!(
        remove_toml_table(&since, &PATH).unwrap().as_deref(),
        Some("a = 1\n\n# theirs\n[servers.theirs]\ncommand = \"x\"\n")
    );
    let like_ours = "[servers.ours2]\na = 1\n";
    assert_eq!(
        remove_toml_table(like_ours, &PATH).unwrap().as_deref(),
        Some(like_ours)
    );
}

#[test]
fn only_the_given_string_of_a_table_is_set() {
    let source =
        "[servers.ours] # here\ncommand = 'old' # was\nargs = ['mcp']\nenv = { A = \"1\" }\n";
    assert_eq!(
        add_toml_table(Some(source), &PATH, &ours("new")).unwrap(),
        "[servers.ours] # here\ncommand = \"new\" # was\nargs = ['mcp']\nenv = { A = \"1\" }\n"
    );
}

#[test]
fn tables_that_cannot_be_changed_alone_are_refused() {
    for source in ["servers = {}\n", "servers = 1\n", "[[servers]]\n"] {
        let refused = add_toml_table(Some(source), &PATH, &ours("x"));
        assert!(refused.is_err(), "{source}: {refused:?}");
    }
    for source in [
        "servers = { ours = { command = 'x' } }\n",
        "servers.ours.command = 'x'\n",
        "[servers.\"ours\"]\ncommand = 'x'\n",
        "[servers.ours]\na = [\n[1],\n[2]\n]\n",
    ] {
        let refused = remove_toml_table(source, &PATH);
        assert!(refused.is_err(), "{source}: {refused:?}");
    }
    for source in ["a = ", "[", "a = 1\na = 2\n"] {
        assert!(matches!(
            toml_table(source, &PATH),
            Err(TomlEditError::Unparsable(_))
        ));
    }
}

proptest! {
    #[test]
    fn any_added_table_is_removed_without_a_trace(
        lines in prop::collection::vec(
            prop_oneof![
                "[a-c] = [0-9]{1,2}",
                r"\[[a-d](\.(ours|b))?\]",
                r"\[servers(\.(ours|theirs))?\]",
                Just(String::new()),
                "# [a-z]{0,4}",
                r"[a-c] = \[",
                r"\]",
            ],
            0..8,
        ),
        eol in prop_oneof![Just("\n"), Just("\r\n")],
        ends in any::<bool>(),
    ) {
        let mut source = lines.join(eol);
        if ends {
            source.push_str(eol);
        }
        let is_there = toml_table(&source, &PATH);
        if let (Ok(None), Ok(with)) =
            (is_there, add_toml_table(Some(&source), &PATH, &ours("ours")))
        {
            let left = remove_toml_table(&with, &PATH).unwrap();
            prop_assert_eq!(left, Some(source));
        }
    }
}
