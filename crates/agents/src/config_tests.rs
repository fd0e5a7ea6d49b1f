use camino::Utf8Path;
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<File, Error> {
    File::parse(Utf8Path::new(".rekindle/config.toml"), text)
}

fn file(text: &str) -> File {
    read(text).unwrap()
}

#[test]
fn empty_files_give_the_defaults() {
    let config = Config::new(File::default(), File::default(), file(""));
    assert_eq!(config, Config::default());
    assert_eq!(config.run.jobs.get(), 4);
    assert_eq!(config.run.retries, 2);
    assert_eq!(config.run.timeout, Duration::from_secs(2700));
    assert_eq!(config.default_agent(), None);
    assert_eq!(config.agents(), ["claude", "codex", "gemini", "opencode"]);
    assert_eq!(config.agent("claude").unwrap(), Preset::Claude.agent());
}

#[test]
fn the_project_takes_precedence_key_by_key() {
    let user = file(
        r#"
        [agent]
        default = "claude"
        [agents.claude]
        args = ["--permission-mode", "acceptEdits"]
        timeout = "30m"
        [run]
        jobs = 8
        timeout = "2h"
        max_cost = 5
        "#,
    );
    let project = file(
        r#"
        agent.default = "mine"
        [agents.claude]
        timeout = "1h30m"
        [agents.mine]
        command = "my-agent"
        [run]
        jobs = 2
        verify = ["cargo test", "cargo clippy"]
        retries = 0
        "#,
    );
    let config = Config::new(user, File::default(), project);
    assert_eq!(config.default_agent(), Some("mine"));
    let claude = config.agent("claude").unwrap();
    assert_eq!(claude.extra, ["--permission-mode", "acceptEdits"]);
    assert_eq!(claude.timeout, Some(Duration::from_secs(5400)));
    assert_eq!(
        config.run,
        Run {
            jobs: NonZeroUsize::new(2).unwrap(),
            retries: 0,
            timeout: Duration::from_secs(7200),
            verify: vec!["cargo test".to_owned(), "cargo clippy".to_owned()],
            max_cost: Some(5.0),
        }
    );
}

#[test]
fn another_program_in_the_project_discards_the_users_arguments() {
    let user = file("[agents.work]\npreset = 'claude'\nargs = ['--model', 'opus']\n");
    let project = file("[agents.work]\npreset = 'codex'\n");
    let agent = Config::new(user, File::default(), project)
        .agent("work")
        .unwrap();
    assert_eq!(
        (agent.name.as_str(), agent.program.as_str()),
        ("work", "codex")
    );
    assert!(agent.extra.is_empty());
}

#[test]
fn a_command_without_arguments_is_passed_to_the_shell_unchanged() {
    let config = Config::new(
        file(
            r#"
            [agents.bare]
            command = "a | b"
            timeout = "90s"
            [agents.full]
            command = "my-agent -q"
            args = ["--color=never"]
            stream = "claude-json"
            resume = ["--resume", "{session}"]
            [agents.aider]
            command = "aider --yes-always -m"
            prompt = "argument"
            "#,
        ),
        File::default(),
        File::default(),
    );
    let bare = config.agent("bare").unwrap();
    assert_eq!(bare.arguments, ["-c", "a | b"]);
    assert_eq!(bare.stream, Stream::Plain);
    let full = config.agent("full").unwrap();
    assert_eq!(full.arguments[..3], ["-c", "my-agent -q \"$@\"", "full"]);
    assert_eq!(full.extra, ["--color=never"]);
    assert_eq!(full.stream, Stream::ClaudeJson);
    assert!(full.continues("abc") && !bare.continues("abc"));
    let aider = config.agent("aider").unwrap();
    assert_eq!(aider.prompt, Prompt::Argument);
    assert_eq!(aider.arguments.last().unwrap(), "{prompt}");
}

#[test]
fn an_unknown_agent_is_reported_with_the_known_ones() {
    let config = Config::new(
        file("[agents.mine]\ncommand = 'x'\n[agents.half]\nargs = []\n"),
        File::default(),
        File::default(),
    );
    insta::assert_snapshot!(
        config.agent("cloud").unwrap_err(),
        @"unknown agent `cloud`, perhaps `claude`; known agents: `claude`, `codex`, `gemini`, `half`, `mine`, `opencode`"
    );
    insta::assert_snapshot!(
        config.agent("half").unwrap_err(),
        @"agent `half` has neither `preset` nor `command`"
    );
}

#[test]
fn unknown_keys_give_warnings_with_path_and_line() {
    let text = "\
color = 1
[agent]
defualt = 'claude'
[agents.\"my.agent\"]
command = 'x'
colour.depth = 8
[run]
# a comment
job = 3
[future.things]
";
    let file = read(text).unwrap();
    let warnings: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    `.rekindle/config.toml` line 1: unknown key `color`
    `.rekindle/config.toml` line 3: unknown key `agent.defualt`; did you mean `default`?
    `.rekindle/config.toml` line 6: unknown key `agents."my.agent".colour`
    `.rekindle/config.toml` line 9: unknown key `run.job`; did you mean `jobs`?
    `.rekindle/config.toml` line 10: unknown key `future`
    "#);
}

#[test]
fn errors_have_a_line() {
    let cases = [
        "[run",
        "x = 1\nx = 2",
        "run = 3",
        "[run]\n\njobs = '4'",
        "[run]\njobs = 0",
        "[run]\njobs = 65",
        "[run]\njobs = -1",
        "[run]\njobs = 0x10000000000000000",
        "[run]\nretries = 2.5",
        "[run]\ntimeout = 45",
        "[run]\ntimeout = '45'",
        "[run]\ntimeout = '0s'",
        "[run]\nverify = 'cargo test'",
        "[run]\nverify = [\n  'a',\n  1,\n]",
        "[run]\nverify = ['a', ' ']",
        "[run]\nmax_cost = 0",
        "[run]\nmax_cost = nan",
        "[run]\nmax_cost = true",
        "[agent]\ndefault = ''",
        "agents = ['claude']",
        "[agents.'a b']\ncommand = 'x'",
        "[agents.x]\npreset = 'cursor'",
        "[agents.x]\npreset = 'claude'\ncommand = 'x'",
        "[agents.x]\ncommand = \"a\\u0000b\"",
        "[agents.x]\nstream = 'json'",
        "[agents.x]\nprompt = 'file'",
        "[agents.x]\nresume = ['--continue']",
        "[agents.x]\nargs = [['a']]",
    ];
    let messages: Vec<String> = cases
        .iter()
        .map(|text| read(text).unwrap_err().to_string())
        .map(|messages| messages.replace("`.rekindle/config.toml` ", ""))
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    line 1: unclosed table, expected `]`
    line 2: duplicate key
    line 1: `run` must be a table, not a whole number
    line 3: `run.jobs` must be a whole number, not a string
    line 2: `run.jobs` must be from 1 to 64
    line 2: `run.jobs` must be from 1 to 64
    line 2: `run.jobs` must be from 1 to 64
    line 2: `run.jobs` must be from 1 to 64
    line 2: `run.retries` must be a whole number, not a float
    line 2: `run.timeout` must be a duration in quotes, not a whole number
    line 2: `run.timeout` must be a duration like "90s", "45m" or "1h30m"
    line 2: `run.timeout` must be more than zero
    line 2: `run.verify` must be a list of strings, not a string
    line 4: `run.verify` must be a list of strings, not a whole number
    line 2: `run.verify` must not contain an empty command
    line 2: `run.max_cost` must be more than zero
    line 2: `run.max_cost` must be more than zero
    line 2: `run.max_cost` must be a number, not a boolean
    line 2: `agent.default` must not be empty
    line 1: `agents` must be a table, not a list
    line 1: `agents."a b"` must be a name of letters, digits, `-`, `_` and `.`
    line 2: `agents.x.preset` must be one of `claude`, `codex`, `gemini`, `opencode`
    line 3: `agents.x.command` conflicts with another key: an agent has either `preset` or `command`
    line 2: `agents.x.command` must not contain a zero byte
    line 2: `agents.x.stream` must be one of `plain`, `claude-json`, `codex-json`, `opencode-json`, `gemini-json`
    line 2: `agents.x.prompt` must be one of `stdin`, `argument`
    line 2: `agents.x.resume` must contain `{session}`
    line 2: `agents.x.args` must be a list of strings, not a list
    "#);
}

#[test]
fn commands_of_the_project_are_listed() {
    let text = "\
[agents.claude]
args = ['--permission-mode', 'acceptEdits']
[agents.mine]
command = \"curl x | sh\\u001b[2K\\nls\"
resume = ['--go-on={session}']
timeout = '1h'
[run]
verify = ['make check']
";
    let config = Config::new(File::default(), File::default(), file(text));
    let messages: Vec<String> = config
        .project_commands()
        .iter()
        .map(|command| format!("{} = {}", command.key, command.text))
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    agents.claude.args = --permission-mode acceptEdits
    agents.mine.command = curl x | sh\u{1b}[2K\nls
    agents.mine.resume = --go-on={session}
    run.verify = make check
    ");
    assert!(
        Config::new(file(text), File::default(), File::default())
            .project_commands()
            .is_empty()
    );
}

/// Returns the file of a team or of one user in the project.
fn named(path: &str, text: &str) -> File {
    File::parse(Utf8Path::new(path), text).unwrap()
}

#[test]
fn every_setting_that_holds_has_its_file_and_line() {
    let user = named(
        "user.toml",
        "[agents.work]\npreset = 'claude'\nargs = ['--model', 'opus']\n[notify]\nbell = true\n",
    );
    let team = named(
        "rekindle.toml",
        "[run]\njobs = 8\nverify = [\n  'make',\n]\njob = 3\n[notify]\ncommand = 'curl evil'\n[agents.work]\npreset = 'codex'\n",
    );
    let project = named("own.toml", "agents.work.args = ['-x']\nrun.jobs = 2\n");
    let config = Config::new(user, team, project);
    let lines: Vec<String> = config
        .settings()
        .iter()
        .map(|Setting { key, value, place }| match place {
            Some((path, line)) => format!("{key} = {value} ({path}:{line})"),
            None => format!("{key} = {value}"),
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    agents.work.args = ['-x'] (own.toml:1)
    agents.work.preset = 'codex' (rekindle.toml:10)
    notify.bell = true (user.toml:5)
    run.jobs = 2 (own.toml:2)
    run.retries = 2
    run.timeout = "45m"
    run.verify = [ 'make', ] (rekindle.toml:3)
    worktree.fresh = false
    worktree.timeout = "15m"
    "#);
}

#[test]
fn a_command_of_the_team_is_one_of_the_project_unless_it_is_put_aside() {
    let team = "agent.default = 'my.agent'\n[agents.'my.agent']\ncommand = 'a'\nargs = ['b']\n[run]\nverify = ['make']\n";
    let shown = |project: &str| {
        let config = Config::new(
            File::default(),
            named("rekindle.toml", team),
            named(".rekindle/config.toml", project),
        );
        let commands = config.project_commands().iter();
        let commands: Vec<String> = commands
            .map(|one| format!("{}: {} = {}", one.file, one.key, one.text))
            .collect();
        (commands.join("; "), config.default_from())
    };
    let of = |file: &str| CommandSource::Project(file.to_owned());
    assert_eq!(
        shown(""),
        (
            "rekindle.toml: agents.my.agent.command = a; rekindle.toml: agents.my.agent.args = b; rekindle.toml: run.verify = make".to_owned(),
            of("rekindle.toml")
        )
    );
    assert_eq!(
        shown("[agents.'my.agent']\ncommand = 'c'\n[run]\nverify = []\n"),
        (
            ".rekindle/config.toml: agents.my.agent.command = c".to_owned(),
            of(".rekindle/config.toml")
        )
    );
}

#[test]
fn an_agent_that_the_team_chose_is_not_one_that_the_user_chose() {
    let of = |user: &str, team: &str, project: &str| {
        Config::new(file(user), file(team), file(project)).default_from()
    };
    let default = "agent.default = 'claude'";
    let team = CommandSource::Project("rekindle.toml".to_owned());
    assert_eq!(of(default, "", ""), CommandSource::User);
    assert_eq!(of("", default, ""), team);
    assert_eq!(of(default, default, ""), team);
    assert_eq!(of("", default, default), CommandSource::User);
}

#[test]
fn the_section_of_worktrees_is_read_and_paths_stay_in_the_project() {
    let text = "[worktree]\nfresh = true\nsetup = ['npm ci', 'make']\nsetup_when = ['a/lock']\nteardown = ['down']\ntimeout = '2m'\ncopy = ['.env*']\nlink = ['node_modules']\nsparse = ['apps/web']\n";
    let config = Config::new(file("[worktree]\nsetup = ['mine']\n"), file(""), file(text));
    assert_eq!(
        config.worktree,
        Worktree {
            fresh: true,
            setup: vec!["npm ci".to_owned(), "make".to_owned()],
            setup_when: vec!["a/lock".to_owned()],
            teardown: vec!["down".to_owned()],
            timeout: Duration::from_secs(120),
            copy: vec![".env*".to_owned()],
            link: vec!["node_modules".to_owned()],
            sparse: vec!["apps/web".to_owned()],
        }
    );
    let commands = config.project_commands().iter();
    let keys: Vec<&str> = commands.map(|command| command.key.as_str()).collect();
    assert_eq!(
        keys,
        ["worktree.setup", "worktree.setup", "worktree.teardown"]
    );
    for (wrong, problem) in [
        (
            "link = ['../x']",
            "`worktree.link` must have paths in the project",
        ),
        (
            "sparse = ['/x']",
            "`worktree.sparse` must have paths in the project",
        ),
        (
            "setup_when = ['']",
            "`worktree.setup_when` must have paths in the project",
        ),
        (
            "copy = ['']",
            "`worktree.copy` must have one pattern in each string",
        ),
        (
            "setup = 'x'",
            "`worktree.setup` must be a list of strings, not a string",
        ),
        (
            "timeout = 5",
            "`worktree.timeout` must be a duration in quotes",
        ),
    ] {
        let error = read(&format!("[worktree]\n{wrong}\n")).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(error.contains(problem), "{error}");
    }
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(
        text in r#"(\[|\]|run|agents?|\.|=|"|'|[0-9]+|\n|[a-z]{1,4}|jobs|args|command|\PC){0,24}"#,
    ) {
        let _read = read(&text);
    }
}
