//! How many events a second a server takes in over HTTP from concurrent clients.
//!
//! Each client has a session of its own and sends its next append after the last answer. Measured with SQLite, and with a
//! throw-away PostgreSQL server on this machine whose commits wait for the disk (`fsync`). Clients, `daybook serve` and
//! the database share the machine.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use daybook_testkit::postgres::PostgresServer;
use serde_json::{Value, json};

use crate::process::ms;
use crate::serving::{KeptConnection, ServeProcess};
use crate::transcripts::SeededNumbers;

/// Clients that append at once.
const CLIENTS: [u64; 2] = [1, 16];
/// Events of one append.
const EVENTS: [u64; 2] = [1, 20];
/// Duration of each measurement.
const MEASURED: Duration = Duration::from_secs(4);
/// Time before it for the clients' first appends, which do not count.
const FIRST: Duration = Duration::from_secs(1);
/// Words of one event.
const WORDS: u64 = 20;

/// Events a second, with the latency of an append.
struct Rate {
    events: f64,
    middle: Duration,
    slowest: Duration,
}

pub(crate) fn rates() -> Result<()> {
    let Some(server) = PostgresServer::durable() else {
        return Ok(());
    };
    let store = url(&server.address())?;
    println!("  events a second, with p50 and p99 of an append:");
    println!("  clients  events of one   SQLite                         PostgreSQL, with fsync");
    for events in EVENTS {
        for clients in CLIENTS {
            let columns = ["sqlite", &store].map(|store| measure(store, clients, events));
            let [sqlite, postgres] = columns;
            let (sqlite, postgres) = (column(&sqlite?), column(&postgres?));
            println!("  {clients:>7}  {events:>13}   {sqlite}   {postgres}");
        }
    }
    println!(
        "  wanted on PostgreSQL, of 16 clients: 500 events in appends of one, 5,000 in twenties"
    );
    Ok(())
}

fn column(rate: &Rate) -> String {
    let (events, middle, slowest) = (rate.events, ms(rate.middle), ms(rate.slowest));
    format!("{events:>6.0}  {middle:>6.1} ms {slowest:>7.1} ms")
}

/// An address in the server's own words as the URL that the setting takes.
fn url(address: &str) -> Result<String> {
    let part = |name: &str| {
        let mut parts = address.split_whitespace();
        parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
    };
    let (Some(host), Some(user), Some(name)) = (part("host"), part("user"), part("dbname")) else {
        bail!("the address {address:?} lacks a host, a user or a database");
    };
    let host = host.trim_matches('\'').replace('/', "%2F");
    Ok(format!("postgres://{user}@{host}/{name}"))
}

fn measure(store: &str, clients: u64, events: u64) -> Result<Rate> {
    let root = tempfile::tempdir()?;
    let mut serving = ServeProcess::start(root.path(), &["--set", &format!("store={store}")])?;
    let began = Instant::now();
    let appending: Vec<_> = (0..clients)
        .map(|client| {
            let (address, token) = (serving.address.clone(), serving.token.clone());
            std::thread::spawn(move || append(&address, &token, (client, events), began))
        })
        .collect();
    let mut times = Vec::new();
    for client in appending {
        let client = client.join().ok().context("a client panicked")?;
        times.extend(client?);
    }
    serving.end()?;
    times.sort();
    let at = |share: f64| times[((times.len().max(1) - 1) as f64 * share) as usize];
    Ok(Rate {
        events: (times.len() as u64 * events) as f64 / MEASURED.as_secs_f64(),
        middle: at(0.5),
        slowest: at(0.99),
    })
}

/// Appends until the time is over. Returns the durations of the appends that count.
fn append(
    address: &str,
    token: &str,
    (client, events): (u64, u64),
    began: Instant,
) -> Result<Vec<Duration>> {
    let mut connection = KeptConnection::open(address, token)?;
    let mut numbers = SeededNumbers(client);
    let mut times = Vec::new();
    let mut next = 0;
    while began.elapsed() < FIRST + MEASURED {
        let body = body(&mut numbers, &format!("{events}-{client}"), next, events).to_string();
        next += events;
        let sent = Instant::now();
        connection.post("/v1/append", &body)?;
        if began.elapsed() > FIRST {
            times.push(sent.elapsed());
        }
    }
    Ok(times)
}

pub(crate) fn body(numbers: &mut SeededNumbers, session: &str, first: u64, events: u64) -> Value {
    let events = (first..first + events).map(|event| {
        let role = ["user", "assistant"][usize::from(event % 2 == 1)];
        json!({"id": event.to_string(), "role": role, "text": numbers.sentence(WORDS)})
    });
    let events: Vec<Value> = events.collect();
    json!({
        "agent": "bench", "session": session, "folder": "/home/ada/tidepool", "branch": "main",
        "events": events
    })
}
