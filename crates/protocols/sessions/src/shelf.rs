//! Which sessions there are: all that the programs keep, those of a project, or one that is named.
//!
//! Every transcript is looked at, and the ends of those that changed in the last week are read, the
//! newest first. There is no index: it would save a few milliseconds and keep a second copy of private
//! text.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::SignedDuration;
use rekindle_agents::Preset;
use rekindle_model::Session;
use rekindle_protocol::sessions::{Reach, Scope, SessionCounts, Sessions};
use rekindle_text::{claude_folder_name, shell_word};
use rekindle_world::{GitAnswer, GitQuestion, World};

use crate::assess::{self, Found, Surroundings};
use crate::read::{self, Depth, Opencode, Place};
use crate::story::Story;
use crate::superseded;

/// Sessions that were silent for longer are counted and not read.
pub(crate) const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The most sessions that are read.
const MOST: usize = 400;
/// With `--all` there is still an end.
const MOST_OF_ALL: usize = 200_000;
/// The shortest beginning of an id that is accepted.
const SHORTEST: usize = 4;
/// The most sessions of a name that are read.
const MOST_NAMED: usize = 16;

/// Returns the sessions of a scope.
pub(crate) fn survey(world: &dyn World, scope: Scope, reach: Reach) -> Sessions {
    let (is_whole, most) = match reach {
        Reach::Recent => (false, MOST),
        Reach::All => (true, MOST_OF_ALL),
    };
    let project = world.resolve(world.project());
    let project = project.unwrap_or_else(|_| world.project().to_owned());
    let names = read::places(world);
    let mut shorts = Shorts::of(&names);
    let mut places = read::look(world, in_scope(scope, &project, names));
    let n_all = places.len();
    let since = world.now().checked_sub(RECENT).unwrap_or_default();
    places.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
    if !is_whole {
        places.retain(|place| place.modified.is_none_or(|modified| modified >= since));
    }
    places.truncate(most);
    let mut counts = SessionCounts {
        older: n_all - places.len(),
        ..SessionCounts::default()
    };
    let mut found: Vec<Found> = places
        .into_iter()
        .filter_map(|place| {
            let story = read::read(world, &place, Depth::State)?;
            // Nobody has said anything in it yet.
            let is_empty = story.turn.is_none() && story.is_intact;
            (!is_empty).then(|| Found::file(place, story))
        })
        .collect();
    let (of_database, older) = conversations(world, most, &mut shorts, |spoken| {
        is_whole || spoken.is_none_or(|at| at >= since)
    });
    counts.older += older;
    found.extend(of_database);
    for one in &found {
        shorts.add(one.agent, &one.id);
    }
    let around = Surroundings::new(world, &shorts);
    let mut sessions = assess::assess(&around, found);
    sessions.retain(|session| !is_hidden(&around, session));
    if scope == Scope::Project {
        sessions.retain(|session| is_in(world, &project, session));
    }
    sort(&mut sessions);
    for session in &sessions {
        counts.add(session);
    }
    Sessions { sessions, counts }
}

/// Keeps the transcripts of a scope; Claude Code's are in folders with the names of theirs.
fn in_scope(scope: Scope, project: &Utf8Path, mut places: Vec<Place>) -> Vec<Place> {
    /// Longer names of folders are cut and end in a hash.
    const LONGEST: usize = 200;
    if scope == Scope::Project {
        let own = claude_folder_name(project.as_str());
        let below = match own.get(..LONGEST) {
            Some(cut) => cut.to_owned(),
            None => format!("{own}-"),
        };
        places.retain(|place| {
            let name = place.shelf().file_name().unwrap_or_default();
            place.agent != Preset::Claude || name == own || name.starts_with(&below)
        });
    }
    places
}

/// Reads the sessions of opencode that are meant, and counts the others.
fn conversations(
    world: &dyn World,
    most: usize,
    shorts: &mut Shorts,
    is_meant: impl Fn(Option<jiff::Timestamp>) -> bool,
) -> (Vec<Found>, usize) {
    let Some(database) = Opencode::of(world) else {
        return (Vec::new(), 0);
    };
    let all = database.conversations(most, "");
    for one in &all {
        shorts.add(Preset::Opencode, &one.id);
    }
    let meant: Vec<_> = all.iter().filter(|one| is_meant(one.spoken)).collect();
    let older = all.len() - meant.len();
    let stories = database.read(&meant);
    let both = meant.into_iter().zip(stories);
    let found = both.map(|(one, story)| {
        let owner = database.owner(one, &all);
        Found::conversation(one, database.file(), owner, story)
    });
    (found.collect(), older)
}

/// Sorts sessions by state and time: the newest first, limited ones by the end of their limit.
fn sort(sessions: &mut [Session]) {
    use std::cmp::Reverse;
    sessions.sort_by(|a, b| {
        let key = |session: &Session| {
            let until = (session.state == rekindle_model::SessionState::Limited)
                .then_some((session.until.is_none(), session.until));
            (session.state, until, Reverse(session.last_activity))
        };
        key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
    });
}

/// Returns whether a session is shown elsewhere: with the run that started it, or not at all because
/// it asks.
fn is_hidden(around: &Surroundings<'_>, session: &Session) -> bool {
    let folder = session.folder.as_deref();
    let is_of_a_run =
        folder.is_some_and(|folder| folder.components().any(|part| part.as_str() == ".rekindle"));
    is_of_a_run || around.is_own(session)
}

/// Returns whether a session belongs to a project.
fn is_in(world: &dyn World, project: &Utf8Path, session: &Session) -> bool {
    let folder = session.folder.as_deref();
    folder.is_some_and(|folder| rekindle_agents::traces::is_part_of(world, project, folder))
}

/// Returns the sessions that a name means: one, none, or several.
pub(crate) fn named(world: &dyn World, name: &str) -> Vec<Session> {
    let places = read::look(world, read::places(world));
    let mut shorts = Shorts::of(&places);
    let found = meant(world, &places, &mut shorts, name, Depth::State);
    let around = Surroundings::new(world, &shorts);
    found
        .into_iter()
        .map(|one| {
            let (one, fork) = with_fork(&around, &places, one);
            let mut session = assess::judge(&around, one, fork);
            if !session.folder_exists {
                session.add_worktree = lost_worktree(world, &session);
            }
            session
        })
        .collect()
}

/// Returns the command that brings back the folder of a session, if git still lists it as a worktree of
/// the project and its branch exists.
fn lost_worktree(world: &dyn World, session: &Session) -> Option<String> {
    let folder = session.folder.as_deref()?;
    let project = world.project();
    let Ok(GitAnswer::Worktrees(worktrees)) = world.git(project, &GitQuestion::Worktrees) else {
        return None;
    };
    let lost = worktrees.into_iter().find(|one| one.path == folder)?;
    let branch = lost.branch?;
    let name = format!("refs/heads/{branch}");
    let commit = world.git(project, &GitQuestion::Commit { name }).ok()?;
    let exists = matches!(commit, GitAnswer::Commit(Some(_))) && world.stat(folder).is_err();
    exists.then(|| {
        let [project, folder, branch] =
            [project.as_str(), folder.as_str(), &branch].map(shell_word);
        // Git refuses the place of a worktree that it still lists, unless it is forced.
        format!("git -C {project} worktree add -f {folder} {branch}")
    })
}

/// Returns a session with the newer one that continues it.
fn with_fork(around: &Surroundings<'_>, places: &[Place], of: Found) -> (Found, Option<String>) {
    let mut found = neighbors(around.world, places, &of);
    let id = of.id.clone();
    found.insert(0, of);
    let forks = superseded::by_forks(around, &found, |one| one.id == id);
    (found.swap_remove(0), forks.into_iter().next().flatten())
}

/// Reads the other sessions of the folder of one, which may be its forks.
fn neighbors(world: &dyn World, places: &[Place], of: &Found) -> Vec<Found> {
    if of.agent != Preset::Claude {
        return Vec::new();
    }
    let shelf = of.file.parent();
    let mut others: Vec<&Place> = places
        .iter()
        .filter(|place| place.file.parent() == shelf && place.file != of.file)
        .collect();
    others.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
    let read = |place: &Place| {
        let story = read::read(world, place, Depth::State)?;
        Some(Found::file(place.clone(), story))
    };
    others.into_iter().take(MOST).filter_map(read).collect()
}

/// Reads the sessions that a name means: a short id, a full id, or a beginning of one, each perhaps
/// after the agent.
fn meant(
    world: &dyn World,
    places: &[Place],
    shorts: &mut Shorts,
    name: &str,
    depth: Depth,
) -> Vec<Found> {
    let (agent, id) = match name.split_once(':') {
        Some((agent, id)) => match Preset::of(agent) {
            Some(agent) => (Some(agent), id),
            None => return Vec::new(),
        },
        None => (None, name),
    };
    if !rekindle_agents::traces::is_session_id(id) {
        return Vec::new();
    }
    let is_agent = |of: Preset| agent.is_none_or(|agent| agent == of);
    let mut places: Vec<&Place> = places
        .iter()
        .filter(|place| is_agent(place.agent) && may_be(place, id))
        .collect();
    places.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
    let read = |place: &Place| {
        let story = read::read(world, place, depth)?;
        Some(Found::file(place.clone(), story))
    };
    let files = places.into_iter().take(MOST_NAMED);
    let mut found: Vec<Found> = files.filter_map(read).collect();
    if is_agent(Preset::Opencode)
        && let Some(database) = Opencode::of(world)
    {
        let all = database.conversations(MOST, "");
        let meant = database.conversations(MOST_NAMED, id);
        for one in &all {
            shorts.add(Preset::Opencode, &one.id);
        }
        let stories = database.read(&meant.iter().collect::<Vec<_>>());
        for (one, story) in meant.iter().zip(stories) {
            let owner = database.owner(one, &all);
            found.push(Found::conversation(one, database.file(), owner, story));
        }
    }
    let found = assess::newest_of_each(found);
    for one in &found {
        shorts.add(one.agent, &one.id);
    }
    let best = found
        .iter()
        .filter_map(|one| fit(one.agent, &one.id, id))
        .min();
    let is_best = |one: &Found| best.is_some() && fit(one.agent, &one.id, id) == best;
    found.into_iter().filter(is_best).collect()
}

/// Reads as much of a session as is ever read.
pub(crate) fn whole(world: &dyn World, session: &Session) -> Option<Story> {
    let places = read::look(world, read::places(world));
    let name = format!("{}:{}", session.agent, session.session);
    let found = meant(
        world,
        &places,
        &mut Shorts::default(),
        &name,
        Depth::Everything,
    );
    Some(found.into_iter().next()?.story)
}

/// Returns whether a transcript may be the one that is meant; of Gemini only the beginning is known.
fn may_be(place: &Place, id: &str) -> bool {
    match place.agent {
        Preset::Gemini => place.id.starts_with(id) || id.starts_with(&place.id),
        Preset::Claude | Preset::Codex | Preset::Opencode => {
            fit(place.agent, &place.id, id).is_some()
        }
    }
}

/// Returns how well a name fits an id; less is better.
fn fit(agent: Preset, id: &str, name: &str) -> Option<u8> {
    let short = short(agent, id);
    if id == name {
        Some(0)
    } else if short == name {
        Some(1)
    } else if name.len() >= SHORTEST && (id.starts_with(name) || short.starts_with(name)) {
        Some(2)
    } else {
        None
    }
}

/// Returns the short form of an id: ids of Codex and opencode begin with the time.
pub(crate) fn short(agent: Preset, id: &str) -> &str {
    let part = match agent {
        Preset::Claude | Preset::Gemini => id.get(..8),
        Preset::Codex | Preset::Opencode => id.get(id.len().saturating_sub(8)..),
    };
    part.unwrap_or(id)
}

/// Which sessions have which short ids.
#[derive(Default)]
pub(crate) struct Shorts {
    first: BTreeMap<(&'static str, String), String>,
    /// Those that more than one session has.
    twice: BTreeSet<(&'static str, String)>,
}

impl Shorts {
    /// Returns the short ids of transcripts whose names have whole ids.
    fn of(places: &[Place]) -> Self {
        let mut shorts = Self::default();
        for place in places {
            // A file of Gemini has only the short id in its name.
            if place.agent != Preset::Gemini {
                shorts.add(place.agent, &place.id);
            }
        }
        shorts
    }

    /// Adds a session.
    fn add(&mut self, agent: Preset, id: &str) {
        let key = (agent.name(), short(agent, id).to_owned());
        match self.first.get(&key) {
            Some(first) if first == id => {}
            Some(_) => {
                self.twice.insert(key);
            }
            None => {
                self.first.insert(key, id.to_owned());
            }
        }
    }

    /// Returns the id of a session as it is shown, without the agent.
    pub(crate) fn shown<'a>(&self, agent: Preset, id: &'a str) -> &'a str {
        let short = short(agent, id);
        let is_twice = self.twice.contains(&(agent.name(), short.to_owned()));
        if is_twice { id } else { short }
    }
}

/// Returns the project that a folder belongs to: the top of the repository around it, or itself.
pub(crate) fn project_of(world: &dyn World, folder: &Utf8Path) -> Utf8PathBuf {
    let has_git = |folder: &&Utf8Path| world.stat(&folder.join(".git")).is_ok();
    let top = folder.ancestors().find(has_git);
    top.unwrap_or(folder).to_owned()
}
