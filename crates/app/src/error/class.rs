//! The exit code and the code of each error.

use rekindle_model::Code;
use rekindle_wire::exit;

use super::Error;

impl Error {
    /// Returns the exit code for this error.
    pub fn exit(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit(),
            Self::Ambiguous { .. }
            | Self::AmbiguousRescue { .. }
            | Self::ChoiceNeeded { .. }
            | Self::NobodyAnswered => exit::CHOICE,
            Self::Held { .. }
            | Self::BranchHeld { .. }
            | Self::AgentAlive { .. }
            | Self::SessionAlive { .. } => exit::HELD,
            Self::Config(_)
            | Self::NoAgent
            | Self::BadBranch { .. }
            | Self::NotOffered { .. }
            | Self::TaskNeeded { .. }
            | Self::DetailsNeeded { .. } => exit::USAGE,
            Self::NotChosen { finding } if finding.code == Code::BadFeatureName => exit::USAGE,
            Self::Unknown { .. }
            | Self::UnknownCode { .. }
            | Self::NotChosen { .. }
            | Self::Nothing
            | Self::NothingOf { .. }
            | Self::NotKept { .. }
            | Self::NoOutput { .. }
            | Self::NotAttached { .. }
            | Self::UnknownTask { .. }
            | Self::UnknownDocument { .. }
            | Self::Moved { .. }
            | Self::Spent { .. }
            | Self::Blocked { .. }
            | Self::NoProgress { .. }
            | Self::AgentCannotStart { .. }
            | Self::NotConfigured { .. }
            | Self::BadPlan { .. }
            | Self::CheckedOut { .. }
            | Self::WorkMissing { .. }
            | Self::NoCommits
            | Self::NothingRescued { .. }
            | Self::UnknownRescue { .. }
            | Self::UnknownLeftover { .. }
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
            | Self::Files(_) => exit::CANNOT,
        }
    }

    /// Returns the code that explains it, if it has one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Session(error) => error.code(),
            Self::Unknown { .. } => Some(Code::UnknownWorkflow),
            Self::NotChosen { finding } => Some(finding.code),
            Self::Moved { .. } | Self::Spent { .. } => Some(Code::WorldMoved),
            Self::NoProgress { .. } => Some(Code::NoProgress),
            Self::WorkMissing { .. } => Some(Code::LandedWorkMissing),
            Self::SessionAlive { .. } => Some(Code::SessionAlive),
            Self::Held { .. } | Self::BranchHeld { .. } | Self::AgentAlive { .. } => {
                Some(Code::LockHeld)
            }
            Self::UnknownCode { .. }
            | Self::NotOffered { .. }
            | Self::Ambiguous { .. }
            | Self::ChoiceNeeded { .. }
            | Self::NobodyAnswered
            | Self::NoAgent
            | Self::AgentCannotStart { .. }
            | Self::NotConfigured { .. }
            | Self::Nothing
            | Self::NothingOf { .. }
            | Self::NotKept { .. }
            | Self::NoOutput { .. }
            | Self::NotAttached { .. }
            | Self::TaskNeeded { .. }
            | Self::DetailsNeeded { .. }
            | Self::UnknownTask { .. }
            | Self::UnknownDocument { .. }
            | Self::Blocked { .. }
            | Self::BadPlan { .. }
            | Self::Config(_)
            | Self::BadBranch { .. }
            | Self::CheckedOut { .. }
            | Self::NoCommits
            | Self::NothingRescued { .. }
            | Self::UnknownRescue { .. }
            | Self::UnknownLeftover { .. }
            | Self::NoMapScripts { .. }
            | Self::OriginalMissing { .. }
            | Self::OriginalDiffers { .. }
            | Self::AmbiguousRescue { .. }
            | Self::Taken { .. }
            | Self::NotRestored { .. }
            | Self::Git(_)
            | Self::Recording { .. }
            | Self::Unreadable { .. }
            | Self::Install(_)
            | Self::Run(_)
            | Self::Files(_) => None,
        }
    }
}
