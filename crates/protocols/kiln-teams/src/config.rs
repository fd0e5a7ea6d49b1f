//! `.kiln/config.json`: the settings of a phase.
//!
//! Every key may be absent, since kiln's own fallback writes only three of them. A value of the
//! wrong kind counts as absent; only a file that is not a JSON object is unreadable.

use jiff::SignedDuration;
use serde_json::Value;

/// The settings, with kiln's defaults.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    /// How many retries a task has after its first attempt.
    pub(super) max_retries: u32,
    /// How many workers run at once.
    pub(super) wave_parallelism: usize,
    /// How long a worker may be silent in any stage; without it each stage has its own limit.
    pub(super) dead_worker_timeout: Option<SignedDuration>,
    /// Whether workers run in worktrees; kiln refuses to start with anything else.
    pub(super) execute_concurrency_ok: bool,
    /// The commands that check work, in kiln's order: build, types, lint, tests. See [`is_command`].
    pub(super) checks: Vec<String>,
    /// Whether the file could be read; a missing file counts as readable.
    pub(super) is_readable: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_retries: 2,
            wave_parallelism: 3,
            dead_worker_timeout: None,
            execute_concurrency_ok: true,
            checks: Vec::new(),
            is_readable: true,
        }
    }
}

impl Config {
    /// Reads the file, if there is one.
    pub(super) fn parse(bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes else {
            return Self::default();
        };
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        match serde_json::from_str(&text) {
            Ok(Value::Object(root)) => Self::read(&Value::Object(root)),
            Ok(_) | Err(_) => Self {
                is_readable: false,
                ..Self::default()
            },
        }
    }

    fn read(root: &Value) -> Self {
        let default = Self::default();
        let preference = |key: &str| root.get("preferences").and_then(|all| all.get(key));
        let whole = |key: &str| preference(key).and_then(Value::as_u64);
        let concurrency = preference("executeConcurrency").filter(|value| !value.is_null());
        Self {
            max_retries: whole("maxRetries").map_or(default.max_retries, |retries| {
                u32::try_from(retries).unwrap_or(u32::MAX)
            }),
            wave_parallelism: whole("waveParallelism")
                .filter(|workers| *workers >= 1)
                .map_or(default.wave_parallelism, |workers| {
                    usize::try_from(workers).unwrap_or(usize::MAX)
                }),
            dead_worker_timeout: preference("deadWorkerTimeoutMinutes").and_then(timeout),
            execute_concurrency_ok: concurrency.is_none_or(|value| value == "worktree"),
            checks: checks(root),
            is_readable: true,
        }
    }
}

/// Reads minutes, which may have a fraction; zero and less set no limit.
fn timeout(minutes: &Value) -> Option<SignedDuration> {
    let minutes = minutes.as_f64().filter(|minutes| *minutes > 0.0)?;
    // A longer time than a duration can have is no limit.
    Some(SignedDuration::try_from_secs_f64(minutes * 60.0).unwrap_or(SignedDuration::MAX))
}

fn checks(root: &Value) -> Vec<String> {
    let tool = |key: &&str| root.get("tooling")?.get(key)?.as_str().map(str::trim);
    ["buildSystem", "typeChecker", "linter", "testRunner"]
        .iter()
        .filter_map(tool)
        .filter(|text| is_command(text))
        .map(str::to_owned)
        .collect()
}

/// Programs that run checks: those that kiln's hook runs, and the tools that `/kiln:init` detects.
const PROGRAMS: &[&str] = &[
    "biome",
    "bun",
    "bunx",
    "cargo",
    "deno",
    "eslint",
    "flake8",
    "go",
    "golangci-lint",
    "gradle",
    "./gradlew",
    "jest",
    "make",
    "mocha",
    "mvn",
    "mypy",
    "node",
    "npm",
    "npx",
    "pnpm",
    "poetry",
    "pyright",
    "pytest",
    "python",
    "python3",
    "ruff",
    "tsc",
    "uv",
    "vitest",
    "yarn",
];

/// The first argument of such a program.
const VERBS: &[&str] = &[
    "build",
    "check",
    "clippy",
    "exec",
    "lint",
    "nextest",
    "run",
    "test",
    "typecheck",
    "verify",
    "vet",
];

/// Programs whose first argument is another program's name.
const LAUNCHERS: &[&str] = &["bunx", "npx"];

/// Returns whether a text under `tooling` is certainly a command, and not the name of a tool.
///
/// Kiln contradicts itself. `kiln-verify` calls the values "the actual commands to run", and the hook
/// `on-task-completed.sh` hands `testRunner` to `sh -c`. But `/kiln:init` records the *name* of
/// what it detects: `vitest`, `eslint`, `tsc`, `pytest`. As a command such a name is not found
/// outside `node_modules`, watches files for ever, or prints its usage, and the failure would cost
/// the task a retry. So a single word is never run. Of several words, the first must be a program
/// that runs checks and the second an option, a path, or a known argument of such a program:
/// `cargo test`, `npm run build` and `go build ./...`, which `/kiln:init` writes too, are commands,
/// `npm scripts` and `go modules` are not. Quotes, variables, pipes and the like are not
/// understood here, so they are not run. `startCommand` is not a check: it does not end.
fn is_command(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._/:=@,+-&".contains(c);
    text.chars().all(is_plain) && text.split("&&").all(is_simple_command)
}

fn is_simple_command(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let (Some(program), Some(argument)) = (words.next(), words.next()) else {
        return false;
    };
    let is_path = argument == "." || argument.contains('/');
    let is_option = argument.starts_with('-') && argument.len() > 1;
    // `npm run test:unit` and `yarn test:unit` name scripts of the project.
    let verb = argument.split(':').next().unwrap_or_default();
    let is_known = VERBS.contains(&verb) || LAUNCHERS.contains(&program);
    // A single `&` would leave the command in the background.
    PROGRAMS.contains(&program) && (is_path || is_option || is_known) && !text.contains('&')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parsed(root: &Value) -> Config {
        Config::parse(Some(root.to_string().as_bytes()))
    }

    fn preferring(key: &str, value: &Value) -> Config {
        parsed(&json!({ "preferences": { key: value } }))
    }

    #[test]
    fn missing_and_mistyped_values_have_their_default() {
        let default = Config::default();
        assert_eq!(Config::parse(None), default);
        for root in [
            json!({}),
            json!({"preferences": null, "tooling": []}),
            json!({"preferences": {"maxRetries": null, "waveParallelism": 0, "deadWorkerTimeoutMinutes": null, "executeConcurrency": null}}),
            json!({"preferences": {"maxRetries": -1, "waveParallelism": -1, "deadWorkerTimeoutMinutes": 0}}),
            json!({"preferences": {"maxRetries": 1.5, "waveParallelism": "4", "deadWorkerTimeoutMinutes": "7"}}),
            json!({"preferences": {"maxRetries": "3", "waveParallelism": 2.5, "deadWorkerTimeoutMinutes": -3}}),
        ] {
            assert_eq!(parsed(&root), default, "{root}");
        }
    }

    #[test]
    fn valid_values_count() {
        assert_eq!(preferring("maxRetries", &json!(0)).max_retries, 0);
        assert_eq!(
            preferring("maxRetries", &json!(u64::MAX)).max_retries,
            u32::MAX
        );
        assert_eq!(preferring("waveParallelism", &json!(1)).wave_parallelism, 1);
        let timeout =
            |value: Value| preferring("deadWorkerTimeoutMinutes", &value).dead_worker_timeout;
        assert_eq!(timeout(json!(7)), Some(SignedDuration::from_mins(7)));
        assert_eq!(timeout(json!(0.5)), Some(SignedDuration::from_secs(30)));
        assert_eq!(timeout(json!(1e300)), Some(SignedDuration::MAX));
        assert!(preferring("executeConcurrency", &json!("worktree")).execute_concurrency_ok);
        assert!(!preferring("executeConcurrency", &json!("shared")).execute_concurrency_ok);
        assert!(!preferring("executeConcurrency", &json!(1)).execute_concurrency_ok);
    }

    #[test]
    fn a_file_that_is_not_an_object_is_unreadable_and_ignored() {
        for bytes in [&b""[..], b"{", b"[]", b"null", b"\xff"] {
            let expected = Config {
                is_readable: false,
                ..Config::default()
            };
            assert_eq!(Config::parse(Some(bytes)), expected);
        }
        assert_eq!(
            Config::parse(Some(b"\xEF\xBB\xBF{\"preferences\":{\"maxRetries\":1}}")).max_retries,
            1
        );
    }

    #[test]
    fn checks_come_in_the_order_of_kiln() {
        let tooling = json!({"tooling": {"testRunner": "npm test", "linter": "eslint", "typeChecker": " tsc --noEmit ",
            "buildSystem": "npm run build", "startCommand": "npm run dev"}});
        assert_eq!(
            parsed(&tooling).checks,
            ["npm run build", "tsc --noEmit", "npm test"]
        );
        let rust = json!({"tooling": {"testRunner": "cargo test", "linter": null, "typeChecker": 3, "buildSystem": "cargo build"}});
        assert_eq!(parsed(&rust).checks, ["cargo build", "cargo test"]);
    }

    #[test]
    fn only_what_is_certainly_a_command_is_one() {
        for (text, expected) in [
            ("cargo test", true),
            ("go test", true),
            ("go build ./...", true),
            ("npm run test:unit", true),
            ("yarn test:unit", true),
            ("npx vitest run", true),
            ("python -m pytest", true),
            ("pytest tests/unit -q", true),
            ("ruff check .", true),
            ("npm run lint && npm test", true),
            ("vitest", false),
            ("jest", false),
            ("pytest", false),
            ("make", false),
            ("tsc", false),
            ("npm scripts", false),
            ("go modules", false),
            ("Cargo test", false),
            ("cargo build (release)", false),
            ("npm test; rm -rf x", false),
            ("npm test | tee log", false),
            ("npm test & npm test", false),
            ("npm test && vitest", false),
            ("npm test &&", false),
            ("npm run $X", false),
            ("npm test\nnpm test", false),
            ("rm -rf /", false),
            ("", false),
        ] {
            assert_eq!(is_command(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_panic(bytes: Vec<u8>, text in any::<String>(), minutes: f64) {
            drop(Config::parse(Some(&bytes)));
            let read = parsed(&json!({"tooling": {"testRunner": text}, "preferences": {"deadWorkerTimeoutMinutes": minutes}}));
            prop_assert!(read.is_readable);
            prop_assert!(read.dead_worker_timeout.is_none_or(|limit| limit >= SignedDuration::ZERO));
        }
    }
}
