//! Sessions of agent programs: one target for the reader of each, whose input is what the program keeps.

use camino::Utf8Path;
use rekindle_model::{Intent, Session};
use rekindle_protocol::Ask;
use rekindle_protocol::sessions::{Reach, Scope};
use rekindle_world::World;

use crate::world::{Grown, HOME, PROJECT};

/// The longest line that is shown of a prompt.
const LONGEST_LINE: usize = 120;

/// A transcript of Claude Code.
pub fn sessions_claude(data: &[u8]) {
    let name = "projects/-w/11111111-2222-4333-8444-555555555555.jsonl";
    look(&Grown::with(&format!("{HOME}/.claude/{name}"), data));
}

/// A transcript of Codex.
pub fn sessions_codex(data: &[u8]) {
    let id = "019bdb10-aaaa-7bbb-8ccc-0123456789a6";
    let name = format!("sessions/2026/01/20/rollout-2026-01-20T11-20-00-{id}.jsonl");
    look(&Grown::with(&format!("{HOME}/.codex/{name}"), data));
}

/// A transcript of Gemini CLI.
pub fn sessions_gemini(data: &[u8]) {
    let name = "tmp/w/chats/session-2026-01-20T11-40-5d5d5d5d.jsonl";
    look(&Grown::with(&format!("{HOME}/.gemini/{name}"), data));
}

/// The rows that opencode's database answers with.
pub fn sessions_opencode(data: &[u8]) {
    let name = "opencode/opencode.db";
    look(&Grown::with(&format!("{HOME}/.local/share/{name}"), data));
}

/// Any files of all programs.
pub fn sessions(data: &[u8]) {
    look(&Grown::new(data));
}

fn look(world: &Grown) {
    let (name, keeper) = rekindle_registry::sessions();
    for (scope, reach) in [
        (Scope::Everywhere, Reach::All),
        (Scope::Project, Reach::Recent),
    ] {
        let found = keeper.survey(world, scope, reach);
        let again = keeper.survey(world, scope, reach);
        assert_eq!(found, again, "equal worlds give equal sessions");
        for session in &found.sessions {
            check(session);
            drop(keeper.briefing(world, session));
            drop(keeper.findings(session));
            let page = keeper.handover(world, session).unwrap_or_default();
            assert!(page.len() <= 32 * 1024, "{}", page.len());
        }
    }
    let protocol = rekindle_registry::find(name);
    let ask = Ask {
        name: Some("1111".to_owned()),
        ..Ask::default()
    };
    drop(protocol.inspect(world, &ask).plan(world, &Intent::Open));
    assert_eq!(world.project(), Utf8Path::new(PROJECT));
}

fn check(session: &Session) {
    for line in session.prompt.iter().chain(&session.said) {
        assert!(line.chars().count() <= LONGEST_LINE, "{line}");
        assert!(!line.contains('\n'), "{line:?}");
    }
    for word in session.interactive.iter().chain(&session.headless) {
        assert!(!word.contains(['\n', ' ']), "{word:?}");
    }
    assert_eq!(session.is_safe(), session.reasons.is_empty());
}
