//! rekindle's MCP server among those of an agent: an object of the agent's settings in JSON.
//!
//! The agent starts it as a program of its own, so this is not a shell line. What
//! `install` added is known by the mark among its arguments, which `rekindle mcp` ignores; a server
//! without it is a user's, or one of rekindle 0.1, and stays as it is.

use rekindle_text::{json_member, json_text, list_elements, remove_json_member, set_json_member};

use super::{MARK, Program, Unfit};

/// The name of the server, by which agents also name its tools.
pub(super) const NAME: &str = "rekindle";
/// What the program is told in order to be the server.
pub(super) const ARGUMENT: &str = "mcp";

/// Where Claude Code and Gemini CLI keep their servers.
const PATH: [&str; 2] = ["mcpServers", NAME];

/// Returns settings with the server in them.
pub(super) fn with(settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
    let found = match settings {
        Some(text) => json_member(text, &PATH)?,
        None => None,
    };
    let command = program.quoted();
    let new = match found {
        Some(server) if !starts_us(&server) => return Err(Unfit::ForeignServer),
        // A user's own does the same.
        Some(server) if !is_ours(&server) => {
            return Ok(settings.unwrap_or_default().to_owned());
        }
        // What a user has added to it, such as variables, stays.
        Some(server) if json_text(&server, &["command"]).as_deref() == Some(program.as_str()) => {
            return Ok(settings.unwrap_or_default().to_owned());
        }
        Some(_) => set_json_member(settings, &[PATH[0], PATH[1], "command"], &command),
        None => {
            let server = format!(r#"{{"command": {command}, "args": ["{ARGUMENT}", "{MARK}"]}}"#);
            set_json_member(settings, &PATH, &server)
        }
    };
    Ok(new?)
}

/// Returns settings without the server; `None` where nothing is left that was there before.
pub(super) fn without(settings: &str) -> Result<Option<String>, Unfit> {
    match json_member(settings, &PATH)? {
        Some(server) if is_ours(&server) => Ok(remove_json_member(settings, &PATH)?),
        Some(_) | None => Ok(Some(settings.to_owned())),
    }
}

/// Returns whether a server is a call of `rekindle mcp`, by any path.
fn starts_us(server: &str) -> bool {
    let command = json_text(server, &["command"]);
    let arguments = arguments(server);
    let first = arguments.first().map(String::as_str);
    command.is_some_and(|command| calls_us(&command, first))
}

/// Returns whether such a server was added by `install`.
fn is_ours(server: &str) -> bool {
    starts_us(server) && is_marked(&arguments(server))
}

fn arguments(server: &str) -> Vec<String> {
    let arguments = list_elements(server, &["args"]).unwrap_or_default();
    let plain = arguments.iter().map(|word| word.trim_matches('"'));
    plain.map(str::to_owned).collect()
}

/// Returns whether the arguments of a server have the mark of `install`.
pub(super) fn is_marked(arguments: &[String]) -> bool {
    arguments.iter().any(|word| word == MARK)
}

/// Returns whether the program and its first argument are a call of `rekindle mcp`.
pub(super) fn calls_us(command: &str, first: Option<&str>) -> bool {
    let name = command.rsplit('/').next();
    name == Some("rekindle") && first == Some(ARGUMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str) -> Program {
        Program(path.to_owned())
    }

    #[test]
    fn a_server_is_added_renewed_and_taken_away() {
        let theirs = "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n";
        let first = with(Some(theirs), &program("/old one/rekindle")).unwrap();
        insta::assert_snapshot!(first, @r#"
        {
          "mcpServers": {
            "other": {"command": "x"},
            "rekindle": {"command": "/old one/rekindle", "args": ["mcp", "--installed"]}
          }
        }
        "#);
        let second = with(Some(&first), &program("rekindle")).unwrap();
        assert_eq!(second, with(Some(theirs), &program("rekindle")).unwrap());
        assert_eq!(without(&second).unwrap().as_deref(), Some(theirs));
        let made = with(None, &program("rekindle")).unwrap();
        assert_eq!(without(&made).unwrap(), None);
    }

    #[test]
    fn what_a_user_added_to_it_stays() {
        let settings = r#"{"mcpServers": {"rekindle": {"type": "stdio", "command": "/old/rekindle", "args": ["mcp", "--installed"], "env": {"A": "1"}}}}"#;
        assert_eq!(
            with(Some(settings), &program("rekindle")).unwrap(),
            settings.replace("/old/rekindle", "rekindle")
        );
    }

    #[test]
    fn a_server_that_a_user_wrote_stays_as_it_is() {
        for command in ["rekindle", "/other/rekindle"] {
            let settings = format!(
                r#"{{"mcpServers": {{"rekindle": {{"command": "{command}", "args": ["mcp"]}}}}}}"#
            );
            let same = with(Some(&settings), &program("rekindle")).unwrap();
            assert_eq!(same, settings);
            assert_eq!(without(&settings).unwrap().as_deref(), Some(&*settings));
        }
    }

    #[test]
    fn a_server_of_others_with_the_same_name_is_left_alone() {
        for server in [
            r#"{"command": "node", "args": ["rekindle", "mcp"]}"#,
            r#"{"command": "rekindle", "args": []}"#,
            r#"{"url": "http://localhost"}"#,
            "7",
        ] {
            let settings = format!(r#"{{"mcpServers": {{"rekindle": {server}}}}}"#);
            let refused = with(Some(&settings), &program("rekindle"));
            assert!(matches!(refused, Err(Unfit::ForeignServer)), "{refused:?}");
            assert_eq!(without(&settings).unwrap().as_deref(), Some(&*settings));
        }
    }
}
