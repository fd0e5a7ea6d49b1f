//! One walk: commands run in both projects, and answers and files compared.

use rekindle_testkit::process::Call;
use rekindle_testkit::sandbox::LIMIT;

use crate::BINARY;
use crate::choices::{Typed, choose, live};
use crate::compare::{is_in_form, plain, without_sentences};
use crate::peer::{Answer, Peer};
use crate::scene::{Dice, Scene};

/// Commands that save the earlier state, which MAP discards.
const SAVING: &[&str] = &[
    "initialize",
    "resume_from_plan",
    "resume_from_test_contract",
    "resume_single_subtask",
];
/// Files for people, of which only the existence is compared.
const NOTES: &[&str] = &[
    "monitor_feedback",
    "review_feedback",
    "verification-summary",
];

/// Runs commands in both projects, and stops at the first difference.
pub(crate) fn walk(seed: u64, commands: usize) {
    let mut dice = Dice::new(seed);
    let scene = Scene::new(&mut dice);
    let mut peer = Peer::start(&scene.environment);
    let mut history: Vec<String> = Vec::new();
    for _ in 0..commands {
        live(&scene, &mut dice, &mut history);
        let typed = choose(&scene, &mut dice);
        history.push(format!("{} < {:?}", typed.words.join(" "), typed.input));
        let theirs = peer.run(&scene.theirs, typed.script, &typed.words, &typed.input);
        let ours = ours(&scene, &typed);
        let context = || {
            format!(
                "walk {seed}\n{}\ntheirs: {theirs:?}\nours: {ours:?}",
                history.join("\n")
            )
        };
        check_answers(&scene, &typed, &ours, &theirs, &context);
        if theirs.exit == 1 && theirs.stdout.is_empty() {
            // MAP may have written before it failed, rekindle does not.
            scene.align();
        }
        check_files(&scene, &typed, &context);
    }
}

fn ours(scene: &Scene, typed: &Typed) -> Answer {
    let mut args = vec!["map".to_owned()];
    args.extend(typed.words.iter().cloned());
    let call = Call {
        program: BINARY,
        args: &args,
        folder: &scene.ours,
        environment: &scene.environment,
        stdin: &typed.input,
        limit: LIMIT,
    };
    let done = call.run().expect("rekindle runs");
    Answer {
        exit: done.status.code().unwrap_or(-1),
        stdout: String::from_utf8(done.stdout).expect("UTF-8"),
        stderr: String::from_utf8(done.stderr).expect("UTF-8"),
    }
}

fn check_answers(
    scene: &Scene,
    typed: &Typed,
    ours: &Answer,
    theirs: &Answer,
    context: &dyn Fn() -> String,
) {
    assert_eq!(ours.exit, theirs.exit, "{}", context());
    let command = typed.words.first().map(String::as_str).unwrap_or_default();
    let prose: &[&str] = match command {
        "select_execution_strategy" | "write_verification_summary" => &["reason"],
        "validate_step" | "defer_flaky_subtask" => &["summary"],
        "record_test_contract_handoff" => &["contract_summary"],
        _ => &[],
    };
    let our_output = without_sentences(&plain(&ours.stdout, &scene.ours), prose);
    let their_output = without_sentences(&plain(&theirs.stdout, &scene.theirs), prose);
    assert_eq!(our_output, their_output, "{}", context());
    // A fault is one line with an object on standard error.
    if theirs.exit == 1 && theirs.stdout.is_empty() {
        assert!(ours.stderr.starts_with('{'), "{}", context());
    }
}

fn check_files(scene: &Scene, typed: &Typed, context: &dyn Fn() -> String) {
    let command = typed.words.first().map(String::as_str).unwrap_or_default();
    let mut ours = Scene::map_files(&scene.ours);
    let mut theirs = Scene::map_files(&scene.theirs);
    let is_saved = |name: &String| {
        name.contains("step_state.abandoned-") || name.contains("step_state.completed-")
    };
    let saved: Vec<String> = ours.keys().filter(|name| is_saved(name)).cloned().collect();
    if SAVING.contains(&command) {
        // Saved states are removed, so that later names are equal.
        for name in saved.iter().filter(|name| !theirs.contains_key(*name)) {
            fs_err::remove_file(scene.ours.join(name)).expect("a saved state");
            ours.remove(name);
        }
    }
    // Names with times differ; contents must be equal.
    let names = |files: &std::collections::BTreeMap<String, String>| -> Vec<String> {
        let names = files.keys().map(|name| plain(name, &scene.ours));
        names.collect()
    };
    assert_eq!(names(&ours), names(&theirs), "{}", context());
    for ((name, ours), (_, theirs)) in std::mem::take(&mut ours)
        .iter()
        .zip(std::mem::take(&mut theirs))
    {
        if NOTES.iter().any(|note| name.contains(note)) {
            // Later commands quote from them, so both continue with the same text.
            fs_err::write(scene.theirs.join(name), ours).expect("a writable file");
            continue;
        }
        let ours = plain(ours, &scene.ours);
        let theirs = plain(&theirs, &scene.theirs);
        let prose: &[&str] = &["summary", "contract_summary"];
        assert_eq!(
            without_sentences(&lines_of(name, &ours), prose),
            without_sentences(&lines_of(name, &theirs), prose),
            "{name}\n{}",
            context()
        );
        if name.ends_with("step_state.json") || name.ends_with("quarantine.json") {
            assert!(
                is_in_form(&ours) && !ours.ends_with('\n'),
                "{name}\n{}",
                context()
            );
        }
        assert_eq!(
            ours.ends_with('\n'),
            theirs.ends_with('\n'),
            "{name}\n{}",
            context()
        );
    }
}

/// Returns a file's text; lines of JSON become one array, and the sentence of a restored subtask is removed.
fn lines_of(name: &str, text: &str) -> String {
    if name.contains("scope-violations") {
        return format!("[{}]", text.lines().collect::<Vec<_>>().join(","));
    }
    let lines = text.lines().map(|line| {
        if line.starts_with("- **Validation:**") {
            "- **Validation:** *"
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
