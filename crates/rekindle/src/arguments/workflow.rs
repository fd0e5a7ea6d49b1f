//! Looking at a workflow.

use camino::Utf8PathBuf;
use clap::Args;
use rekindle_model::ProtocolName;

use super::values::parse_protocol;

/// Which workflows are listed.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// List only the workflows of this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
    /// List finished and old workflows too
    #[arg(short, long)]
    pub(crate) all: bool,
    /// List the sessions of coding agents in all folders, as `rekindle sessions` does
    #[arg(long, conflicts_with = "protocol")]
    pub(crate) everywhere: bool,
}

/// Chooses a workflow.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArguments {
    /// The workflow: `protocol:name`, a name, or a unique prefix of one
    pub(crate) id: Option<String>,
    /// Use only this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
    /// Read the coding agent's task list from this JSON file instead of its usual place (kiln-teams)
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks: Option<Utf8PathBuf>,
}

/// How a workflow with checkpoints is resumed.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that can be typed"
)]
pub(crate) struct StartArguments {
    /// Resume from this checkpoint instead of the latest (bifrost)
    #[arg(long, value_name = "CP")]
    pub(crate) checkpoint: Option<String>,
    /// Show only the phase, the artifacts and the next action, and compact the session if its context usage is high (bifrost)
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Run the validators first (bifrost)
    #[arg(long)]
    pub(crate) validate: bool,
    /// Also do open subtasks of tasks that are marked as done (task lists)
    #[arg(long)]
    pub(crate) include_marked: bool,
    /// Work in the checkout, one task at a time and without commits (task lists)
    #[arg(long)]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Also write everything that was read to this file, for `--from` on another machine
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) capture: Option<Utf8PathBuf>,
    /// Inspect a file written by `--capture` instead of the project
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<Utf8PathBuf>,
    /// Print the page that hands a session over to another agent, as Markdown
    #[arg(long, requires = "id", conflicts_with_all = ["capture", "from"])]
    pub(crate) handover: bool,
}

/// Which sessions are listed, and how.
#[derive(Debug, Args)]
pub(crate) struct SessionsArguments {
    /// List every session, including finished and old ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one `cd FOLDER && PROGRAM …` per line, for panes of a multiplexer
    #[arg(long, conflicts_with = "json")]
    pub(crate) commands: bool,
}

impl SessionsArguments {
    /// Returns what the same list is asked for as.
    pub(crate) fn of(list: &StatusArguments) -> Self {
        Self {
            all: list.all,
            commands: false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The workflow, or the code of a finding
    #[arg(value_name = "ID|CODE")]
    pub(crate) subject: String,
    /// The task
    pub(crate) task: Option<String>,
    /// Use only this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// The workflow, or a task of the newest one
    pub(crate) id: Option<String>,
    /// The task
    pub(crate) task: Option<String>,
    /// Print new lines as they come, until nobody works on it any more
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// The number of an attempt [default: the last one of each task]
    #[arg(long, value_name = "N")]
    pub(crate) attempt: Option<u32>,
    /// Look only at this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
}

#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// The run: `protocol:name`, a name, or a unique prefix of one
    pub(crate) id: Option<String>,
    /// Look only at this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
}
