//! Accepts connections at any load, and drains them at the end.
//!
//! A connection is accepted at once even where there is no room for it: then it is answered that the server
//! is busy, and closed. So no client waits in a queue that it cannot see.
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
use crate::logging::complain;

/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Rest after a connection could not be accepted: the machine is out of something.
const REST: Duration = Duration::from_millis(20);
/// What an idle connection needs to be closed.
const CLOSE: Duration = Duration::from_millis(1);
/// Serves `app` until `stop` is asked for, then until open requests are answered. `spare` is a file that is
/// always there.
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
    let asked = asked(stop);
    tokio::pin!(asked);
    loop {
        let (stream, peer, seat) = tokio::select! {
            accepted = acceptor.accept() => accepted,
            () = &mut asked => break,
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
        complain("requests were still open and were cut off; what was acknowledged is on disk");
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
                // The client has gone again, or the network is in trouble.
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

async fn asked(stop: &Stop) {
    while !stop.asked() {
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use super::*;
    use crate::http::connections::ConnectionLimits;

    #[test]
    fn a_connection_without_room_is_told_so_at_once() {
        let listener = StdListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a socket");
        let table = ConnectionTable::new(ConnectionLimits {
            unproven: 0,
            unproven_per_peer: 0,
            proven: 0,
        });
        let stop = Stop::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let served = serve(listener, Router::new(), table, PathBuf::from("/"), &stop);
                runtime.expect("a runtime").block_on(served)
            });
            for _ in 0..20 {
                let mut stream = TcpStream::connect(address).expect("it listens");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("an answer");
                assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
                assert!(answer.contains("\r\nRetry-After: "), "{answer}");
            }
            stop.ask();
        });
    }
}
