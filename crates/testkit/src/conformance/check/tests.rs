//! Whole cases against shell scripts that play the binary.
//!
//! The binary is the shell itself: it runs the file of the project that is named like the command.
//! A script that is executed by its own path could be "busy" while another thread starts a program.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::{Case, Scene};

/// A case in a folder of its own, with a script for every command.
struct Stage {
    folder: Utf8PathBuf,
    _scratch: TempDir,
}

impl Stage {
    fn new(mut case: Value, script: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(scratch.path()).unwrap().to_owned();
        case["about"] = json!("a test");
        case["protocol"] = json!("agent-memory");
        case["now"] = json!("2026-03-14T10:00:00");
        let stage = Self {
            folder,
            _scratch: scratch,
        };
        stage.put("case.json", &case.to_string());
        for command in ["inspect", "resume", "one", "two"] {
            stage.put(&format!("project/{command}"), script);
        }
        stage.put("project/README.md", "hello\n");
        stage
    }

    fn put(&self, path: &str, text: &str) {
        let full = self.folder.join(path);
        fs_err::create_dir_all(full.parent().unwrap()).unwrap();
        fs_err::write(full, text).unwrap();
    }

    fn case(&self) -> Case {
        Case::load(&self.folder).unwrap()
    }

    /// Returns what the check says, `ok` when it is content.
    fn verdict(&self) -> String {
        match super::check(&self.case(), Utf8Path::new("/bin/sh")) {
            Ok(()) => "ok".to_owned(),
            Err(wrong) => wrong.chain(),
        }
    }
}

#[test]
fn facts_and_codes_of_an_inspection_are_compared() {
    let case = json!({
        "tz": "Europe/Oslo",
        "inspect": {"facts": {"at": "<PROJECT>"}, "blockers": ["A", "B"], "warnings": []},
    });
    let answer = r#"echo "{\"facts\":{\"at\":\"$PWD\"},\"findings\":[
        {\"code\":\"B\",\"severity\":\"blocker\"},{\"code\":\"A\",\"severity\":\"blocker\"},
        {\"code\":\"B\",\"severity\":\"blocker\"},{\"code\":\"C\",\"severity\":\"note\"}]}""#;
    assert_eq!(Stage::new(case.clone(), answer).verdict(), "ok");
    assert_eq!(
        Stage::new(case.clone(), r#"echo "{\"facts\":{\"at\":\"$PWD\"}}""#).verdict(),
        r#"inspect blockers: wanted ["A", "B"], got {}"#
    );
    assert_eq!(
        Stage::new(case, "echo oops >&2; exit 1").verdict(),
        r#"inspect --json (exit 1) printed no JSON: "" "oops\n""#
    );
}

#[test]
fn an_inspection_that_writes_is_caught() {
    let stage = Stage::new(json!({"inspect": {}}), "echo >> README.md; echo '{}'");
    assert!(
        stage.verdict().starts_with("inspect changed a file: "),
        "{}",
        stage.verdict()
    );
    let inside = "mkdir -p .rekindle; echo > .rekindle/journal; echo '{}'";
    assert_eq!(Stage::new(json!({"inspect": {}}), inside).verdict(), "ok");
}

#[test]
fn the_binary_gets_the_arguments_the_clock_and_the_zone() {
    let case = json!({"tz": "Europe/Oslo", "args": ["--fresh"], "inspect": {"facts": {
        "args": "inspect --json --protocol agent-memory --fresh",
        "now": "2026-03-14T10:00:00+01:00",
        "tz": "Europe/Oslo",
        "home": "<ROOT>/home",
    }}});
    let script = r#"echo "{\"facts\":{
        \"args\":\"$0 $*\",\"now\":\"$REKINDLE_NOW\",\"tz\":\"$TZ\",\"home\":\"$HOME\"}}""#;
    assert_eq!(Stage::new(case, script).verdict(), "ok");
}

#[test]
fn a_resume_is_compared_in_exit_code_text_and_files() {
    let case = json!({"resume": {
        "args": ["--yes"],
        "stdin": "y\n",
        "exit": 1,
        "stdout_contains": ["said y"],
        "stderr_contains": ["warned"],
        "unchanged": ["README.md"],
        "files": {"out.txt": {"equals": "resume --protocol agent-memory --yes\n"}},
    }});
    let script = "read answer; echo at $PWD; echo said $answer; echo warned >&2
        echo $0 $* > out.txt; exit 1";
    let stage = Stage::new(case.clone(), script);
    stage.put("stdout.txt", "at /DEV/ledger-api\n\nsaid y\n");
    assert_eq!(stage.verdict(), "ok");

    let stage = Stage::new(case.clone(), &script.replace("exit 1", "exit 0"));
    assert!(
        stage.verdict().starts_with("resume exit 0, wanted 1: "),
        "{}",
        stage.verdict()
    );
    let stage = Stage::new(case.clone(), &script.replace("out.txt", "other.txt"));
    assert_eq!(stage.verdict(), "after resume: out.txt is missing");
    let stage = Stage::new(
        case,
        &script.replace("echo $0 $*", "echo >> README.md; echo $0 $*"),
    );
    assert_eq!(stage.verdict(), "resume changed README.md");
}

#[test]
fn commands_share_one_scene_and_allow_no_key_more() {
    let case = json!({"map": {"branch": "feature/x"}, "commands": [
        {"args": ["one"], "exit": 0, "json": {"command": "one"}},
        {"args": ["two"], "exit": 0, "has": {"command": "*"},
         "state_after": {"state.json": {"last": "two", "branch": "feature/x"}}},
    ]});
    let script = r#"
        echo "{\"last\":\"$0\",\"branch\":\"$(git branch --show-current)\"}" > state.json
        echo "{\"command\":\"$0\"}""#;
    assert_eq!(Stage::new(case.clone(), script).verdict(), "ok");
    let more = script.replace(r#"\"$0\"}""#, r#"\"$0\",\"x\":1}""#);
    assert_eq!(
        Stage::new(case, &more).verdict(),
        r#"step 1, `one`: extra keys ["x"]"#
    );
}

#[test]
fn files_have_the_times_of_the_case_and_the_agents_folder_its_name() {
    let case = json!({
        "tz": "Europe/Oslo",
        "default_mtime": "2026-01-01 12:00:00",
        "mtimes": {"late.md": "2026-01-02 12:00:00"},
    });
    let stage = Stage::new(case, "");
    stage.put("project/late.md", "");
    stage.put("home/.claude/projects/-DEV-ledger-api/memory.md", "x");
    let case = stage.case();
    let scene = Scene::lay_out(&case).unwrap();
    let seconds = |path: &str| {
        let time = fs_err::metadata(scene.project().join(path))
            .unwrap()
            .modified()
            .unwrap();
        time.duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    assert_eq!(seconds("README.md"), 1_767_265_200);
    assert_eq!(seconds("late.md"), 1_767_265_200 + 86_400);
    let moved = "~/.claude/projects/-DEV-ledger-api/memory.md";
    assert_eq!(
        scene.bytes_of(moved).unwrap().as_deref(),
        Some(b"x".as_slice())
    );
    let root = scene.root().to_owned();
    drop(scene);
    assert!(!root.exists());
}
