//! A proxy between a store and its server that records messages, and breaks on request.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daybook_testkit::postgres::TestDatabase;
use tempfile::TempDir;
use tokio_postgres::config::Host;

/// Longest wait for the expected commits.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is lost when the proxy breaks at a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LostPart {
    /// The request: the server never receives it.
    Request,
    /// The answer: the server commits, and the client never learns of it.
    Answer,
    /// Everything from here on, in both directions and unnoticed by both sides, until the connection is cut or
    /// the request delivered after all.
    Silence,
}

/// A connection that went silent at a commit.
#[derive(Debug)]
struct SilentConnection {
    ends: Arc<ConnectionEnds>,
    /// The message that the server has not received.
    request: Vec<u8>,
}

/// What passed through the proxy to the server.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Statements, each one round trip if it does not go out together with another.
    pub(super) statements: Vec<String>,
    /// Names under which statements were prepared.
    pub(super) names: Vec<String>,
    /// What the next commits lose.
    losses: Vec<LostPart>,
    silent: Vec<SilentConnection>,
}

pub(super) struct BreakingProxy {
    folder: TempDir,
    address: String,
    traffic: Arc<Mutex<Traffic>>,
}

impl BreakingProxy {
    /// A proxy to the server that holds `database`.
    pub(super) fn to(database: &TestDatabase) -> Self {
        Self::along(&database.address())
    }

    /// A proxy to the server at `address`.
    pub(super) fn along(address: &str) -> Self {
        let config: tokio_postgres::Config = address.parse().unwrap();
        let Some(Host::Unix(server)) = config.get_hosts().first() else {
            panic!("the server listens on a socket");
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let listener = UnixListener::bind(socket(folder.path())).expect("a socket can be made");
        let traffic: Arc<Mutex<Traffic>> = Arc::default();
        let (far, shared) = (socket(server), Arc::clone(&traffic));
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
            traffic,
        }
    }

    /// The address of the server through this proxy.
    pub(super) fn address(&self) -> &str {
        assert!(self.folder.path().exists());
        &self.address
    }

    /// Breaks the connection at the next commits, once for each loss.
    pub(super) fn lose(&self, losses: &[LostPart]) {
        self.traffic.lock().unwrap().losses = losses.to_vec();
    }

    /// The traffic since the last call.
    pub(super) fn traffic(&self) -> Traffic {
        std::mem::take(&mut self.traffic.lock().unwrap())
    }

    /// Cuts the silent connections; the server never receives what they held back.
    pub(super) fn cut_silent(&self) {
        for silent in self.traffic.lock().unwrap().silent.drain(..) {
            silent.ends.cut();
        }
    }

    /// Delivers to the server what silent connections held back. Its answers still go nowhere.
    pub(super) fn deliver_silent(&self) {
        for silent in self.traffic.lock().unwrap().silent.drain(..) {
            (&silent.ends.far).write_all(&silent.request).unwrap();
            // The server reads the data sent before, then the end.
            let _ = silent.ends.far.shutdown(Shutdown::Write);
        }
    }

    /// Waits until the connection broke as often as it should.
    pub(super) fn wait_until_all_lost(&self) {
        let began = Instant::now();
        while !self.has_lost_all() {
            assert!(began.elapsed() < PATIENCE, "the commits do not come");
            std::thread::yield_now();
        }
    }

    /// Whether the connection broke as often as it should.
    pub(super) fn has_lost_all(&self) -> bool {
        self.traffic.lock().unwrap().losses.is_empty()
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join(".s.PGSQL.5432")
}

/// Two ends of one connection.
#[derive(Debug)]
struct ConnectionEnds {
    near: UnixStream,
    far: UnixStream,
}

impl ConnectionEnds {
    fn cut(&self) {
        let _ = self.near.shutdown(Shutdown::Both);
        let _ = self.far.shutdown(Shutdown::Both);
    }
}

fn join(near: UnixStream, far: UnixStream, traffic: &Arc<Mutex<Traffic>>) {
    let ends = Arc::new(ConnectionEnds { near, far });
    // What happens to the server's next answer.
    let losing = Arc::new(Mutex::new(None));
    let (answering, loses) = (Arc::clone(&ends), Arc::clone(&losing));
    std::thread::spawn(move || answers(&answering, &loses));
    let traffic = Arc::clone(traffic);
    std::thread::spawn(move || {
        // An error is the end of one side, and so of both.
        let _ = requests(&ends, &traffic, &losing);
        if *losing.lock().unwrap() != Some(LostPart::Silence) {
            ends.cut();
        }
    });
}

fn answers(ends: &ConnectionEnds, losing: &Mutex<Option<LostPart>>) {
    let mut buffer = [0; 64 * 1024];
    loop {
        let read = (&ends.far).read(&mut buffer).unwrap_or(0);
        let lost = *losing.lock().unwrap();
        if lost == Some(LostPart::Silence) {
            return;
        }
        if read == 0 || lost.is_some() || (&ends.near).write_all(&buffer[..read]).is_err() {
            return ends.cut();
        }
    }
}

fn requests(
    ends: &Arc<ConnectionEnds>,
    traffic: &Mutex<Traffic>,
    losing: &Mutex<Option<LostPart>>,
) -> std::io::Result<()> {
    // The first message has no type byte.
    let first = message(&ends.near)?;
    (&ends.far).write_all(&first)?;
    loop {
        let mut kind = [0];
        (&ends.near).read_exact(&mut kind)?;
        let rest = message(&ends.near)?;
        let request = [&kind, rest.as_slice()].concat();
        {
            let mut traffic = traffic.lock().unwrap();
            let lost = record_message(kind[0], &rest[4..], &mut traffic);
            match lost {
                Some(LostPart::Request) => return Ok(()),
                Some(LostPart::Answer) => *losing.lock().unwrap() = lost,
                Some(LostPart::Silence) => {
                    *losing.lock().unwrap() = lost;
                    let ends = Arc::clone(ends);
                    traffic.silent.push(SilentConnection { ends, request });
                    return Ok(());
                }
                None => {}
            }
        }
        (&ends.far).write_all(&request)?;
    }
}

/// Reads a message without its type byte: four bytes of length, which count themselves, and the content.
fn message(mut from: &UnixStream) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; 4];
    from.read_exact(&mut message)?;
    let length = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
    message.resize(length as usize, 0);
    from.read_exact(&mut message[4..])?;
    Ok(message)
}

/// Records a message, and returns what of it is lost.
fn record_message(kind: u8, content: &[u8], traffic: &mut Traffic) -> Option<LostPart> {
    let mut texts = content
        .split(|byte| *byte == 0)
        .map(|text| String::from_utf8_lossy(text).into_owned());
    match kind {
        b'P' => {
            let name = texts.next().unwrap_or_default();
            if !name.is_empty() {
                traffic.names.push(name);
            }
            traffic.statements.extend(texts.next());
        }
        b'Q' => {
            let statement = texts.next().unwrap_or_default();
            // Not that of a message that is a transaction of its own.
            let is_commit = statement.ends_with("COMMIT") && !statement.starts_with("BEGIN");
            traffic.statements.push(statement);
            if is_commit && !traffic.losses.is_empty() {
                return Some(traffic.losses.remove(0));
            }
        }
        _ => {}
    }
    None
}
