//! The picture of a workflow.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use rekindle_model::ProtocolName;

use super::values::parse_protocol;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The workflow [default: the one at work, or the newest]
    pub(crate) id: Option<String>,
    /// Look only at this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
    /// Write to this file, or to standard output if it is `-` [default: named after the workflow, in the current folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Write only a drawing, as SVG
    #[arg(long, value_name = "DRAWING", conflicts_with = "trace")]
    pub(crate) svg: Option<SvgKind>,
    /// Write a trace for viewers such as ui.perfetto.dev (Trace Event Format)
    #[arg(long)]
    pub(crate) trace: bool,
    /// Include the last lines that agents and checks printed, with secrets masked
    #[arg(long, conflicts_with_all = ["svg", "trace"])]
    pub(crate) with_output: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SvgKind {
    /// When what happened
    Timeline,
    /// What needs what
    Graph,
}
