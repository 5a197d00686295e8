//! Answers to clients whose request was not read. They are written to the socket directly, then it is closed.
//!
//! Not here: error answers to requests (`fault`).

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::AGAIN;

/// The server has no room for another connection.
pub(super) const BUSY: ConnectionRefusal = ConnectionRefusal {
    status: "503 Service Unavailable",
    code: "busy",
    message: "too many connections at once; ask again in a moment, and send the token",
};
/// The headers of a request did not come in time.
pub(super) const SLOW: ConnectionRefusal = ConnectionRefusal {
    status: "408 Request Timeout",
    code: "slow_request",
    message: "the request's headers did not arrive in time; send it again",
};

/// Longest wait for a client to read an answer before the socket is closed on it.
const LINGER: Duration = Duration::from_millis(500);
/// Most bytes of its request that are read and thrown away meanwhile.
const LEFT_OVER: u64 = 64 * 1024;

/// An answer without a request.
pub(super) struct ConnectionRefusal {
    status: &'static str,
    code: &'static str,
    message: &'static str,
}

impl ConnectionRefusal {
    fn text(&self) -> String {
        let Self {
            status,
            code,
            message,
        } = self;
        let body = format!("{{\"error\":{{\"code\":\"{code}\",\"message\":\"{message}\"}}}}");
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Retry-After: {AGAIN}\r\nConnection: close\r\n\r\n{body}"
        )
    }

    /// Writes as much as the socket accepts at once, without waiting.
    pub(super) fn write_to(&self, stream: &TcpStream) {
        let _ = stream.try_write(self.text().as_bytes());
    }
}

/// Refuses a connection of which nothing was read.
pub(super) async fn refuse(mut stream: TcpStream, refusal: &ConnectionRefusal) {
    // A socket that was never waited for is not known to take anything yet.
    let _ = timeout(LINGER, stream.writable()).await;
    refusal.write_to(&stream);
    // Closing a socket with unread bytes takes back what was written to it.
    let (mut reading, mut writing) = stream.split();
    let _ = tokio::io::AsyncWriteExt::shutdown(&mut writing).await;
    let mut rest = (&mut reading).take(LEFT_OVER);
    let _ = timeout(LINGER, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
}
