//! A picture with times as numbers, and the rows that are drawn.

use rekindle_wire::{Picture, PictureAttempt, PictureTask};

/// The most rows of a drawing.
pub(crate) const MOST_ROWS: usize = 400;

/// What a timeline shows, in milliseconds since 1970.
#[derive(Debug)]
pub(crate) struct Scene<'p> {
    pub(crate) picture: &'p Picture,
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) now: i64,
    pub(crate) lives: Vec<Life>,
    pub(crate) waits: Vec<(i64, i64)>,
    pub(crate) marks: Vec<(i64, &'p str)>,
    pub(crate) rows: Vec<Row<'p>>,
    /// Tasks without a row.
    pub(crate) hidden: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Alive,
    Finished,
    Stopped,
    Interrupted,
    Restarted,
}

impl End {
    pub(crate) fn is_interruption(self) -> bool {
        match self {
            Self::Interrupted | Self::Restarted => true,
            Self::Alive | Self::Finished | Self::Stopped => false,
        }
    }
}

/// A task with its attempts.
#[derive(Debug)]
pub(crate) struct Row<'p> {
    pub(crate) place: usize,
    pub(crate) task: &'p PictureTask,
    pub(crate) bars: Vec<Bar<'p>>,
}

/// An attempt.
#[derive(Debug)]
pub(crate) struct Bar<'p> {
    pub(crate) attempt: &'p PictureAttempt,
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) landed: Option<i64>,
}

impl<'p> Scene<'p> {
    pub(crate) fn new(picture: &'p Picture) -> Self {
        let now = milliseconds(&picture.now).unwrap_or_default();
        let time = |text: &Option<String>| text.as_deref().and_then(milliseconds);
        let lives: Vec<Life> = picture
            .lives
            .iter()
            .filter_map(|life| {
                Some(Life {
                    from: milliseconds(&life.from)?,
                    to: time(&life.to).unwrap_or(now),
                    end: match life.end.as_str() {
                        "alive" => End::Alive,
                        "finished" => End::Finished,
                        "stopped" => End::Stopped,
                        "restarted" => End::Restarted,
                        _ => End::Interrupted,
                    },
                })
            })
            .collect();
        let waits = picture.waits.iter().filter_map(|wait| {
            let from = milliseconds(&wait.from)?;
            Some((from, time(&wait.to).unwrap_or(now).max(from)))
        });
        let marks = picture.marks.iter();
        // What happened at the very beginning of a life is told by the beginning.
        let is_told = |at: i64| lives.iter().any(|life| life.from == at);
        let marks: Vec<_> = marks
            .filter_map(|mark| Some((milliseconds(&mark.at)?, mark.name.as_str())))
            .filter(|(at, _)| !is_told(*at))
            .collect();
        let chosen = chosen(&picture.tasks);
        let rows: Vec<Row<'_>> = chosen
            .iter()
            .map(|&place| row(picture, place, now))
            .collect();
        let mut scene = Self {
            picture,
            from: now,
            to: i64::MIN,
            now,
            waits: joined(waits.collect()),
            lives,
            marks,
            hidden: picture.tasks.len() - rows.len(),
            rows,
        };
        scene.measure();
        scene
    }

    /// Returns whether anything happened at a known time.
    pub(crate) fn has_times(&self) -> bool {
        !self.lives.is_empty()
            || !self.marks.is_empty()
            || self.rows.iter().any(|row| !row.bars.is_empty())
    }

    pub(crate) fn is_running(&self) -> bool {
        self.lives.last().is_some_and(|life| life.end == End::Alive)
            || self
                .rows
                .iter()
                .flat_map(|row| &row.bars)
                .any(|bar| bar.attempt.to.is_none())
    }

    /// Returns whether the orchestrator was interrupted and nobody went on.
    pub(crate) fn is_torn(&self) -> bool {
        self.lives
            .last()
            .is_some_and(|life| life.end.is_interruption())
    }

    /// Returns the times in which no orchestrator lived.
    pub(crate) fn gaps(&self) -> Vec<(Life, i64)> {
        let mut gaps: Vec<(Life, i64)> = self
            .lives
            .windows(2)
            .filter(|pair| pair[0].to < pair[1].from)
            .map(|pair| (pair[0], pair[1].from))
            .collect();
        if let Some(last) = self.lives.last().filter(|_| self.is_torn()) {
            gaps.push((*last, self.to));
        }
        gaps
    }

    /// Returns the times in which nothing happened at all.
    pub(crate) fn pauses(&self) -> Vec<(i64, i64)> {
        let bars = self.rows.iter().flat_map(|row| &row.bars);
        let busy: Vec<(i64, i64)> = bars
            .map(|bar| (bar.from, bar.landed.unwrap_or(bar.to).max(bar.to)))
            .chain(self.lives.iter().map(|life| (life.from, life.to)))
            .chain(self.marks.iter().map(|(at, _)| (*at, *at)))
            .collect();
        let busy = joined(busy);
        busy.windows(2).map(|pair| (pair[0].1, pair[1].0)).collect()
    }

    fn measure(&mut self) {
        let bars = self.rows.iter().flat_map(|row| &row.bars);
        let ends = bars.flat_map(|bar| [bar.from, bar.to, bar.landed.unwrap_or(bar.to)]);
        let lives = self.lives.iter().flat_map(|life| [life.from, life.to]);
        let waits = self.waits.iter().map(|wait| wait.0);
        let marks = self.marks.iter().map(|(at, _)| *at);
        let all: Vec<i64> = ends.chain(lives).chain(waits).chain(marks).collect();
        self.from = all.iter().copied().min().unwrap_or(self.now);
        let last = all
            .iter()
            .copied()
            .max()
            .unwrap_or(self.now)
            .max(self.from + 1);
        self.to = match (self.is_running(), self.is_torn()) {
            (true, _) => self.now.max(last),
            // The time since then may be weeks, and says little.
            (false, true) => last + ((last - self.from) / 8).max(1),
            (false, false) => last,
        };
        for wait in &mut self.waits {
            wait.1 = wait.1.min(self.to);
        }
    }
}

fn row(picture: &Picture, place: usize, now: i64) -> Row<'_> {
    let task = &picture.tasks[place];
    let bars = task.attempts.iter().filter_map(|attempt| {
        let from = milliseconds(&attempt.from)?;
        let to = attempt.to.as_deref().and_then(milliseconds).unwrap_or(now);
        Some(Bar {
            attempt,
            from,
            to: to.max(from),
            landed: attempt.landed.as_deref().and_then(milliseconds),
        })
    });
    Row {
        place,
        task,
        bars: bars.collect(),
    }
}

/// Returns the tasks that get a row: all of them, or of too many those that are open, were killed or
/// failed, or are on the longest way.
fn chosen(tasks: &[PictureTask]) -> Vec<usize> {
    if tasks.len() <= MOST_ROWS {
        return (0..tasks.len()).collect();
    }
    let longest = longest_way(tasks);
    let rank = |place: usize| {
        let task = &tasks[place];
        let had_trouble = task.attempts.iter().any(|one| one.end != "done");
        match task.state.as_str() {
            "needs_person" => 0,
            "running" | "failed" | "interrupted" | "limited" => 1,
            "done" | "skipped" if longest.contains(&place) => 2,
            "done" | "skipped" if had_trouble => 3,
            "done" | "skipped" => 9,
            _ => 4,
        }
    };
    let mut chosen: Vec<(u8, usize)> = (0..tasks.len()).map(|place| (rank(place), place)).collect();
    chosen.retain(|(rank, _)| *rank < 9);
    chosen.sort_unstable();
    chosen.truncate(MOST_ROWS);
    let mut places: Vec<usize> = chosen.into_iter().map(|(_, place)| place).collect();
    places.sort_unstable();
    places
}

/// Returns the tasks of one longest way through the graph.
fn longest_way(tasks: &[PictureTask]) -> Vec<usize> {
    let last = (0..tasks.len()).max_by_key(|&place| (tasks[place].layer, std::cmp::Reverse(place)));
    let mut way: Vec<usize> = last.into_iter().collect();
    while let Some(&place) = way.last() {
        let layer = tasks[place].layer;
        let needs = tasks[place].needs.iter().copied();
        let mut before =
            needs.filter(|need| tasks.get(*need).is_some_and(|need| need.layer + 1 == layer));
        match before.next() {
            Some(need) => way.push(need),
            None => return way,
        }
    }
    way
}

/// Returns times that overlap as one, in order.
fn joined(mut times: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    times.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, to) in times {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            Some(_) | None => joined.push((from, to)),
        }
    }
    joined
}

/// Returns a time of a picture in milliseconds.
pub(crate) fn milliseconds(text: &str) -> Option<i64> {
    let at = rekindle_text::parse_instant(text)?;
    Some(at.as_millisecond())
}
