//! A whole protocol in one file: the example for a new one, and the proof that the kit is enough.
//!
//! A project keeps its tasks as check boxes in `CHECKLIST.md`. The first open one is next; an agent
//! does it, and the box is checked.

use rekindle_model::{
    Action, AgentTask, Assessment, Ended, Explanation, Fact, Intent, Next, Place, Plan, Progress,
    ProtocolName, Said, State, Step, Stop, StopKind, Summary, View, WorkflowId,
};
use rekindle_protocol::{Ask, Case, Decision, Protocol};
use rekindle_world::World;

const NAME: ProtocolName = ProtocolName::new("checklist");
const FILE: &str = "CHECKLIST.md";
const LARGEST: u64 = 1024 * 1024;

/// The protocol.
pub struct Checklist;

impl Protocol for Checklist {
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
        let (verdict, mark) = if item.is_done {
            ("done", "x")
        } else {
            ("open", " ")
        };
        Some(Explanation {
            id: WorkflowId::new(NAME, "list"),
            task: task.to_owned(),
            verdict: verdict.to_owned(),
            rule: "a checked box is done".to_owned(),
            said: vec![Said {
                place: Place::line(FILE, item.line),
                at: None,
                what: format!("[{mark}] {task}"),
                decided: true,
            }],
            left_out: 0,
        })
    }

    fn decisions(&self) -> Vec<Decision> {
        vec![Decision {
            title: "Next task",
            about: "What a resume does.".to_owned(),
            headings: vec!["boxes", "next"],
            rows: vec![
                vec![
                    "one is open".to_owned(),
                    "an agent does the first".to_owned(),
                ],
                vec!["all are checked".to_owned(), "done".to_owned()],
            ],
        }]
    }
}

struct Item {
    line: u64,
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
        let bytes = world.read(&world.project().join(FILE), LARGEST);
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let item = |(line, text): (u64, &str)| {
            let is_done = text.starts_with("- [x] ");
            let title = text
                .strip_prefix("- [x] ")
                .or(text.strip_prefix("- [ ] "))?
                .to_owned();
            Some(Item {
                line,
                is_done,
                title,
            })
        };
        let items: Vec<Item> = (1..).zip(text.lines()).filter_map(item).collect();
        let done = items.iter().filter(|item| item.is_done).count();
        let next = items.iter().find(|item| !item.is_done);
        let state = match next {
            Some(_) => State::Interrupted,
            None if items.is_empty() => State::Nothing,
            None => State::Complete,
        };
        let summary = next.map_or("all boxes are checked".to_owned(), |item| {
            item.title.clone()
        });
        let id = WorkflowId::new(NAME, "list");
        let workflow = Summary {
            id: id.clone(),
            state,
            stage: "tasks".to_owned(),
            progress: Progress {
                done,
                total: Some(items.len()),
            },
            last_activity: None,
            next: Next {
                kind: "task",
                summary,
            },
            view: View::of(state),
        };
        let is_here = !items.is_empty();
        let assessment = Assessment {
            id: is_here.then_some(id),
            state,
            workflows: is_here.then_some(workflow).into_iter().collect(),
            findings: Vec::new(),
            facts: Fact::object([(
                "tasks",
                Fact::list(items.iter().map(|item| item.title.clone())),
            )]),
        };
        Self {
            text,
            items,
            assessment,
        }
    }
}

impl Case for List {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, world: &dyn World, intent: &Intent) -> Option<Plan> {
        let id = self.assessment.id.clone()?;
        let Some(next) = self.items.iter().find(|item| !item.is_done) else {
            return Some(Plan::new(
                id,
                Vec::new(),
                Stop::new(StopKind::Done, "all boxes are checked"),
            ));
        };
        Some(match intent {
            Intent::Settle {
                ended: Ended::Succeeded,
                ..
            } => {
                let open = format!("- [ ] {}", next.title);
                let action = Action::Edit {
                    path: world.project().join(FILE),
                    before: self.text.clone().into_bytes(),
                    after: self
                        .text
                        .replacen(&open, &format!("- [x] {}", next.title), 1)
                        .into_bytes(),
                };
                Plan::new(
                    id,
                    vec![Step::new(action, "the task is done")],
                    rekindle_model::Then::Again,
                )
            }
            Intent::Settle { .. } => Plan::new(
                id,
                Vec::new(),
                Stop::new(StopKind::Blocked, "the agent failed"),
            ),
            Intent::Open
            | Intent::GoOn { .. }
            | Intent::Answer { .. }
            | Intent::Checked { .. }
            | Intent::Finish { .. }
            | Intent::Checkpoint { .. }
            | Intent::Report(_) => Plan::new(
                id,
                Vec::new(),
                AgentTask::new(
                    "worker",
                    &next.title,
                    format!("Do this task: {}\n", next.title),
                ),
            ),
        })
    }
}
