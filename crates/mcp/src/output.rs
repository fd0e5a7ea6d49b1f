//! Standard output that remembers why a write failed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::sync::oneshot;

/// Passes everything on, and reports the first failure, unless the client went away.
pub(crate) struct Output<W> {
    inner: W,
    lost: Option<oneshot::Sender<io::Error>>,
}

impl<W> Output<W> {
    pub(crate) fn new(inner: W) -> (Self, oneshot::Receiver<io::Error>) {
        let (sender, receiver) = oneshot::channel();
        let lost = Some(sender);
        (Self { inner, lost }, receiver)
    }

    fn watch<T>(&mut self, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &done
            && error.kind() != io::ErrorKind::BrokenPipe
            && let Some(lost) = self.lost.take()
        {
            // Nobody receives it if the session ended for another reason.
            lost.send(io::Error::new(error.kind(), error.to_string()))
                .ok();
        }
        done
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Output<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.watch(done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_flush(context);
        self.watch(done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_shutdown(context);
        self.watch(done)
    }
}
