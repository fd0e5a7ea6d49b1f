//! Conformance cases of all protocols that are built: a resume over MCP leaves the files of a typed one.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use rekindle_testkit::conformance::{Case, Scene};
use serde_json::{Value, json};

use crate::client::{BINARY, frame, initialize};

/// What is ours, the user's key, and git's own files, which hold times of the clock on the wall.
const LEFT_OUT: [&str; 3] = [".rekindle", ".local", ".git"];

/// How many cases of a protocol are gone through: each is laid out twice, some with git.
const MOST: usize = 10;

#[test]
fn a_resume_over_mcp_leaves_what_a_typed_one_leaves_in_the_cases() -> Result<()> {
    let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let mut n_carried_out = 0;
    for folder in folders(&top)? {
        let cases = folders(&folder)?;
        for case in cases.iter().step_by(cases.len().div_ceil(MOST)) {
            let case = Case::load(case)?;
            let is_built = rekindle_app::parse_protocol(case.protocol()).is_some();
            if is_built {
                n_carried_out += usize::from(check(&case).context(format!("{case:?}"))?);
            }
        }
    }
    // In most cases there is a plan, or this would hold nothing.
    ensure!(
        n_carried_out > 12,
        "only {n_carried_out} plans were carried out"
    );
    Ok(())
}

/// Returns whether there was a plan to carry out.
fn check(case: &Case) -> Result<bool> {
    let typed = Scene::lay_out(case)?;
    // An agent is asked about the plan alone; bifrost's further offers are a person's to accept.
    let (args, said): (&[&str], &str) = match case.protocol() {
        "bifrost" => (&["resume", "--no-agent"], "y\nn\nn\n"),
        _ => (&["resume", "--yes", "--no-agent"], ""),
    };
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    typed.call(BINARY, &args, said)?;

    let called = Scene::lay_out(case)?;
    let before = files(&called)?;
    let plan = tool(&called, "plan", &json!({}))?;
    ensure!(files(&called)? == before, "showing the plan changed files");
    let has_plan = plan["isError"] == false;
    if has_plan {
        let digest = &plan["structuredContent"]["digest"];
        ensure!(digest.is_string(), "{plan}");
        let result = tool(&called, "resume", &json!({"digest": digest}))?;
        let code = &result["structuredContent"]["error"]["code"];
        ensure!(code != "WORLD_MOVED", "{result}");
        // The agent at the other end does the step, so what begins with it is recorded.
        if result["structuredContent"]["state"] == "step" {
            return Ok(true);
        }
    }
    let (typed, called) = (files(&typed)?, files(&called)?);
    for path in typed.keys().chain(called.keys()) {
        ensure!(typed.get(path) == called.get(path), "`{path}` differs");
    }
    Ok(has_plan)
}

/// Calls one tool in a conversation of its own.
fn tool(scene: &Scene<'_>, name: &str, arguments: &Value) -> Result<Value> {
    let call = json!({"name": name, "arguments": arguments});
    let input = format!(
        "{}\n{}\n",
        frame(1, "initialize", &initialize("2025-06-18")),
        frame(2, "tools/call", &call)
    );
    let output = scene.call(BINARY, &["mcp".to_owned()], &input)?;
    ensure!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let answer: Value = serde_json::from_str(text.lines().last().context("no answer")?)?;
    ensure!(answer["result"].is_object(), "{answer}");
    Ok(answer["result"].clone())
}

/// Returns everything in a scene with its own paths taken out, and what is computed from them.
fn files(scene: &Scene<'_>) -> Result<BTreeMap<String, String>> {
    let computed = Regex::new(r"\b(kiln-[0-9a-f]{12}|[0-9a-f]{40})\b")?;
    let steady = |text: &str| {
        let text = text
            .replace(scene.root().as_str(), "[ROOT]")
            .replace(&scene.root().as_str().replace('/', "-"), "[ROOT]");
        computed.replace_all(&text, "[HASH]").into_owned()
    };
    let mut open = vec![scene.home().to_owned(), scene.project().to_owned()];
    let mut found = BTreeMap::new();
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8()? {
            let entry = entry?;
            if LEFT_OUT.contains(&entry.file_name()) {
                continue;
            }
            let path = entry.path();
            let contents = if entry.file_type()?.is_dir() {
                open.push(path.to_owned());
                "folder".to_owned()
            } else if entry.file_type()?.is_file() {
                String::from_utf8_lossy(&fs_err::read(path)?).into_owned()
            } else {
                "neither file nor folder".to_owned()
            };
            found.insert(steady(path.as_str()), steady(&contents));
        }
    }
    Ok(found)
}

fn folders(top: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    let mut folders = Vec::new();
    for entry in top.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.into_path());
        }
    }
    folders.sort();
    Ok(folders)
}
