//! Accepts connections at any load, and drains them at the end.
//!
//! A connection is accepted at once even where there is no room for it: it gets the answer that the server
//! is busy, and is closed. So no client waits in a queue that it cannot see.
//!
//! Not here: which connection makes room for another (`connections`), what happens on one (`serving`).

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use daybook_engine::stop::Stop;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, timeout};

use super::DRAIN;
use super::connections::ConnectionTable;
use super::refusal::{BUSY, refuse};
use super::serving::serve_connection;
use crate::terminal::messages::print_error;

/// Pause after a connection could not be accepted, because the machine is out of some resource.
const REST: Duration = Duration::from_millis(20);
/// Time that closing an idle connection takes.
const CLOSE: Duration = Duration::from_millis(1);

/// Serves `app` until `stop` is requested, then until open requests are answered. `spare` is a file that always
/// exists.
pub(super) async fn serve(
    listener: StdListener,
    app: Router,
    table: ConnectionTable,
    spare: PathBuf,
    stop: &Stop,
) -> Result<()> {
    let table = Arc::new(table);
    let mut acceptor = Acceptor {
        listener: TcpListener::from_std(listener).context("cannot listen")?,
        seats: Arc::new(Semaphore::new(table.capacity() + closing(&table))),
        spare: SpareDescriptor::new(spare),
        table: Arc::clone(&table),
    };
    let (ending, _) = watch::channel(());
    let stopping = stop.wait_for_request();
    tokio::pin!(stopping);
    loop {
        let (stream, peer, seat) = tokio::select! {
            accepted = acceptor.accept() => accepted,
            () = &mut stopping => break,
        };
        let (app, table, ending) = (app.clone(), Arc::clone(&table), ending.subscribe());
        tokio::spawn(async move {
            match table.admit(peer.ip(), Instant::now()) {
                Ok(connection) => serve_connection(stream, &connection, &table, app, ending).await,
                Err(_) => refuse(stream, &BUSY).await,
            }
            drop(seat);
        });
    }
    drop(acceptor);
    ending.send_replace(());
    if timeout(DRAIN, ending.closed()).await.is_err() {
        print_error("open requests were cut off; all acknowledged events are on disk");
    }
    Ok(())
}

/// Takes connections, also where the process has no file descriptor left for one.
struct Acceptor {
    listener: TcpListener,
    /// One for each socket that is open.
    seats: Arc<Semaphore>,
    spare: SpareDescriptor,
    table: Arc<ConnectionTable>,
}

impl Acceptor {
    async fn accept(&mut self) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
        // Seats are short only while connections that had to make room are closing. The semaphore is never
        // closed, so there is always a seat to wait for.
        let seat = Arc::clone(&self.seats).acquire_owned().await.ok();
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => return (stream, peer, seat),
                Err(error) if is_out_of_descriptors(&error) => self.make_room().await,
                // The client has closed the connection again, or the network fails.
                Err(_) => tokio::time::sleep(REST).await,
            }
        }
    }

    /// Closes the oldest idle connection, for the one that waits; where none is idle, answers the one that
    /// waits that the server is busy.
    async fn make_room(&mut self) {
        if self.table.shed().is_ok() {
            tokio::time::sleep(CLOSE).await;
            return;
        }
        self.spare.give_up();
        if let Ok(Ok((stream, _))) = timeout(REST, self.listener.accept()).await {
            refuse(stream, &BUSY).await;
        }
        self.spare.reserve();
    }
}

/// How many connections may be closing while others have taken their room already.
fn closing(table: &ConnectionTable) -> usize {
    table.capacity() / 4 + 1
}

/// A file descriptor that is given up when no other is left.
struct SpareDescriptor {
    path: PathBuf,
    held: Option<File>,
}

impl SpareDescriptor {
    fn new(path: PathBuf) -> Self {
        let mut spare = Self { path, held: None };
        spare.reserve();
        spare
    }

    fn give_up(&mut self) {
        self.held = None;
    }

    /// Tries again the next time where it fails.
    fn reserve(&mut self) {
        self.held = File::open(&self.path).ok();
    }
}

#[cfg(unix)]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = Errno::from_io_error(error);
    [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM]
        .into_iter()
        .any(|out_of| code == Some(out_of))
}

#[cfg(not(unix))]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use axum::Extension;

    use super::*;
    use crate::http::connections::ConnectionLimits;
    use crate::http::fault::HttpFault;
    use crate::http::serving::RequestOrigin;

    /// A panic ends the server, too.
    struct AskAtDrop<'a>(&'a Stop);

    impl Drop for AskAtDrop<'_> {
        fn drop(&mut self) {
            self.0.request_end();
        }
    }

    async fn prove(Extension(origin): Extension<RequestOrigin>) -> Result<(), HttpFault> {
        origin.prove()
    }

    /// Has `use_it` connect to a server with these limits, which proves each connection that sends a request.
    fn with_server(limits: ConnectionLimits, use_it: impl Fn(SocketAddr)) {
        let listener = StdListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a socket");
        let app = Router::new().fallback(prove);
        let (table, stop) = (ConnectionTable::new(limits), Stop::default());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let served = serve(listener, app, table, PathBuf::from("/"), &stop);
                runtime.expect("a runtime").block_on(served)
            });
            let _ends = AskAtDrop(&stop);
            use_it(address);
        });
    }

    #[test]
    fn a_connection_without_room_is_told_so_at_once() {
        let limits = ConnectionLimits {
            unproven: 0,
            ..ConnectionLimits::DEFAULT
        };
        with_server(limits, |address| {
            for _ in 0..20 {
                let mut stream = TcpStream::connect(address).expect("it listens");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("an answer");
                assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
                assert!(answer.contains("\r\nRetry-After: "), "{answer}");
            }
        });
    }

    #[test]
    fn a_proven_connection_is_closed_when_it_is_idle_or_slow() {
        let brief = Duration::from_millis(1);
        let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let idle = ConnectionLimits {
            idle: brief,
            ..ConnectionLimits::DEFAULT
        };
        let slow = ConnectionLimits {
            headers: Duration::from_secs(1),
            ..ConnectionLimits::DEFAULT
        };
        for (limits, next, closing) in [
            (idle, "", "\r\n\r\n"),
            (slow, "GET / HTTP/1.1\r\nX-Slow: ", "send it again\"}}"),
        ] {
            with_server(limits, |address| {
                let mut stream = TcpStream::connect(address).expect("it listens");
                stream.write_all(request.as_bytes()).expect("it reads");
                let mut answer = [0; 15];
                stream.read_exact(&mut answer).expect("an answer");
                assert_eq!(&answer, b"HTTP/1.1 200 OK");
                stream.write_all(next.as_bytes()).expect("it reads");
                let mut rest = String::new();
                stream.read_to_string(&mut rest).expect("an end");
                assert!(rest.ends_with(closing), "{rest:?}");
            });
        }
    }
}
