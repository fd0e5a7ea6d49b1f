//! Many sessions at once, each in its own folder, and a session that another program takes over.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{BRIEFING, PROMPT, Program};

/// Six sessions in three folders, all killed: each goes on once in its own folder, and never two at
/// once in one.
#[test]
fn all_go_on_once_and_one_at_a_time_in_a_folder() -> Result<()> {
    let work = "mkdir busy || echo two >>wrong; pwd -P >>where; rmdir busy";
    let mut turns = vec![json!({"hang": true}); 6];
    turns.push(json!({"each": Program::Claude.runs(work)}));
    let scene = Program::scene(&Value::from(turns))?;
    let allowed = json!({"permissions": {"allow": ["Bash"], "defaultMode": "acceptEdits"}});
    fs_err::create_dir_all(scene.home(".claude"))?;
    fs_err::write(scene.home(".claude/settings.json"), allowed.to_string())?;
    let folders = ["a", "b", "c"].map(|name| scene.folder(name));
    let folders = folders.into_iter().collect::<Result<Vec<_>>>()?;
    let mut running = Vec::new();
    for (folder, number) in folders.iter().cycle().zip(1..=6) {
        let arguments = Program::Claude.arguments();
        running.push(scene.start_in(folder, "claude", arguments)?);
        scene.wait_for_hanging(number)?;
    }
    let is_there = |sessions: &[Value]| {
        let open = sessions.iter().filter(|one| one["prompt"] == PROMPT);
        open.count() == 6
    };
    while !is_there(&scene.sessions()?) {
        std::thread::yield_now();
    }
    drop(running);
    while scene
        .sessions()?
        .iter()
        .any(|one| one["state"] != "interrupted")
    {
        std::thread::yield_now();
    }
    let all = [
        "resume",
        "--all",
        "--everywhere",
        "--headless",
        "--yes",
        "--jobs",
        "6",
    ];
    let ran = scene.rekindle(&all)?;
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(said.matches("has ended its turn").count(), 6, "{said}");
    for folder in &folders {
        let visits = fs_err::read_to_string(folder.join("where"))?;
        assert_eq!(visits, format!("{folder}\n").repeat(2));
        ensure!(
            !folder.join("wrong").exists(),
            "two were in `{folder}` at once"
        );
    }
    assert_eq!(scene.sessions()?, Vec::<Value>::new());
    Ok(())
}

#[test]
fn another_program_takes_over_with_the_hand_over_as_its_first_prompt() -> Result<()> {
    for (from, to) in [
        (Program::Claude, Program::Codex),
        (Program::Codex, Program::Claude),
        (Program::Gemini, Program::Claude),
        (Program::Claude, Program::Gemini),
    ] {
        let scene = Program::scene(&json!([{"hang": true}]))?;
        let running = scene.start(from.name(), from.arguments())?;
        scene.wait_for_hanging(1)?;
        let known = if from == Program::Gemini {
            "interrupted"
        } else {
            "running"
        };
        scene.wait_for_session(known, "turn")?;
        drop(running);
        let session = scene.wait_for_session("interrupted", "turn")?;
        let id = session["id"].as_str().context("an id")?;
        scene.rekindle(&["resume", id, "--with", to.name(), "--yes"])?;
        let asked = scene.asked();
        let last = asked.lines().last().unwrap_or_default();
        assert_eq!(
            last.matches(&format!("# Hand-over of {id}")).count(),
            1,
            "{last}"
        );
        ensure!(last.contains(&format!("> {PROMPT}")), "{last}");
        ensure!(!asked.contains(BRIEFING), "{asked}");
        // The old session stays as it is.
        assert_eq!(scene.sessions()?, [session], "{from:?} to {to:?}");
    }
    Ok(())
}
