//! Why a command stops without an answer.

/// Why a command stops without an answer of its own; the peer's exceptions.
///
/// It becomes one line `{"error": …}` on standard error and exit code 1, and nothing is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) String);

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
