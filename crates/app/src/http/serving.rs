//! Serves one connection: reads and answers its requests, and closes it when it is silent, slow, or must
//! make room for another.
//!
//! Not here: the answers; which connection must make room (`connections`).

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, Response};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::connections::{Connection, ConnectionTable, Phase};
use super::fault::HttpFault;
use super::refusal::{BUSY, ConnectionRefusal, SLOW};

/// Interval of checks of an inactive connection: its deadline moves meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Most bytes of a request's headers.
const HEADER_BYTES: usize = 64 * 1024;

/// The connection that a request came over.
#[derive(Clone)]
pub(super) struct RequestOrigin {
    connection: Arc<Connection>,
    table: Arc<ConnectionTable>,
}

/// Marks an answer whose body goes on after its beginning: until it is complete, or until its client goes.
#[derive(Clone)]
pub(super) struct OpenBody;

impl RequestOrigin {
    /// Records that a request on this connection had a valid token.
    pub(super) fn prove(&self) -> Result<(), HttpFault> {
        let proved = self.table.prove(&self.connection);
        proved.map_err(|_| HttpFault::busy("too many connections at once"))
    }
}

/// Serves a connection until it is closed. Once `ending` changes no further request is read.
pub(super) async fn serve_connection(
    stream: TcpStream,
    connection: &Arc<Connection>,
    table: &Arc<ConnectionTable>,
    app: Router,
    ending: watch::Receiver<()>,
) {
    let refusal = serve_requests(stream, connection, table, app, ending).await;
    table.remove(connection);
    if let Some((stream, refusal)) = refusal {
        refusal.write_to(&stream);
    }
}

/// Serves requests. Returns the socket where its client still has to get an answer.
async fn serve_requests(
    stream: TcpStream,
    connection: &Arc<Connection>,
    table: &Arc<ConnectionTable>,
    app: Router,
    mut ending: watch::Receiver<()>,
) -> Option<(TcpStream, &'static ConnectionRefusal)> {
    let origin = RequestOrigin {
        connection: Arc::clone(connection),
        table: Arc::clone(table),
    };
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |request| answer(request, origin.clone(), app.clone()));
    let io = TokioIo::new(ReadWatcher {
        stream,
        connection: Arc::clone(connection),
    });
    let mut requests = http1::Builder::new()
        .timer(TokioTimer::new())
        // Both classes of connections have bounds of their own, below.
        .header_read_timeout(None)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(io, service);
    let mut is_ending = false;
    let refusal = loop {
        tokio::select! {
            biased;
            // A connection that breaks off needs no answer.
            _ = &mut requests => return None,
            changed = ending.changed(), if !is_ending => {
                is_ending = true;
                Pin::new(&mut requests).graceful_shutdown();
                drop(changed);
            }
            () = connection.evicted() => break &BUSY,
            () = sleep(LOOK_AGAIN) => match overdue_part(connection) {
                Overdue::No => {}
                Overdue::Idle => return None,
                Overdue::Headers => break &SLOW,
            },
        }
    };
    Some((requests.into_parts().io.into_inner().stream, refusal))
}

/// The part of a request that a connection is late with.
enum Overdue {
    No,
    Idle,
    Headers,
}

fn overdue_part(connection: &Connection) -> Overdue {
    let is_over = |deadline| deadline <= Instant::now();
    match (
        connection.deadline().is_some_and(is_over),
        connection.phase(),
    ) {
        (false, _) | (true, Phase::Working) => Overdue::No,
        (true, Phase::Idle) => Overdue::Idle,
        (true, Phase::Headers) => Overdue::Headers,
    }
}

/// Answers a request. A connection without a valid token is closed behind its answer, to make room for others.
async fn answer(
    mut request: Request<Incoming>,
    origin: RequestOrigin,
    app: TowerToHyperService<Router>,
) -> Result<Response<axum::body::Body>, Infallible> {
    let connection = Arc::clone(&origin.connection);
    if connection.begin_request().is_err() {
        return Ok(closing(
            HttpFault::busy("too many connections at once").into_response(),
        ));
    }
    request.extensions_mut().insert(origin);
    let answered = app.call(request).await;
    if let Ok(response) = &answered
        && response.extensions().get::<OpenBody>().is_some()
    {
        // The request is worked on until its body has ended, and the connection takes no other one.
        return answered.map(closing);
    }
    connection.end_request(Instant::now());
    match connection.is_proven() {
        true => answered,
        false => answered.map(closing),
    }
}

fn closing(mut response: Response<axum::body::Body>) -> Response<axum::body::Body> {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

/// A socket that records when bytes arrive.
struct ReadWatcher {
    stream: TcpStream,
    connection: Arc<Connection>,
}

impl AsyncRead for ReadWatcher {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        if into.filled().len() > before {
            self.connection.record_bytes(Instant::now());
        }
        read
    }
}

impl AsyncWrite for ReadWatcher {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
