//! `.kiln/phase_<N>_state.md`: the log of a phase, read despite torn and unknown lines.
//!
//! A header of `key: value` lines, then `## Events`, one a line:
//! `- [2026-02-20T07:30:00Z] [Maestro] [setup] — description`. The order is that of the file.
//! `restart` decides where the phase continues.

use super::values::Event;

/// What was read of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PhaseState {
    /// The header's `status`, empty if it has none.
    pub(super) status: String,
    /// The header's `branch`, empty if it has none.
    pub(super) branch: String,
    /// The known events, in order.
    pub(super) events: Vec<PhaseEvent>,
    /// Lines that are not known events, with their numbers from 1.
    pub(super) odd: Vec<(String, usize)>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhaseEvent {
    pub(super) kind: Event,
    /// The time, as it is written.
    pub(super) at: String,
    pub(super) description: String,
    /// The 1-based line.
    pub(super) line: usize,
}

impl PhaseState {
    /// Reads any text.
    pub(super) fn parse(text: &str) -> Self {
        let mut state = Self::default();
        let mut part = Part::Header;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_start_matches('\u{feff}').trim_end();
            if let Some(heading) = line.strip_prefix("## ") {
                part = if heading.trim() == "Events" {
                    Part::Events
                } else {
                    Part::Other
                };
                continue;
            }
            match part {
                Part::Header => state.header(line),
                Part::Events => state.event(line, number),
                Part::Other => {}
            }
        }
        state
    }

    /// Returns the last event.
    pub(super) fn last(&self) -> Option<&PhaseEvent> {
        self.events.last()
    }

    /// Returns how often the phase was set up.
    pub(super) fn n_runs(&self) -> usize {
        let setups = self
            .events
            .iter()
            .filter(|event| event.kind == Event::Setup);
        setups.count()
    }

    /// Returns the state with only the events of the last run, which starts with its setup.
    pub(super) fn last_run(&self) -> Self {
        let setup = self
            .events
            .iter()
            .rposition(|event| event.kind == Event::Setup);
        Self {
            events: self
                .events
                .get(setup.unwrap_or(0)..)
                .unwrap_or_default()
                .to_vec(),
            ..self.clone()
        }
    }

    fn header(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(':') else {
            return;
        };
        let field = match key {
            "status" => &mut self.status,
            "branch" => &mut self.branch,
            _ => return,
        };
        if field.is_empty() {
            value.trim().clone_into(field);
        }
    }

    fn event(&mut self, line: &str, number: usize) {
        let item = line.trim_start();
        if item.is_empty() {
            return;
        }
        match split(item) {
            Some((at, kind, description)) => match known(kind) {
                Known::Counts(kind) => self.events.push(PhaseEvent {
                    kind,
                    at: at.to_owned(),
                    description: description.to_owned(),
                    line: number,
                }),
                // A newer kiln checks its plans; the event before decides.
                Known::Newer => {}
                Known::No => self.odd.push((line.to_owned(), number)),
            },
            // Comments and prose between events are ignored; a list item is a damaged event.
            None if item.starts_with('-') => self.odd.push((line.to_owned(), number)),
            None => {}
        }
    }
}

enum Part {
    Header,
    Events,
    Other,
}

enum Known {
    Counts(Event),
    Newer,
    No,
}

fn known(kind: &str) -> Known {
    match kind {
        // The name before version 0.3.
        "prompt_complete" => Known::Counts(Event::SharpenComplete),
        "plan_validate_start" | "plan_validate_complete" => Known::Newer,
        other => Event::parse(other).map_or(Known::No, Known::Counts),
    }
}

/// Splits `- [time] [who] [type] — description`; what follows the type may be missing.
fn split(item: &str) -> Option<(&str, &str, &str)> {
    let rest = item.strip_prefix('-')?;
    let (at, rest) = bracketed(rest)?;
    let (_, rest) = bracketed(rest)?;
    let (kind, rest) = bracketed(rest)?;
    let description = rest.trim_start_matches([' ', '\t', '—', '–', '-']);
    Some((at, kind, description))
}

fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (inner, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((inner.trim(), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn header_and_events_are_read_and_torn_or_unknown_lines_reported() {
        let text = "# Phase 2 State\r\nstatus: in_progress\r\nbranch: kiln/phase-2\nstatus: later\n\n## Events\n\
            - [2026-02-20T07:30:00Z] [Maestro] [setup] — Phase 2 initialized\n\
            - [t] [Maestro] [prompt_complete] -- old name\n\
            - [t] [Maestro] [plan_validate_start] — newer\n\
            - [t] [Argus] [deploy_start] — foreign\n\
            \n# a comment\n\
            -  [t]  [Codex] [task_success]\n\
            - [t] [Maestro] [task_st";
        let state = PhaseState::parse(text);
        assert_eq!(
            (state.status.as_str(), state.branch.as_str()),
            ("in_progress", "kiln/phase-2")
        );
        let kinds: Vec<_> = state
            .events
            .iter()
            .map(|event| (event.kind, event.description.as_str()))
            .collect();
        let wanted = [
            (Event::Setup, "Phase 2 initialized"),
            (Event::SharpenComplete, "old name"),
            (Event::TaskSuccess, ""),
        ];
        assert_eq!(kinds, wanted);
        let odd: Vec<_> = state.odd.iter().map(|(_, line)| *line).collect();
        assert_eq!(odd, [10, 14]);
    }

    #[test]
    fn events_count_only_in_their_section() {
        let text = "- [t] [M] [merge] — before\n## Notes\n- [t] [M] [merge] — x\n## Events\n- [t] [M] [setup] — y\n## Later\n- [t] [M] [merge] — z\n";
        let state = PhaseState::parse(text);
        assert_eq!(
            state
                .events
                .iter()
                .map(|event| event.kind)
                .collect::<Vec<_>>(),
            [Event::Setup]
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(## Events\n|- \\[t\\] \\[M\\] \\[(task_start|x)\\] ?—? ?\\PC{0,6}\n|\\PC{0,12}\n){0,10}") {
            PhaseState::parse(&text);
        }
    }
}
