//! Two projects that are twins, and a world that goes on in both of them alike.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::process::{Call, Environment};
use rekindle_testkit::sandbox::{LIMIT, Sandbox};
use serde_json::{Value, json};

use crate::BINARY;

/// Numbers that are the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides
    }

    /// Returns whether something that happens once in `sides` times happens.
    pub(crate) fn once_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, among: &[&'a T]) -> &'a T {
        among[self.roll(among.len())]
    }
}

/// The twins.
pub(crate) struct Scene {
    _sandbox: Sandbox,
    pub(crate) ours: Utf8PathBuf,
    pub(crate) theirs: Utf8PathBuf,
    pub(crate) environment: Environment,
    /// The folder below `.map/`.
    pub(crate) branch: String,
}

impl Scene {
    /// Lays out two repositories with the same commits, plan and blueprint.
    pub(crate) fn new(dice: &mut Dice) -> Self {
        let sandbox = Sandbox::in_memory(BINARY).expect("a scratch folder");
        let [ours, theirs] = ["a/project", "b/project"].map(|name| sandbox.root().join(name));
        for folder in [&ours, &theirs] {
            fs_err::create_dir_all(folder).expect("a folder");
        }
        let mut environment = sandbox.environment().clone();
        // Both go by the system's clock.
        environment.remove(std::ffi::OsStr::new("REKINDLE_NOW"));
        for who in ["AUTHOR", "COMMITTER"] {
            environment.insert(
                format!("GIT_{who}_DATE").into(),
                "2026-01-02T03:04:05Z".into(),
            );
        }
        let (name, branch) = if dice.once_in(3) {
            ("feature/some-thing", "feature-some-thing")
        } else {
            ("main", "main")
        };
        let scene = Self {
            _sandbox: sandbox,
            ours,
            theirs,
            environment,
            branch: branch.to_owned(),
        };
        scene.git(&["init", "-q", "-b", name]);
        scene.write(".gitignore", ".map/\n.rekindle/\n");
        for file in ["src/a.py", "src/b.py", "src/c.py", "docs/usage.md"] {
            scene.write(file, "one\ntwo\nthree\n");
        }
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "start"]);
        scene.lay_out_plan(dice);
        scene
    }

    /// Runs git in both.
    pub(crate) fn git(&self, words: &[&str]) {
        for project in self.projects() {
            let args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let call = Call {
                program: "git",
                args: &args,
                folder: project,
                environment: &self.environment,
                stdin: "",
                limit: LIMIT,
            };
            call.run().expect("git runs");
        }
    }

    pub(crate) fn projects(&self) -> [&Utf8Path; 2] {
        [&self.ours, &self.theirs]
    }

    /// Writes a file in both.
    pub(crate) fn write(&self, path: &str, text: &str) {
        for project in self.projects() {
            let path = project.join(path);
            fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs_err::write(path, text).expect("a file");
        }
    }

    /// Writes a file of the branch's folder in both.
    pub(crate) fn write_map(&self, name: &str, text: &str) {
        self.write(&format!(".map/{}/{name}", self.branch), text);
    }

    fn lay_out_plan(&self, dice: &mut Dice) {
        let count = 1 + dice.roll(6);
        let ids: Vec<String> = (1..=count).map(|n| format!("ST-{n:03}")).collect();
        let files = [
            "src/a.py",
            "src/b.py",
            "src/c.py",
            "docs/usage.md",
            "src/new.py",
        ];
        let mut plan =
            String::from("# Task Plan: walk\n## Overview\n- Goal: walk\n\n## Subtasks\n");
        let mut subtasks: Vec<Value> = Vec::new();
        for (place, id) in ids.iter().enumerate() {
            let words = ["pending", "complete", "in_progress", "blocked", "won't_do"];
            plan.push_str(&format!("### {id}: Part {place}\n"));
            if !dice.once_in(8) {
                plan.push_str(&format!("- **Status:** {}\n", dice.pick(&words)));
            }
            plan.push_str("- **Risk:** low\n\n");
            let among = if dice.once_in(6) { count } else { place };
            let needs: Vec<&String> = (0..among)
                .filter(|_| dice.once_in(3))
                .map(|needed| &ids[needed])
                .collect();
            let touched: Vec<&str> = files.into_iter().filter(|_| dice.once_in(4)).collect();
            subtasks.push(json!({
                "id": id, "title": format!("Part {place}"),
                "dependencies": needs, "affected_files": touched,
            }));
        }
        plan.push_str("## Current Phase\nST-001\n");
        if !dice.once_in(10) {
            self.write_map(&format!("task_plan_{}.md", self.branch), &plan);
        }
        let parked = json!([
            {"id": "YG-001", "title": "Cache", "rationale": "not now", "restore_hint": "add it"},
            {"id": "YG-002"},
        ]);
        let mut body = json!({"subtasks": subtasks, "deferred_yagni": parked});
        if dice.once_in(3) {
            body["aag_contracts"] = json!({"ST-001": "x"});
        }
        let whole = if dice.once_in(4) {
            json!({"blueprint": body, "coverage_map": {"AC-1": "ST-001", "AC-2": "ST-002"}})
        } else {
            body
        };
        if !dice.once_in(6) {
            self.write_map("blueprint.json", &whole.to_string());
        }
    }

    /// Gives their project the files of ours.
    pub(crate) fn align(&self) {
        let ours = Self::map_files(&self.ours);
        for name in Self::map_files(&self.theirs).keys() {
            if !ours.contains_key(name) {
                fs_err::remove_file(self.theirs.join(name)).expect("it is there");
            }
        }
        for (name, text) in ours {
            let path = self.theirs.join(name);
            fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs_err::write(path, text).expect("it is written");
        }
    }

    /// Returns the files below `.map/` of a project, but for the peer's scripts.
    pub(crate) fn map_files(project: &Utf8Path) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![project.join(".map")];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
                let path = entry.into_path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(project).expect("below it").to_string();
                    let bytes = fs_err::read(&path).expect("it reads");
                    files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
                }
            }
        }
        files
    }
}
