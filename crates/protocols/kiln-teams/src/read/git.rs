//! Evidence from git: the bases of waves, landed work, and work that waits to land.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_world::{GitAnswer, GitCommit, GitQuestion, ReadError};

use super::super::changes::{Main, Touched, reported};
use super::super::layout;
use super::super::task_list::{Stage, Status, TaskId};
use super::{Artifacts, LARGEST, Phase, Reader, TaskEvidence};

/// The hint for finished work that cannot be read.
const FIX: &str = "fix that, then run the command again; or move it away, and its task is repeated";

impl Reader<'_> {
    /// Finds the commit that each wave's worktrees were made from.
    pub(super) fn bases(&mut self, phase: &mut Phase) {
        let mut on_main: BTreeMap<String, bool> = BTreeMap::new();
        for task in phase.tasks.values_mut() {
            let Some(tree) = &mut task.tree else { continue };
            let is_on_main = *on_main.entry(tree.head.clone()).or_insert_with(|| {
                let commit = tree.head.clone();
                let answer = self.ask(&GitQuestion::Has { commit });
                answer.and_then(GitAnswer::has).unwrap_or(false)
            });
            tree.has_own_commits = !is_on_main;
        }
        for (number, wave) in &mut phase.waves {
            let members = phase.tasks.iter().filter(|(id, _)| id.wave == *number);
            if let Some(finding) = wrong_branch(*number, members.clone()) {
                self.findings.push(finding);
            }
            // A worktree that was made ahead for a task that never started does not show the wave's
            // base: it is reset when the task starts.
            let ledger = phase.state.ledger();
            let has_started = |task: &TaskEvidence| {
                task.file.status != Status::Pending
                    || ledger
                        .iter()
                        .any(|row| Some(&row.plan_task) == task.plan_task.as_ref())
            };
            let heads: BTreeMap<&str, &TaskId> = members
                .filter(|(_, task)| has_started(task))
                .filter_map(|(id, task)| Some((id, task.tree.as_ref()?)))
                .filter(|(_, tree)| !tree.has_own_commits)
                .map(|(id, tree)| (tree.head.as_str(), id))
                .collect();
            wave.base = heads.keys().next().map(|head| (*head).to_owned());
            if heads.len() > 1 {
                let tasks: Vec<String> = heads.values().map(ToString::to_string).collect();
                let message = format!(
                    "the worktrees of wave {number} have different bases ({})",
                    tasks.join(", ")
                );
                self.findings.push(
                    Finding::new(Code::BasesDiffer, message)
                        .hint("find the worktree that was moved, and reset it to the wave's base"),
                );
            }
        }
    }

    /// Finds the commits on main that prove which tasks have landed.
    pub(super) fn history(&mut self, phase: &mut Phase) {
        let mut histories: BTreeMap<Option<String>, Vec<GitCommit>> = BTreeMap::new();
        for (number, wave) in &mut phase.waves {
            let members = phase
                .tasks
                .iter_mut()
                .filter(|(id, _)| id.wave == *number)
                .map(|(_, task)| task);
            let mut landed: BTreeSet<String> = BTreeSet::new();
            for task in members {
                let Some(plan_task) = &task.plan_task else {
                    continue;
                };
                // Without a base any commit of the name would count, even one from before the wave: then
                // there must be other evidence that the task has ended.
                let has_ended = task.file.status == Status::Completed
                    || (task.file.status == Status::InProgress
                        && task.file.stage == Some(Stage::Verified));
                if wave.base.is_none() && !task.is_archived && !has_ended {
                    continue;
                }
                // A peer's worktree may have been recreated at a later commit than that of a task which
                // landed and was cleaned up: then both other kinds of evidence are enough.
                let is_cleaned_up = task.tree.is_none() && task.is_archived && has_ended;
                let after = wave.base.clone().filter(|_| !is_cleaned_up);
                let commits = histories.entry(after.clone()).or_insert_with(|| {
                    let answer = self.ask(&GitQuestion::Commits { after });
                    answer.and_then(GitAnswer::commits).unwrap_or_default()
                });
                // Git removes the blank at the end of a subject without a title.
                let subject = format!("phase-{}/{plan_task}:", phase.number);
                task.landed = commits
                    .iter()
                    .find(|commit| commit.subject.starts_with(&subject))
                    .cloned();
                landed.extend(task.landed.iter().map(|commit| commit.id.clone()));
                if task.landed.is_some() && task.tree.is_some() && !task.is_archived {
                    let folder = layout::artifacts(&task.worktree, plan_task);
                    task.has_artifacts_left = self.world.stat(&folder).is_ok();
                }
            }
            if wave.base.is_none() {
                let mut commits = histories.get(&None).into_iter().flatten();
                let first = commits.rfind(|commit| landed.contains(&commit.id));
                wave.before_first = first.and_then(|commit| commit.parent.clone());
            }
        }
    }

    /// Reads the worktrees of tasks that report success and have not landed.
    pub(super) fn read_trees(&mut self, phase: &mut Phase) {
        let mut waiting: Vec<(TaskId, GitQuestion)> = Vec::new();
        for (id, task) in &mut phase.tasks {
            let reports_success =
                task.file.status != Status::Pending && task.file.stage == Some(Stage::Verified);
            if !reports_success || task.landed.is_some() {
                continue;
            }
            let Some(plan_task) = &task.plan_task else {
                continue;
            };
            task.artifacts = Some(self.artifacts(&task.worktree, plan_task));
            if let Some(tree) = task.tree.as_ref().filter(|tree| !tree.has_own_commits) {
                let base = tree.head.clone();
                waiting.push((*id, GitQuestion::Changes { base }));
            }
        }
        if waiting.is_empty() {
            return;
        }
        // Each costs several git processes, and there may be hundreds.
        let questions: Vec<(Utf8PathBuf, GitQuestion)> = waiting
            .iter()
            .map(|(id, question)| (phase.tasks[id].worktree.clone(), question.clone()))
            .collect();
        let answers = self.world.git_of_each(&questions);
        for ((id, _), answer) in waiting.iter().zip(answers) {
            if let Some(task) = phase.tasks.get_mut(id) {
                task.touched = Some(self.touched(id, &task.worktree, answer));
            }
        }
        let waves = waiting.iter().map(|(id, _)| id.wave).collect();
        self.main(phase, &waves);
        self.landed_paths(phase, &waves);
    }

    fn touched(
        &self,
        id: &TaskId,
        worktree: &Utf8Path,
        answer: Result<GitAnswer, ReadError>,
    ) -> Result<Touched, String> {
        let changes = answer.and_then(GitAnswer::changes);
        if let Err(error) = &changes
            && !error.is_not_found()
        {
            let message = format!("git could not report what {id} has changed: {error}");
            self.unanswered(
                Finding::new(Code::GitFailed, message)
                    .at(Place::path(worktree))
                    .hint(FIX),
            );
        }
        changes
            .map(|changes| Touched::of(&changes))
            .map_err(|error| error.to_string())
    }

    fn artifacts(&self, worktree: &Utf8Path, plan_task: &str) -> Artifacts {
        let folder = layout::artifacts(worktree, plan_task);
        let read = |name: &str| {
            let path = folder.join(name);
            let bytes = self.world.read(&path, LARGEST);
            if let Err(error @ (ReadError::Denied | ReadError::Failed(_))) = &bytes {
                let message = format!("the evidence of {plan_task} cannot be read: {error}");
                self.unanswered(
                    Finding::new(Code::UnreadableFile, message)
                        .at(Place::path(path))
                        .hint(FIX),
                );
            }
            bytes.ok()
        };
        Artifacts {
            changed: read("changed_ops.json").map(|bytes| reported(&bytes)),
            passed: read("verify_summary.json").and_then(|bytes| {
                let summary: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
                Some(summary.get("result")?.as_str()? == "pass")
            }),
        }
    }

    /// Reads the landed paths of peers, which are compared with paths that wait to land.
    ///
    /// Each peer costs a git process, and there may be hundreds, so they are read only if main has
    /// changed since the wave's base at a path that waits.
    fn landed_paths(&self, phase: &mut Phase, waves: &BTreeSet<u32>) {
        for wave in waves {
            let main = phase.waves.get(wave).and_then(|wave| wave.main.as_ref());
            let members = || phase.tasks.iter().filter(|(id, _)| id.wave == *wave);
            let is_met = main.is_none_or(|main| {
                let mut waiting =
                    members().filter_map(|(_, task)| task.touched.as_ref()?.as_ref().ok());
                waiting.any(|touched| touched.meets(&main.committed))
            });
            if is_met {
                let members = phase.tasks.iter_mut().filter(|(id, _)| id.wave == *wave);
                members.for_each(|(_, task)| self.landed_paths_of(task));
            }
        }
    }

    fn landed_paths_of(&self, task: &mut TaskEvidence) {
        let Some(GitCommit {
            id: to,
            parent: Some(from),
            ..
        }) = task.landed.clone()
        else {
            return;
        };
        let answer = self
            .ask(&GitQuestion::Between { from, to })
            .and_then(GitAnswer::changes);
        let touched = Touched::of(&answer.unwrap_or_default());
        task.landed_paths = touched.0.into_keys().collect();
    }

    /// Reads the project's changes for waves with work that waits to land.
    fn main(&mut self, phase: &mut Phase, waves: &BTreeSet<u32>) {
        let Some(head) = phase.repository.as_ref().and_then(|repo| repo.head.clone()) else {
            return;
        };
        let ask = |question: &GitQuestion| {
            let answer = self.ask(question);
            answer
                .and_then(GitAnswer::changes)
                .map(|changes| Touched::of(&changes))
        };
        let files = ask(&GitQuestion::Changes { base: head.clone() });
        let staged = ask(&GitQuestion::Staged);
        let (Ok(files), Ok(staged)) = (files, staged) else {
            return;
        };
        for (number, wave) in &mut phase.waves {
            let Some(base) = wave.base.clone().filter(|_| waves.contains(number)) else {
                continue;
            };
            let (from, to) = (base, head.clone());
            wave.main = ask(&GitQuestion::Between { from, to })
                .ok()
                .map(|committed| Main {
                    committed,
                    files: files.clone(),
                    staged: staged.clone(),
                });
        }
    }
}

/// Returns the finding of a project on another branch than the wave.
///
/// Workers never commit, so several worktrees with the same unknown commit were made from it.
fn wrong_branch<'t>(
    wave: u32,
    members: impl Iterator<Item = (&'t TaskId, &'t TaskEvidence)>,
) -> Option<Finding> {
    let heads: Vec<(&str, bool)> = members
        .filter_map(|(_, task)| task.tree.as_ref())
        .map(|tree| (tree.head.as_str(), tree.has_own_commits))
        .collect();
    let (first, _) = heads.first()?;
    let is_shared = heads.len() > 1 && heads.iter().all(|(head, own)| head == first && *own);
    let message =
        format!("the base of the worktrees of wave {wave} is not on the checked-out branch");
    is_shared.then(|| {
        Finding::new(Code::WrongBranch, message)
            .hint("check out the branch on which the wave was started, then resume again")
    })
}
