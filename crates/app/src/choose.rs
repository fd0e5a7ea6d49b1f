//! From a name, or from none, to the one workflow that is meant.

use rekindle_model::{Code, Condition, Finding, ProtocolName, State, Summary, WorkflowId};
use rekindle_protocol::{Ask, ResumeOption};
use rekindle_world::World;

use crate::Error;
use crate::inspect::Inspected;
use crate::query::Query;
use crate::survey::open;

/// Reads a world: the named protocol, or the only one that has the requested workflow.
pub(crate) fn inspect_world(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let inspected = look(world, query)?;
    let protocol = inspected.protocol;
    let known = rekindle_registry::find(protocol).options();
    let mut given = query.options.iter().map(|(option, _)| option);
    match given.find(|option| !known.contains(option)) {
        Some(ResumeOption(option)) => Err(Error::NotOffered { protocol, option }),
        None => Ok(inspected),
    }
}

/// Returns the protocols that understand an option of `resume`.
pub fn protocols_with(option: &str) -> Vec<ProtocolName> {
    let all = rekindle_registry::ALL.iter();
    let understands = all.filter(|protocol| {
        let mut options = protocol.options().iter();
        options.any(|ResumeOption(known)| *known == option)
    });
    understands.map(|protocol| protocol.name()).collect()
}

fn look(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let (protocol, name) = query.parts();
    let of = |protocol: ProtocolName, name: Option<String>| {
        let ask = Ask {
            name,
            accepted: query.accepted.clone(),
            alone: query.alone,
            all: false,
            options: query.options.clone(),
            sessions: query.sessions.clone(),
            last_life: query.last_life,
        };
        Inspected {
            protocol,
            last_session: None,
            workflow: None,
            of_records: Vec::new(),
            is_here: rekindle_registry::find(protocol).is_here(world),
            is_named: query.parts().0.is_some(),
            case: rekindle_registry::find(protocol).inspect(world, &ask),
        }
    };
    let look = |protocol: ProtocolName| of(protocol, name.clone());
    if let Some(protocol) = protocol {
        return Ok(look(protocol));
    }
    let mut here: Vec<Inspected> = rekindle_registry::ALL
        .iter()
        .filter(|protocol| protocol.is_here(world))
        .map(|protocol| look(protocol.name()))
        .collect();
    match &name {
        Some(name) => {
            // The only protocol here may have its own words for an unknown name.
            let has_words = |inspected: &Inspected| {
                let assessment = inspected.assessment();
                let mut findings = assessment.findings.iter();
                assessment.id.is_some() || findings.any(|found| found.code == Code::BadFeatureName)
            };
            let could_be = begun_with(&here, name);
            let is_known = |one: &Inspected| one.assessment().state != State::Unknown;
            if let [only] = could_be.as_slice()
                && !here.iter().any(is_known)
            {
                // Not every protocol takes the beginning of a name, but people type what they are shown.
                return Ok(of(only.protocol, Some(only.name.clone())));
            }
            if here.len() == 1
                && let Some(only) = here.pop_if(|only| has_words(only))
            {
                return Ok(only);
            }
            here.retain(is_known);
            if here.is_empty() {
                return Err(unknown(name, could_be, open(world)));
            }
        }
        None if here.len() > 1 || here.iter().all(Inspected::gives_way) => {
            let all = here.iter().flat_map(|one| &one.assessment().workflows);
            let all: Vec<Summary> = all.cloned().collect();
            let of_lists = crate::lists::runs_of(world, &all);
            here.retain(|inspected| {
                let mut open = inspected.assessment().workflows.iter();
                let is_only_of_lists = !of_lists.is_empty()
                    && open.all(|one| !one.state.is_open() || of_lists.contains(&one.id))
                    && of_lists.iter().any(|id| id.protocol == inspected.protocol);
                inspected.assessment().state != State::Nothing && !is_only_of_lists
            });
            // Finished workflows do not make an open one ambiguous.
            let is_over = |inspected: &Inspected| inspected.assessment().state == State::Complete;
            if !here.iter().all(is_over) {
                here.retain(|inspected| !is_over(inspected));
            }
            if !here.iter().all(Inspected::gives_way) {
                here.retain(|inspected| !inspected.gives_way());
            }
            if here.len() > 1
                && let Some(id) = only_list(&here)
            {
                return Ok(of(id.protocol, Some(id.name)));
            }
        }
        None => {}
    }
    match (here.pop(), here.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => match &name {
            Some(name) => {
                let name = name.clone();
                let among = rekindle_registry::ALL
                    .iter()
                    .filter_map(|protocol| look(protocol.name()).assessment().id.clone())
                    .collect();
                Err(Error::Ambiguous { name, among })
            }
            None => Err(Error::ChoiceNeeded { open: open(world) }),
        },
        // There is no workflow of any protocol: the first protocol reports that in its own words.
        (None, _) => Ok(look(rekindle_registry::starter().0)),
    }
}

/// Returns the list that is meant where all that is open are lists of several formats: the current one,
/// else the only one that is interrupted.
fn only_list(here: &[Inspected]) -> Option<WorkflowId> {
    let all = here.iter().flat_map(|one| &one.assessment().workflows);
    let open: Vec<&Summary> = all.filter(|summary| summary.state.is_open()).collect();
    if !open.iter().all(|summary| summary.view.is_list) {
        return None;
    }
    let only = |is_meant: fn(&Summary) -> bool| {
        let mut meant = open.iter().filter(|summary| is_meant(summary));
        let first = meant.next()?;
        meant.next().is_none().then(|| first.id.clone())
    };
    let is_current = |summary: &Summary| summary.view.is_current;
    if open.iter().any(|summary| is_current(summary)) {
        return only(is_current);
    }
    only(|summary| summary.view.condition == Condition::Interrupted)
}

/// Returns the workflows whose names start with the given text.
fn begun_with(looked_at: &[Inspected], name: &str) -> Vec<WorkflowId> {
    let workflows = looked_at.iter().flat_map(|one| &one.assessment().workflows);
    let begun = workflows.filter(|summary| !name.is_empty() && summary.id.name.starts_with(name));
    begun.map(|summary| summary.id.clone()).collect()
}

/// Returns why a name matches no workflow: several start with it, or none.
fn unknown(name: &str, could_be: Vec<WorkflowId>, open: Vec<Summary>) -> Error {
    let name = name.to_owned();
    if could_be.len() > 1 {
        let among = could_be;
        Error::Ambiguous { name, among }
    } else {
        Error::Unknown { name, open }
    }
}

/// Returns the chosen workflow, or why none is.
pub(crate) fn chosen(inspected: &Inspected, query: &Query) -> Result<WorkflowId, Error> {
    let assessment = inspected.assessment();
    if let Some(id) = &assessment.id {
        return Ok(id.clone());
    }
    let open = || {
        assessment
            .workflows
            .iter()
            // A protocol without a workflow here may still report what it would find.
            .filter(|summary| inspected.is_here && summary.state.is_open())
            .cloned()
            .collect()
    };
    // An invalid name is reported differently from an unknown one.
    let refuses = |finding: &&Finding| {
        assessment.state == State::Nothing || finding.code == Code::BadFeatureName
    };
    if let Some(finding) = assessment.blockers().find(refuses) {
        let finding = Box::new(finding.clone());
        return Err(Error::NotChosen { finding });
    }
    match (&query.name, assessment.state) {
        (Some(name), State::Unknown) => {
            let (_, typed) = rekindle_registry::split(name);
            let could_be = begun_with(std::slice::from_ref(inspected), typed);
            Err(unknown(name, could_be, open()))
        }
        (_, State::Choice) => Err(Error::ChoiceNeeded { open: open() }),
        _ if inspected.is_nothing() => Err(Error::Nothing),
        (None, _) if !inspected.is_named => Err(Error::NothingOpen),
        _ => Err(Error::NothingOf {
            protocol: inspected.protocol,
        }),
    }
}
