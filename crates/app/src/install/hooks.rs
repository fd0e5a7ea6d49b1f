//! Hooks as Claude Code, Codex and Gemini CLI keep them: lists of groups, one list for each event.
//!
//! Every hook of ours is a group of its own behind everybody else's. It is known by a mark in its
//! command, an argument that `rekindle hook` ignores: a hook without the mark was written by a user,
//! or by rekindle 0.1, and is never removed or changed.

use rekindle_agents::hook::Moment;
use rekindle_text::{add_to_list, json_keys, json_text, list_elements, remove_from_list};

use super::{MARK, Program, Unfit, quoted};
use crate::Preset;

/// The key below which all hooks stand.
const HOOKS: &str = "hooks";

/// An event of an agent at which rekindle is called.
pub(super) struct Hook {
    /// The agent's name for it.
    pub(super) event: &'static str,
    pub(super) moment: Moment,
    /// After how long the agent gives up, in the agent's own unit.
    pub(super) timeout: u32,
}

/// Returns settings with all hooks in their newest form.
pub(super) fn with(
    settings: Option<&str>,
    agent: Preset,
    hooks: &[Hook],
    program: &Program,
) -> Result<String, Unfit> {
    let command = program.in_shell();
    let mut text = settings.map(str::to_owned);
    for hook in hooks {
        let path = [HOOKS, hook.event];
        let wanted = group(agent, hook, &command);
        let present = match &text {
            Some(text) => list_elements(text, &path)?,
            None => Vec::new(),
        };
        let ours: Vec<&String> = present.iter().filter(|group| is_ours(group)).collect();
        // The same call in a user's own words does the same: a second one would do it twice.
        let line = line(agent, hook, &command);
        let is_there = present.iter().any(|group| calls(group, &line));
        if ours == [&wanted] || (ours.is_empty() && is_there) {
            continue;
        }
        if let Some(old) = text {
            text = remove_from_list(&old, &path, &is_ours)?;
        }
        text = Some(add_to_list(text.as_deref(), &path, &wanted)?);
    }
    Ok(text.unwrap_or_default())
}

/// Returns settings without our hooks; `None` where nothing is left that was there before.
pub(super) fn without(settings: &str, hooks: &[Hook]) -> Result<Option<String>, Unfit> {
    let mut text = settings.to_owned();
    // The last one first: it was added last.
    for hook in hooks.iter().rev() {
        match remove_from_list(&text, &[HOOKS, hook.event], &is_ours)? {
            Some(left) => text = left,
            None => return Ok(None),
        }
    }
    Ok(Some(text))
}

fn group(agent: Preset, hook: &Hook, command: &str) -> String {
    let line = format!("{} {MARK}", line(agent, hook, command));
    format!(
        r#"{{"hooks": [{{"type": "command", "command": {}, "timeout": {}}}]}}"#,
        quoted(&line),
        hook.timeout
    )
}

/// Returns the call of a hook without the mark.
fn line(agent: Preset, hook: &Hook, command: &str) -> String {
    let (moment, agent) = (hook.moment.name(), agent.name());
    format!("{command} hook {moment} --agent {agent}")
}

/// Returns whether a group has a hook with this very command and no condition.
fn calls(group: &str, line: &str) -> bool {
    let keys = json_keys(group).unwrap_or_default();
    let calls = list_elements(group, &[HOOKS]).unwrap_or_default();
    let is_it = |hook: &String| json_text(hook, &["command"]).as_deref() == Some(line);
    keys == [HOOKS] && calls.iter().any(is_it)
}

/// Returns whether a group is ours: only a marked call of `rekindle hook`, by any path.
///
/// What somebody has added to it, be it a matcher or another command in the line, makes it theirs.
fn is_ours(group: &str) -> bool {
    let has_only = |object: &str, known: &[&str]| {
        let keys = json_keys(object).unwrap_or_default();
        keys.iter().all(|key| known.contains(&key.as_str()))
    };
    let is_call = |hook: &String| {
        let line = json_text(hook, &["command"]);
        has_only(hook, &["type", "command", "timeout"]) && line.is_some_and(|line| calls_us(&line))
    };
    match list_elements(group, &[HOOKS]) {
        Ok(calls) => !calls.is_empty() && has_only(group, &[HOOKS]) && calls.iter().all(is_call),
        Err(_) => false,
    }
}

/// Returns whether a line is `PROGRAM hook MOMENT --agent NAME` with our mark, and nothing else.
fn calls_us(line: &str) -> bool {
    let Some((program, rest)) = line.rsplit_once(" hook ") else {
        return false;
    };
    let words: Vec<&str> = rest.split(' ').collect();
    let is_moment = match words.as_slice() {
        [moment, "--agent", agent, MARK] => {
            Moment::of(moment).is_some() && Preset::of(agent).is_some()
        }
        _ => false,
    };
    is_moment && Program::read(program).is_some_and(|program| program.is_rekindle())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Hook; 2] = [
        Hook {
            event: "SessionStart",
            moment: Moment::SessionStart,
            timeout: 10,
        },
        Hook {
            event: "Stop",
            moment: Moment::Stop,
            timeout: 10,
        },
    ];

    fn installed(settings: Option<&str>, program: &str) -> String {
        let program = Program(program.to_owned());
        with(settings, Preset::Claude, &ALL, &program).unwrap()
    }

    #[test]
    fn new_settings_have_our_hooks_alone_and_go_with_them() {
        let made = installed(None, "rekindle");
        insta::assert_snapshot!(made, @r#"
        {
          "hooks": {
            "SessionStart": [
              {"hooks": [{"type": "command", "command": "rekindle hook session-start --agent claude --installed", "timeout": 10}]}
            ],
            "Stop": [
              {"hooks": [{"type": "command", "command": "rekindle hook stop --agent claude --installed", "timeout": 10}]}
            ]
          }
        }
        "#);
        assert_eq!(installed(Some(&made), "rekindle"), made);
        assert_eq!(without(&made, &ALL).unwrap(), None);
    }

    #[test]
    fn hooks_of_others_stay_and_old_ones_of_ours_are_renewed() {
        let theirs = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}
    ]
  }
}
"#;
        let first = installed(Some(theirs), "/old/path/rekindle");
        assert!(first.contains("/old/path/rekindle hook stop"), "{first}");
        let second = installed(Some(&first), "rekindle");
        assert!(!second.contains("/old/path"), "{second}");
        assert_eq!(second.matches("rekindle hook").count(), 2, "{second}");
        assert_eq!(second, installed(Some(theirs), "rekindle"));
        assert_eq!(without(&second, &ALL).unwrap().as_deref(), Some(theirs));
    }

    #[test]
    fn only_calls_of_our_hooks_are_ours() {
        for (line, expected) in [
            ("rekindle hook stop --agent claude --installed", true),
            (
                "/usr/bin/rekindle hook session-start --agent codex --installed",
                true,
            ),
            (
                "'/my bin/rekindle' hook pre-compact --agent gemini --installed",
                true,
            ),
            // A user's own, or one of 0.1.
            ("rekindle hook stop --agent claude", false),
            ("/usr/bin/rekindle hook session-start", false),
            ("rekindle hook stop --installed", false),
            (
                "rekindle hook stop --agent claude --installed --installed",
                false,
            ),
            ("rekindle hook no-such-moment", false),
            ("rekindle status", false),
            ("my-rekindle hook stop", false),
            ("rekindle hook stop | tee x", false),
            ("rekindle hook stop --agent claude && say done", false),
            ("say done && /usr/bin/rekindle hook stop", false),
            ("say '/rekindle' hook stop", false),
            (
                r"'/it'\''s/rekindle' hook stop --agent claude --installed",
                true,
            ),
            (
                "rekindle hook stop --agent claude --installed && say done",
                false,
            ),
            (
                "say done && /usr/bin/rekindle hook stop --agent claude --installed",
                false,
            ),
            ("'/a'; x '/rekindle' hook stop", false),
            ("echo hook", false),
        ] {
            assert_eq!(calls_us(line), expected, "{line}");
        }
        let mixed = r#"{"hooks": [{"command": "rekindle hook stop"}, {"command": "say done"}]}"#;
        assert!(!is_ours(mixed));
        let ours = r#"{"hooks": [{"command": "rekindle hook stop --agent claude --installed"}]}"#;
        assert!(is_ours(ours));
        for odd in [
            r#"{"hooks": []}"#,
            r#"{"matcher": "Bash", "hooks": [{"command": "rekindle hook stop --agent claude --installed"}]}"#,
            r#"{"hooks": [{"command": "rekindle hook stop --agent claude --installed", "async": true}]}"#,
            "{}",
            "7",
            r#"{"hooks": [{"command": 7}]}"#,
        ] {
            assert!(!is_ours(odd), "{odd}");
        }
    }

    #[test]
    fn a_hook_that_a_user_wrote_stays_and_is_not_doubled() {
        let by_hand = r#"{"hooks": {"Stop": [
  {"hooks": [{"type": "command", "command": "rekindle hook stop --agent claude", "timeout": 10}]}
]}}"#;
        let made = installed(Some(by_hand), "rekindle");
        assert_eq!(made.matches("hook stop").count(), 1, "{made}");
        assert_eq!(made.matches("hook session-start").count(), 1, "{made}");
        assert_eq!(without(&made, &ALL).unwrap().as_deref(), Some(by_hand));
        assert_eq!(without(by_hand, &ALL).unwrap().as_deref(), Some(by_hand));
        // One that calls another program does not do what ours does.
        let other = by_hand.replace("rekindle hook", "/old/rekindle hook");
        let made = installed(Some(&other), "rekindle");
        assert_eq!(made.matches("hook stop").count(), 2, "{made}");
        assert_eq!(without(&made, &ALL).unwrap().as_deref(), Some(&*other));
    }

    #[test]
    fn a_path_with_anything_in_it_is_found_again() {
        for command in [r#"/a "b" \c/rekindle"#, "/ä ö/rekindle", "/it's/rekindle"] {
            let made = installed(Some("{}"), command);
            assert_eq!(installed(Some(&made), command), made);
            assert_eq!(without(&made, &ALL).unwrap().as_deref(), Some("{}"));
        }
    }
}
