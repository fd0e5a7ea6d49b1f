//! Changes of MEMORY.md: each makes one edit and keeps every other byte.

use rekindle_text::{Edit, Span};

use super::page::{Field, Page};
use super::phase_line::PhaseLine;
use super::{Memory, PHASES, RESUME_LOG, natural_section};
use crate::values::{PhaseStatus, Stage, Status};

impl Memory {
    /// Returns the memory with another value in a field; a missing field is added to its section.
    pub(crate) fn with_field(&self, key: &str, value: &str) -> Self {
        let value = value.replace(['\n', '\r'], " ");
        let value = value.trim();
        let page = &self.page;
        let Some(field) = self.find(key) else {
            let line = format!("{key}: {value}");
            return self.with_line_for(key, &[line.trim_end().to_owned()]);
        };
        let inline = page.inline(field);
        let edit = if inline.is_empty() {
            let said = if value.is_empty() {
                String::new()
            } else {
                format!(" {value}")
            };
            Edit::replace(&page.document, page.after_colon(field), said)
        } else {
            Edit::replace(&page.document, inline, value)
        };
        self.edited(&edit)
    }

    /// Returns the memory with another stage and status.
    pub(crate) fn with_stage(&self, stage: Stage, status: Status) -> Self {
        self.with_field("stage", stage.as_str())
            .with_field("status", status.as_str())
    }

    /// Returns the memory with a text of several lines in a field, as an indented block.
    pub(crate) fn with_block(&self, key: &str, text: &str) -> Self {
        let lines: Vec<String> = text
            .trim_end()
            .lines()
            .map(|line| {
                format!("  {}", line.replace('\r', ""))
                    .trim_end()
                    .to_owned()
            })
            .collect();
        if lines.is_empty() {
            return self.with_field(key, "");
        }
        let page = &self.page;
        let eol = page.document.eol();
        let Some(field) = self.find(key) else {
            let all: Vec<String> = [format!("{key}: |")].into_iter().chain(lines).collect();
            return self.with_line_for(key, &all);
        };
        let block = format!(" |{eol}{}", lines.join(eol));
        self.edited(&Edit::replace(
            &page.document,
            page.room_for_block(field),
            block,
        ))
    }

    /// Returns the memory with a phase's status; a phase that has no line gets one.
    pub(crate) fn with_phase(&self, number: u32, name: &str, status: PhaseStatus) -> Self {
        let page = &self.page;
        let known = self
            .phase_lines()
            .into_iter()
            .rfind(|(_, line)| line.number == Some(number));
        if let Some((at, line)) = known {
            let Some(content) = page.lines.get(at).map(|line| line.content) else {
                return self.clone();
            };
            let edit = match line.status_at {
                Some((start, end)) => {
                    let span = Span::new(content.start + start, content.start + end);
                    Edit::replace(&page.document, span, status.as_str())
                }
                None => Edit::replace(
                    &page.document,
                    content,
                    PhaseLine::written(number, name, status),
                ),
            };
            return self.edited(&edit);
        }
        let line = PhaseLine::written(number, name, status);
        if page.named(PHASES).next().is_some() {
            return self.with_entry(PHASES, &line);
        }
        // The order of the template: the phases come before the log.
        let Some(log) = page.named(RESUME_LOG).next() else {
            return self.with_entry(PHASES, &line);
        };
        let lines = [format!("## {PHASES}"), line, String::new()];
        let start = page
            .lines
            .get(log.heading)
            .map_or(0, |line| line.full.start);
        let eol = page.document.eol();
        self.edited(&Edit::insert(start, lines.map(|line| line + eol).concat()))
    }

    /// Returns the memory with a line added at the end of a section, which is created if it is missing.
    ///
    /// The end is after the last line of content: a commented tail, and the blank lines before it,
    /// belong to no section.
    pub(crate) fn with_entry(&self, section: &str, line: &str) -> Self {
        let page = &self.page;
        let Some(found) = page.named(section).next() else {
            return self.with_section(section, line);
        };
        let says = |at: &usize| !page.is_blank(*at) && !page.is_comment(*at);
        let last = (found.heading + 1..found.end)
            .rfind(says)
            .unwrap_or_else(|| {
                // The template's hints are right below the heading, and entries come after them.
                let hints = (found.heading + 1..found.end).take_while(|at| page.is_comment(*at));
                hints.last().unwrap_or(found.heading)
            });
        self.below(last, &[line.to_owned()])
    }

    fn with_section(&self, section: &str, line: &str) -> Self {
        let page = &self.page;
        let lines = [format!("## {section}"), line.to_owned()];
        let Some(last) = page.lines.len().checked_sub(1) else {
            let eol = page.document.eol();
            return self.edited(&Edit::insert(0, lines.map(|line| line + eol).concat()));
        };
        let gap = (!page.is_blank(last)).then(String::new);
        let lines: Vec<String> = gap.into_iter().chain(lines).collect();
        self.below(last, &lines)
    }

    /// Adds the lines of a new field: at the end of its section, else next to a required field.
    fn with_line_for(&self, key: &str, lines: &[String]) -> Self {
        let page = &self.page;
        let home = natural_section(key);
        let of_home = |field: &&Field| {
            let section = field.section.and_then(|at| page.sections.get(at));
            section.is_some_and(|section| section.name == home)
        };
        let neighbor = match key {
            "handoff_context" => self.find("handoff_note"),
            _ => None,
        };
        let last = neighbor
            .or_else(|| page.fields.iter().rfind(of_home))
            .map(|field| field.last)
            .or_else(|| {
                // Indented lines right below the heading must not become a block of the field.
                let section = page.named(home).next()?;
                Some(page.last_of_block(section.heading))
            })
            .or_else(|| self.find("status").map(|field| field.last));
        match last {
            Some(last) => self.below(last, lines),
            None => self.with_section(home, &lines.join(page.document.eol())),
        }
    }

    fn below(&self, at: usize, lines: &[String]) -> Self {
        let page = &self.page;
        match page.lines.get(at) {
            Some(line) => self.edited(&page.document.insert_below(*line, lines)),
            None => self.clone(),
        }
    }

    /// Makes an edit whose span was just found, so it cannot be refused.
    fn edited(&self, edit: &Edit) -> Self {
        match self.page.document.apply(std::slice::from_ref(edit)) {
            Ok(document) => Self {
                page: Page::parse(document.into_bytes()),
            },
            Err(_) => self.clone(),
        }
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
