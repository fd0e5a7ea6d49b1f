//! Removes what is no longer needed after a person agrees: records of finished runs, merged branches, backups.
//!
//! What is not merged is removed only by its name. A ref is deleted only where it was when the person was
//! asked, and its commit is reported, so that it can be brought back while git has it.

use std::time::Duration;

use camino::Utf8PathBuf;
use rekindle_git::{Branch, ObjectId, Program, Repo, Rescue, Staged};
use rekindle_model::{Summary, WorkflowId};
use rekindle_text::{count, excerpt};

use crate::choose::inspect_world;
use crate::{AtWork, Error, Face, Listing, Overview, Project, Query, clean, rescue, status};

/// Where the branches of runs are.
pub(crate) const OURS: &str = "rekindle/";
/// The file that only a run of ours has.
const RUN_FILE: &str = "rekindle-run.json";
/// The longest name that is shown.
const LONGEST: usize = 200;

/// What may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PruneKind {
    /// The records of a finished run.
    Run,
    /// A branch of a run.
    Branch,
    /// A backup of a worktree.
    Rescue,
}

impl PruneKind {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Branch => "branch",
            Self::Rescue => "backup",
        }
    }
}

/// Something that may be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prunable {
    /// What it is.
    pub kind: PruneKind,
    /// Its name, as it can be typed.
    pub name: String,
    /// Why it is removed, or why not, in one printable line.
    pub why: String,
    /// The commit of a branch or backup.
    pub commit: Option<String>,
    standing: Standing,
    target: Target,
}

/// Whether something is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is no longer needed.
    Over,
    /// It is removed only by its name.
    Kept,
    /// It is in use.
    InUse,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// The run of a workflow, with its folder if that is ours.
    Records(WorkflowId, Option<Utf8PathBuf>),
    /// A ref, and where it is.
    Ref(String, ObjectId),
}

/// The result.
#[derive(Debug, Default)]
pub struct Pruning {
    /// What was removed.
    pub removed: Vec<Prunable>,
    /// What was left, since it is not merged.
    pub kept: Vec<Prunable>,
    /// What could not be removed, with the reason.
    pub stuck: Vec<(Prunable, String)>,
    /// Whether the person declined.
    pub is_declined: bool,
}

/// What is removed.
#[derive(Debug, Clone)]
pub struct PruneWish {
    /// Only these, merged or not.
    pub names: Vec<String>,
    /// Records and backups count as old after this time.
    pub older_than: Duration,
    /// Whether the person agreed in advance.
    pub yes: bool,
}

/// Removes what the person agrees to.
pub fn prune(project: &Project, wish: &PruneWish, face: &mut dyn Face) -> Result<Pruning, Error> {
    clean::sweep_drafts(project);
    project.state().sweep_records();
    let found = Look::new(project, wish)?.all()?;
    let (chosen, kept) = choose(found, &wish.names)?;
    let mut pruning = Pruning {
        kept,
        ..Pruning::default()
    };
    if chosen.is_empty() {
        return Ok(pruning);
    }
    let text = question(&chosen);
    if !wish.yes && !face.agree(&text).given()? {
        pruning.is_declined = true;
        return Ok(pruning);
    }
    for one in chosen {
        match remove(project, &one) {
            Ok(()) => pruning.removed.push(one),
            Err(error) => pruning.stuck.push((one, reason(&error))),
        }
    }
    Ok(pruning)
}

/// Splits what is removed from what stays.
fn choose(found: Vec<Prunable>, names: &[String]) -> Result<(Vec<Prunable>, Vec<Prunable>), Error> {
    if names.is_empty() {
        let (over, rest): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|one| one.standing == Standing::Over);
        let is_kept = |one: &Prunable| one.standing == Standing::Kept;
        return Ok((over, rest.into_iter().filter(is_kept).collect()));
    }
    let mut chosen = Vec::new();
    for name in names {
        let named: Vec<&Prunable> = found.iter().filter(|one| one.is_named(name)).collect();
        match named.as_slice() {
            [] => {
                return Err(Error::NotPrunable {
                    name: name.clone(),
                    reason:
                        "there is no finished run, branch below `rekindle/` or backup of that name"
                            .to_owned(),
                });
            }
            [one] if one.standing == Standing::InUse => {
                return Err(Error::NotPrunable {
                    name: name.clone(),
                    reason: one.why.clone(),
                });
            }
            all => chosen.extend(all.iter().map(|one| (*one).clone())),
        }
    }
    chosen.retain(|one| one.standing != Standing::InUse);
    chosen.dedup();
    Ok((chosen, Vec::new()))
}

impl Prunable {
    fn is_named(&self, name: &str) -> bool {
        match &self.target {
            Target::Records(id, _) => name == id.name || name == self.name,
            Target::Ref(full, _) => name == full || name == self.name,
        }
    }
}

fn question(chosen: &[Prunable]) -> String {
    let lines: Vec<String> = chosen
        .iter()
        .map(|one| {
            let name = excerpt(&one.name, LONGEST);
            format!("\n  {:<6}  {name}: {}", one.kind.as_str(), one.why)
        })
        .collect();
    let loses = chosen.iter().any(|one| one.kind == PruneKind::Run);
    let lost = if loses {
        " (with what agents and checks printed)"
    } else {
        ""
    };
    format!("These will be removed{lost}:{}", lines.concat())
}

fn remove(project: &Project, one: &Prunable) -> Result<(), Error> {
    match &one.target {
        Target::Records(id, folder) => project
            .state()
            .remove_records(id, folder.as_deref(), project.now())
            .map_err(|error| {
                if let rekindle_runner::Error::Files(error) = error {
                    Error::Files(error)
                } else {
                    Error::from_run(id, error)
                }
            }),
        Target::Ref(name, at) => repo(project)?.delete_ref(name, at).map_err(Error::Git),
    }
}

/// Returns an error with all of its causes, in one line.
fn reason(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let all = std::iter::once(error.to_string()).chain(causes.map(ToString::to_string));
    all.collect::<Vec<String>>().join(": ")
}

fn repo(project: &Project) -> Result<Repo, Error> {
    let program = Program::find(&project.search_path).map_err(Error::Git)?;
    Ok(Repo::at(&program, project.folder()))
}

/// What is known of the project while it is looked through.
struct Look<'p> {
    project: &'p Project,
    repo: Repo,
    overview: Overview,
    /// The open workflows, by their names.
    open: Vec<String>,
    /// The branches on which open workflows land.
    busy: Vec<String>,
    older_than: Duration,
    /// Whether something is named, which may then be young.
    is_named: bool,
}

impl<'p> Look<'p> {
    fn new(project: &'p Project, wish: &PruneWish) -> Result<Self, Error> {
        let overview = status(
            project,
            Listing {
                all: true,
                ..Listing::default()
            },
        );
        let is_open = |summary: &&Summary| {
            summary.state.is_open() || AtWork::on(project, &summary.id).ok().flatten().is_some()
        };
        let open: Vec<&Summary> = overview.workflows.iter().filter(is_open).collect();
        let names: Vec<String> = open.iter().map(|one| one.id.name.clone()).collect();
        let mut busy: Vec<String> = names.iter().map(|name| format!("{OURS}{name}")).collect();
        busy.extend(open.iter().filter_map(|one| branch_of(project, &one.id)));
        Ok(Self {
            project,
            repo: repo(project)?,
            open: names,
            busy,
            older_than: wish.older_than,
            is_named: !wish.names.is_empty(),
            overview,
        })
    }

    fn all(&self) -> Result<Vec<Prunable>, Error> {
        let branches = self.repo.branches_below(OURS).map_err(Error::Git)?;
        let mut all = self.runs()?;
        for branch in branches {
            all.push(self.branch(branch)?);
        }
        let landed_in = self.landed_in()?;
        for rescue in self.repo.rescues().map_err(Error::Git)? {
            all.push(self.rescue(rescue, landed_in.as_ref())?);
        }
        Ok(all)
    }

    /// Returns the finished runs of which there are records.
    fn runs(&self) -> Result<Vec<Prunable>, Error> {
        let mut runs = Vec::new();
        for summary in &self.overview.workflows {
            let id = &summary.id;
            let is_over = !summary.state.is_open() && !self.open.contains(&id.name);
            let age = summary.last_activity.map(|at| self.age(at.as_second()));
            let is_old = age.is_none_or(|age| age > self.older_than);
            if !is_over || !(is_old || self.is_named) {
                continue;
            }
            let folder = summary.view.is_ours.then(|| self.folder_of(id)).flatten();
            let records = self.project.state().records(id).map_err(Error::Run)?;
            let is_unfinished = self.project.state().is_unfinished(id)?;
            if (records.is_empty() && folder.is_none()) || is_unfinished {
                continue;
            }
            let age = age.map_or_else(|| "of unknown age".to_owned(), spoken);
            let unmerged = self.unmerged_branch(id)?;
            let (standing, why) = match unmerged {
                Some(branch) => {
                    let branch = excerpt(&branch, LONGEST);
                    (
                        Standing::Kept,
                        format!("{age}; its branch `{branch}` is not merged"),
                    )
                }
                None => (Standing::Over, age),
            };
            runs.push(Prunable {
                kind: PruneKind::Run,
                name: id.to_string(),
                why,
                commit: None,
                standing,
                target: Target::Records(id.clone(), folder),
            });
        }
        Ok(runs)
    }

    /// Returns the folder of a run that `rekindle run` made, unless git tracks something in it.
    fn folder_of(&self, id: &WorkflowId) -> Option<Utf8PathBuf> {
        let home = rekindle_registry::find(id.protocol).starter()?.home();
        let folder = Utf8PathBuf::from(home).join(&id.name);
        let is_ours = self.project.folder().join(&folder).join(RUN_FILE).is_file();
        let tracked = self.repo.tracked(folder.as_str()).ok()?;
        (is_ours && tracked.is_empty()).then_some(folder)
    }

    /// Returns the branch of a finished run, if it is there and not merged.
    fn unmerged_branch(&self, id: &WorkflowId) -> Result<Option<String>, Error> {
        let Some(name) = branch_of(self.project, id) else {
            return Ok(None);
        };
        let full = format!("refs/heads/{name}");
        let Some(tip) = self.repo.resolve(&full).map_err(Error::Git)? else {
            return Ok(None);
        };
        let is_merged = self.merged_into(&name, &tip)?.is_some();
        Ok((!is_merged).then_some(name))
    }

    /// Returns a branch of the user's that has all of this one.
    fn merged_into(&self, name: &str, tip: &ObjectId) -> Result<Option<String>, Error> {
        let with = self.repo.branches_with(tip).map_err(Error::Git)?;
        let mut others = with.into_iter();
        Ok(others.find(|other| other != name && !other.starts_with(OURS)))
    }

    fn branch(&self, branch: Branch) -> Result<Prunable, Error> {
        let common = self.repo.common_dir().map_err(Error::Git)?;
        let is_checked_out = self
            .repo
            .is_checked_out(&common, &branch.name)
            .map_err(Error::Git)?;
        let merged = self.merged_into(&branch.name, &branch.tip)?;
        let (standing, why) = if is_checked_out {
            (Standing::InUse, "it is checked out".to_owned())
        } else if self.busy.contains(&branch.name) {
            (Standing::InUse, "its run is not finished".to_owned())
        } else {
            match merged {
                Some(other) => {
                    let other = excerpt(&other, LONGEST);
                    (Standing::Over, format!("merged into `{other}`"))
                }
                None => (Standing::Kept, "not merged".to_owned()),
            }
        };
        Ok(Prunable {
            kind: PruneKind::Branch,
            why,
            commit: Some(branch.tip.to_string()),
            standing,
            target: Target::Ref(branch.ref_name(), branch.tip.clone()),
            name: branch.name,
        })
    }

    /// Returns what counts as landed: the commit that is checked out, with the name of its branch.
    fn landed_in(&self) -> Result<Option<(ObjectId, String)>, Error> {
        let head = self.repo.head().map_err(Error::Git)?;
        let name = head.branch().unwrap_or("HEAD").to_owned();
        Ok(head.commit().map(|commit| (commit.clone(), name)))
    }

    fn rescue(
        &self,
        rescue: Rescue,
        landed_in: Option<&(ObjectId, String)>,
    ) -> Result<Prunable, Error> {
        let age = self.age(rescue.made_at);
        let landed = match landed_in {
            Some((commit, name)) if self.has_landed(&rescue, commit)? => Some(name),
            Some(_) | None => None,
        };
        let (standing, why) = match landed {
            _ if self.open.contains(&rescue.workflow) => {
                (Standing::InUse, "its run is not finished".to_owned())
            }
            Some(name) => {
                let name = excerpt(name, LONGEST);
                (Standing::Over, format!("all of it is in `{name}`"))
            }
            None if age > self.older_than => {
                (Standing::Over, format!("{}, not landed", spoken(age)))
            }
            None => (Standing::Kept, format!("{}, not landed", spoken(age))),
        };
        Ok(Prunable {
            kind: PruneKind::Rescue,
            name: rescue.short_name().to_owned(),
            why,
            commit: Some(rescue.commit.to_string()),
            standing,
            target: Target::Ref(rescue.name, rescue.commit),
        })
    }

    /// Returns whether a commit has all that a rescue saved: every file that differs from its base as it
    /// was, nothing else that was staged, and no commit that only the rescue has.
    fn has_landed(&self, saved: &Rescue, commit: &ObjectId) -> Result<bool, Error> {
        let shown = rescue::shown(&self.repo, saved.clone())?;
        if saved.staged == Staged::Apart || !shown.commits.is_empty() || shown.left_out > 0 {
            return Ok(false);
        }
        let differing = self.repo.between(commit, &saved.tree).map_err(Error::Git)?;
        let mut files = shown.files.iter();
        Ok(files.all(|file| {
            let mut differing = differing.iter();
            !differing.any(|other| other.path == file.change.path)
        }))
    }

    fn age(&self, at: i64) -> Duration {
        let seconds = self.project.now().as_second().saturating_sub(at);
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }
}

/// Returns the branch on which the work of a workflow lands.
fn branch_of(project: &Project, id: &WorkflowId) -> Option<String> {
    let world = project.world();
    let inspected = inspect_world(&world, &Query::only(id)).ok()?;
    inspected.case.history(&world)?.branch
}

/// Returns an age in days, or hours of the first one.
fn spoken(age: Duration) -> String {
    let hours = usize::try_from(age.as_secs() / 3600).unwrap_or(usize::MAX);
    match hours {
        0..24 => format!("{} old", count(hours, "hour")),
        _ => format!("{} old", count(hours / 24, "day")),
    }
}
