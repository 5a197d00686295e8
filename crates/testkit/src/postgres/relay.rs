//! A relay to a server, which breaks connections on request and can be pointed at another server.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tempfile::TempDir;

use super::PostgresServer;

/// A socket that forwards connections to a server. Its address stays the same when the server changes.
#[derive(Debug)]
pub struct Relay {
    folder: TempDir,
    shared: Arc<Mutex<RelayState>>,
}

#[derive(Debug)]
struct RelayState {
    /// The socket that new connections go to.
    to: PathBuf,
    /// The number of connections that reached no server.
    refused: usize,
    open: Vec<Arc<RelayedConnection>>,
    /// Whether the bytes on every connection are dropped.
    swallows: Arc<AtomicBool>,
}

/// Two ends of one connection.
#[derive(Debug)]
struct RelayedConnection {
    near: UnixStream,
    far: UnixStream,
}

impl Relay {
    /// A relay to `server`.
    ///
    /// # Panics
    /// When no socket can be made.
    #[must_use]
    pub fn to(server: &PostgresServer) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let listener = UnixListener::bind(socket(folder.path())).expect("a socket can be made");
        let shared = Arc::new(Mutex::new(RelayState {
            to: socket(server.folder()),
            refused: 0,
            open: Vec::new(),
            swallows: Arc::default(),
        }));
        let joined = Arc::clone(&shared);
        // The thread ends with the process; an idle listener costs nothing.
        thread::spawn(move || {
            for near in listener.incoming() {
                // No server listens: `near` is dropped, which closes the client's connection.
                if near.and_then(|near| join(near, &joined)).is_err() {
                    lock(&joined).refused += 1;
                }
            }
        });
        Self { folder, shared }
    }

    /// The folder of its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address for the owner of the database of `server` through this relay.
    #[must_use]
    pub fn address(&self, server: &PostgresServer) -> String {
        let direct = server.folder().display().to_string();
        let folder = self.folder.path().display().to_string();
        server.address().replace(&direct, &folder)
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        for ends in lock(&self.shared).open.drain(..) {
            ends.cut();
        }
    }

    /// Makes new connections reach no server, until [`Relay::lead_to`] points at one again.
    pub fn lead_nowhere(&self) {
        lock(&self.shared).to = socket(Path::new("/nowhere"));
        self.cut();
    }

    /// Keeps every connection open, also new ones, but drops all bytes.
    pub fn swallow(&self) {
        lock(&self.shared).swallows.store(true, Ordering::SeqCst);
    }

    /// The number of connections that reached no server.
    #[must_use]
    pub fn refused(&self) -> usize {
        lock(&self.shared).refused
    }

    /// Points the relay at `server`, and cuts the present connections.
    pub fn lead_to(&self, server: &PostgresServer) {
        self.will_lead_to(server);
        self.cut();
    }

    /// Points the relay at `server` for new connections alone.
    pub fn will_lead_to(&self, server: &PostgresServer) {
        lock(&self.shared).to = socket(server.folder());
    }
}

impl RelayedConnection {
    fn cut(&self) {
        let _ = self.near.shutdown(Shutdown::Both);
        let _ = self.far.shutdown(Shutdown::Both);
    }
}

fn join(near: UnixStream, shared: &Mutex<RelayState>) -> io::Result<()> {
    let mut shared = lock(shared);
    let far = UnixStream::connect(&shared.to)?;
    let ends = Arc::new(RelayedConnection { near, far });
    // A connection that has ended has no other owner.
    shared.open.retain(|ends| Arc::strong_count(ends) > 1);
    shared.open.push(Arc::clone(&ends));
    let back = Arc::clone(&ends);
    let (swallows_back, swallows) = (Arc::clone(&shared.swallows), Arc::clone(&shared.swallows));
    thread::spawn(move || {
        let _ = carry(&back.far, &back.near, &swallows_back);
        back.cut();
    });
    thread::spawn(move || {
        let _ = carry(&ends.near, &ends.far, &swallows);
        ends.cut();
    });
    Ok(())
}

/// Copies bytes from one side to the other until one of them ends.
fn carry(mut from: &UnixStream, mut to: &UnixStream, swallows: &AtomicBool) -> io::Result<()> {
    let mut buffer = [0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        if !swallows.load(Ordering::SeqCst) {
            to.write_all(&buffer[..read])?;
        }
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join(".s.PGSQL.5432")
}

fn lock(shared: &Mutex<RelayState>) -> MutexGuard<'_, RelayState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
