//! The exit code and the code of each error.

use rekindle_model::Code;
use rekindle_wire::exit;

use super::Error;

impl Error {
    /// Returns the exit code for this error.
    pub fn exit(&self) -> u8 {
        self.verdict().0
    }

    /// Returns the code that explains it, if it has one.
    pub fn code(&self) -> Option<Code> {
        self.verdict().1
    }

    /// Returns the exit code, and the code that explains it.
    fn verdict(&self) -> (u8, Option<Code>) {
        match self {
            Self::Session(error) => (error.exit(), error.code()),
            Self::NotChosen { finding } if finding.code == Code::BadFeatureName => {
                (exit::USAGE, Some(finding.code))
            }
            Self::NotChosen { finding } => (exit::CANNOT, Some(finding.code)),
            Self::Unknown { .. } => (exit::CANNOT, Some(Code::UnknownWorkflow)),
            Self::Moved { .. } | Self::Spent { .. } => (exit::CANNOT, Some(Code::WorldMoved)),
            Self::NoProgress { .. } => (exit::CANNOT, Some(Code::NoProgress)),
            Self::WorkMissing { .. } => (exit::CANNOT, Some(Code::LandedWorkMissing)),
            Self::SessionAlive { .. } => (exit::HELD, Some(Code::SessionAlive)),
            Self::Held { .. } | Self::BranchHeld { .. } | Self::AgentAlive { .. } => {
                (exit::HELD, Some(Code::LockHeld))
            }
            Self::Ambiguous { .. }
            | Self::AmbiguousRescue { .. }
            | Self::ChoiceNeeded { .. }
            | Self::NobodyAnswered => (exit::CHOICE, None),
            Self::Config(_)
            | Self::NoAgent
            | Self::BadBranch { .. }
            | Self::NotOffered { .. }
            | Self::TaskNeeded { .. }
            | Self::DetailsNeeded { .. } => (exit::USAGE, None),
            Self::UnknownCode { .. }
            | Self::Nothing
            | Self::NothingOpen
            | Self::NothingOf { .. }
            | Self::NotKept { .. }
            | Self::NoOutput { .. }
            | Self::UnknownTask { .. }
            | Self::UnknownDocument { .. }
            | Self::Blocked { .. }
            | Self::AgentCannotStart { .. }
            | Self::AlreadyConfigured { .. }
            | Self::NotConfigured { .. }
            | Self::BadPlan { .. }
            | Self::NotAttached { .. }
            | Self::CheckedOut { .. }
            | Self::NoCommits
            | Self::NothingRescued { .. }
            | Self::UnknownRescue { .. }
            | Self::UnknownLeftover { .. }
            | Self::NotPrunable { .. }
            | Self::NoMapScripts { .. }
            | Self::OriginalMissing { .. }
            | Self::OriginalDiffers { .. }
            | Self::Taken { .. }
            | Self::NotRestored { .. }
            | Self::Git(_)
            | Self::Recording { .. }
            | Self::Unreadable { .. }
            | Self::Install(_)
            | Self::Run(_)
            | Self::Files(_) => (exit::CANNOT, None),
        }
    }
}
