//! A transport on which only a request can start a session.
//!
//! rmcp ends the server if a notification or a response comes before the first request. A client
//! that cancels its `server/discover` with `notifications/cancelled` sends exactly that.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::input::Refused;

/// Wraps a transport, drops messages that cannot start a session before it has started, and
/// answers invalid requests.
pub(crate) struct Opening<T> {
    transport: T,
    refused: UnboundedReceiver<Refused>,
    has_begun: bool,
}

impl<T> Opening<T> {
    pub(crate) fn new(transport: T, refused: UnboundedReceiver<Refused>) -> Self {
        Self {
            transport,
            refused,
            has_begun: false,
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = tokio::select! {
                message = self.transport.receive() => message?,
                Some(Refused { id, error }) = self.refused.recv() => {
                    let answer = TxJsonRpcMessage::<RoleServer>::error(error, Some(id));
                    self.transport.send(answer).await.ok()?;
                    continue;
                }
            };
            match &message {
                ClientJsonRpcMessage::Request(request) => {
                    self.has_begun |= begins(&request.request);
                    return Some(message);
                }
                ClientJsonRpcMessage::Notification(_)
                | ClientJsonRpcMessage::Response(_)
                | ClientJsonRpcMessage::Error(_)
                    if self.has_begun =>
                {
                    return Some(message);
                }
                ClientJsonRpcMessage::Notification(_)
                | ClientJsonRpcMessage::Response(_)
                | ClientJsonRpcMessage::Error(_) => {}
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// Returns whether rmcp considers the session started after this request.
fn begins(request: &ClientRequest) -> bool {
    if matches!(request, ClientRequest::InitializeRequest(_)) {
        return true;
    }
    let is_bootstrap = matches!(
        request,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
    );
    let meta = request.get_meta();
    let is_complete = meta
        .missing_required_keys(&ProtocolVersion::V_2026_07_28)
        .is_empty();
    let version = meta.protocol_version();
    let is_known =
        version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
    !is_bootstrap && is_complete && is_known
}
