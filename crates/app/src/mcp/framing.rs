//! The transport between the standard streams and the protocol's library: one message a line, and an error
//! for each line that is none.
//!
//! - A line that cannot be parsed as a message is answered with a JSON-RPC error, and the session continues.
//! - A line that is too long is skipped as it arrives: only the id in it is kept.
//! - Requests that wait for their answer are bounded in number and in bytes.
//! - Receiving may be cancelled at any await without losing a byte: the library does so all the time.
//!
//! Not here: parsing of messages (`envelope`), and the work of requests.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinHandle;

use super::envelope::{self, LineRefusal, ReceivedLine};
use super::in_flight::InFlight;
use super::lines::{InputLine, InputLineReader};

/// Answers that wait to be written; no further line is read meanwhile.
const WAITING_ANSWERS: usize = 16;
/// Longest wait at the end for a client to read the last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Lines of JSON, read from `R` and written to the stream given to [`LineTransport::new`].
pub(super) struct LineTransport<R> {
    lines: InputLineReader<R>,
    state: Arc<Mutex<SessionState>>,
    /// The answer to a line that was no message, until there is room to write it.
    owed: Option<Vec<u8>>,
    /// None once the transport is closed.
    answers: Option<Sender<Vec<u8>>>,
    writing: JoinHandle<()>,
}

#[derive(Default)]
struct SessionState {
    in_flight: InFlight,
    /// Whether the session has begun. Before that the library treats any notification as an error of the client.
    is_open: bool,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// Must be called within a runtime.
    pub(super) fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (answers, waiting) = mpsc::channel(WAITING_ANSWERS);
        Self {
            lines: InputLineReader::new(input),
            state: Arc::default(),
            owed: None,
            answers: Some(answers),
            writing: tokio::spawn(write_all(output, waiting)),
        }
    }

    /// The message of a line for the library, if it is one.
    fn accept(&mut self, line: InputLine) -> Option<RxJsonRpcMessage<RoleServer>> {
        let (received, bytes) = match line {
            InputLine::Whole(line) => (envelope::read(&line), line.len()),
            InputLine::TooLong(id) => (ReceivedLine::Refused(LineRefusal::too_long(id)), 0),
        };
        let message = match received {
            ReceivedLine::Message(message) => *message,
            ReceivedLine::Refused(refusal) => {
                self.owed = Some(refusal.line());
                return None;
            }
            ReceivedLine::Ignored => return None,
        };
        let mut state = locked(&self.state);
        match &message {
            JsonRpcMessage::Request(request) => {
                if let Err(refusal) = state.in_flight.begin(&request.id, bytes) {
                    self.owed = Some(refusal.line());
                    return None;
                }
            }
            JsonRpcMessage::Notification(_) if !state.is_open => return None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // No answer ends it any more.
                    state.in_flight.end(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (answers, state) = (self.answers.clone(), Arc::clone(&self.state));
        if is_greeting(&message) {
            locked(&state).is_open = true;
        }
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let answers = answers.ok_or_else(closed)?;
            let sent = answers.send(line).await.map_err(|_| closed());
            let id = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if let Some(id) = id {
                locked(&state).in_flight.end(id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.owed.is_some() {
                let room = self.answers.as_ref()?.reserve().await.ok()?;
                if let Some(owed) = self.owed.take() {
                    room.send(owed);
                }
            }
            // A stream that cannot be read any more has ended.
            let line = self.lines.next().await.ok()??;
            if let Some(message) = self.accept(line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.answers = None;
        // A client that reads no more does not delay the end.
        let _ = tokio::time::timeout(LAST_ANSWERS, &mut self.writing).await;
        Ok(())
    }
}

/// Whether a message begins the session: a response to anything but a ping or a request for the supported
/// versions.
fn is_greeting(message: &TxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Response(response) = message else {
        return false;
    };
    !matches!(
        response.result,
        ServerResult::EmptyResult(_) | ServerResult::DiscoverResult(_)
    )
}

/// Writes answers in their order until there are no more, or until the client is gone.
async fn write_all(mut output: impl AsyncWrite + Unpin, mut waiting: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = waiting.recv().await {
        let written = output.write_all(&line).await;
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the client is gone")
}

/// Nothing that panics runs under this lock.
fn locked(state: &Mutex<SessionState>) -> MutexGuard<'_, SessionState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
