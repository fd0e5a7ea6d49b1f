//! The terminal: results to standard output, everything else to standard error, questions as plain lines.

mod object_input;

use std::borrow::Cow;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use anstream::ColorChoice;
use jiff::Timestamp;
use rekindle_app::{
    Agreement, Briefing, Choice, Enter, Event, Face, LeftOut, News, Outline, Output, RunView,
    Watcher,
};
use rekindle_model::{Command, CommandSource, Offer, Question, Severity, Summary};
use rekindle_wire::ProgressOut;
use serde::Serialize;

pub(crate) use self::object_input::input;
use crate::arguments::{ColorWhen, OutputArguments};
use crate::live::{self, Live};
use crate::render;

/// Where a command speaks.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    json: bool,
    quiet: bool,
    verbose: bool,
    /// What a protocol printed, kept for the JSON object.
    printed: String,
    /// The live view of a run, while there is one.
    live: Option<Live>,
    /// How often something was finished that an earlier rekindle had begun.
    n_finished: usize,
    /// Why a part of the result could not be written.
    lost: Option<io::Error>,
}

impl Terminal {
    pub(crate) fn new(output: &OutputArguments) -> Self {
        match output.color {
            // `anstream` knows NO_COLOR, CLICOLOR_FORCE and whether a terminal is there.
            ColorWhen::Auto => {}
            ColorWhen::Always => ColorChoice::Always.write_global(),
            ColorWhen::Never => ColorChoice::Never.write_global(),
        }
        Self {
            json: output.json,
            quiet: output.quiet,
            verbose: output.verbose,
            printed: String::new(),
            live: None,
            n_finished: 0,
            lost: None,
        }
    }

    /// Says what a no comes to.
    pub(crate) fn declined(&mut self) {
        self.hint(if self.n_finished > 0 {
            "nothing else was changed\n"
        } else {
            "nothing was changed\n"
        });
    }

    /// Returns one that prints objects, for when the arguments themselves are wrong.
    pub(crate) fn for_json() -> Self {
        Self {
            json: true,
            ..Self::default()
        }
    }

    /// Returns whether a person sees the output and can type.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Returns how many columns a line of the result may have; there is no limit where no person reads it.
    pub(crate) fn width(&self) -> usize {
        if !io::stdout().is_terminal() {
            return usize::MAX;
        }
        terminal_size::terminal_size_of(io::stdout()).map_or(80, |(width, _)| width.0.into())
    }

    /// Prints the result.
    pub(crate) fn result(&mut self, text: &str) {
        let mut out = anstream::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.note_loss(written);
    }

    /// Prints a result byte for byte, control characters included: programs read it.
    pub(crate) fn verbatim(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.note_loss(written);
    }

    /// Prints the one object of a command.
    pub(crate) fn json(&mut self, object: &impl Serialize) {
        let mut out = io::stdout().lock();
        let written = serde_json::to_writer(&mut out, object);
        let written = written.map_err(io::Error::from).and_then(|()| {
            out.write_all(b"\n")?;
            out.flush()
        });
        self.note_loss(written);
    }

    /// Remembers the first part of the result that was lost.
    ///
    /// A reader that closed its pipe wanted no more, which is not a failure.
    pub(crate) fn note_loss(&mut self, written: io::Result<()>) {
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.lost.get_or_insert(error);
        }
    }

    /// Returns why a part of the result could not be written, once.
    pub(crate) fn take_loss(&mut self) -> Option<io::Error> {
        self.lost.take()
    }

    /// Reads all of standard input.
    pub(crate) fn whole_input(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Says something on standard error, above the live view if there is one; where less is wanted, without its hints.
    pub(crate) fn note(&mut self, text: &str) {
        let text = if self.quiet {
            Cow::Owned(without_hints(text))
        } else {
            Cow::Borrowed(text)
        };
        match &self.live {
            Some(live) => live.print(&text),
            None => {
                anstream::stderr().write_all(text.as_bytes()).ok();
            }
        }
    }

    /// Says something on standard error unless less is wanted.
    pub(crate) fn hint(&mut self, text: &str) {
        if self.quiet || self.json {
            return;
        }
        self.note(text);
    }

    /// Takes the live view away, so that plain text can follow.
    pub(crate) fn end_live(&mut self) {
        if let Some(live) = self.live.take() {
            live.end();
        }
    }

    /// Returns what a protocol printed so far.
    pub(crate) fn take_printed(&mut self) -> String {
        std::mem::take(&mut self.printed)
    }

    /// Puts a protocol's own question, on standard output, until it is answered with yes or no.
    fn confirm_in_its_words(&mut self, question: &str, details: Option<&str>) -> Agreement {
        let question = format!("{} ", rekindle_text::printable_block(question));
        loop {
            if self.json {
                self.note(&question);
            } else {
                self.result(&question);
            }
            let answer = self.read_line();
            if !self.json && !io::stdin().is_terminal() {
                // Nobody's typing ended the line of the question.
                self.result("\n");
            }
            let answer = answer.map(|answer| answer.to_lowercase());
            match (answer.as_deref(), details) {
                (Some("y" | "yes"), _) => return Agreement::Yes,
                (None, _) => return Agreement::Nobody,
                (Some("" | "n" | "no"), _) => return Agreement::No,
                (Some("d" | "details"), Some(details)) => self.print(details),
                (Some(_), Some(_)) => self.note("please answer y, n or details\n"),
                (Some(_), None) => self.note("please answer y or n\n"),
            }
        }
    }

    /// Asks until the answer is yes or no; an empty one is a yes only where that is safe.
    fn agreement(&mut self, question: &str, enter: Enter) -> Agreement {
        let (choices, empty) = match enter {
            Enter::Yes => ("[Y/n]", Agreement::Yes),
            Enter::No => ("[y/N]", Agreement::No),
        };
        loop {
            let answer = self.ask(&format!("{question} {choices} "));
            match answer.map(|answer| answer.to_lowercase()).as_deref() {
                None => return Agreement::Nobody,
                Some("y" | "yes") => return Agreement::Yes,
                Some("") => return empty,
                Some("n" | "no") => return Agreement::No,
                Some(_) => self.note("please answer y or n\n"),
            }
        }
    }

    /// Asks and reads one line; `None` at the end of standard input.
    fn ask(&mut self, question: &str) -> Option<String> {
        self.note(question);
        let answer = self.read_line();
        if answer.is_none() {
            self.note("\n");
        }
        answer
    }

    /// Reads one line; `None` at the end of standard input.
    fn read_line(&self) -> Option<String> {
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim().to_owned()),
        }
    }
}

/// Returns a text without its lines that are hints.
fn without_hints(text: &str) -> String {
    let is_hint = |line: &str| {
        let plain = anstream::adapter::strip_str(line).to_string();
        plain.starts_with("hint: ")
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !is_hint(line))
        .collect();
    // An empty line separates hints from what they are about.
    while kept.len() < lines.len() && kept.last().is_some_and(|line| *line == "\n") {
        kept.pop();
    }
    kept.concat()
}

impl Output for Terminal {
    fn print(&mut self, text: &str) {
        if self.json {
            self.printed.push_str(text);
        } else {
            // A protocol's words quote files; here is the last place at which that can be made harmless.
            self.result(&rekindle_text::printable_block(text));
        }
    }
}

impl Watcher for Terminal {
    fn progress(&mut self, event: &Event<'_>) {
        let progress = event.progress;
        if self.json {
            // Programs read it, so it has no styles.
            let text = render::progress(progress);
            let text = anstream::adapter::strip_str(text.trim_end()).to_string();
            self.json(&ProgressOut {
                schema: "rekindle.progress/1",
                event: render::progress_word(progress),
                run: event.run.to_string(),
                at: event.at.clone(),
                task: progress.task().map(str::to_owned),
                attempt: progress.attempt(),
                commit: progress.commit().map(str::to_owned),
                text,
            });
        } else {
            self.hint(&render::progress(progress));
        }
    }

    fn checkout_changed(&mut self, paths: &[String]) {
        // Work in the wrong place is told in any case, and programs read standard output.
        self.note(&render::checkout_changed(paths));
    }

    fn left_out(&mut self, left_out: &LeftOut<'_>) {
        // As is work that somebody may miss.
        self.note(&render::left_out(left_out));
    }

    fn view(&mut self, view: &RunView) {
        if self.json || self.quiet || !io::stderr().is_terminal() {
            return;
        }
        let size = terminal_size::terminal_size_of(io::stderr());
        let size = size.map_or((80, 24), |(width, height)| {
            (width.0.into(), height.0.into())
        });
        self.live.get_or_insert_with(Live::new).draw(view, size);
    }
}

impl Face for Terminal {
    fn tell(&mut self, news: &News<'_>) {
        // A promise that can not be kept is told in any case.
        if let News::CostUntold(agent) = news {
            self.note(&render::cost_untold(agent));
            return;
        }
        // So is what files of the project let run; what the user chose is known to them.
        if let News::Commands(commands) = news {
            let is_shown = |command: &&Command| {
                !self.quiet || matches!(command.source, CommandSource::Project(_))
            };
            let shown: Vec<Command> = commands.iter().filter(is_shown).cloned().collect();
            self.note(&render::commands(&shown));
            return;
        }
        if let News::Notice {
            title,
            text,
            bell,
            desktop,
        } = news
        {
            live::notify(title, text, *bell, *desktop);
            return;
        }
        let least = if self.verbose {
            Severity::Note
        } else {
            Severity::Warning
        };
        let text = match news {
            News::Findings(findings) => {
                let shown: Vec<_> = findings
                    .iter()
                    .filter(|finding| finding.severity() >= least)
                    .collect();
                render::findings(&shown)
            }
            News::Commands(commands) => render::commands(commands),
            News::Recovered(recovered) => {
                self.n_finished += usize::from(recovered.has_changed_the_world());
                render::recovered(recovered)
            }
            News::Applied(steps) => render::applied(steps),
            News::Watching(stop) => render::watching(stop),
            News::Checking(checks) => render::checking(checks),
            News::AgentStarts(task) => render::agent_starts(task),
            News::Said(text) => format!("{}\n", rekindle_text::printable_block(text)),
            News::AgentEnded(task, ended) => render::agent_ended(task, ended),
            News::MayNotEdit { problem, remedy } => render::may_not_edit(problem, remedy),
            News::Uncommitted(n) => render::uncommitted(*n),
            News::Preparing(n) => render::preparing(*n),
            News::NoIdentity => render::no_identity(),
            News::AlsoOpen(id) => render::also_open(id),
            News::PlanChanged(plan, revision) => render::plan_changed(plan, revision),
            News::NotNotified(why) => render::not_notified(why),
            News::Notice { .. } => String::new(),
            News::PlanUnsound(plan) => render::plan_unsound(plan),
            News::PlanTakenOver(plan, revision) => render::plan_taken_over(plan, revision),
            News::CostUntold(agent) => render::cost_untold(agent),
        };
        self.hint(&text);
    }

    fn choose(
        &mut self,
        open: &[Summary],
        now: Timestamp,
        is_one: &dyn Fn(&str) -> bool,
    ) -> Choice {
        let list = render::choices(open, now);
        if self.json {
            self.note(&list);
        } else {
            self.result(&list);
        }
        loop {
            let Some(answer) = self.ask("Which one? [number or name] ") else {
                return Choice::Nobody;
            };
            let number = answer.parse::<usize>();
            match (number, answer.to_lowercase().as_str()) {
                (_, "") => {}
                (Ok(number), _) if (1..=open.len()).contains(&number) => {
                    return Choice::At(number - 1);
                }
                // A run's name begins with digits too, and a feature may be called `n`.
                (_, _) if is_one(&answer) => return Choice::Named(answer),
                (_, "n" | "no" | "q" | "quit") => return Choice::Declined,
                (Ok(number), _) => self.note(&format!("{number} is not in the list\n")),
                (Err(_), _) => {
                    let answer = rekindle_text::excerpt(&answer, 120);
                    self.note(&format!("`{answer}` is not in the list\n"));
                }
            }
        }
    }

    fn confirm(&mut self, briefing: &Briefing<'_>) -> Agreement {
        // What a protocol prescribes has said all that a briefing would say.
        if let Some(confirmation) = briefing.plan.confirmation() {
            return self.confirm_in_its_words(&confirmation.question, Some(&confirmation.details));
        }
        self.note(&render::briefing(briefing, self.verbose));
        self.agreement("Resume?", briefing.enter)
    }

    fn start(&mut self, outline: &Outline) -> Agreement {
        self.note(&render::outline(outline, self.verbose));
        self.agreement("Start?", Enter::No)
    }

    fn accept(&mut self, offer: &Offer) -> bool {
        self.confirm_in_its_words(&offer.question, None) == Agreement::Yes
    }

    fn propose(&mut self, text: &str, question: &str, enter: Enter) -> Agreement {
        // Names of files and plans are in it.
        self.note(&format!("{}\n", rekindle_text::printable_block(text)));
        let question = rekindle_text::printable(question).into_owned();
        self.agreement(&question, enter)
    }

    fn answer(&mut self, question: &Question) -> Option<String> {
        let text = render::question(question);
        self.ask(&text)
    }
}
