//! What was noticed in a list, in sentences.

use camino::Utf8Path;
use rekindle_model::{Code, Finding, Place};
use rekindle_text::excerpt;

use crate::lists::assess::Judged;
use crate::lists::format::Content;
use crate::lists::table::Progress;
use crate::lists::task::{Notice, Noticed};

/// No more findings of one kind are listed one by one.
const MOST_OF_A_KIND: usize = 20;

/// Returns everything that was noticed in a list.
pub(crate) fn findings(judged: &Judged) -> Vec<Finding> {
    let list = &judged.list;
    let mut findings = Vec::new();
    if let Some(reason) = &list.unreadable {
        let message = format!(
            "the file with the tasks cannot be read: {}",
            excerpt(reason, 200)
        );
        findings.push(Finding::new(Code::UnreadableList, message).at(Place::path(list.source())));
        return findings;
    }
    findings.extend(of_file(judged));
    findings.extend(of_tasks(judged));
    findings.extend(of_documents(judged));
    findings
}

/// Returns what the reader noticed; of many of one kind, the first ones and their number.
fn of_file(judged: &Judged) -> Vec<Finding> {
    let source = judged.list.source();
    let mut findings = Vec::new();
    let mut seen: Vec<(Notice, usize)> = Vec::new();
    for noticed in &judged.list.file.noticed {
        let at = seen.iter().position(|(code, _)| *code == noticed.code);
        let at = at.unwrap_or_else(|| {
            seen.push((noticed.code, 0));
            seen.len() - 1
        });
        seen[at].1 += 1;
        if seen[at].1 <= MOST_OF_A_KIND {
            findings.push(noticed.finding(source));
        }
    }
    for (code, n) in seen.into_iter().filter(|(_, n)| *n > MOST_OF_A_KIND) {
        let message = format!("{} more of this kind are not listed", n - MOST_OF_A_KIND);
        findings.push(Finding::new(code.code(), message).at(Place::path(source)));
    }
    findings
}

impl Noticed {
    /// Returns it as a finding about a file.
    pub fn finding(&self, source: &Utf8Path) -> Finding {
        Finding::new(self.code.code(), message(self)).at(Place::line(source, self.line))
    }
}

fn message(noticed: &Noticed) -> String {
    let about = excerpt(&noticed.about, 120);
    match noticed.code {
        Notice::UnknownMark if about.is_empty() => {
            "the brackets are empty; the task counts as open".to_owned()
        }
        Notice::UnknownMark => format!("`{about}` is not a known mark; the task counts as open"),
        Notice::NearlyABox => {
            "one sign of this check box is wrong, so it is not read as a task".to_owned()
        }
        Notice::DuplicateId => {
            format!("the id `{about}` is already used; a number is appended to this one")
        }
        Notice::UnknownNeed => format!("{about}, which is not in the list"),
        Notice::NoId if about.is_empty() => "a check box without an id is not a task".to_owned(),
        Notice::MisspeltKey => about,
        Notice::NoId => format!("{about} check boxes without an id are not tasks"),
        Notice::NoText => "a check box has no text, so it is not a task".to_owned(),
        Notice::TornLine => {
            "the file ends in the middle of this line, which is not read as a task".to_owned()
        }
        Notice::UnclosedBlock => "this block is never closed, so it hides nothing".to_owned(),
        Notice::NotUtf8 => "the file has bytes that are not UTF-8".to_owned(),
        Notice::BadGraph => {
            "the graph of waves cannot be read, so the order of the file decides".to_owned()
        }
    }
}

fn of_tasks(judged: &Judged) -> Vec<Finding> {
    let list = &judged.list;
    let tasks = &list.file.tasks;
    let standing = &judged.standing;
    let place = |task: usize| Place::line(list.source(), tasks[task].line);
    let names = |found: &[usize]| {
        let shown = found.iter().take(10);
        let mut shown: Vec<String> = shown
            .map(|task| format!("`{}`", excerpt(&tasks[*task].id, 80)))
            .collect();
        if found.len() > shown.len() {
            shown.push(format!("{} more", found.len() - shown.len()));
        }
        shown.join(", ")
    };
    let mut findings = Vec::new();
    for ring in &standing.needs.rings {
        let message = format!(
            "these tasks depend on each other in a cycle: {}",
            names(ring)
        );
        findings.push(Finding::new(Code::Cycle, message).at(place(ring[0])));
    }
    if let Some(&first) = standing.marked_early.first() {
        let message = format!(
            "marked as done while a part is open: {}",
            names(&standing.marked_early)
        );
        findings.push(Finding::new(Code::MarkedEarly, message).at(place(first)));
    }
    if let Some(&first) = standing.mark_missing.first() {
        let message = format!("done and not marked: {}", names(&standing.mark_missing));
        findings.push(Finding::new(Code::MarkMissing, message).at(place(first)));
    }
    findings
}

fn of_documents(judged: &Judged) -> Vec<Finding> {
    let list = &judged.list;
    let mut findings = Vec::new();
    let source = Place::path(list.source());
    let is_there = list.content("tasks") != Content::Missing;
    if is_there && list.file.tasks.is_empty() && !list.file.is_blank {
        let message = "the file has text, but no task in it";
        findings.push(Finding::new(Code::NoTasks, message).at(source.clone()));
    }
    if !list.file.tasks.is_empty() {
        for name in list
            .needed
            .iter()
            .filter(|name| list.content(name) != Content::Present)
        {
            let mut documents = list.documents.iter();
            let path = documents.find(|document| document.name == *name);
            let path = path.map_or_else(|| list.folder.clone(), |document| document.path.clone());
            let message = format!(
                "there are tasks, but `{}` is missing or empty",
                excerpt(path.as_str(), 200)
            );
            findings.push(Finding::new(Code::DocumentMissing, message).at(Place::path(path)));
        }
    }
    let is_open = matches!(
        judged.standing.counts.progress(),
        Progress::NotBegun | Progress::Begun
    );
    if is_open && list.is_archived {
        let message = "the change was archived while tasks were open";
        findings.push(Finding::new(Code::ArchivedOpen, message).at(source));
    }
    findings.extend(list.findings.iter().cloned());
    findings.extend(list.about_work.iter().filter(|_| is_open).cloned());
    findings
}
