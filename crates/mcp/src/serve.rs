//! One session, from the first byte of standard input to its end.

use std::time::Duration;

use rekindle_app::Project;
use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::input;
use crate::opening::Opening;
use crate::output::Output;
use crate::server::Server;

/// How many requests run at once; more are queued.
const AT_ONCE: usize = 16;

/// How long running work may continue after the input ends. Interrupted work is in the journal, and
/// the next resume finishes it.
const LAST_WORK: Duration = Duration::from_secs(30);

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system provides no threads or no events.
    #[error("cannot start the server")]
    Runtime(#[source] std::io::Error),
    /// The handshake with the client failed.
    #[error("the MCP session could not start")]
    Opening(#[source] Box<ServerInitializeError>),
    /// The session broke off on our side.
    #[error("the MCP session ended unexpectedly")]
    BrokenOff(#[source] tokio::task::JoinError),
    /// A response could not be written.
    #[error("an answer could not be written to standard output")]
    Output(#[source] std::io::Error),
}

/// Serves requests from standard input on standard output, until the input ends.
pub fn serve(project: Project) -> Result<(), Error> {
    in_runtime(async {
        let (input, output) = stdio();
        let (output, mut lost) = Output::new(output);
        let ended = tokio::select! {
            biased;
            Ok(error) = &mut lost => return Err(Error::Output(error)),
            ended = converse(project, input, output) => ended,
        };
        match lost.try_recv() {
            Ok(error) => Err(Error::Output(error)),
            Err(_) => ended,
        }
    })
}

/// Serves requests from `input` on `output`, until the input ends.
pub fn serve_over(
    project: Project,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Error> {
    in_runtime(converse(project, input, output))
}

fn in_runtime(conversation: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(AT_ONCE)
        .build()
        .map_err(Error::Runtime)?;
    let ended = runtime.block_on(conversation);
    runtime.shutdown_timeout(LAST_WORK);
    ended
}

async fn converse(
    project: Project,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Error> {
    let (readable, refused) = input::readable(input);
    let transport = AsyncRwTransport::new_server(readable, output);
    let transport = Opening::new(transport, refused);
    let running = match Server::new(project).serve(transport).await {
        Ok(running) => running,
        // It is not an error if a client disconnects before its first request.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(Error::Opening(Box::new(error))),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(Error::BrokenOff(error)),
        Ok(_) => Ok(()),
    }
}
