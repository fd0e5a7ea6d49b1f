//! The formats as protocols.

use std::collections::BTreeSet;

use crate::capability::{ListedTask, TaskList, TaskMarks};
use crate::{Ask, Belongings, Case, Decision, Protocol, ResumeOption};
use camino::Utf8Path;
use rekindle_model::{
    Assessment, Explanation, History, Intent, Plan, ProtocolName, WorkflowDocument,
};
use rekindle_world::World;

use crate::lists::assess::{Judged, Lists};
use crate::lists::format::Format;
use crate::lists::plan::{Asked, plan};
use crate::lists::task::Task;
use crate::lists::{explain, history, mark, messages, stages, table};

/// A format of task lists as a protocol.
pub struct TaskLists(pub &'static dyn Format);

impl Protocol for TaskLists {
    fn name(&self) -> ProtocolName {
        ProtocolName::new(self.0.name())
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn folders(&self) -> &'static [&'static str] {
        self.0.folders()
    }

    fn commands(&self) -> &'static [&'static str] {
        self.0.commands()
    }

    fn is_here(&self, world: &dyn World) -> bool {
        self.0.is_here(world)
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        let lists = Lists::read(self.0, world, ask);
        let assessment = lists.assessment(ask.name.as_deref());
        Box::new(ListCase {
            format: self.0,
            chosen: ask.name.clone(),
            includes_marked: ask.has(ResumeOption::INCLUDE_MARKED),
            lists,
            assessment,
        })
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        let lists = Lists::read(self.0, world, ask);
        let judged = lists.chosen(ask.name.as_deref())?;
        explain::explain(self.name(), judged, task)
    }

    fn decisions(&self) -> Vec<Decision> {
        let mut decisions = table::decisions();
        decisions.push(stages::decision(self.0));
        decisions
    }

    fn options(&self) -> &'static [ResumeOption] {
        &[ResumeOption::INCLUDE_MARKED, ResumeOption::IN_PLACE]
    }

    fn marks(&self) -> Option<&dyn TaskMarks> {
        Some(self)
    }
}

impl TaskMarks for TaskLists {
    fn mark(&self, file: &[u8], task: &str, title: &str) -> Option<Vec<u8>> {
        mark::mark(self.0, file, task, title)
    }

    fn with_marks_of(&self, base: &[u8], theirs: &[u8]) -> Vec<u8> {
        mark::with_marks_of(self.0, base, theirs)
    }

    fn list_in(&self, world: &dyn World, path: &Utf8Path) -> Option<String> {
        let takes_any = self.0.takes_any_file();
        if !takes_any && !self.0.is_here(world) {
            return None;
        }
        let ask = Ask {
            name: takes_any.then(|| path.to_string()),
            ..Ask::default()
        };
        let lists = Lists::read(self.0, world, &ask);
        let mut all = lists.all.iter();
        let found = all.find(|judged| judged.list.source() == path)?;
        Some(found.list.name.clone())
    }
}

struct ListCase {
    format: &'static dyn Format,
    chosen: Option<String>,
    includes_marked: bool,
    lists: Lists,
    assessment: Assessment,
}

impl ListCase {
    fn judged(&self) -> Option<&Judged> {
        self.lists.chosen(self.chosen.as_deref())
    }
}

impl Case for ListCase {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, world: &dyn World, intent: &Intent) -> Option<Plan> {
        let asked = Asked {
            world,
            format: self.format,
            judged: self.judged()?,
            protocol: self.lists.protocol,
            includes_marked: self.includes_marked,
        };
        plan(&asked, intent)
    }

    fn list(&self) -> Option<&dyn TaskList> {
        self.judged()?;
        Some(self)
    }

    fn history(&self, _: &dyn World) -> Option<History> {
        Some(history::history(self.judged()?))
    }

    fn belongings(&self) -> Belongings {
        let documents = self.judged().map(|judged| {
            let documents = judged.list.documents.iter();
            let documents = documents.map(|document| WorkflowDocument {
                name: document
                    .path
                    .file_name()
                    .unwrap_or(document.name)
                    .to_owned(),
                path: document.path.clone(),
            });
            documents.collect()
        });
        Belongings {
            documents: documents.unwrap_or_default(),
            ..Belongings::default()
        }
    }
}

impl TaskList for ListCase {
    fn title(&self) -> &str {
        self.judged().map_or("", |judged| &judged.list.title)
    }

    fn source(&self) -> &Utf8Path {
        self.judged()
            .map_or(Utf8Path::new(""), |judged| judged.list.source())
    }

    fn folder(&self) -> &Utf8Path {
        self.judged()
            .map_or(Utf8Path::new(""), |judged| &judged.list.folder)
    }

    fn unmarked(&self, world: &dyn World) -> Vec<(String, String)> {
        let Some(judged) = self.judged() else {
            return Vec::new();
        };
        let unmarked = judged.unmarked(world, self.format).into_iter();
        let tasks = unmarked.map(|task| &judged.list.file.tasks[task]);
        tasks
            .map(|task| (task.id.clone(), task.title.clone()))
            .collect()
    }

    fn is_blank(&self) -> bool {
        self.judged()
            .is_none_or(|judged| judged.list.file.tasks.is_empty())
    }

    fn has(&self, task: &str, title: &str) -> bool {
        self.judged().is_some_and(|judged| {
            let mut tasks = judged.list.file.tasks.iter().enumerate();
            // An id that is only a place may mean another task by now.
            let is_it = |(_, one): &(usize, &Task)| {
                if one.is_counted {
                    one.title == title
                } else {
                    one.id == task
                }
            };
            let standing = &judged.standing;
            let found = tasks.find(is_it);
            found.is_some_and(|(at, _)| {
                !standing.states[at].is_finished() || standing.landed.contains(&at)
            })
        })
    }

    fn tasks(&self, world: &dyn World) -> Vec<ListedTask> {
        let Some(judged) = self.judged() else {
            return Vec::new();
        };
        let tasks = &judged.list.file.tasks;
        let places = judged.for_agents(self.includes_marked);
        let is_listed: BTreeSet<usize> = places.iter().copied().collect();
        let groups = messages::groups(judged);
        let listed = places.into_iter().map(|place| {
            let needs = judged.standing.needs.of_task(place).into_iter();
            let needs = needs.filter(|need| is_listed.contains(need));
            ListedTask {
                id: tasks[place].id.clone(),
                title: tasks[place].title.clone(),
                description: messages::description(world, self.format, judged, &groups, place),
                needs: needs.map(|need| tasks[need].id.clone()).collect(),
                fields: tasks[place].fields.clone(),
            }
        });
        listed.collect()
    }
}
