//! A whole protocol in one file: the example for a new one, and the proof that the kit is enough.
//!
//! A project keeps its tasks as check boxes in `CHECKLIST.md`. The first open one is next; an agent
//! does it, and the box is checked.

use rekindle_model::{
    Action, AgentTask, Assessment, Ended, Explanation, Fact, Intent, Next, Place, Plan, Progress,
    ProtocolName, Said, State, Step, Stop, StopKind, Summary, Then, WorkflowId,
};
use rekindle_protocol::{Ask, Case, Decision, Protocol};
use rekindle_text::Span;
use rekindle_text::markdown::Page;
use rekindle_world::World;

const NAME: ProtocolName = ProtocolName::new("example");
const FILE: &str = "CHECKLIST.md";

/// The protocol.
pub struct Example;

impl Protocol for Example {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "Tasks as check boxes in `CHECKLIST.md`"
    }

    fn is_here(&self, world: &dyn World) -> bool {
        world.stat(&world.project().join(FILE)).is_ok()
    }

    fn inspect(&self, world: &dyn World, _: &Ask) -> Box<dyn Case> {
        Box::new(List::read(world))
    }

    fn explain(&self, world: &dyn World, _: &Ask, task: &str) -> Option<Explanation> {
        let list = List::read(world);
        let item = list.items.iter().find(|item| item.title == task)?;
        let said = Said::new(Place::line(FILE, item.line), &item.title, true);
        let verdict = if item.is_done { "done" } else { "open" };
        let rule = "a checked box is done";
        Some(Explanation::new(id(), task, verdict, rule, vec![said]))
    }

    fn decisions(&self) -> Vec<Decision> {
        let (open, done) = (
            ["one is open", "an agent does it"],
            ["none is open", "done"],
        );
        let about = "What a resume does.";
        let next = Decision::new("Next", about, ["boxes", "next"], [open, done]);
        vec![next]
    }
}

fn id() -> WorkflowId {
    WorkflowId::new(NAME, "list")
}

struct Item {
    line: u64,
    mark: Span,
    is_done: bool,
    title: String,
}

struct List {
    text: String,
    items: Vec<Item>,
    assessment: Assessment,
}

impl List {
    fn read(world: &dyn World) -> Self {
        let bytes = world.read(&world.project().join(FILE), 1 << 20);
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let page = Page::new(&text);
        let items = page.check_boxes().map(|(line, found)| Item {
            line: line.number as u64,
            mark: found.mark_in(line),
            is_done: found.is_done() == Some(true),
            title: found.text.to_owned(),
        });
        let items: Vec<Item> = items.collect();
        let next = items.iter().find(|item| !item.is_done);
        let (state, what) = match next {
            Some(item) => (State::Interrupted, item.title.as_str()),
            None => (State::Complete, "all boxes are checked"),
        };
        let done = items.iter().filter(|item| item.is_done).count();
        let total = Some(items.len());
        let (progress, next) = (Progress { done, total }, Next::new("task", what));
        let workflow = Summary::new(id(), state, "tasks", progress, next);
        let titles = items.iter().map(|item| item.title.clone());
        let facts = Fact::object([("tasks", Fact::list(titles))]);
        let workflow = (!items.is_empty()).then_some(workflow);
        let assessment = Assessment::of(workflow, facts);
        Self {
            text,
            items,
            assessment,
        }
    }

    fn check(&self, item: &Item, world: &dyn World) -> Step {
        let mut checked = self.text.clone();
        checked.replace_range(item.mark.range(), "x");
        let path = world.project().join(FILE);
        let (before, after) = (self.text.clone().into_bytes(), checked.into_bytes());
        Step::new(
            Action::Edit {
                path,
                before,
                after,
            },
            "the task is done",
        )
    }
}

impl Case for List {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, world: &dyn World, intent: &Intent) -> Option<Plan> {
        let id = self.assessment.id.clone()?;
        let Some(next) = self.items.iter().find(|item| !item.is_done) else {
            let done = Stop::new(StopKind::Done, "all boxes are checked");
            return Some(Plan::only(id, done));
        };
        Some(match intent.ended() {
            Some(Ended::Succeeded) => Plan::new(id, vec![self.check(next, world)], Then::Again),
            Some(_) => Plan::only(id, Stop::new(StopKind::Blocked, "the agent failed")),
            None => {
                let prompt = format!("Do this task: {}\n", next.title);
                Plan::only(id, AgentTask::new("worker", &next.title, prompt))
            }
        })
    }
}
