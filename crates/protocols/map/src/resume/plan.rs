//! Intent to plan: the seed's dialogues, and what a person's answers do.

use camino::Utf8PathBuf;
use rekindle_model::{
    Action, Intent, Permission, Plan, Question, QuestionKind, Step, Stop, StopKind, Then,
};

use super::order::{Mode, Order};
use super::read::{self, Found, Suspended, Unusable, Workflow};
use super::{id, questions, rebuilt, session, words};
use crate::desk::Desk;
use crate::fault::Fault;
use crate::interruption::Interruption;
use crate::layout::{self, Branch};
use crate::machine::completion;
use crate::machine::modes;
use crate::root;

/// Returns what is due, or `None` where the intent is none of this protocol's.
pub(super) fn plan(desk: Desk<'_>, found: &Found, intent: &Intent) -> Option<Plan> {
    let log = match intent {
        Intent::GoOn { log } | Intent::Settle { log, .. } | Intent::Answer { log, .. } => {
            log.clone()
        }
        Intent::Open
        | Intent::Checked { .. }
        | Intent::Finish { .. }
        | Intent::Checkpoint { .. }
        | Intent::Report(_) => session::log(desk),
    };
    let planner = Planner { desk, log };
    let plan = match intent {
        Intent::Open => planner.open(found),
        Intent::Answer {
            question, answer, ..
        } => planner.answer(found, *question, answer),
        Intent::GoOn { .. } => planner.working(found, Planner::go_on),
        Intent::Settle { task, ended, .. } => planner.working(found, |planner, workflow| {
            planner.settle(workflow, task, ended)
        }),
        Intent::Checked { .. }
        | Intent::Finish { .. }
        | Intent::Checkpoint { .. }
        | Intent::Report(_) => return None,
    };
    Some(plan)
}

/// Plans for one branch.
pub(super) struct Planner<'a> {
    pub(super) desk: Desk<'a>,
    /// The record of this resume.
    pub(super) log: Utf8PathBuf,
}

impl Planner<'_> {
    pub(super) fn plan(&self, steps: Vec<Step>, then: Then) -> Plan {
        Plan {
            id: id(self.desk.branch),
            steps,
            log: self.log.clone(),
            then,
            ahead: Vec::new(),
            before_asking: String::new(),
            permission: Permission::Ask,
            without_agent: None,
            notes: Vec::new(),
        }
    }

    fn open(&self, found: &Found) -> Plan {
        let branch = self.desk.branch;
        let (text, then) = match found {
            Found::Nothing => {
                let other = read::by_the_pipeline(self.desk.world, branch);
                let hint = other.map(|path| {
                    format!("there is a state at `{path}`, where /map-resume would look; MAP itself does not")
                });
                let others = read::branches(self.desk.world).into_iter();
                let others = others.filter(|other| self.is_open(other));
                let others = others.map(|other| {
                    format!("`.map/{other}` has a workflow: check out its branch, then run `rekindle resume`")
                });
                let stop = Stop {
                    kind: StopKind::Done,
                    reason: format!("there is no checkpoint for `{branch}`"),
                    hints: hint.into_iter().chain(others).collect(),
                };
                (words::nothing(branch), Then::Stop(stop))
            }
            Found::Unusable(unusable) => (
                words::unusable(branch, unusable),
                Then::Ask(questions::unusable()),
            ),
            Found::Suspended(suspended) => (
                words::suspended(branch, suspended),
                Then::Stop(held(suspended)),
            ),
            Found::Workflow(workflow) if workflow.is_complete() => {
                let hints = [
                    "`rekindle map reopen_for_fixes --feedback TEXT` opens it again, `rekindle map archive` puts its state away",
                ];
                let then = stop(StopKind::Done, "the workflow is already complete", &hints);
                (words::complete(branch, workflow), then)
            }
            Found::Workflow(workflow) if !workflow.has_plan => (
                words::missing_plan(branch),
                Then::Ask(questions::missing_plan(workflow.is_before_plan())),
            ),
            Found::Workflow(workflow) => (
                words::briefing(branch, workflow),
                Then::Ask(questions::resume(self.doubt(workflow))),
            ),
        };
        let mut plan = self.plan(Vec::new(), then);
        plan.before_asking = text;
        plan
    }

    /// Returns what is to be mended before the workflow goes on, if a person does not say otherwise.
    fn doubt(&self, workflow: &Workflow) -> Option<&'static str> {
        if *self.desk.branch != root::branch(self.desk.world, None) {
            return Some("another branch is checked out; check out that of the workflow");
        }
        let damage =
            "blueprint.json can not be read, and constraints and dependencies with it; mend it";
        workflow.has_blueprint_damage.then_some(damage)
    }

    /// Returns whether a branch has a workflow that is not over.
    fn is_open(&self, branch: &Branch) -> bool {
        let world = self.desk.world;
        match read::found(Desk { world, branch }) {
            Found::Workflow(workflow) => !workflow.is_complete(),
            Found::Suspended(_) => true,
            Found::Nothing | Found::Unusable(_) => false,
        }
    }

    fn answer(&self, found: &Found, question: QuestionKind, answer: &str) -> Plan {
        match (question, answer, found) {
            (
                QuestionKind::ResumeWorkflow
                | QuestionKind::CorruptState
                | QuestionKind::MissingPlan,
                questions::FRESH,
                Found::Unusable(_) | Found::Workflow(_),
            ) => self.put_away(found),
            (QuestionKind::ResumeWorkflow, questions::ABORT, _) => {
                self.plan(Vec::new(), stop(StopKind::Done, "nothing was changed", &[]))
            }
            (QuestionKind::CorruptState, questions::RAW, Found::Unusable(unusable)) => {
                self.show(unusable)
            }
            (QuestionKind::ResumeWorkflow, _, Found::Workflow(workflow)) => self.begin(workflow),
            (QuestionKind::MissingPlan, _, Found::Workflow(workflow)) => self.create_plan(workflow),
            (QuestionKind::CorruptState, Question::LEAVE, _) => {
                let reason = questions::unusable().unanswered;
                self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &[]))
            }
            (QuestionKind::PlanReview, Question::LEAVE, _) => {
                let reason = questions::approval().unanswered;
                self.plan(Vec::new(), stop(StopKind::Waiting, &reason, &[]))
            }
            (QuestionKind::PlanReview, answer, Found::Workflow(_)) => self.approval(answer),
            (QuestionKind::CircuitBreaker, questions::CONTINUE, Found::Workflow(workflow)) => {
                self.or_stop(self.all_the_same(workflow))
            }
            (QuestionKind::CircuitBreaker, _, _) => {
                let hints = [
                    "look at the monitor's feedback and at `rekindle map check_circuit_breaker`, then run `rekindle resume` again",
                ];
                self.plan(
                    Vec::new(),
                    stop(StopKind::Waiting, "it was left as it is", &hints),
                )
            }
            // The files have changed since the question was put, or it is none of this protocol's.
            _ => self.plan(Vec::new(), Then::Again),
        }
    }

    /// Puts the state under another name; nothing of it is lost.
    fn put_away(&self, found: &Found) -> Plan {
        if !session::is_as_shown(self.desk, &self.log) {
            return self.shown_again(found);
        }
        let from = self.desk.branch.file(layout::STATE);
        let to = completion::put_away_name(self.desk, "abandoned");
        // One that can not be read is not moved either: the effect compares.
        let contents = self.desk.bytes(&from).ok().flatten().unwrap_or_default();
        let reason = format!("the state is kept as `{to}`; plan and other files stay");
        let steps = vec![
            Step {
                action: Action::MoveFile {
                    from: from.into(),
                    to: to.into(),
                    contents,
                },
                why: "the branch is free for a new workflow".to_owned(),
            },
            says(words::CLEARED.to_owned(), "that a new one can begin"),
        ];
        self.plan(steps, stop(StopKind::Done, &reason, &[]))
    }

    /// What the person saw is not what is there any more, so they are asked again.
    fn shown_again(&self, found: &Found) -> Plan {
        let fresh = Planner {
            desk: self.desk,
            log: session::log(self.desk),
        };
        let mut plan = fresh.open(found);
        let text = std::mem::take(&mut plan.before_asking);
        let text = format!("\nThe state has changed since it was shown.\n\n{text}");
        plan.steps.push(says(text, "where the workflow stands now"));
        plan
    }

    fn show(&self, unusable: &Unusable) -> Plan {
        let text = words::raw(self.desk.branch, unusable);
        let steps = vec![says(text, "the state file as it is")];
        self.plan(steps, Then::Ask(questions::unusable()))
    }

    /// Notes where things stood, and goes on.
    fn begin(&self, workflow: &Workflow) -> Plan {
        let step = Step {
            action: Action::Append {
                log: self.log.clone(),
                record: session::begun(self.desk, workflow),
            },
            why: "the workflow is taken up again".to_owned(),
        };
        self.plan(vec![step], Then::Again)
    }

    /// Writes a plan where none is, and then asks whether to go on with it.
    fn create_plan(&self, workflow: &Workflow) -> Plan {
        if workflow.is_before_plan() {
            return self.begin(workflow);
        }
        let path = self.desk.branch.plan();
        let Some(text) = rebuilt::plan(self.desk, workflow) else {
            let reason = "neither the state nor blueprint.json names a subtask, so no plan can be made from them";
            let hints = ["answer `2` to start fresh; the state is kept under another name"];
            return self.plan(Vec::new(), stop(StopKind::Blocked, reason, &hints));
        };
        let planned = workflow.with_plan(self.desk, &text);
        let steps = vec![
            Step {
                action: Action::Create {
                    path: path.clone().into(),
                    contents: text.into_bytes(),
                },
                why: "the plan is written anew from state and blueprint".to_owned(),
            },
            says(
                format!(
                    "\nTask plan written to `{path}`.\n\n{}",
                    words::briefing(self.desk.branch, &planned)
                ),
                "where the workflow stands",
            ),
        ];
        self.plan(steps, Then::Ask(questions::resume(self.doubt(workflow))))
    }

    fn approval(&self, answer: &str) -> Plan {
        if let Some((_, feedback)) = answer.split_once(':') {
            let task = super::prompts::revision(self.desk, feedback);
            return self.agent(task, &Order::new("1.55", Mode::Serial));
        }
        self.or_stop(modes::approve(self.desk, "true").map(|reply| {
            let steps = effects(reply.actions, "a person approves the plan");
            self.plan(steps, Then::Again)
        }))
    }

    /// Goes on with a workflow that can still be followed.
    fn working(
        &self,
        found: &Found,
        next: impl FnOnce(&Self, &Workflow) -> Result<Plan, Fault>,
    ) -> Plan {
        match found {
            Found::Workflow(workflow) => self.or_stop(next(self, workflow)),
            Found::Suspended(suspended) => self.plan(Vec::new(), Then::Stop(held(suspended))),
            Found::Nothing => {
                let path = self.desk.branch.file(layout::STATE);
                let reason = format!("`{path}` is gone; somebody has put it away meanwhile");
                self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &[]))
            }
            Found::Unusable(unusable) => {
                let hints = ["`rekindle resume` shows it and offers to put it away"];
                self.plan(
                    Vec::new(),
                    stop(StopKind::Blocked, &unusable.reason, &hints),
                )
            }
        }
    }

    fn or_stop(&self, plan: Result<Plan, Fault>) -> Plan {
        plan.unwrap_or_else(|Fault(reason)| {
            let hints = ["mend what it names, then run `rekindle resume` again"];
            self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &hints))
        })
    }

    pub(super) fn ask(&self, text: String, question: Question) -> Plan {
        let steps = vec![says(text, "what the question is about")];
        self.plan(steps, Then::Ask(question))
    }
}

/// Returns the effects of the state machine as steps with one reason.
pub(super) fn effects(actions: Vec<Action>, why: &str) -> Vec<Step> {
    let step = |action| Step {
        action,
        why: why.to_owned(),
    };
    actions.into_iter().map(step).collect()
}

pub(super) fn says(text: String, why: &str) -> Step {
    Step {
        action: Action::Print(text),
        why: why.to_owned(),
    }
}

/// Returns the end of a resume of a run that a repair has suspended: it is finished by MAP's own commands.
fn held(suspended: &Suspended) -> Stop {
    match &suspended.interruption {
        Interruption::Unclear(contradiction) => Stop {
            kind: StopKind::Blocked,
            reason: contradiction.reason.clone(),
            hints: vec![words::REPAIR_HINT.to_owned()],
        },
        Interruption::Idle | Interruption::Open(_) => Stop {
            kind: StopKind::Waiting,
            reason: "a repair has suspended the run, so nothing was changed".to_owned(),
            hints: vec![words::repair_next(&suspended.interruption)],
        },
    }
}

pub(super) fn stop(kind: StopKind, reason: &str, hints: &[&str]) -> Then {
    Then::Stop(Stop {
        kind,
        reason: reason.to_owned(),
        hints: hints.iter().map(|hint| (*hint).to_owned()).collect(),
    })
}
