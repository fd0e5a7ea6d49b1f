//! Which phase a run is in, and whether its plan is approved.

use std::collections::BTreeSet;

use super::fold::{Folded, Transition};
use super::layout::Artifact;
use super::table::{PHASES, Traces};
use rekindle_protocol::table::values;

values! {
    /// The five phases of the base protocol, which decide the next action.
    BasePhase {
        Intake "intake",
        Planning "planning",
        Execution "execution",
        Cleanup "cleanup and PR preparation",
        Consolidation "memory consolidation",
    }
}

impl BasePhase {
    fn of_base(number: i64) -> Self {
        match number {
            ..=0 => Self::Intake,
            1 => Self::Planning,
            2 => Self::Execution,
            3 => Self::Cleanup,
            4.. => Self::Consolidation,
        }
    }

    /// Later protocols count 0 to 6, and a still later one 0 to 11.
    fn of_later(number: i64) -> Self {
        match number {
            ..=0 => Self::Intake,
            1..=3 | 7..=8 => Self::Planning,
            4 | 9 => Self::Execution,
            5 | 10 => Self::Cleanup,
            6 | 11.. => Self::Consolidation,
        }
    }
}

/// The source of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Events,
    Artifacts,
}

impl Source {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Artifacts => "artifacts",
        }
    }
}

/// A run's phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phase {
    /// The number as it was logged.
    pub(super) number: i64,
    pub(super) source: Source,
    /// The phase in the base protocol.
    pub(super) base: BasePhase,
    /// Whether the number is one that no version of the protocol in use has.
    pub(super) out_of_range: bool,
    /// How this run counts its phases.
    pub(super) numbering: Numbering,
    /// The move back that took the approval away, if one did.
    pub(super) voided: Option<Voided>,
}

/// How a run counts its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    Base,
    Later,
    Latest,
}

impl Phase {
    /// Returns the number of this phase in a log: an inferred one is counted as the log will count.
    pub(super) fn logged(&self) -> i64 {
        match self.source {
            Source::Events => self.number,
            Source::Artifacts => self.numbering.number(self.base),
        }
    }
}

impl Numbering {
    fn of(later_protocol: bool, number: i64) -> Self {
        match (later_protocol, number) {
            (false, _) => Self::Base,
            (true, ..=6) => Self::Later,
            (true, 7..) => Self::Latest,
        }
    }

    /// Returns the number that a phase has.
    pub(super) fn number(self, phase: BasePhase) -> i64 {
        let [intake, planning, execution, cleanup, consolidation] = match self {
            Self::Base => [0, 1, 2, 3, 4],
            Self::Later => [0, 2, 4, 5, 6],
            Self::Latest => [0, 7, 9, 10, 11],
        };
        match phase {
            BasePhase::Intake => intake,
            BasePhase::Planning => planning,
            BasePhase::Execution => execution,
            BasePhase::Cleanup => cleanup,
            BasePhase::Consolidation => consolidation,
        }
    }
}

/// An approval that a move back to planning took away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Voided {
    pub(super) notes: Option<String>,
}

/// What decides the phase if no event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) all_finished: bool,
    pub(super) any_started: bool,
    /// Whether the run follows a later version of the protocol.
    pub(super) later_protocol: bool,
}

/// Returns the phase of the latest transition, or the one that the documents indicate.
pub(super) fn phase(folded: &Folded, artifacts: &BTreeSet<Artifact>, work: Work) -> Phase {
    let Some(latest) = folded.transitions.last() else {
        let base = inferred(artifacts, work);
        let number = Numbering::Base.number(base);
        return Phase {
            number,
            source: Source::Artifacts,
            base,
            out_of_range: false,
            numbering: Numbering::of(work.later_protocol, number),
            voided: None,
        };
    };
    let meaning = if work.later_protocol {
        BasePhase::of_later
    } else {
        BasePhase::of_base
    };
    let base = meaning(latest.to);
    Phase {
        number: latest.to,
        source: Source::Events,
        base,
        out_of_range: !work.later_protocol && !(0..=4).contains(&latest.to),
        numbering: Numbering::of(work.later_protocol, latest.to),
        voided: voided(&folded.transitions, meaning).filter(|_| base <= BasePhase::Planning),
    }
}

fn inferred(artifacts: &BTreeSet<Artifact>, work: Work) -> BasePhase {
    let has = |artifact| artifacts.contains(&artifact);
    *PHASES.decide(Traces {
        has_checklist: has(Artifact::PrChecklist),
        has_constitution: has(Artifact::Constitution),
        has_prd: has(Artifact::Prd),
        all_finished: work.all_finished,
        any_started: work.any_started,
    })
}

/// Returns the last move back to intake or planning after which execution was never entered again.
fn voided(transitions: &[Transition], meaning: fn(i64) -> BasePhase) -> Option<Voided> {
    let mut voided = None;
    let mut before = None;
    for transition in transitions {
        // A transition may name an earlier start than the current phase; that is a move back too.
        let from = transition.from.max(before);
        before = Some(transition.to);
        if meaning(transition.to) >= BasePhase::Execution {
            voided = None;
        } else if from.is_some_and(|from| from > transition.to) {
            voided = Some(Voided {
                notes: transition.notes.clone(),
            });
        }
    }
    voided
}

#[cfg(test)]
mod tests {
    use super::super::log::Mark;
    use super::*;

    fn moves(path: &[(i64, i64)]) -> Folded {
        let transitions = path.iter().zip(1..).map(|(&(from, to), line)| Transition {
            mark: Mark {
                at: None,
                stamp: None,
                file: 0,
                line,
                number: line,
            },
            from: Some(from),
            to,
            notes: None,
        });
        Folded {
            transitions: transitions.collect(),
            ..Folded::default()
        }
    }

    const NO_WORK: Work = Work {
        all_finished: false,
        any_started: false,
        later_protocol: false,
    };

    fn of(path: &[(i64, i64)], work: Work) -> Phase {
        phase(&moves(path), &BTreeSet::new(), work)
    }

    #[test]
    fn the_latest_transition_decides() {
        assert_eq!(of(&[(0, 1), (1, 2), (2, 1)], NO_WORK).number, 1);
        assert_eq!(of(&[(0, 1), (1, 2)], NO_WORK).base, BasePhase::Execution);
    }

    #[test]
    fn a_move_back_revokes_the_approval_until_execution_resumes() {
        let is_voided = |path: &[(i64, i64)]| of(path, NO_WORK).voided.is_some();
        assert!(is_voided(&[(0, 1), (1, 2), (2, 1)]));
        assert!(is_voided(&[(0, 1), (1, 0), (0, 1)]));
        assert!(!is_voided(&[(0, 1)]));
        assert!(!is_voided(&[(0, 1), (1, 2), (2, 1), (1, 2)]));
        assert!(is_voided(&[(0, 1), (1, 2), (0, 1)]));
    }

    #[test]
    fn maps_later_phase_numbers_to_base_phases() {
        let later = Work {
            later_protocol: true,
            ..NO_WORK
        };
        let base = |number| of(&[(0, number)], later).base;
        assert_eq!(base(3), BasePhase::Planning);
        assert_eq!(base(4), BasePhase::Execution);
        assert_eq!(base(5), BasePhase::Cleanup);
        assert_eq!(base(9), BasePhase::Execution);
        assert!(!of(&[(0, 9)], later).out_of_range);
        assert!(of(&[(0, 5)], NO_WORK).out_of_range);
    }

    #[test]
    fn documents_indicate_the_phase_without_events() {
        let table: &[(&[Artifact], bool, bool, i64)] = &[
            (&[], false, false, 0),
            (&[Artifact::Prd], false, false, 1),
            (&[Artifact::Prd], false, true, 2),
            (&[Artifact::Constitution], false, false, 2),
            (&[Artifact::Constitution], true, true, 3),
            (&[Artifact::PrChecklist], false, false, 4),
        ];
        for &(artifacts, all_finished, any_started, expected) in table {
            let work = Work {
                all_finished,
                any_started,
                later_protocol: false,
            };
            let artifacts = artifacts.iter().copied().collect();
            let phase = phase(&Folded::default(), &artifacts, work);
            assert_eq!(phase.number, expected, "{artifacts:?} {work:?}");
            assert_eq!(phase.source, Source::Artifacts);
        }
    }
}
