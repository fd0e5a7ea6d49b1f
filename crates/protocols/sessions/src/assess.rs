//! From what was read to what it means: state, holder, safety.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rekindle_agents::Preset;
use rekindle_agents::limit::reset_time;
use rekindle_agents::traces::{ClaudeProcess, Life, Lives, Owner, codex_lock};
use rekindle_model::{
    Holder, LeftProcess, OpenKind, OpenStep, Session, SessionState, SubAgent, TodoList, Unsafe,
    WorkflowId,
};
use rekindle_text::is_plain_word;
use rekindle_world::{Kind, World};

use crate::layout;
use crate::read::{Claude, Conversation, Place};
use crate::shelf::{RECENT, Shorts, project_of};
use crate::story::{Failure, Story, one_line};
use crate::superseded;
use crate::table::{Limit, Signals, Step, Turn, decide};

/// The most edited files that are shown.
const MOST_TOUCHED: usize = 20;

/// A session that was read.
pub(crate) struct Found {
    pub(crate) agent: Preset,
    pub(crate) id: String,
    pub(crate) story: Story,
    /// The transcript or database.
    pub(crate) file: Utf8PathBuf,
    pub(crate) modified: Option<Timestamp>,
    /// Where it was found, if it has a file of its own.
    pub(crate) place: Option<Place>,
    /// Who may have it open, if that is known when it is read.
    owner: Option<Owner>,
}

impl Found {
    /// Returns a session with a transcript of its own.
    pub(crate) fn file(place: Place, story: Story) -> Self {
        Self {
            agent: place.agent,
            id: story.id.clone().unwrap_or_else(|| place.id.clone()),
            file: place.file.clone(),
            modified: place.modified,
            place: Some(place),
            owner: None,
            story,
        }
    }

    /// Returns a session of opencode.
    pub(crate) fn conversation(
        of: &Conversation,
        file: &Utf8Path,
        owner: Owner,
        story: Story,
    ) -> Self {
        Self {
            agent: Preset::Opencode,
            id: of.id.clone(),
            file: file.to_owned(),
            modified: of.spoken,
            place: None,
            owner: Some(owner),
            story,
        }
    }

    /// Returns when something last happened in it.
    pub(crate) fn last_activity(&self) -> Option<Timestamp> {
        self.story.last_activity.or(self.modified)
    }
}

/// What is looked up once for many sessions.
pub(crate) struct Surroundings<'w> {
    pub(crate) world: &'w dyn World,
    pub(crate) shorts: &'w Shorts,
    pub(crate) lives: Lives<'w>,
    pub(crate) claude: Claude,
}

/// Judges sessions that were read together; those that are finished need no continuation, so nothing
/// is searched for one.
pub(crate) fn assess(around: &Surroundings<'_>, found: Vec<Found>) -> Vec<Session> {
    let found = newest_of_each(found);
    let is_open = |one: &Found| one.story.turn != Some(Turn::Over) || !one.story.calls.is_empty();
    let forks = superseded::by_forks(around, &found, is_open);
    let both = found.into_iter().zip(forks);
    both.map(|(one, fork)| judge(around, one, fork)).collect()
}

/// Returns one of several files with the same session: the one in which something happened last.
pub(crate) fn newest_of_each(found: Vec<Found>) -> Vec<Found> {
    let mut newest: BTreeMap<(&'static str, String), Found> = BTreeMap::new();
    for one in found {
        let key = (one.agent.name(), one.id.clone());
        let is_older = newest
            .get(&key)
            .is_some_and(|other| other.last_activity() >= one.last_activity());
        if !is_older {
            newest.insert(key, one);
        }
    }
    newest.into_values().collect()
}

/// Returns the id of a session as people type it.
pub(crate) fn id(shorts: &Shorts, agent: Preset, session: &str) -> WorkflowId {
    let shown = shorts.shown(agent, session);
    WorkflowId::new(crate::NAME, format!("{}:{shown}", agent.name()))
}

/// Judges one session.
pub(crate) fn judge(
    around: &Surroundings<'_>,
    found: Found,
    superseded_by: Option<String>,
) -> Session {
    let world = around.world;
    let last_activity = found.last_activity();
    let (alive, holder, may_be_held) = holder(around, &found);
    let subagents = subagents(around, &found);
    let story = &found.story;
    let until = story
        .failure
        .as_ref()
        .and_then(|failure| limit_ends(world, failure, last_activity));
    let waited = found.agent == Preset::Claude && around.claude.waited_for_permission(&found.id);
    let signals = Signals {
        is_held: alive == Some(true),
        is_readable: story.turn.is_some(),
        is_superseded: superseded_by.is_some(),
        limit: limit(world, story, until),
        turn: story.turn.unwrap_or(Turn::Open),
        step: step(story),
        waited,
        has_subagent: !subagents.is_empty(),
    };
    let (state, kind) = decide(signals);
    let folder = story
        .folder
        .as_deref()
        .map(|folder| resolved(world, folder));
    let folder_exists = folder
        .as_deref()
        .is_some_and(|folder| is_own_folder(world, folder));
    let project = folder.as_deref().map(|folder| project_of(world, folder));
    let left = if state == SessionState::Running {
        Vec::new()
    } else {
        left(around, &found, folder.as_deref())
    };
    let silent = last_activity.map(|at| world.now().duration_since(at));
    let mut session = Session {
        id: id(around.shorts, found.agent, &found.id),
        agent: found.agent.name(),
        title: story.title.as_deref().and_then(one_line),
        state,
        until: matches!(kind, OpenKind::Limit).then_some(until).flatten(),
        open: open_step(story, kind, &subagents),
        prompt: story.prompt.as_deref().and_then(one_line),
        said: story.said.as_deref().and_then(one_line),
        todo: todo(around, &found),
        touched: touched(world, &found.story, folder.as_deref(), project.as_deref()),
        branch: story.branch.as_deref().and_then(one_line),
        folder_exists,
        subagents,
        alive,
        holder,
        left,
        last_activity,
        is_stale: state != SessionState::Running && silent.is_some_and(|silent| silent >= RECENT),
        is_headless: story.is_headless,
        is_torn: story.is_torn,
        reasons: Vec::new(),
        interactive: interactive(found.agent, &found.id),
        headless: headless(found.agent, &found.id),
        add_worktree: None,
        transcript: found.file,
        session: found.id,
        folder,
        project,
        superseded_by,
    };
    session.reasons = reasons(&session, may_be_held);
    session
}

/// Returns whether a process has a session open, which one, and whether one may have it.
fn holder(around: &Surroundings<'_>, found: &Found) -> (Option<bool>, Option<Holder>, bool) {
    let process = |pid| Holder {
        pid,
        is_server: false,
    };
    let life = match found.agent {
        Preset::Claude => {
            let owners = around.claude.of(&found.id).filter_map(ClaudeProcess::owner);
            let lives = owners.map(|owner| around.lives.life(&owner));
            lives.max().unwrap_or(Life::Gone)
        }
        Preset::Codex => return codex_holder(around, &found.id),
        // The first query that found the session has looked who has the database open.
        Preset::Opencode => {
            let owner = found.owner.as_ref();
            owner.map_or(Life::Gone, |owner| around.lives.life(owner))
        }
        // It keeps nothing about its processes.
        Preset::Gemini => return (None, None, false),
    };
    match life {
        Life::Alive(pid) => (Some(true), Some(process(pid)), false),
        Life::Unknown(pid) => (None, pid.map(|pid| process(Some(pid))), true),
        Life::Gone => (Some(false), None, false),
    }
}

/// Returns who holds the lock of a session of Codex, which may be its server.
fn codex_holder(around: &Surroundings<'_>, id: &str) -> (Option<bool>, Option<Holder>, bool) {
    let lock = layout::codex(around.world).map(|home| codex_lock(&home, id));
    let lock = lock.filter(|lock| around.world.is_file(lock));
    let Some(lock) = lock else {
        return (Some(false), None, false);
    };
    let is_held = around.lives.life(&Owner::Lock(lock.clone())) > Life::Gone;
    if !is_held {
        return (Some(false), None, false);
    }
    let lock = around.world.resolve(&lock).unwrap_or(lock);
    let openers = around.lives.openers(&lock);
    let is_server =
        |opener: &rekindle_world::Opener| opener.command.iter().any(|word| word == "app-server");
    let server = openers.iter().find(|opener| is_server(opener));
    let holder = Holder {
        pid: server.or(openers.first()).map(|opener| opener.pid),
        is_server: server.is_some(),
    };
    (Some(true), Some(holder), false)
}

fn subagents(around: &Surroundings<'_>, found: &Found) -> Vec<SubAgent> {
    match (&found.place, found.agent) {
        (Some(place), Preset::Claude) => Claude::subagents(around.world, place, &found.story),
        _ => Vec::new(),
    }
}

/// Returns when the usage limit of a failure ends: words mean the first such time after the failure.
fn limit_ends(
    world: &dyn World,
    failure: &Failure,
    last_activity: Option<Timestamp>,
) -> Option<Timestamp> {
    let words = failure.limit.as_ref()?.resets_at.as_deref()?;
    let at = failure.at.or(last_activity).unwrap_or_else(|| world.now());
    reset_time(words, &at.to_zoned(world.zone()), |name| {
        TimeZone::get(name).ok()
    })
}

fn limit(world: &dyn World, story: &Story, until: Option<Timestamp>) -> Limit {
    match (&story.failure, until) {
        (Some(failure), Some(until)) if failure.limit.is_some() => {
            if until > world.now() {
                Limit::Holds
            } else {
                Limit::Over
            }
        }
        (Some(failure), None) if failure.limit.is_some() => Limit::Holds,
        (Some(_) | None, _) => Limit::None,
    }
}

fn step(story: &Story) -> Step {
    match story.calls.last() {
        Some(call) if call.is_question() => Step::Question,
        Some(_) => Step::Tool,
        None => Step::None,
    }
}

fn open_step(story: &Story, kind: OpenKind, subagents: &[SubAgent]) -> OpenStep {
    let call = match kind {
        OpenKind::Tool | OpenKind::Question | OpenKind::Permission => story.calls.last(),
        OpenKind::None
        | OpenKind::Turn
        | OpenKind::Limit
        | OpenKind::Error
        | OpenKind::Stopped
        | OpenKind::Subagent => None,
    };
    let step = match kind {
        OpenKind::Subagent => subagents.last().and_then(|one| one.step.clone()),
        OpenKind::Error => {
            let text = story.failure.as_ref().map(|failure| &failure.text);
            text.and_then(|text| one_line(text))
        }
        OpenKind::None
        | OpenKind::Tool
        | OpenKind::Turn
        | OpenKind::Question
        | OpenKind::Permission
        | OpenKind::Limit
        | OpenKind::Stopped => call.map(|call| call.step.clone()),
    };
    OpenStep {
        kind,
        tool: call.map(|call| call.tool.clone()),
        step,
        calls: if call.is_some() { story.calls.len() } else { 0 },
    }
}

fn todo(around: &Surroundings<'_>, found: &Found) -> Option<TodoList> {
    let kept = match found.agent {
        Preset::Claude => around.claude.tasks(around.world, &found.id),
        Preset::Codex | Preset::Gemini | Preset::Opencode => None,
    };
    kept.or_else(|| found.story.todo.clone())
}

/// Returns the edited files, newest first, relative to the project.
fn touched(
    world: &dyn World,
    story: &Story,
    folder: Option<&Utf8Path>,
    project: Option<&Utf8Path>,
) -> Vec<String> {
    let newest = story.touched.iter().rev();
    let mut files: Vec<String> = Vec::new();
    for path in newest {
        let path = folder.map_or_else(|| path.into(), |folder| folder.join(path));
        let path = resolved(world, &path);
        let inside = project.and_then(|project| path.strip_prefix(project).ok());
        let path = inside.unwrap_or(&path).as_str();
        if let Some(shown) = one_line(path)
            && !files.contains(&shown)
        {
            files.push(shown);
        }
        if files.len() == MOST_TOUCHED {
            break;
        }
    }
    files
}

/// Returns what a session left running.
fn left(around: &Surroundings<'_>, found: &Found, folder: Option<&Utf8Path>) -> Vec<LeftProcess> {
    let own = around.world.variable("CLAUDE_PID");
    let folder = folder.unwrap_or(Utf8Path::new("/nonexistent"));
    let left = around
        .lives
        .left_by(found.agent, &found.id, folder, own.as_deref());
    left.into_iter()
        .map(|process| LeftProcess {
            pid: process.pid,
            program: program(&process.command),
        })
        .collect()
}

/// Returns the name of a program, from the first words of its command line.
fn program(command: &[String]) -> String {
    let first = command.first().map_or("", String::as_str);
    let name = first.rsplit('/').next().unwrap_or(first);
    one_line(name).unwrap_or_else(|| "a program".to_owned())
}

fn reasons(session: &Session, may_be_held: bool) -> Vec<Unsafe> {
    let is = |state: SessionState| session.state == state;
    let is_unreadable = is(SessionState::Unreadable);
    let every = [
        (session.alive == Some(true), Unsafe::Held),
        (may_be_held, Unsafe::MaybeHeld),
        // Of what cannot be read the folder may be unknown.
        (
            !(session.folder_exists || is_unreadable && session.folder.is_none()),
            Unsafe::FolderGone,
        ),
        (is(SessionState::Limited), Unsafe::Limited),
        (session.superseded_by.is_some(), Unsafe::Superseded),
        (is_unreadable, Unsafe::Unreadable),
        (!session.left.is_empty(), Unsafe::LeftProcesses),
    ];
    let holds = every.into_iter().filter(|(holds, _)| *holds);
    holds.map(|(_, reason)| reason).collect()
}

/// Returns a path with its links resolved; of what is gone, those of the folders that are there.
fn resolved(world: &dyn World, path: &Utf8Path) -> Utf8PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = world.resolve(above) {
            let rest = path.strip_prefix(above).unwrap_or(Utf8Path::new(""));
            return if rest.as_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
        }
    }
    path.to_owned()
}

fn is_own_folder(world: &dyn World, folder: &Utf8Path) -> bool {
    let is_folder = world
        .stat(folder)
        .is_ok_and(|meta| meta.kind == Kind::Folder);
    is_folder
        && world
            .ownership(folder)
            .is_ok_and(|found| found.owner == rekindle_world::Owner::Me)
}

impl<'w> Surroundings<'w> {
    /// Returns the surroundings of sessions, of which nothing was looked up yet.
    pub(crate) fn new(world: &'w dyn World, shorts: &'w Shorts) -> Self {
        Self {
            world,
            shorts,
            lives: Lives::new(world),
            claude: Claude::new(world),
        }
    }

    /// Returns whether a session is the one that asks.
    pub(crate) fn is_own(&self, session: &Session) -> bool {
        let names = ["CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"];
        let is_named = |name: &&str| self.world.variable(name).as_ref() == Some(&session.session);
        let pid = session.holder.as_ref().and_then(|holder| holder.pid);
        let has_started_us = |pid: u32| self.lives.ancestors().contains(&pid);
        names.iter().any(is_named) || pid.is_some_and(has_started_us)
    }
}

/// Returns the command that continues a session in a terminal.
fn interactive(agent: Preset, id: &str) -> Vec<String> {
    let words: &[&str] = match agent {
        Preset::Claude => &["claude", "--resume", id],
        Preset::Codex => &["codex", "resume", id],
        Preset::Opencode => &["opencode", "-s", id],
        Preset::Gemini => &["gemini", "--resume", id],
    };
    command(words, id)
}

/// Returns the command that continues a session without a terminal.
fn headless(agent: Preset, id: &str) -> Vec<String> {
    let words: &[&str] = match agent {
        Preset::Claude => &["claude", "-p", "--resume", id],
        Preset::Codex => &["codex", "exec", "resume", id],
        Preset::Opencode => &["opencode", "run", "-s", id],
        Preset::Gemini => &["gemini", "--resume", id],
    };
    command(words, id)
}

/// Returns the words of a command, whose id must be a plain word.
fn command(words: &[&str], id: &str) -> Vec<String> {
    if !is_plain_word(id, 200) {
        return Vec::new();
    }
    words.iter().map(|&word| word.to_owned()).collect()
}
