//! `rekindle install` and `uninstall`: settings of agents, changed by the lines that are meant and put back.

use std::os::unix::fs::symlink;

use anyhow::Result;
use camino::Utf8PathBuf;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// Every agent with its settings, in the home and in the project.
const AGENTS: [(&str, &str, &str); 4] = [
    ("claude", ".claude/settings.json", ".claude/settings.json"),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    (
        "opencode",
        ".config/opencode/plugin/rekindle.js",
        ".opencode/plugin/rekindle.js",
    ),
];

/// Settings that somebody wrote, in many hands.
const THEIRS: [&str; 7] = [
    "{}",
    "{\n}\n",
    "{\"model\":\"opus\"}",
    "\u{feff}{\r\n\t\"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\r\n\t\"hooks\": {}\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"SessionStart\": [],\n    \"Stop\": [\n      { \"matcher\": \"x\", \"hooks\": [ {\"type\": \"command\", \"command\": \"say done\"} ] }\n    ]\n  },\n  \"model\": \"opus\"\n}",
    "{\n    // mine, and only mine\n    \"hooks\": {\n        \"AfterAgent\": [ /* nothing, yet */ ]\n    } // the end\n}\n",
    "  {\"hooks\" : {\"PreCompact\" : [ {\"hooks\":[]} ] , \"Other\":{} } , \"n\" : 1.0e+3}  \n\n",
];

struct Scene(Sandbox);

impl Scene {
    fn new() -> Result<Self> {
        Ok(Self(Sandbox::new(BINARY)?))
    }

    fn home(&self, relative: &str) -> Utf8PathBuf {
        self.0.root().join("home").join(relative)
    }

    /// Runs it; the binary is on the path, so that its name alone stands in settings.
    fn run(&self, args: &[&str], answer: &str) -> Result<Ran> {
        let folder = Utf8PathBuf::from(BINARY);
        let folder = folder.parent().unwrap_or(&folder);
        let path = format!("{folder}:/usr/bin:/bin");
        Ok(self
            .0
            .typed(args)
            .answering(answer)
            .with("PATH", path)
            .run()?)
    }

    fn ok(&self, args: &[&str]) -> Result<Ran> {
        let ran = self.run(args, "")?;
        assert_eq!(ran.code(), Some(0), "{args:?}: {ran}");
        Ok(ran)
    }
}

#[test]
fn the_change_is_shown_and_made_only_after_a_yes() -> Result<()> {
    let scene = Scene::new()?;
    let settings = scene.home(".codex/hooks.json");
    let declined = scene.run(&["install", "codex"], "")?;
    assert!(!settings.exists());
    insta::assert_snapshot!(declined, @r#"
    exit 0
    --- stdout
    Nothing was changed: `[ROOT]/home/.codex/hooks.json`
    --- stderr
    This changes `[ROOT]/home/.codex/hooks.json`:
    @@ -0,0 +1,19 @@
    +{
    +  "hooks": {
    +    "SessionStart": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook session-start --agent codex", "timeout": 10}]}
    +    ],
    +    "PreCompact": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook pre-compact --agent codex", "timeout": 10}]}
    +    ],
    +    "SessionEnd": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook session-end --agent codex", "timeout": 3}]}
    +    ],
    +    "Stop": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook stop --agent codex", "timeout": 10}]}
    +    ],
    +    "PostToolUse": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook post-tool-use --agent codex", "timeout": 10}]}
    +    ]
    +  }
    +}

    Go? [y/N] 
    "#);
    let agreed = scene.run(&["install", "codex"], "y\n")?;
    assert!(settings.exists());
    let stderr = agreed.stderr().into_owned();
    assert!(stderr.ends_with("hint: Codex skips hooks until you trust them: start `codex`, type `/hooks`, and trust those of rekindle\n"), "{agreed}");
    Ok(())
}

#[test]
fn nothing_is_written_by_a_dry_run() -> Result<()> {
    let scene = Scene::new()?;
    for (agent, home, project) in AGENTS {
        let ran = scene.ok(&["install", agent, "--dry-run"])?;
        assert!(ran.stdout().contains('+'), "{ran}");
        scene.ok(&["install", agent, "--dry-run", "--project", "--yes"])?;
        assert!(!scene.home(home).exists() && !scene.0.path(project).exists());
    }
    Ok(())
}

#[test]
fn what_was_not_there_is_gone_again_and_twice_is_once() -> Result<()> {
    let scene = Scene::new()?;
    for (agent, home, project) in AGENTS {
        for (scope, path) in [
            ("--user", scene.home(home)),
            ("--project", scene.0.path(project)),
        ] {
            scene.ok(&["install", agent, scope, "--yes"])?;
            let first = fs_err::read_to_string(&path)?;
            assert!(first.contains("rekindle"), "{first}");
            let again = scene.ok(&["install", agent, scope, "--yes"])?;
            assert!(again.stdout().contains("set up already"), "{again}");
            assert_eq!(fs_err::read_to_string(&path)?, first);
            scene.ok(&["uninstall", agent, scope, "--yes"])?;
            assert!(!path.exists(), "{path}");
            let nothing = scene.ok(&["uninstall", agent, scope, "--yes"])?;
            assert!(
                nothing.stdout().contains("Nothing of rekindle"),
                "{nothing}"
            );
        }
    }
    Ok(())
}

#[test]
fn settings_of_others_come_back_byte_for_byte() -> Result<()> {
    let scene = Scene::new()?;
    for (agent, home, _) in &AGENTS[..3] {
        let path = scene.home(home);
        fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
        for theirs in THEIRS {
            fs_err::write(&path, theirs)?;
            scene.ok(&["install", agent, "--yes"])?;
            let with = fs_err::read_to_string(&path)?;
            let events = with.matches("rekindle hook").count();
            assert_eq!(events, if *agent == "claude" { 6 } else { 5 }, "{with}");
            scene.ok(&["uninstall", agent, "--yes"])?;
            assert_eq!(fs_err::read_to_string(&path)?, theirs, "{agent}: {with}");
        }
    }
    Ok(())
}

#[test]
fn hooks_of_others_that_came_later_stay() -> Result<()> {
    let scene = Scene::new()?;
    scene.ok(&["install", "claude", "--yes"])?;
    let path = scene.home(".claude/settings.json");
    let mut settings: Value = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
    let theirs = serde_json::json!({"hooks": [{"type": "command", "command": "say done"}]});
    settings["hooks"]["Stop"] = serde_json::json!([settings["hooks"]["Stop"][0], theirs]);
    settings["model"] = "opus".into();
    // A formatter has been at work too.
    fs_err::write(&path, format!("{settings:#}"))?;
    scene.ok(&["uninstall", "claude", "--yes"])?;
    let left: Value = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
    let expected = serde_json::json!({"hooks": {"Stop": [theirs]}, "model": "opus"});
    assert_eq!(left, expected);
    Ok(())
}

#[test]
fn what_can_not_be_changed_is_refused_and_left() -> Result<()> {
    let scene = Scene::new()?;
    let path = scene.home(".claude/settings.json");
    fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
    for bytes in [
        &b"{\"hooks\": []}"[..],
        b"{",
        b"",
        b"\xff\xfe",
        b"{\"a\": 1,}",
    ] {
        fs_err::write(&path, bytes)?;
        let ran = scene.run(&["install", "claude", "--yes"], "")?;
        assert_eq!(ran.code(), Some(1), "{ran}");
        assert!(ran.stderr().contains("hint: "), "{ran}");
        assert_eq!(fs_err::read(&path)?, bytes);
    }
    let plugin = scene.home(".config/opencode/plugin/rekindle.js");
    fs_err::create_dir_all(plugin.parent().unwrap_or(&plugin))?;
    fs_err::write(&plugin, "// mine\n")?;
    for command in ["install", "uninstall"] {
        let ran = scene.run(&[command, "opencode", "--yes"], "")?;
        assert_eq!(ran.code(), Some(1), "{ran}");
        assert!(ran.stderr().contains("somebody else made it"), "{ran}");
    }
    Ok(())
}

#[test]
fn a_link_of_the_users_is_followed_and_one_of_a_project_is_not() -> Result<()> {
    let scene = Scene::new()?;
    let real = scene.home("dotfiles/claude.json");
    fs_err::create_dir_all(scene.home("dotfiles"))?;
    fs_err::create_dir_all(scene.home(".claude"))?;
    fs_err::write(&real, "{\"a\": 1}\n")?;
    symlink(&real, scene.home(".claude/settings.json"))?;
    scene.ok(&["install", "claude", "--yes"])?;
    assert!(scene.home(".claude/settings.json").is_symlink());
    assert!(fs_err::read_to_string(&real)?.contains("rekindle hook"));
    scene.ok(&["uninstall", "claude", "--yes"])?;
    assert_eq!(fs_err::read_to_string(&real)?, "{\"a\": 1}\n");

    symlink(scene.home("dotfiles"), scene.0.path(".claude"))?;
    let ran = scene.run(&["install", "claude", "--project", "--yes"], "")?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(!scene.home("dotfiles/settings.json").exists());
    Ok(())
}

#[test]
fn variables_say_where_settings_are_and_a_program_off_the_path_is_named_whole() -> Result<()> {
    let scene = Scene::new()?;
    let run = |args: &[&str]| {
        scene
            .0
            .typed(args)
            .with("PATH", "/usr/bin:/bin")
            .with("CLAUDE_CONFIG_DIR", scene.home("claude").as_str())
            .with("CODEX_HOME", scene.home("codex").as_str())
            .run()
    };
    run(&["install", "claude", "--yes"])?;
    let text = fs_err::read_to_string(scene.home("claude/settings.json"))?;
    assert!(
        text.contains(&format!("\"{BINARY} hook stop --agent claude\"")),
        "{text}"
    );
    run(&["install", "codex", "--yes"])?;
    assert!(scene.home("codex/hooks.json").exists());
    let homeless = scene
        .0
        .typed(&["install", "claude", "--yes"])
        .without("HOME")
        .run()?;
    insta::assert_snapshot!(homeless, @"
    exit 1
    --- stderr
    error: nothing says where your home is

    hint: set `HOME`, or name the project's settings with `--project`
    ");
    Ok(())
}

#[test]
fn the_plugin_has_the_same_hooks_and_the_same_version() -> Result<()> {
    let scene = Scene::new()?;
    scene.ok(&["install", "claude", "--yes"])?;
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let plugin = |name: &str| -> Result<Value> {
        let text = fs_err::read_to_string(format!("{repository}plugin/{name}"))?;
        Ok(serde_json::from_str(&text)?)
    };
    let installed = fs_err::read_to_string(scene.home(".claude/settings.json"))?;
    let installed: Value = serde_json::from_str(&installed)?;
    assert_eq!(plugin("hooks/hooks.json")?, installed);
    let manifest = plugin(".claude-plugin/plugin.json")?;
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    Ok(())
}
