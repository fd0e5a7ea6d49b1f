//! What `rekindle rescue` shows: what was kept, what is in it, and how to get it back.

use std::fmt::Write as _;

use jiff::Timestamp;
use rekindle_app::{ChangeKind, Mode, Rescue, Rescued, Restored, Shown};
use rekindle_text::{excerpt, shell_word};

use super::{FAINT, STRONG, age, styled};

/// How many files are shown unless more is wanted.
const FEW: usize = 50;

/// Returns when a rescue was made; git knows times that nobody else does.
pub(crate) fn made_at(rescue: &Rescue) -> Option<Timestamp> {
    Timestamp::from_second(rescue.made_at).ok()
}

pub(crate) fn rescues(rescues: &[Rescue], now: Timestamp) -> String {
    if rescues.is_empty() {
        return "No backups in this project.\n".to_owned();
    }
    let mut text = String::new();
    for rescue in rescues {
        put!(
            text,
            "{}  {}\n",
            styled(STRONG, &excerpt(rescue.short_name(), 600)),
            when(rescue, now)
        );
    }
    text
}

pub(crate) fn rescue(shown: &Shown, now: Timestamp, all: bool) -> String {
    let rescue = &shown.rescue;
    let mut text = format!("{}\n", styled(STRONG, &excerpt(&rescue.name, 600)));
    let mut line = |name: &str, value: String| {
        put!(text, "  {name:<9} {value}\n");
    };
    line("workflow", excerpt(&rescue.workflow, 300));
    line("task", excerpt(&rescue.task, 300));
    line("made", when(rescue, now));
    let place = rescue.worktree.as_deref().unwrap_or("unknown");
    line("from", excerpt(place, 300));
    if let Some(branch) = &rescue.branch {
        line("branch", excerpt(branch, 300));
    }
    let base = rescue
        .head
        .as_ref()
        .map_or("no commit yet", |id| id.as_str());
    line("base", base.to_owned());
    line("commit", rescue.commit.to_string());
    if let Some(index) = &rescue.index {
        line("staged", format!("{index}, which differs from the files"));
    }
    text.push_str(&commits(shown));
    text.push_str(&files(shown, all));
    text
}

fn when(rescue: &Rescue, now: Timestamp) -> String {
    match made_at(rescue) {
        Some(at) => format!(
            "{}, {}",
            rekindle_text::format_seconds(at),
            age(Some(at), now)
        ),
        None => "no time".to_owned(),
    }
}

fn commits(shown: &Shown) -> String {
    if shown.commits.is_empty() {
        return String::new();
    }
    let mut text = "Commits that are not on a branch:\n".to_owned();
    for commit in &shown.commits {
        put!(
            text,
            "  {:.12} {}\n",
            commit.id.as_str(),
            excerpt(&commit.subject, 120)
        );
    }
    if shown.more_commits {
        text.push_str("  … and more\n");
    }
    text
}

fn files(shown: &Shown, all: bool) -> String {
    let total = shown.files.len() + shown.left_out;
    let mut text = match total {
        0 => return "No file differs from the base.\n".to_owned(),
        1 => "1 file differs from the base:\n".to_owned(),
        n => format!("{n} files differ from the base:\n"),
    };
    let most = if all { shown.files.len() } else { FEW };
    for file in shown.files.iter().take(most) {
        text.push_str(&self::file(file));
    }
    let hidden = total - shown.files.len().min(most);
    if hidden > 0 {
        let how = if all { "git" } else { "`-v`" };
        let line = format!("  … and {hidden} more, which {how} shows");
        put!(text, "{}\n", styled(FAINT, &line));
    }
    text
}

fn file(file: &Rescued) -> String {
    let change = &file.change;
    let word = match &change.kind {
        ChangeKind::Added if file.untracked == Some(true) => "untracked",
        ChangeKind::Added => "added",
        ChangeKind::Modified | ChangeKind::Renamed { .. } => "modified",
        ChangeKind::Deleted => "deleted",
        ChangeKind::TypeChanged => "retyped",
    };
    let old = change.old.as_ref().map(|entry| entry.mode);
    let new = change.new.as_ref().map(|entry| entry.mode);
    let mode = match new {
        Some(_) if new == old => "",
        Some(Mode::File) if old.is_some() => " (ordinary file)",
        Some(Mode::File) | None => "",
        Some(Mode::Executable) => " (executable)",
        Some(Mode::Symlink) => " (symbolic link)",
        Some(Mode::Submodule) => " (another repository)",
    };
    // Its own form escapes bytes that are no text, and `excerpt` what is left.
    let path = excerpt(&change.path.to_string(), 300);
    format!("  {word:<9} {path}{mode}\n")
}

/// Returns how to see more of a rescue, and how to get it back.
pub(crate) fn rescue_hints(rescue: &Rescue) -> Vec<String> {
    let name = rescue.short_name();
    let restore =
        format!("`rekindle rescue restore {name}` writes all its files into a new folder");
    let diff = rescue.head.as_ref().map(|base| {
        let (base, name) = (base.as_str(), &rescue.name);
        format!("`git diff {base:.12} {name}` shows the lines that differ")
    });
    let staged = rescue.index.as_ref().map(|index| {
        let (index, name) = (index.as_str(), &rescue.name);
        format!("`git diff {index:.12} {name}` shows how the files differ from what was staged")
    });
    diff.into_iter().chain(staged).chain([restore]).collect()
}

pub(crate) fn restored(restored: &Restored) -> String {
    format!("restored into {}\n", excerpt(restored.into.as_str(), 4096))
}

/// Returns how to compare what was restored and how to copy it back.
pub(crate) fn restored_hints(restored: &Restored) -> Vec<String> {
    let (top, into) = (&restored.top, &restored.into);
    let name = &restored.rescue.name;
    let mut hints = vec![
        format!(
            "`git -C {} diff HEAD {name}` compares it with what is checked out",
            shell_word(top.as_str())
        ),
        format!(
            "`diff -u {} {}` compares one file",
            shell_word(top.join("FILE").as_str()),
            shell_word(into.join("FILE").as_str())
        ),
        format!(
            "`cp -ai {} {}` copies one back, and asks before it overwrites",
            shell_word(into.join("FILE").as_str()),
            shell_word(top.join("FILE").as_str())
        ),
    ];
    if let Some(index) = &restored.rescue.index {
        let index = index.as_str();
        hints.push(format!(
            "what was staged differs from the files: `git show {index:.12}:FILE` prints it"
        ));
    }
    hints
}
