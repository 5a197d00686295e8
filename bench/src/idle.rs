//! How long a recall over HTTP takes beside 1,000 connections without a token.
//!
//! Each connection is opened again as soon as the server closes it. Half of them are silent, the other half send a byte of
//! a request's headers ten times a second.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::process::{daybook, ms};
use crate::recall::large_root;
use crate::transcripts::SeededNumbers;

/// Idle and slow connections.
const CROWD: usize = 1_000;
/// Interval between two looks at each connection.
const BEAT: Duration = Duration::from_millis(100);
/// Recalls timed alone, and beside the connections.
const RECALLS: usize = 500;
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Times recalls on 100,000 events, alone and beside the connections: over one kept connection, and over a new one each.
pub(crate) fn beside_a_crowd() -> Result<()> {
    raise_limit()?;
    let folder = tempfile::tempdir()?;
    let root = large_root(&folder)?;
    let server = HttpServer::start(&root)?;
    println!("  {RECALLS} recalls each           p50        p99      worst   over");
    let alone = server.time_both("alone")?;
    let crowd = IdleConnections::default();
    let beside = std::thread::scope(|scope| {
        scope.spawn(|| crowd.run(&server.address));
        let timed = crowd
            .wait_until_full()
            .and_then(|()| server.time_both("beside the crowd"));
        crowd.stop.store(true, Ordering::Relaxed);
        timed
    })?;
    let (opened, answered) = (&crowd.opened, &crowd.answered);
    println!(
        "  idle and slow clients opened {} connections, of which {} were closed with an answer",
        opened.load(Ordering::Relaxed),
        answered.load(Ordering::Relaxed)
    );
    println!(
        "  wanted: p99 under 200 ms beside it; ratio of p99 {:.1}",
        beside.as_secs_f64() / alone.as_secs_f64()
    );
    Ok(())
}

/// Raises the limit of open files: each connection needs a descriptor, in the server too if it keeps them all.
fn raise_limit() -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limits = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limits.maximum,
        maximum: limits.maximum,
    };
    setrlimit(Resource::Nofile, raised).context("the limit of open files cannot be raised")
}

struct HttpServer {
    child: Child,
    address: String,
    token: String,
}

impl HttpServer {
    fn start(root: &str) -> Result<Self> {
        let mut child = Command::new(daybook()?)
            .args(["serve", "--listen", "127.0.0.1:0", "--no-follow", "--json"])
            .args(["--root", root])
            .stdout(Stdio::piped())
            .spawn()
            .context("daybook does not start")?;
        let mut text = String::new();
        let mut output = BufReader::new(child.stdout.take().context("no pipe")?);
        while !text.ends_with("}\n") {
            if output.read_line(&mut text)? == 0 {
                bail!("the server ended");
            }
        }
        let listening: serde_json::Value = serde_json::from_str(&text)?;
        let address = listening["address"].as_str().context("an address")?;
        let token = listening["token_file"].as_str().context("a token")?;
        Ok(Self {
            child,
            address: address.trim_start_matches("http://").to_owned(),
            token: std::fs::read_to_string(token)?.trim().to_owned(),
        })
    }

    /// Times recalls over a kept connection and over new ones. Returns the longer p99.
    fn time_both(&self, name: &str) -> Result<Duration> {
        let mut longest = Duration::ZERO;
        for (way, is_kept) in [("one connection", true), ("a new one each", false)] {
            let mut numbers = SeededNumbers(99);
            let mut times = Vec::new();
            let mut connection = None;
            for _ in 0..RECALLS {
                let question = numbers.sentence(5);
                let began = Instant::now();
                let stream = match connection.take().filter(|_| is_kept) {
                    Some(open) => open,
                    None => TcpStream::connect(&self.address)?,
                };
                connection = Some(self.recall(stream, &question)?);
                times.push(began.elapsed());
            }
            times.sort();
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            println!(
                "  {name:18} {:8.1} ms {:8.1} ms {:8.1} ms   {way}",
                ms(at(0.5)),
                ms(at(0.99)),
                ms(at(1.0))
            );
            longest = longest.max(at(0.99));
        }
        Ok(longest)
    }

    fn recall(&self, mut stream: TcpStream, question: &str) -> Result<TcpStream> {
        let body = json!({"question": question}).to_string();
        let request = format!(
            "POST /v1/recall HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = BufReader::new(&mut stream);
        let (mut line, mut length) = (String::new(), 0);
        answer.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 200 ") {
            bail!("a recall was answered with {line:?}");
        }
        while line != "\r\n" {
            line.clear();
            answer.read_line(&mut line)?;
            if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                length = bytes.trim().parse()?;
            }
        }
        answer.read_exact(&mut vec![0; length])?;
        Ok(stream)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Default)]
struct IdleConnections {
    stop: AtomicBool,
    opened: AtomicU64,
    /// Connections that the server closed with an answer.
    answered: AtomicU64,
}

impl IdleConnections {
    fn wait_until_full(&self) -> Result<()> {
        let began = Instant::now();
        while self.opened.load(Ordering::Relaxed) < CROWD as u64 {
            if began.elapsed() > PATIENCE {
                bail!("the server does not accept all connections");
            }
            std::thread::sleep(BEAT);
        }
        Ok(())
    }

    fn run(&self, address: &str) {
        let mut members: Vec<Option<TcpStream>> = (0..CROWD).map(|_| None).collect();
        while !self.stop.load(Ordering::Relaxed) {
            let began = Instant::now();
            for (n, member) in members.iter_mut().enumerate() {
                let is_slow = n % 2 == 1;
                if member
                    .as_mut()
                    .is_some_and(|open| self.is_open(open, is_slow))
                {
                    continue;
                }
                *member = self.open(address, is_slow);
            }
            std::thread::sleep(BEAT.saturating_sub(began.elapsed()));
        }
    }

    fn open(&self, address: &str, is_slow: bool) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_nonblocking(true).ok()?;
        if is_slow {
            stream
                .write_all(b"POST /v1/recall HTTP/1.1\r\nX-Slow: ")
                .ok()?;
        }
        self.opened.fetch_add(1, Ordering::Relaxed);
        Some(stream)
    }

    /// Sends a byte on a slow connection. Returns whether the server still waits for more.
    fn is_open(&self, stream: &mut TcpStream, is_slow: bool) -> bool {
        let mut answer = [0; 1024];
        match stream.read(&mut answer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                !is_slow || stream.write_all(b"x").is_ok()
            }
            Ok(1..) => {
                self.answered.fetch_add(1, Ordering::Relaxed);
                false
            }
            Ok(_) | Err(_) => false,
        }
    }
}
