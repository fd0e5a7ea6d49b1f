//! One conversation, from the first byte of standard input to its end.

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

/// How many requests are worked on at once; more wait for their turn.
const AT_ONCE: usize = 16;

/// How long work may take that is still going on when the input ends. What is cut short stands in
/// the journal and is finished by the next resume.
const LAST_WORK: Duration = Duration::from_secs(30);

/// Why a conversation could not be held.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system gives no threads or no events.
    #[error("the server can not be started")]
    Runtime(#[source] std::io::Error),
    /// The client and we did not come to terms.
    #[error("the conversation could not begin")]
    Opening(#[source] Box<ServerInitializeError>),
    /// The conversation broke off in here.
    #[error("the conversation broke off")]
    BrokenOff(#[source] tokio::task::JoinError),
    /// An answer could not be written.
    #[error("an answer could not be written to standard output")]
    Output(#[source] std::io::Error),
}

/// Answers on standard output what is asked on standard input, until the input ends.
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

/// Answers on `output` what is asked on `input`, until the input ends.
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
        // A client that went away before it asked for anything is no failure of ours.
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
