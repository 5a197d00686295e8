//! One connection: its requests are read and answered, and it is closed when it is silent, slow, or in the
//! way of others.
//!
//! Not here: what is answered; which connection has to go (`connections`).

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
use super::fault::Fault;
use super::refusal::{BUSY, Refusal, SLOW};

/// How often a connection is looked at that does nothing: its deadline moves while it is waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Most bytes of a request's headers.
const HEADER_BYTES: usize = 64 * 1024;

/// What a request knows of the connection that it came over.
#[derive(Clone)]
pub(super) struct RequestOrigin {
    connection: Arc<Connection>,
    table: Arc<ConnectionTable>,
}

impl RequestOrigin {
    /// The request has shown the right token.
    pub(super) fn prove(&self) -> Result<(), Fault> {
        let proved = self.table.prove(&self.connection);
        proved.map_err(|_| Fault::busy("too many connections at once"))
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

/// Gives the socket back where its client is owed an answer.
async fn serve_requests(
    stream: TcpStream,
    connection: &Arc<Connection>,
    table: &Arc<ConnectionTable>,
    app: Router,
    mut ending: watch::Receiver<()>,
) -> Option<(TcpStream, &'static Refusal)> {
    let origin = RequestOrigin {
        connection: Arc::clone(connection),
        table: Arc::clone(table),
    };
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |request| answer(request, origin.clone(), app.clone()));
    let io = TokioIo::new(Watched {
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
            // A connection that breaks off is its client's affair.
            _ = &mut requests => return None,
            changed = ending.changed(), if !is_ending => {
                is_ending = true;
                Pin::new(&mut requests).graceful_shutdown();
                drop(changed);
            }
            () = connection.evicted() => break &BUSY,
            () = sleep(LOOK_AGAIN) => match overdue(connection) {
                Overdue::No => {}
                Overdue::Idle => return None,
                Overdue::Headers => break &SLOW,
            },
        }
    };
    Some((requests.into_parts().io.into_inner().stream, refusal))
}

/// What a connection is overdue with.
enum Overdue {
    No,
    Idle,
    Headers,
}

fn overdue(connection: &Connection) -> Overdue {
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

/// A connection that has shown no token is closed behind its answer: its room is for others.
async fn answer(
    mut request: Request<Incoming>,
    origin: RequestOrigin,
    app: TowerToHyperService<Router>,
) -> Result<Response<axum::body::Body>, Infallible> {
    let connection = Arc::clone(&origin.connection);
    if connection.begin_request().is_err() {
        return Ok(closing(
            Fault::busy("too many connections at once").into_response(),
        ));
    }
    request.extensions_mut().insert(origin);
    let answered = app.call(request).await;
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

/// A socket that notes when bytes come.
struct Watched {
    stream: TcpStream,
    connection: Arc<Connection>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        if into.filled().len() > before {
            self.connection.read_some(Instant::now());
        }
        read
    }
}

impl AsyncWrite for Watched {
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
