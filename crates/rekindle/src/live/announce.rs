//! What a terminal shows besides its text: the title of its window, and progress in its tab or taskbar.
//!
//! The title is put back at the end by the terminal itself, which keeps the old one.

use std::io::{IsTerminal as _, Write as _};

use rekindle_app::Tally;
use rekindle_text::excerpt;

use crate::environment::{self, Notices, TerminalKind};

/// `CSI 22;2t` and `CSI 23;2t` keep a title and bring it back.
const KEEP_TITLE: &str = "\x1b[22;2t";
const OLD_TITLE: &str = "\x1b[23;2t";
const NO_PROGRESS: &str = "\x1b]9;4;0\x07";

/// Keeps title and progress up to date.
#[derive(Debug)]
pub(super) struct Announcer {
    kind: TerminalKind,
    /// What was told last.
    told: Option<Tally>,
}

impl Announcer {
    pub(super) fn new() -> Self {
        Self {
            kind: environment::terminal_kind(),
            told: None,
        }
    }

    pub(super) fn tell(&mut self, tally: Tally) {
        if self.told == Some(tally) {
            return;
        }
        let is_first = self.told.replace(tally).is_none();
        send(&sequences(self.kind, tally, is_first));
    }

    pub(super) fn end(&mut self) {
        if self.told.take().is_none() {
            return;
        }
        let title = if self.kind.has_title { OLD_TITLE } else { "" };
        let progress = if self.kind.has_progress {
            NO_PROGRESS
        } else {
            ""
        };
        send(&format!("{title}{progress}"));
    }
}

/// Returns the control sequences for a state of the run.
fn sequences(kind: TerminalKind, tally: Tally, is_first: bool) -> String {
    let total = tally.total - tally.skipped;
    let mut text = String::new();
    if kind.has_title {
        if is_first {
            text.push_str(KEEP_TITLE);
        }
        text.push_str(&format!("\x1b]2;rekindle {}/{total}\x07", tally.landed));
    }
    if kind.has_progress {
        // State 2 is red: something failed.
        let state = if tally.blocked > 0 { 2 } else { 1 };
        let percent = (tally.landed * 100).checked_div(total).unwrap_or(100);
        text.push_str(&format!("\x1b]9;4;{state};{percent}\x07"));
    }
    text
}

/// Has the terminal ring or show a notice, where a person looks at one.
pub(crate) fn notify(title: &str, text: &str, bell: bool, desktop: bool) {
    if std::io::stderr().is_terminal() {
        send(&notice(
            environment::terminal_kind(),
            title,
            text,
            bell,
            desktop,
        ));
    }
}

fn notice(kind: TerminalKind, title: &str, text: &str, bell: bool, desktop: bool) -> String {
    // A semicolon separates the parts, and a control character would end the sequence.
    let plain = |text: &str| excerpt(text, 200).replace(';', ",");
    let (title, text) = (plain(title), plain(text));
    let shown = match kind.notices {
        Some(Notices::Osc9) if desktop => format!("\x1b]9;{title}: {text}\x07"),
        Some(Notices::Osc777) if desktop => format!("\x1b]777;notify;{title};{text}\x07"),
        Some(Notices::Osc9 | Notices::Osc777) | None => String::new(),
    };
    let bell = if bell { "\x07" } else { "" };
    format!("{shown}{bell}")
}

/// A terminal that is gone needs no title.
fn send(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_rings_or_is_shown_and_ends_no_sequence_early() {
        let kind = |notices| TerminalKind {
            has_title: true,
            has_progress: false,
            notices,
        };
        let said = |notices, bell, desktop| notice(kind(notices), "a;b", "c\x07d", bell, desktop);
        assert_eq!(said(None, true, true), "\x07");
        assert_eq!(said(Some(Notices::Osc9), false, false), "");
        assert_eq!(
            said(Some(Notices::Osc9), false, true),
            "\x1b]9;a,b: c\\u{7}d\x07"
        );
        assert_eq!(
            said(Some(Notices::Osc777), true, true),
            "\x1b]777;notify;a,b;c\\u{7}d\x07\x07"
        );
    }

    #[test]
    fn only_what_the_terminal_understands_is_sent() {
        let tally = Tally {
            landed: 1,
            running: 1,
            blocked: 0,
            skipped: 1,
            left: 2,
            total: 5,
        };
        let kind = |has_title, has_progress| TerminalKind {
            has_title,
            has_progress,
            notices: None,
        };
        assert_eq!(sequences(kind(false, false), tally, true), "");
        assert_eq!(
            sequences(kind(true, false), tally, true),
            "\x1b[22;2t\x1b]2;rekindle 1/4\x07"
        );
        assert_eq!(
            sequences(kind(true, true), tally, false),
            "\x1b]2;rekindle 1/4\x07\x1b]9;4;1;25\x07"
        );
    }
}
