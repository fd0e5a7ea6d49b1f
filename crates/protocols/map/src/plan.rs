//! Intent to plan: the dialogues of a resume, and the effects of a person's answers.

use camino::Utf8PathBuf;
use rekindle_map_machine::commands::{completion, modes};
use rekindle_map_machine::interruption::Interruption;
use rekindle_map_machine::{Branch, Desk, Fault, layout, root};
use rekindle_model::{Action, Intent, Plan, Question, Step, Stop, StopKind, Then};

use crate::order::{Mode, Order};
use crate::read::{self, Found, Suspended, Unusable, Workflow};
use crate::{id, messages, new_plan, prompts, questions, session};

/// Returns the plan for an intent, or `None` if this protocol does not support it.
pub(crate) fn plan(desk: Desk<'_>, found: &Found, intent: &Intent) -> Option<Plan> {
    let planner = |log: &Utf8PathBuf| Planner {
        desk,
        log: log.clone(),
    };
    Some(match intent {
        Intent::Open => planner(&session::log(desk)).open(found),
        Intent::Answer {
            log,
            question,
            answer,
            ..
        } => planner(log).answer(found, question, answer),
        Intent::GoOn { log } => planner(log).working(found, Planner::go_on),
        Intent::Settle { log, task, ended } => planner(log).working(found, |planner, workflow| {
            planner.settle(workflow, task, ended)
        }),
        Intent::Checked { .. }
        | Intent::Finish { .. }
        | Intent::Checkpoint { .. }
        | Intent::Report(_) => return None,
    })
}

/// Plans for one branch.
pub(crate) struct Planner<'a> {
    pub(crate) desk: Desk<'a>,
    /// The log of this resume.
    pub(crate) log: Utf8PathBuf,
}

impl Planner<'_> {
    pub(crate) fn plan(&self, steps: Vec<Step>, then: impl Into<Then>) -> Plan {
        Plan {
            log: self.log.clone(),
            ..Plan::new(id(self.desk.branch), steps, then)
        }
    }

    /// Returns a plan without effects.
    pub(crate) fn only(&self, then: impl Into<Then>) -> Plan {
        self.plan(Vec::new(), then)
    }

    pub(crate) fn stop(&self, kind: StopKind, reason: impl Into<String>, hints: &[&str]) -> Plan {
        let stop = Stop::new(kind, reason);
        self.only(hints.iter().fold(stop, |stop, hint| stop.hint(*hint)))
    }

    fn open(&self, found: &Found) -> Plan {
        let branch = self.desk.branch;
        let (text, then): (String, Then) = match found {
            Found::Nothing => (messages::nothing(branch), self.nothing().into()),
            Found::Unusable(unusable) => (
                messages::unusable(branch, unusable),
                questions::unusable().into(),
            ),
            Found::Suspended(suspended) => {
                let text = messages::suspended(branch, suspended);
                (text, held(suspended).into())
            }
            Found::Workflow(workflow) if workflow.is_complete() => {
                let stop = Stop::new(StopKind::Done, "the workflow is already complete").hint(
                    "`rekindle map reopen_for_fixes --feedback TEXT` reopens it, `rekindle map archive` archives its state",
                );
                (messages::complete(branch, workflow), stop.into())
            }
            Found::Workflow(workflow) if !workflow.has_plan => {
                let question = questions::missing_plan(workflow.is_before_plan());
                (messages::missing_plan(branch), question.into())
            }
            Found::Workflow(workflow) => {
                let question = questions::resume(self.doubt(workflow));
                (messages::briefing(branch, workflow), question.into())
            }
        };
        Plan {
            before_asking: text,
            ..self.only(then)
        }
    }

    fn nothing(&self) -> Stop {
        let (world, branch) = (self.desk.world, self.desk.branch);
        let other = read::other_checkpoint(world, branch).map(|path| {
            format!(
                "there is a state at `{path}`, where /map-resume looks; MAP itself does not use it"
            )
        });
        let others = read::branches(world).into_iter();
        let others = others.filter(|other| self.is_open(other)).map(|other| {
            format!(
                "`.map/{other}` has a workflow: check out its branch, then run `rekindle resume`"
            )
        });
        Stop {
            hints: other.into_iter().chain(others).collect(),
            ..Stop::new(
                StopKind::Done,
                format!("there is no checkpoint for `{branch}`"),
            )
        }
    }

    /// Returns what to fix before the workflow continues, unless a person says otherwise.
    fn doubt(&self, workflow: &Workflow) -> Option<&'static str> {
        if *self.desk.branch != root::branch(self.desk.world, None) {
            return Some("another branch is checked out; check out the branch of the workflow");
        }
        let damage = "blueprint.json with its constraints and dependencies cannot be read; fix it";
        workflow.has_blueprint_damage.then_some(damage)
    }

    /// Returns whether a branch has an open workflow.
    fn is_open(&self, branch: &Branch) -> bool {
        match read::found(Desk::new(self.desk.world, branch)) {
            Found::Workflow(workflow) => !workflow.is_complete(),
            Found::Suspended(_) => true,
            Found::Nothing | Found::Unusable(_) => false,
        }
    }

    fn answer(&self, found: &Found, question: &str, answer: &str) -> Plan {
        match (question, answer, found) {
            (
                questions::RESUME_WORKFLOW | questions::CORRUPT_STATE | questions::MISSING_PLAN,
                questions::FRESH,
                Found::Unusable(_) | Found::Workflow(_),
            ) => self.put_away(found),
            (questions::RESUME_WORKFLOW, questions::ABORT, _) => {
                self.stop(StopKind::Done, "nothing was changed", &[])
            }
            (questions::CORRUPT_STATE, questions::RAW, Found::Unusable(unusable)) => {
                self.show(unusable)
            }
            (questions::RESUME_WORKFLOW, _, Found::Workflow(workflow)) => self.begin(workflow),
            (questions::MISSING_PLAN, _, Found::Workflow(workflow)) => self.create_plan(workflow),
            (questions::CORRUPT_STATE, Question::LEAVE, _) => {
                self.stop(StopKind::Blocked, questions::unusable().unanswered, &[])
            }
            (questions::PLAN_REVIEW, Question::LEAVE, _) => {
                self.stop(StopKind::Waiting, questions::approval().unanswered, &[])
            }
            (questions::PLAN_REVIEW, answer, Found::Workflow(_)) => self.approval(answer),
            (questions::CIRCUIT_BREAKER, questions::CONTINUE, Found::Workflow(workflow)) => {
                self.or_stop(self.retry_anyway(workflow))
            }
            (questions::CIRCUIT_BREAKER, _, _) => {
                let hint = "read the monitor's feedback and `rekindle map check_circuit_breaker`, then run `rekindle resume` again";
                self.stop(StopKind::Waiting, "nothing was changed", &[hint])
            }
            // The files have changed since the question was asked, or another protocol asked it.
            _ => self.only(Then::Again),
        }
    }

    /// Renames the state file, so that nothing is lost.
    fn put_away(&self, found: &Found) -> Plan {
        if !session::is_as_shown(self.desk, &self.log) {
            return self.shown_again(found);
        }
        let from = self.desk.branch.file(layout::STATE);
        let to = completion::put_away_name(self.desk, "abandoned");
        // An unreadable file is not moved either: the effect compares its contents.
        let contents = self.desk.bytes(&from).ok().flatten().unwrap_or_default();
        let reason = format!("the state is saved as `{to}`; the plan and other files remain");
        let (from, to) = (from.into(), to.into());
        let action = Action::MoveFile { from, to, contents };
        let steps = vec![
            Step::new(action, "the branch becomes free for a new workflow"),
            Step::print(messages::CLEARED, "a new workflow can start"),
        ];
        self.plan(steps, Stop::new(StopKind::Done, reason))
    }

    /// Asks again, because the state is no longer the one that the person saw.
    fn shown_again(&self, found: &Found) -> Plan {
        let fresh = Planner {
            desk: self.desk,
            log: session::log(self.desk),
        };
        let mut plan = fresh.open(found);
        let text = std::mem::take(&mut plan.before_asking);
        let text = format!("\nThe state has changed since it was shown.\n\n{text}");
        plan.steps
            .push(Step::print(text, "the workflow's present state"));
        plan
    }

    fn show(&self, unusable: &Unusable) -> Plan {
        let text = messages::raw(self.desk.branch, unusable);
        let steps = vec![Step::print(text, "the contents of the state file")];
        self.plan(steps, questions::unusable())
    }

    /// Records the starting point and continues.
    fn begin(&self, workflow: &Workflow) -> Plan {
        let action = Action::Append {
            log: self.log.clone(),
            record: session::started(self.desk, workflow),
        };
        let step = Step::new(action, "the workflow is resumed");
        self.plan(vec![step], Then::Again)
    }

    /// Writes the missing plan, then asks whether to continue with it.
    fn create_plan(&self, workflow: &Workflow) -> Plan {
        if workflow.is_before_plan() {
            return self.begin(workflow);
        }
        let path = self.desk.branch.plan();
        let Some(text) = new_plan::plan(self.desk, workflow) else {
            let reason = "neither the state nor blueprint.json names a subtask, so no plan can be made from them";
            let hint = "answer `2` to start fresh; the state is saved under another name";
            return self.stop(StopKind::Blocked, reason, &[hint]);
        };
        let planned = workflow.with_plan(self.desk, &text);
        let briefing = messages::briefing(self.desk.branch, &planned);
        let shown = format!("\nTask plan written to `{path}`.\n\n{briefing}");
        let action = create(path, text);
        let steps = vec![
            Step::new(action, "the plan is rebuilt from state and blueprint"),
            Step::print(shown, "the workflow's present state"),
        ];
        self.plan(steps, questions::resume(self.doubt(workflow)))
    }

    fn approval(&self, answer: &str) -> Plan {
        if let Some((_, feedback)) = answer.split_once(':') {
            let task = prompts::revision(self.desk, feedback);
            return self.agent(task, &Order::new("1.55", Mode::Serial));
        }
        let reply = modes::approve(self.desk, "true");
        self.or_stop(reply.map(|reply| {
            let steps = effects(reply.actions, "a person approves the plan");
            self.plan(steps, Then::Again)
        }))
    }

    /// Continues a workflow that can still be resumed.
    fn working(
        &self,
        found: &Found,
        next: impl FnOnce(&Self, &Workflow) -> Result<Plan, Fault>,
    ) -> Plan {
        match found {
            Found::Workflow(workflow) => self.or_stop(next(self, workflow)),
            Found::Suspended(suspended) => self.only(held(suspended)),
            Found::Nothing => {
                let path = self.desk.branch.file(layout::STATE);
                let reason = format!("`{path}` was moved away in the meantime");
                self.stop(StopKind::Blocked, reason, &[])
            }
            Found::Unusable(unusable) => {
                let hint = "`rekindle resume` shows it and offers to move it away";
                self.stop(StopKind::Blocked, &unusable.reason, &[hint])
            }
        }
    }

    fn or_stop(&self, plan: Result<Plan, Fault>) -> Plan {
        plan.unwrap_or_else(|Fault(reason)| self.stop(StopKind::Blocked, reason, &[FIX]))
    }
}

/// The hint after a problem that the message names.
pub(crate) const FIX: &str = "fix the problem, then run `rekindle resume` again";

/// Returns effects of the state machine as steps with one reason.
pub(crate) fn effects(actions: Vec<Action>, why: &str) -> Vec<Step> {
    let step = |action| Step::new(action, why);
    actions.into_iter().map(step).collect()
}

/// Returns the effect that creates a file.
pub(crate) fn create(path: String, contents: impl Into<Vec<u8>>) -> Action {
    Action::Create {
        path: path.into(),
        contents: contents.into(),
    }
}

/// Returns why a suspended run is not resumed: MAP's own commands finish the repair.
fn held(suspended: &Suspended) -> Stop {
    match &suspended.interruption {
        Interruption::Unclear(unclear) => {
            Stop::new(StopKind::Blocked, &unclear.reason).hint(messages::REPAIR_HINT)
        }
        Interruption::Idle | Interruption::Open(_) => {
            let reason = "a repair has suspended the run, so nothing was changed";
            let hint = messages::repair_next(&suspended.interruption);
            Stop::new(StopKind::Waiting, reason).hint(hint)
        }
    }
}
