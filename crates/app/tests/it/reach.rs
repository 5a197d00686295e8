//! `daybook serve` stays reachable while other clients hold connections.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixture::TestPlace;
use crate::serve::DaybookServer;

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connections that show no token: every other one is silent, the others have begun a request.
fn crowd(server: &DaybookServer, size: usize) -> Vec<TcpStream> {
    let open = |n: usize| {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        if n % 2 == 1 {
            stream
                .write_all(b"POST /v1/recall HTTP/1.1\r\nX-Slow: ")
                .expect("it reads");
        }
        stream
    };
    (0..size).map(open).collect()
}

/// A connection that is kept open, and has shown the token.
struct KeptConnection(TcpStream);

impl KeptConnection {
    fn open(server: &DaybookServer) -> Self {
        let stream = TcpStream::connect(&server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let mut kept = Self(stream);
        kept.recall(server);
        kept
    }

    fn recall(&mut self, server: &DaybookServer) {
        let body = json!({"question": "when do deploys happen"}).to_string();
        let request = format!(
            "POST /v1/recall HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            server.address,
            server.token,
            body.len()
        );
        self.0.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut part = [0; 4096];
            let read = self.0.read(&mut part).expect("it answers");
            assert!(read > 0, "it closed a connection that had shown the token");
            answer.extend_from_slice(&part[..read]);
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

/// What comes back on a connection until the server closes it.
fn rest(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    // A socket that is closed with bytes unread resets the connection behind its answer.
    match stream.read_to_string(&mut answer) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        Ok(_) | Err(_) => answer,
    }
}

fn check_reachable_beside_a_crowd(server: &DaybookServer, size: usize) {
    server.post(
        "/v1/remember",
        &json!({"text": "deploys happen on Tuesdays"}),
    );
    let mut kept = KeptConnection::open(server);
    let mut crowd = crowd(server, size);
    for _ in 0..5 {
        kept.recall(server);
        let found = server.post("/v1/recall", &json!({"question": "when do deploys happen"}));
        assert_eq!(found["results"][0]["text"], "deploys happen on Tuesdays");
    }
    // The first ones had to make room, and got an answer with `Retry-After`.
    for stream in &mut crowd[..2] {
        let answer = rest(stream);
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer:?}");
        assert!(answer.contains("\r\nRetry-After: "), "{answer}");
    }
}

/// A crowd of more connections than a server has room for that may have so many files open.
#[cfg(unix)]
fn check_with_descriptors(descriptors: usize, crowd: usize) {
    let place = TestPlace::new();
    let daybook = place.daybook(&["serve", "--listen", "127.0.0.1:0", "--no-follow"]);
    let mut limited = Command::new("sh");
    let limit = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
    limited.args(["-c", &limit]);
    limited.arg(daybook.get_program()).args(daybook.get_args());
    limited.env_clear().current_dir(place.home());
    for (name, value) in daybook.get_envs() {
        limited.env(name, value.expect("nothing is removed"));
    }
    check_reachable_beside_a_crowd(&DaybookServer::spawned(place, limited), crowd);
}

#[cfg(unix)]
#[test]
fn idle_connections_without_the_token_keep_no_client_out() {
    check_with_descriptors(1024, 400);
}

#[cfg(unix)]
#[test]
fn a_server_with_few_descriptors_is_reachable_beside_a_crowd() {
    check_with_descriptors(64, 200);
}

#[test]
fn what_is_slow_is_cut_in_time() {
    let server = DaybookServer::start();
    let began = Instant::now();
    let connect = || {
        let stream = TcpStream::connect(&server.address).expect("it listens");
        let wait = Duration::from_millis(200);
        stream.set_read_timeout(Some(wait)).expect("a timeout");
        stream
    };
    // Writes a byte between two reads of the answer.
    let drip = |mut stream: TcpStream, byte: &[u8]| {
        let mut answer = [0; 4096];
        loop {
            assert!(began.elapsed() < PATIENCE, "it waits for ever");
            match stream.read(&mut answer) {
                Ok(read) => return String::from_utf8_lossy(&answer[..read]).into_owned(),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return String::new(),
                Err(_) => drop(stream.write_all(byte)),
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut header = connect();
            header
                .write_all(b"GET /health HTTP/1.1\r\nX-Slow: ")
                .expect("it reads");
            let answer = drip(header, b"x");
            assert!(
                answer.is_empty() || answer.starts_with("HTTP/1.1 408 "),
                "{answer}"
            );
            assert!(
                began.elapsed() < Duration::from_secs(8),
                "{:?}",
                began.elapsed()
            );
        });
        scope.spawn(|| {
            assert_eq!(drip(connect(), b""), "", "a silent connection is closed");
        });
        scope.spawn(|| {
            let mut body = connect();
            let head = format!(
                "POST /v1/recall HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
                 Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
                server.address, server.token
            );
            body.write_all(head.as_bytes()).expect("it reads");
            let answer = drip(body, b" ");
            assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
            assert!(answer.contains("slow_request"), "{answer}");
        });
    });
}

#[test]
fn a_connection_without_the_token_has_one_answer() {
    let server = DaybookServer::start();
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let health = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(health.as_bytes()).expect("it reads");
    let answer = rest(&mut stream).to_lowercase();
    assert!(answer.starts_with("http/1.1 200 "), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[test]
fn many_notes_at_once_are_all_kept() {
    let place = TestPlace::new();
    let log = place.home().join("log");
    let out = Stdio::from(File::create(&log).expect("a file"));
    let server = DaybookServer::start_in(place, &["--log", "warn"], out);
    thread::scope(|scope| {
        for client in 0..16 {
            let server = &server;
            scope.spawn(move || {
                for n in 0..20 {
                    let text = format!("buoy {client} of row {n} is green");
                    server.post("/v1/remember", &json!({"text": text}));
                }
            });
        }
    });
    assert_eq!(server.get("/v1/status")["events"], 320);
    let said = fs::read_to_string(&log).expect("a file");
    assert!(!said.contains("vanished"), "{said}");
}

#[test]
fn what_a_server_behind_a_proxy_opens_is_said_at_the_start() {
    let place = TestPlace::new();
    let log = place.home().join("log");
    let out = Stdio::from(File::create(&log).expect("a file"));
    let server = DaybookServer::start_in(place, &["--behind-proxy"], out);
    server.get("/health");
    let said = fs::read_to_string(&log).expect("a file");
    assert!(
        said.contains("the token alone protects the memory"),
        "{said}"
    );
    assert!(
        said.contains("no TLS") && said.lines().count() <= 2,
        "{said}"
    );
}
