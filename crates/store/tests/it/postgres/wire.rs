//! A wire between a store and its server that listens in, and breaks when it is told to.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daybook_testkit::postgres::Database;
use tempfile::TempDir;
use tokio_postgres::config::Host;

/// Longest wait for commits that are about to be sent.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is lost when the wire breaks at a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// The server never hears of it.
    Request,
    /// It is done, and nobody hears of that.
    Answer,
    /// From here on nothing goes through in either direction, and neither side notices, until the
    /// connection is cut or the request delivered after all.
    Silence,
}

/// A connection that fell silent at a commit.
#[derive(Debug)]
struct Silent {
    ends: Arc<Ends>,
    /// The message that the server has not heard.
    request: Vec<u8>,
}

/// What went over the wire to the server.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Statements, each one round trip if it does not go out together with another.
    pub(super) statements: Vec<String>,
    /// Names under which statements were prepared.
    pub(super) names: Vec<String>,
    /// The next commits lose this.
    losses: Vec<Lost>,
    silent: Vec<Silent>,
}

pub(super) struct Wire {
    folder: TempDir,
    address: String,
    heard: Arc<Mutex<Heard>>,
}

impl Wire {
    /// A wire to the server that `database` stands on.
    pub(super) fn to(database: &Database) -> Self {
        Self::along(&database.address())
    }

    /// A wire to the server that is found at `address`.
    pub(super) fn along(address: &str) -> Self {
        let config: tokio_postgres::Config = address.parse().unwrap();
        let Some(Host::Unix(server)) = config.get_hosts().first() else {
            panic!("the server listens on a socket");
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let listener = UnixListener::bind(socket(folder.path())).expect("a socket can be made");
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let (far, shared) = (socket(server), Arc::clone(&heard));
        // It ends with the process; a listener costs nothing.
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let far = UnixStream::connect(&far).expect("the server is there");
                join(near.expect("a connection"), far, &shared);
            }
        });
        let server = server.display().to_string();
        let address = address.replace(&server, &folder.path().display().to_string());
        Self {
            folder,
            address,
            heard,
        }
    }

    /// Where the server is found through this wire.
    pub(super) fn address(&self) -> &str {
        assert!(self.folder.path().exists());
        &self.address
    }

    /// Breaks the wire at the next commits, once for each loss.
    pub(super) fn lose(&self, losses: &[Lost]) {
        self.heard.lock().unwrap().losses = losses.to_vec();
    }

    /// What was heard since this was asked last.
    pub(super) fn heard(&self) -> Heard {
        std::mem::take(&mut self.heard.lock().unwrap())
    }

    /// Cuts the connections that fell silent; the server never hears what they held back.
    pub(super) fn cut_silent(&self) {
        for silent in self.heard.lock().unwrap().silent.drain(..) {
            silent.ends.cut();
        }
    }

    /// Delivers to the server what silent connections held back. Its answers still go nowhere.
    pub(super) fn deliver_silent(&self) {
        for silent in self.heard.lock().unwrap().silent.drain(..) {
            (&silent.ends.far).write_all(&silent.request).unwrap();
            // The server reads what was sent before, then the end.
            let _ = silent.ends.far.shutdown(Shutdown::Write);
        }
    }

    /// Waits until the wire broke as often as it should.
    pub(super) fn wait_until_all_lost(&self) {
        let began = Instant::now();
        while !self.has_lost_all() {
            assert!(began.elapsed() < PATIENCE, "the commits do not come");
            std::thread::yield_now();
        }
    }

    /// Whether the wire broke as often as it should.
    pub(super) fn has_lost_all(&self) -> bool {
        self.heard.lock().unwrap().losses.is_empty()
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join(".s.PGSQL.5432")
}

/// Two ends of one connection.
#[derive(Debug)]
struct Ends {
    near: UnixStream,
    far: UnixStream,
}

impl Ends {
    fn cut(&self) {
        let _ = self.near.shutdown(Shutdown::Both);
        let _ = self.far.shutdown(Shutdown::Both);
    }
}

fn join(near: UnixStream, far: UnixStream, heard: &Arc<Mutex<Heard>>) {
    let ends = Arc::new(Ends { near, far });
    // What becomes of the server's next answer.
    let losing = Arc::new(Mutex::new(None));
    let (answering, loses) = (Arc::clone(&ends), Arc::clone(&losing));
    std::thread::spawn(move || answers(&answering, &loses));
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        // An error is the end of one side, and so of both.
        let _ = requests(&ends, &heard, &losing);
        if *losing.lock().unwrap() != Some(Lost::Silence) {
            ends.cut();
        }
    });
}

fn answers(ends: &Ends, losing: &Mutex<Option<Lost>>) {
    let mut buffer = [0; 64 * 1024];
    loop {
        let read = (&ends.far).read(&mut buffer).unwrap_or(0);
        let lost = *losing.lock().unwrap();
        if lost == Some(Lost::Silence) {
            return;
        }
        if read == 0 || lost.is_some() || (&ends.near).write_all(&buffer[..read]).is_err() {
            return ends.cut();
        }
    }
}

fn requests(
    ends: &Arc<Ends>,
    heard: &Mutex<Heard>,
    losing: &Mutex<Option<Lost>>,
) -> std::io::Result<()> {
    // The first message has no kind.
    let first = message(&ends.near)?;
    (&ends.far).write_all(&first)?;
    loop {
        let mut kind = [0];
        (&ends.near).read_exact(&mut kind)?;
        let rest = message(&ends.near)?;
        let request = [&kind, rest.as_slice()].concat();
        {
            let mut heard = heard.lock().unwrap();
            let lost = listen(kind[0], &rest[4..], &mut heard);
            match lost {
                Some(Lost::Request) => return Ok(()),
                Some(Lost::Answer) => *losing.lock().unwrap() = lost,
                Some(Lost::Silence) => {
                    *losing.lock().unwrap() = lost;
                    let ends = Arc::clone(ends);
                    heard.silent.push(Silent { ends, request });
                    return Ok(());
                }
                None => {}
            }
        }
        (&ends.far).write_all(&request)?;
    }
}

/// A message without its kind: four bytes of length, which count themselves, and what it says.
fn message(mut from: &UnixStream) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; 4];
    from.read_exact(&mut message)?;
    let length = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
    message.resize(length as usize, 0);
    from.read_exact(&mut message[4..])?;
    Ok(message)
}

/// Takes note of a message, and says what of it is lost.
fn listen(kind: u8, said: &[u8], heard: &mut Heard) -> Option<Lost> {
    let mut texts = said
        .split(|byte| *byte == 0)
        .map(|text| String::from_utf8_lossy(text).into_owned());
    match kind {
        b'P' => {
            let name = texts.next().unwrap_or_default();
            if !name.is_empty() {
                heard.names.push(name);
            }
            heard.statements.extend(texts.next());
        }
        b'Q' => {
            let statement = texts.next().unwrap_or_default();
            // Not that of a message that is a transaction of its own.
            let is_commit = statement.ends_with("COMMIT") && !statement.starts_with("BEGIN");
            heard.statements.push(statement);
            if is_commit && !heard.losses.is_empty() {
                return Some(heard.losses.remove(0));
            }
        }
        _ => {}
    }
    None
}
