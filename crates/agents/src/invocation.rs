//! From an agent and its work to a command line, environment and input.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{AgentTask, WorkflowId};

use crate::agent::{ARGS, PROMPT, RESUME, SESSION};
use crate::{Agent, Prompt};

/// One piece of work for an agent program.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The workflow.
    pub id: &'a WorkflowId,
    /// The project, of which the folder may be a worktree.
    pub project: &'a Utf8Path,
    /// What is to be done.
    pub task: &'a AgentTask,
    /// Where: the worktree, or the project itself.
    pub folder: &'a Utf8Path,
    /// A random text that all processes of the attempt carry in their environment: by it they
    /// are found again, whatever sessions and groups they went into. An empty one is none.
    pub token: &'a str,
    /// The agent's session that is to be continued.
    pub session: Option<&'a str>,
}

/// A command that is ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are added to the environment.
    pub variables: Vec<(&'static str, String)>,
    /// The working folder.
    pub folder: Utf8PathBuf,
    /// What it reads on standard input.
    pub input: String,
}

impl Agent {
    /// Returns the command that does a piece of work.
    ///
    /// A session that this agent can not continue ([`Agent::continues`]) is passed over: the
    /// command then starts anew.
    pub fn invocation(&self, call: &Call<'_>) -> Invocation {
        let session = call.session.filter(|session| self.continues(session));
        let mut arguments = Vec::new();
        for place in &self.arguments {
            match (place.as_str(), self.prompt) {
                (ARGS, _) => arguments.extend_from_slice(&self.extra),
                (RESUME, _) => arguments.extend(self.resume_words(session)),
                (PROMPT, Prompt::Argument) => arguments.push(call.task.prompt.clone()),
                (PROMPT, Prompt::Stdin) => {}
                (_, Prompt::Argument | Prompt::Stdin) => arguments.push(place.clone()),
            }
        }
        let placed = self.arguments.iter().any(|place| place == PROMPT);
        if self.prompt == Prompt::Argument && !placed {
            arguments.push(call.task.prompt.clone());
        }
        Invocation {
            program: self.program.clone(),
            arguments,
            input: match self.prompt {
                Prompt::Stdin => call.task.prompt.clone(),
                Prompt::Argument => String::new(),
            },
            variables: variables(call),
            folder: call.folder.to_owned(),
        }
    }

    fn resume_words(&self, session: Option<&str>) -> Vec<String> {
        let (Some(words), Some(session)) = (&self.resume, session) else {
            return Vec::new();
        };
        words
            .iter()
            .map(|word| word.replace(SESSION, session))
            .collect()
    }
}

impl Invocation {
    /// Returns a check of the work, a shell command without input.
    pub fn check(command: &str, call: &Call<'_>) -> Self {
        Self {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), command.to_owned()],
            variables: variables(call),
            folder: call.folder.to_owned(),
            input: String::new(),
        }
    }
}

fn variables(call: &Call<'_>) -> Vec<(&'static str, String)> {
    let task = call.task;
    let mut variables = vec![
        ("REKINDLE_RUN", call.id.name.clone()),
        ("REKINDLE_WORKFLOW", call.id.to_string()),
        ("REKINDLE_PROJECT", call.project.to_string()),
        ("REKINDLE_TASK", task.task.clone().unwrap_or_default()),
        ("REKINDLE_ATTEMPT", task.attempt.to_string()),
        ("REKINDLE_ROLE", task.role.to_owned()),
        ("REKINDLE_WORKTREE", call.folder.to_string()),
    ];
    if !call.token.is_empty() {
        variables.push(("REKINDLE_TOKEN", call.token.to_owned()));
    }
    variables
}

#[cfg(test)]
mod tests {
    use rekindle_model::ProtocolName;

    use super::*;
    use crate::Preset;

    fn with_call<T>(session: Option<&str>, then: impl FnOnce(&Call<'_>) -> T) -> T {
        let id = WorkflowId::new(ProtocolName::new("agent-memory"), "run-1");
        let task = AgentTask {
            role: "executor",
            task: Some("T1".to_owned()),
            attempt: 2,
            summary: String::new(),
            prompt: "do it".to_owned(),
            checks: Vec::new(),
            by_hand: Vec::new(),
            seen: None,
        };
        then(&Call {
            id: &id,
            project: Utf8Path::new("/w"),
            task: &task,
            folder: Utf8Path::new("/p"),
            token: "k7",
            session,
        })
    }

    fn line(agent: &Agent, session: Option<&str>) -> String {
        let made = with_call(session, |call| agent.invocation(call));
        let words: Vec<String> = made.arguments.iter().map(|word| quoted(word)).collect();
        format!("{} {} < {}", made.program, words.join(" "), made.input)
    }

    fn quoted(word: &str) -> String {
        let plain = !word.is_empty() && !word.contains([' ', '"', '$']);
        if plain {
            word.to_owned()
        } else {
            format!("'{word}'")
        }
    }

    #[test]
    fn a_shell_agent_gets_the_prompt_as_input_and_its_task_in_the_environment() {
        let agent = Agent::shell("my-agent --fast");
        let made = with_call(None, |call| agent.invocation(call));
        assert_eq!(made.program, "/bin/sh");
        assert_eq!(made.arguments, ["-c", "my-agent --fast"]);
        assert_eq!(made.input, "do it");
        assert_eq!(made.folder, "/p");
        let variables: Vec<_> = made
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            variables.join(" "),
            "REKINDLE_RUN=run-1 REKINDLE_WORKFLOW=agent-memory:run-1 REKINDLE_PROJECT=/w \
             REKINDLE_TASK=T1 REKINDLE_ATTEMPT=2 REKINDLE_ROLE=executor REKINDLE_WORKTREE=/p \
             REKINDLE_TOKEN=k7"
        );
    }

    #[test]
    fn a_check_is_a_shell_command_without_input_in_the_same_environment() {
        let check = with_call(None, |call| Invocation::check("cargo test", call));
        assert_eq!(check.arguments, ["-c", "cargo test"]);
        assert_eq!(check.input, "");
        let made = with_call(None, |call| Agent::shell("x").invocation(call));
        assert_eq!(check.variables, made.variables);
    }

    #[test]
    fn presets_start_anew_and_continue_as_the_programs_want_it() {
        let mut seen = String::new();
        for preset in Preset::ALL {
            let mut agent = preset.agent();
            seen.push_str(&format!("{}\n", line(&agent, None)));
            agent.extra = vec!["--more".to_owned()];
            seen.push_str(&format!("{}\n", line(&agent, Some("ab-12"))));
        }
        insta::assert_snapshot!(seen, @"
        claude -p --output-format stream-json --verbose < do it
        claude -p --output-format stream-json --verbose --more --resume ab-12 < do it
        codex exec --json - < do it
        codex exec --json --more resume ab-12 - < do it
        gemini -p '' -o stream-json < do it
        gemini -p '' -o stream-json --more --resume ab-12 < do it
        opencode run --format json < do it
        opencode run --format json --more -s ab-12 < do it
        ");
    }

    #[test]
    fn words_follow_a_shell_command_and_are_never_read_by_the_shell() {
        let mut agent = Agent::shell_with_words("mine", "my-agent -q");
        agent.extra = vec!["$(rm x)".to_owned(), "{resume}".to_owned()];
        agent.resume = Some(vec!["--go-on={session}".to_owned()]);
        insta::assert_snapshot!(
            line(&agent, Some("s1")),
            @r#"/bin/sh -c 'my-agent -q "$@"' mine '$(rm x)' {resume} --go-on=s1 < do it"#
        );
        agent.prompt = Prompt::Argument;
        insta::assert_snapshot!(
            line(&agent, None),
            @r#"/bin/sh -c 'my-agent -q "$@"' mine '$(rm x)' {resume} 'do it' < "#
        );
    }

    #[test]
    fn a_prompt_that_has_no_place_is_the_last_argument() {
        let mut agent = Preset::Opencode.agent();
        agent.prompt = Prompt::Argument;
        insta::assert_snapshot!(line(&agent, None), @"opencode run --format json 'do it' < ");
    }

    #[test]
    fn a_session_that_looks_like_anything_but_an_id_is_not_continued() {
        let agent = Preset::Claude.agent();
        let fresh = line(&agent, None);
        for bad in ["", "-x", "--resume", "a b", "a\nb", "ä", "../x", "$(x)"] {
            assert!(!agent.continues(bad), "{bad:?}");
            assert_eq!(line(&agent, Some(bad)), fresh, "{bad:?}");
        }
        assert!(!agent.continues(&"a".repeat(201)));
        assert!(agent.continues("9134cf00-e3ef-419a-a946-a1369cd9cee5"));
        assert!(agent.continues("ses_e1ea4789cffeipyw2iTKEeYppX"));
        assert!(!Agent::shell("x").continues("abc"));
    }
}
