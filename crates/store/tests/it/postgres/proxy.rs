//! A proxy between a store and its server that records messages, and breaks on request.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// Names under which statements were prepared, with their texts.
    pub(super) names: Vec<(String, String)>,
    /// What the next commits lose.
    losses: Vec<LostPart>,
    /// Statements that the server receives between two transactions of a client, and for how many of those.
    injected: Option<(String, usize)>,
    silent: Vec<SilentConnection>,
}

pub(super) struct BreakingProxy {
    folder: TempDir,
    address: String,
    traffic: Arc<Mutex<Traffic>>,
    route: Arc<Mutex<Route>>,
}

/// Where connections lead.
#[derive(Debug)]
struct Route {
    /// The socket that new ones go to.
    to: PathBuf,
    open: Vec<Arc<ConnectionEnds>>,
}

impl BreakingProxy {
    /// A proxy to the server that holds `database`.
    pub(super) fn to(database: &TestDatabase) -> Self {
        Self::along(&database.address())
    }

    /// A proxy to the server at `address`.
    pub(super) fn along(address: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let listener = UnixListener::bind(socket(folder.path())).expect("a socket can be made");
        let server = server_folder(address);
        let route = Route {
            to: socket(&server),
            open: Vec::new(),
        };
        let (route, traffic) = (
            Arc::new(Mutex::new(route)),
            Arc::<Mutex<Traffic>>::default(),
        );
        let (shared, recorded) = (Arc::clone(&route), Arc::clone(&traffic));
        // It ends with the process; a listener costs nothing.
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let mut route = shared.lock().unwrap();
                let far = UnixStream::connect(&route.to).expect("the server is there");
                let ends = Arc::new(ConnectionEnds::new(near.expect("a connection"), far));
                route.open.push(Arc::clone(&ends));
                join(ends, &recorded);
            }
        });
        let server = server.display().to_string();
        let address = address.replace(&server, &folder.path().display().to_string());
        Self {
            folder,
            address,
            traffic,
            route,
        }
    }

    /// Leads new connections to the server at `address`, and cuts the present ones.
    pub(super) fn lead_to(&self, address: &str) {
        let mut route = self.route.lock().unwrap();
        route.to = socket(&server_folder(address));
        route.open.drain(..).for_each(|ends| ends.cut());
    }

    /// Has the server run `statements` before each of the next `transactions`, as what another client does on a
    /// session between two transactions of this one.
    pub(super) fn inject(&self, statements: &str, transactions: usize) {
        self.traffic.lock().unwrap().injected = Some((statements.to_owned(), transactions));
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
        let mut traffic = self.traffic.lock().unwrap();
        let injected = traffic.injected.clone();
        let seen = std::mem::take(&mut *traffic);
        traffic.injected = injected;
        seen
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

/// The folder of the socket of the server at `address`.
fn server_folder(address: &str) -> PathBuf {
    let config: tokio_postgres::Config = address.parse().unwrap();
    match config.get_hosts().first() {
        Some(Host::Unix(folder)) => folder.clone(),
        _ => panic!("the server listens on a socket"),
    }
}

/// Two ends of one connection.
#[derive(Debug)]
struct ConnectionEnds {
    near: UnixStream,
    far: UnixStream,
    /// How many requests the server has received that it answers up to "ready for the next query".
    asked: AtomicUsize,
    /// The numbers of those that were injected, whose answers the client does not get.
    injected: Mutex<Vec<usize>>,
}

impl ConnectionEnds {
    fn new(near: UnixStream, far: UnixStream) -> Self {
        Self {
            near,
            far,
            asked: AtomicUsize::new(0),
            injected: Mutex::default(),
        }
    }

    fn cut(&self) {
        let _ = self.near.shutdown(Shutdown::Both);
        let _ = self.far.shutdown(Shutdown::Both);
    }

    /// Sends a query of the proxy's own.
    fn inject(&self, statements: &str) -> std::io::Result<()> {
        let no = self.asked.fetch_add(1, Ordering::SeqCst);
        self.injected.lock().unwrap().push(no);
        let length = u32::try_from(statements.len() + 5).expect("a short query");
        let parts = [
            b"Q",
            &length.to_be_bytes()[..],
            statements.as_bytes(),
            b"\0",
        ];
        (&self.far).write_all(&parts.concat())
    }
}

fn join(ends: Arc<ConnectionEnds>, traffic: &Arc<Mutex<Traffic>>) {
    // What happens to the server's next answer.
    let losing = Arc::new(Mutex::new(None));
    let (answering, loses) = (Arc::clone(&ends), Arc::clone(&losing));
    std::thread::spawn(move || {
        let _ = answers(&answering, &loses);
        if *loses.lock().unwrap() != Some(LostPart::Silence) {
            answering.cut();
        }
    });
    let traffic = Arc::clone(traffic);
    std::thread::spawn(move || {
        // An error is the end of one side, and so of both.
        let _ = requests(&ends, &traffic, &losing);
        if *losing.lock().unwrap() != Some(LostPart::Silence) {
            ends.cut();
        }
    });
}

fn answers(ends: &ConnectionEnds, losing: &Mutex<Option<LostPart>>) -> std::io::Result<()> {
    let mut answered = 0;
    loop {
        let mut kind = [0];
        (&ends.far).read_exact(&mut kind)?;
        let rest = message(&ends.far)?;
        if losing.lock().unwrap().is_some() {
            return Ok(());
        }
        if !ends.injected.lock().unwrap().contains(&answered) {
            (&ends.near).write_all(&[&kind, rest.as_slice()].concat())?;
        }
        answered += usize::from(kind == *b"Z");
    }
}

fn requests(
    ends: &Arc<ConnectionEnds>,
    traffic: &Mutex<Traffic>,
    losing: &Mutex<Option<LostPart>>,
) -> std::io::Result<()> {
    // The first message has no type byte.
    let first = message(&ends.near)?;
    ends.asked.fetch_add(1, Ordering::SeqCst);
    (&ends.far).write_all(&first)?;
    loop {
        let mut kind = [0];
        (&ends.near).read_exact(&mut kind)?;
        let rest = message(&ends.near)?;
        let request = [&kind, rest.as_slice()].concat();
        {
            let mut traffic = traffic.lock().unwrap();
            if rest[4..].starts_with(b"BEGIN")
                && let Some((statements, transactions)) = &mut traffic.injected
                && *transactions > 0
            {
                *transactions -= 1;
                ends.inject(statements)?;
            }
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
        if matches!(kind[0], b'Q' | b'S') {
            ends.asked.fetch_add(1, Ordering::SeqCst);
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
            let statement = texts.next().unwrap_or_default();
            if !name.is_empty() {
                traffic.names.push((name, statement.clone()));
            }
            traffic.statements.push(statement);
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
