//! A way to a server, that breaks when it is told to and can lead to another one.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tempfile::TempDir;

use super::Server;

/// An address that stays the same, whichever server answers there.
#[derive(Debug)]
pub struct Relay {
    folder: TempDir,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    /// The socket that new connections go to.
    to: PathBuf,
    /// How many connections found nobody there.
    refused: usize,
    open: Vec<Arc<Ends>>,
    /// Whether what is said on any connection is dropped.
    swallows: Arc<AtomicBool>,
}

/// Two ends of one connection.
#[derive(Debug)]
struct Ends {
    near: UnixStream,
    far: UnixStream,
}

impl Relay {
    /// A way to `server`.
    ///
    /// # Panics
    /// When no socket can be made.
    #[must_use]
    pub fn to(server: &Server) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let listener = UnixListener::bind(socket(folder.path())).expect("a socket can be made");
        let shared = Arc::new(Mutex::new(Shared {
            to: socket(server.folder()),
            refused: 0,
            open: Vec::new(),
            swallows: Arc::default(),
        }));
        let joined = Arc::clone(&shared);
        // It ends with the process; a listener costs nothing.
        thread::spawn(move || {
            for near in listener.incoming() {
                // Nobody there: `near` is dropped, and whoever dialled is told so.
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

    /// Where the owner of the database of `server` finds it through here.
    #[must_use]
    pub fn address(&self, server: &Server) -> String {
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

    /// From now on nobody is there, until it leads to a server again.
    pub fn lead_nowhere(&self) {
        lock(&self.shared).to = socket(Path::new("/nowhere"));
        self.cut();
    }

    /// From now on every connection, also a new one, stays open and carries nothing.
    pub fn swallow(&self) {
        lock(&self.shared).swallows.store(true, Ordering::SeqCst);
    }

    /// How many connections found nobody there.
    #[must_use]
    pub fn refused(&self) -> usize {
        lock(&self.shared).refused
    }

    /// From now on the address is that of `server`.
    pub fn lead_to(&self, server: &Server) {
        self.will_lead_to(server);
        self.cut();
    }

    /// The same for whoever connects from now on.
    pub fn will_lead_to(&self, server: &Server) {
        lock(&self.shared).to = socket(server.folder());
    }
}

impl Ends {
    fn cut(&self) {
        let _ = self.near.shutdown(Shutdown::Both);
        let _ = self.far.shutdown(Shutdown::Both);
    }
}

fn join(near: UnixStream, shared: &Mutex<Shared>) -> io::Result<()> {
    let mut shared = lock(shared);
    let far = UnixStream::connect(&shared.to)?;
    let ends = Arc::new(Ends { near, far });
    // Those that ended by themselves are held by nobody else.
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

/// Carries what comes from one side to the other until one of them ends.
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

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
