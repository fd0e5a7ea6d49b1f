//! The command line, environment and input of a call of an agent.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{AgentTask, WorkflowId};

use crate::agent::{ARGS, PROMPT, RESUME, SESSION};
use crate::{Agent, Prompt};

/// One task for an agent program.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The workflow.
    pub id: &'a WorkflowId,
    /// The project.
    pub project: &'a Utf8Path,
    /// The task.
    pub task: &'a AgentTask,
    /// The worktree, or the project itself.
    pub folder: &'a Utf8Path,
    /// A random text in the environment of all processes of the attempt, by which they are found
    /// in any session and process group; empty for none.
    pub token: &'a str,
    /// The session to continue.
    pub session: Option<&'a str>,
}

/// A command with its environment and input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Additional environment variables.
    pub variables: Vec<(&'static str, String)>,
    /// The working folder.
    pub folder: Utf8PathBuf,
    /// Its standard input.
    pub input: String,
}

impl Agent {
    /// Returns the words of a call that starts a new session, without its prompt.
    pub fn words(&self) -> Vec<String> {
        let arguments = self.arguments.iter();
        let arguments = arguments.flat_map(|argument| match argument.as_str() {
            ARGS => self.extra.clone(),
            RESUME | PROMPT => Vec::new(),
            _ => vec![argument.clone()],
        });
        std::iter::once(self.program.clone())
            .chain(arguments)
            .collect()
    }

    /// Returns the command for a call; a session that the agent cannot continue
    /// ([`Agent::continues`]) is ignored.
    pub fn invocation(&self, call: &Call<'_>) -> Invocation {
        let session = call.session.filter(|session| self.continues(session));
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            match (argument.as_str(), self.prompt) {
                (ARGS, _) => arguments.extend_from_slice(&self.extra),
                (RESUME, _) => arguments.extend(self.resume_words(session)),
                (PROMPT, Prompt::Argument) => arguments.push(call.task.prompt.clone()),
                (PROMPT, Prompt::Stdin) => {}
                (_, Prompt::Argument | Prompt::Stdin) => arguments.push(argument.clone()),
            }
        }
        let placed = self.arguments.iter().any(|argument| argument == PROMPT);
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
    /// Returns a check of the work: a shell command without input.
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
    fn a_shell_agent_gets_the_prompt_on_standard_input_and_the_task_in_the_environment() {
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
    fn presets_start_and_continue_sessions() {
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
    fn arguments_of_a_shell_command_are_not_interpreted_by_the_shell() {
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
    fn a_prompt_without_a_placeholder_is_the_last_argument() {
        let mut agent = Preset::Opencode.agent();
        agent.prompt = Prompt::Argument;
        insta::assert_snapshot!(line(&agent, None), @"opencode run --format json 'do it' < ");
    }

    #[test]
    fn an_invalid_session_id_is_not_continued() {
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
