//! `rekindle install` and `uninstall`: settings of agents, changed by the lines that are meant and put back.

use std::os::unix::fs::symlink;

use anyhow::Result;
use camino::Utf8PathBuf;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// Every agent with its settings, in the home and in the project.
const AGENTS: [(&str, &[&str], &[&str]); 4] = [
    (
        "claude",
        &[".claude/settings.json", ".claude.json"],
        &[".claude/settings.json", ".mcp.json"],
    ),
    (
        "codex",
        &[".codex/hooks.json", ".codex/config.toml"],
        &[".codex/hooks.json", ".codex/config.toml"],
    ),
    (
        "gemini",
        &[".gemini/settings.json"],
        &[".gemini/settings.json"],
    ),
    (
        "opencode",
        &[".config/opencode/plugin/rekindle.js"],
        &[".opencode/plugin/rekindle.js"],
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
fn the_change_is_shown_and_made_only_after_consent() -> Result<()> {
    let scene = Scene::new()?;
    let settings = scene.home(".codex/hooks.json");
    let servers = scene.home(".codex/config.toml");
    let unanswered = scene.run(&["install", "codex"], "")?;
    assert!(!settings.exists() && !servers.exists());
    insta::assert_snapshot!(unanswered, @r#"
    exit 3
    --- stderr
    This changes `[ROOT]/home/.codex/hooks.json`:
    @@ -0,0 +1,19 @@
    +{
    +  "hooks": {
    +    "SessionStart": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook session-start --agent codex --installed", "timeout": 10}]}
    +    ],
    +    "PreCompact": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook pre-compact --agent codex --installed", "timeout": 10}]}
    +    ],
    +    "SessionEnd": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook session-end --agent codex --installed", "timeout": 3}]}
    +    ],
    +    "Stop": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook stop --agent codex --installed", "timeout": 10}]}
    +    ],
    +    "PostToolUse": [
    +      {"hooks": [{"type": "command", "command": "rekindle hook post-tool-use --agent codex --installed", "timeout": 10}]}
    +    ]
    +  }
    +}
    This changes `[ROOT]/home/.codex/config.toml`:
    @@ -0,0 +1,3 @@
    +[mcp_servers.rekindle]
    +command = "rekindle"
    +args = ["mcp", "--installed"]

    Continue? [y/N] 
    error: nobody answered the question

    hint: use `--yes` to agree in advance
    "#);
    let agreed = scene.run(&["install", "codex"], "y\n")?;
    assert!(settings.exists() && servers.exists());
    let stderr = agreed.stderr().into_owned();
    assert!(stderr.ends_with("hint: Codex skips hooks until you trust them: start `codex`, type `/hooks`, and trust those of rekindle\n"), "{agreed}");
    Ok(())
}

#[test]
fn nothing_is_written_by_a_dry_run() -> Result<()> {
    let scene = Scene::new()?;
    for (agent, home, project) in AGENTS {
        let ran = scene.ok(&["install", agent, "--dry-run"])?;
        // Which file a change is in stands above it.
        for path in home {
            let path = scene.home(path);
            let shown = format!("--- {path}\n+++ {path}\n@@ ");
            assert!(ran.stdout().contains(&shown), "{shown}: {ran}");
        }
        scene.ok(&["install", agent, "--dry-run", "--project", "--yes"])?;
        let mut paths = home.iter().map(|path| scene.home(path));
        assert!(!paths.any(|path| path.exists()));
        let mut paths = project.iter().map(|path| scene.0.path(path));
        assert!(!paths.any(|path| path.exists()));
    }
    Ok(())
}

#[test]
fn what_was_not_there_is_gone_again_and_twice_is_once() -> Result<()> {
    let scene = Scene::new()?;
    for (agent, home, project) in AGENTS {
        let in_home = home.iter().map(|path| scene.home(path)).collect();
        let in_project = project.iter().map(|path| scene.0.path(path)).collect();
        let scopes: [(&str, Vec<Utf8PathBuf>); 2] =
            [("--user", in_home), ("--project", in_project)];
        for (scope, paths) in scopes {
            let read = || -> Result<Vec<String>> {
                let texts = paths.iter().map(fs_err::read_to_string);
                Ok(texts.collect::<Result<_, _>>()?)
            };
            scene.ok(&["install", agent, scope, "--yes"])?;
            let first = read()?;
            assert!(first.concat().contains("rekindle hook") || agent == "opencode");
            assert!(first.concat().contains("\"mcp\""), "{first:?}");
            let again = scene.ok(&["install", agent, scope, "--yes"])?;
            let n_same = again.stdout().matches("Already set up").count();
            assert_eq!(n_same, paths.len(), "{again}");
            assert_eq!(read()?, first);
            scene.ok(&["uninstall", agent, scope, "--yes"])?;
            assert!(!paths.iter().any(|path| path.exists()), "{paths:?}");
            let nothing = scene.ok(&["uninstall", agent, scope, "--yes"])?;
            let n_none = nothing
                .stdout()
                .matches("has no entries of rekindle")
                .count();
            assert_eq!(n_none, paths.len(), "{nothing}");
        }
    }
    Ok(())
}

#[test]
fn settings_of_others_come_back_byte_for_byte() -> Result<()> {
    let scene = Scene::new()?;
    for (agent, home, _) in &AGENTS[..3] {
        let path = scene.home(home[0]);
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

/// The files of servers, which hold much else.
#[test]
fn servers_of_others_come_back_byte_for_byte() -> Result<()> {
    let scene = Scene::new()?;
    let toml = [
        "",
        "model = \"gpt-5.5\"",
        "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n",
        "[mcp_servers]\n[profiles.a]\nb = [\n  [1],\n]\n\n",
    ];
    for (agent, path, texts) in [
        ("claude", ".claude.json", &THEIRS[..]),
        ("codex", ".codex/config.toml", &toml[..]),
    ] {
        let path = scene.home(path);
        fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
        for theirs in texts {
            fs_err::write(&path, theirs)?;
            scene.ok(&["install", agent, "--yes"])?;
            let with = fs_err::read_to_string(&path)?;
            assert_eq!(with.matches("rekindle").count(), 2, "{with}");
            scene.ok(&["uninstall", agent, "--yes"])?;
            assert_eq!(&fs_err::read_to_string(&path)?, theirs, "{with}");
        }
    }
    Ok(())
}

#[test]
fn where_one_file_is_unfit_none_is_written() -> Result<()> {
    let scene = Scene::new()?;
    let servers = scene.home(".codex/config.toml");
    fs_err::create_dir_all(scene.home(".codex"))?;
    for (text, cause) in [
        ("a = \n", "it is not TOML"),
        ("mcp_servers = {}\n", "cannot be changed on its own"),
        (
            "[mcp_servers.rekindle]\ncommand = \"node\"\n",
            "it has a server `rekindle` that is not `rekindle mcp`",
        ),
    ] {
        fs_err::write(&servers, text)?;
        let ran = scene.run(&["install", "codex", "--yes"], "")?;
        assert_eq!(ran.code(), Some(1), "{ran}");
        assert!(ran.stderr().contains(cause), "{ran}");
        assert!(ran.stderr().contains("hint: "), "{ran}");
        assert_eq!(fs_err::read_to_string(&servers)?, text);
        assert!(!scene.home(".codex/hooks.json").exists());
    }
    Ok(())
}

#[test]
fn what_codex_wrote_below_the_server_goes_with_it() -> Result<()> {
    let scene = Scene::new()?;
    scene.ok(&["install", "codex", "--yes"])?;
    let path = scene.home(".codex/config.toml");
    let mut text = fs_err::read_to_string(&path)?;
    // Codex writes such when a user always allows a tool; without its server it could not start.
    text.push_str("\n[mcp_servers.rekindle.tools.resume]\napproval_mode = \"approve\"\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n");
    fs_err::write(&path, &text)?;
    scene.ok(&["install", "codex", "--yes"])?;
    assert_eq!(fs_err::read_to_string(&path)?, text);
    scene.ok(&["uninstall", "codex", "--yes"])?;
    let left = fs_err::read_to_string(&path)?;
    assert_eq!(left, "\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n");
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
fn what_cannot_be_changed_is_refused_and_left() -> Result<()> {
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
        assert!(
            ran.stderr().contains("it was not created by rekindle"),
            "{ran}"
        );
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
        text.contains(&format!(
            "\"{BINARY} hook stop --agent claude --installed\""
        )),
        "{text}"
    );
    let servers = fs_err::read_to_string(scene.home("claude/.claude.json"))?;
    assert!(
        servers.contains(&format!("\"command\": \"{BINARY}\"")),
        "{servers}"
    );
    run(&["install", "codex", "--yes"])?;
    assert!(scene.home("codex/hooks.json").exists());
    assert!(scene.home("codex/config.toml").exists());
    let homeless = scene
        .0
        .typed(&["install", "claude", "--yes"])
        .without("HOME")
        .run()?;
    insta::assert_snapshot!(homeless, @"
    exit 1
    --- stderr
    error: your home folder is unknown: `HOME` is not set

    hint: set `HOME`, or name the project's settings with `--project`
    ");
    Ok(())
}

#[test]
fn the_plugin_has_the_same_hooks_server_and_version() -> Result<()> {
    let scene = Scene::new()?;
    scene.ok(&["install", "claude", "--yes"])?;
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let plugin = |name: &str| -> Result<Value> {
        let text = fs_err::read_to_string(format!("{repository}plugin/{name}"))?;
        Ok(serde_json::from_str(&text)?)
    };
    for (ours, theirs) in [
        ("hooks/hooks.json", ".claude/settings.json"),
        (".mcp.json", ".claude.json"),
    ] {
        let installed = fs_err::read_to_string(scene.home(theirs))?;
        // The plugin is removed as a whole, so nothing in it needs the mark.
        let installed = installed.replace(" --installed", "");
        let installed = installed.replace(r#", "--installed""#, "");
        let installed: Value = serde_json::from_str(&installed)?;
        assert_eq!(plugin(ours)?, installed);
    }
    let manifest = plugin(".claude-plugin/plugin.json")?;
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    Ok(())
}

#[test]
fn what_a_user_wrote_by_hand_stays_to_the_byte() -> Result<()> {
    let scene = Scene::new()?;
    let hooks = |agent: &str, event: &str| {
        format!(
            "{{\n  \"hooks\": {{\n    \"{event}\": [\n      {{\"hooks\": [{{\"type\": \"command\", \"command\": \"rekindle hook stop --agent {agent}\", \"timeout\": 10}}]}}\n    ]\n  }}\n}}\n"
        )
    };
    let server =
        "{\"mcpServers\": {\"rekindle\": {\"command\": \"rekindle\", \"args\": [\"mcp\"]}}}\n";
    let table = "[mcp_servers.rekindle]\ncommand = \"rekindle\"\nargs = [\"mcp\"]\n";
    let by_hand = [
        ("claude", ".claude/settings.json", hooks("claude", "Stop")),
        ("claude", ".claude.json", server.to_owned()),
        ("codex", ".codex/hooks.json", hooks("codex", "Stop")),
        ("codex", ".codex/config.toml", table.to_owned()),
        (
            "gemini",
            ".gemini/settings.json",
            hooks("gemini", "AfterAgent"),
        ),
    ];
    for (_, path, text) in &by_hand {
        let path = scene.home(path);
        fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
        fs_err::write(path, text)?;
    }
    for commands in [&["uninstall"][..], &["install", "install", "uninstall"]] {
        for command in commands {
            for agent in ["claude", "codex", "gemini"] {
                scene.ok(&[command, agent, "--yes"])?;
            }
        }
        for (agent, path, text) in &by_hand {
            assert_eq!(
                &fs_err::read_to_string(scene.home(path))?,
                text,
                "{agent} {path}"
            );
        }
    }
    Ok(())
}
