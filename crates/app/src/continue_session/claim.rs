//! Who continues a session: one rekindle at a time, and then the program that it became.

use camino::Utf8PathBuf;
use jiff::{SignedDuration, Timestamp};
use rekindle_agents::Preset;
use rekindle_fs::{Company, Content, Liveness, Lock, LockError, ProcessIdentity};
use rekindle_model::Session;
use rekindle_wire::Claimed;

use super::SessionError;
use crate::{Error, Project};

/// A program that keeps a list of its own is in it after this time.
const REGISTERED: SignedDuration = SignedDuration::from_secs(60);
/// A note is a few hundred bytes long.
const LARGEST: u64 = 64 * 1024;

/// The claim to continue a session, held by the kernel while this lives.
pub(super) struct Claim {
    _lock: Lock,
    note: Utf8PathBuf,
    at: Timestamp,
}

/// Returns rekindle's own folder of sessions, outside of every project.
pub(super) fn folder(project: &Project) -> Result<Utf8PathBuf, Error> {
    let key = project.key.as_ref().and_then(|key| key.parent());
    key.map(|state| state.join("agent-sessions"))
        .ok_or_else(|| SessionError::NoStateFolder.into())
}

impl Claim {
    /// Takes the claim, unless another rekindle has it or a program that one became is still there.
    pub(super) fn take(project: &Project, session: &Session) -> Result<Self, Error> {
        let folder = folder(project)?;
        rekindle_fs::ensure_private_dir(&folder, Company::Nobody)?;
        let name = format!("{}-{}", session.agent, session.session);
        let purpose = format!("resume {}", session.id);
        let stamp = rekindle_text::format_seconds(project.now());
        let lock = folder.join(format!("{name}.lock"));
        let lock = Lock::acquire(&lock, &purpose, stamp).map_err(|source| match source {
            LockError::Held { .. } => Error::Held {
                id: session.id.clone(),
                source,
            },
            LockError::Unusable(source) => Error::Files(source),
        })?;
        let claim = Self {
            _lock: lock,
            note: folder.join(format!("{name}.json")),
            at: project.now(),
        };
        match claim.holder(session) {
            Some(pid) => {
                let id = session.id.clone();
                let message =
                    format!("process {pid}, which rekindle started, has the session open");
                Err(SessionError::Held { id, message }.into())
            }
            None => Ok(claim),
        }
    }

    /// Returns the program that an earlier rekindle became or started, if it may have the session.
    fn holder(&self, session: &Session) -> Option<u32> {
        let bytes = rekindle_fs::read_followed(&self.note, LARGEST).ok()??;
        let started: Claimed<ProcessIdentity> = Claimed::parse(&bytes)?;
        let since: Timestamp = started.at.parse().ok()?;
        // Later it may have turned to another session, which its own list says.
        let is_registered = match Preset::of(session.agent)? {
            Preset::Claude | Preset::Codex => self.at.duration_since(since) > REGISTERED,
            Preset::Gemini | Preset::Opencode => false,
        };
        let is_alive = started.process.is_alive() == Liveness::Alive;
        (is_alive && !is_registered).then_some(started.process.pid)
    }

    /// Notes the process that has the session from now on.
    pub(super) fn started(&self, process: &ProcessIdentity) -> Result<(), Error> {
        let note = Claimed::new(process.clone(), rekindle_text::format_seconds(self.at));
        let before = Content::read(&self.note)?;
        rekindle_fs::replace(&self.note, &before, &note.to_bytes())?;
        Ok(())
    }
}
