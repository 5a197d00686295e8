//! How soon the pages of the window are there, on a memory of many sessions, and beside agents that append.
//!
//! The clock runs from a request's first byte to its answer's last, over a connection of its own, as a browser's first is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{median, ms, resident, watched};
use crate::scale_sessions::write_sessions;
use crate::serving::ServeProcess;

/// Sessions of the memory, which teach more than 100,000 things.
const SESSIONS: usize = 40_000;
/// How often each page is read.
const ROUNDS: usize = 15;
/// Pages a second beside agents that append, and for how long.
const RATE: u32 = 50;
const LOADED: Duration = Duration::from_secs(60);
/// Connections that are open at once at most.
const READERS: usize = 8;
/// Messages a second that an agent appends, and sessions that it speaks in.
const APPENDS: u32 = 50;
const SPEAKING: u32 = 10;
/// The pages, with what is read on them. `SCOPE` stands for the largest memory.
const PAGES: [&str; 15] = [
    "",
    "/memory",
    "/file?scope=SCOPE",
    "/folder?scope=SCOPE",
    "/history?scope=SCOPE",
    "/ask?question=which+limit+does+the+cache+have",
    "/sessions",
    "/projects",
    "/agents?folder=/home/ada/tidepool",
    "/work",
    "/spend",
    "/secrets",
    "/threads",
    "/why",
    "/why?scope=SCOPE&line=MEMORY.md:8",
];

pub(crate) fn pages() -> Result<()> {
    pages_with(&[])
}

/// `window [SESSIONS | ROOT]`: of a new memory, or of one that is there, to which nothing is appended.
pub(crate) fn pages_with(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        None => pages_of_new(SESSIONS),
        Some(number) if number.parse::<usize>().is_ok() => pages_of_new(number.parse()?),
        Some(root) => {
            let mut serving = ServeProcess::start(Path::new(root), &[])?;
            read_each(&serving)?;
            serving.end()
        }
    }
}

fn pages_of_new(sessions: usize) -> Result<()> {
    let made = tempfile::tempdir()?;
    let (transcripts, root) = (made.path().join("transcripts"), made.path().join("root"));
    std::fs::create_dir(&transcripts)?;
    write_sessions(&transcripts, 0..sessions)?;
    let (folder, root_name) = (
        transcripts.display().to_string(),
        root.display().to_string(),
    );
    let (took, _) = watched(&["import", &folder, "--yes", "--root", &root_name])?;
    println!(
        "  {sessions} sessions, imported in {:.1} s",
        took.as_secs_f64()
    );
    let mut serving = ServeProcess::start(&root, &[])?;
    let browser = read_each(&serving)?;
    beside_appends(&serving, &browser)?;
    serving.end()
}

/// Reads each page [`ROUNDS`] times.
fn read_each(serving: &ServeProcess) -> Result<Browser> {
    let mut browser = Browser::open(serving)?;
    browser.find_scope()?;
    println!("  {:<52} {:>9} {:>9} {:>9}", "page", "first", "p50", "KB");
    for path in PAGES {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            let (took, read) = browser.read(path)?;
            times.push(took);
            bytes = read;
        }
        let (first, middle) = (ms(times[0]), ms(median(times)));
        let kilobytes = bytes as f64 / 1e3;
        println!("  {path:<52} {first:>6.1} ms {middle:>6.1} ms {kilobytes:>9.1}");
    }
    println!("  wanted: the first page under 100 ms, every other under 200 ms, none over 300 KB");
    Ok(browser)
}

/// [`RATE`] pages a second while an agent appends. Each page is asked for when it is due, by one of several readers, so that a
/// slow one delays no other.
fn beside_appends(serving: &ServeProcess, browser: &Browser) -> Result<()> {
    let began = Instant::now();
    let next = AtomicU32::new(0);
    let due = || {
        let n = next.fetch_add(1, Ordering::Relaxed);
        let at = began + Duration::from_secs(1) / RATE * n;
        (at < began + LOADED).then_some((n, at))
    };
    let (read, appended) = std::thread::scope(|scope| {
        let agent = scope.spawn(|| append_until(serving, began + LOADED));
        let readers = [(); READERS].map(|()| scope.spawn(|| read_pages(browser, due)));
        let read = readers.map(|reader| reader.join().unwrap_or_default());
        (read, agent.join())
    });
    let appended = appended.ok().context("the agent panicked")??;
    let took = began.elapsed().as_secs();
    let errors: usize = read.iter().map(|(_, errors)| errors).sum();
    let mut times: Vec<Duration> = read.into_iter().flat_map(|(times, _)| times).collect();
    times.sort();
    let pages = times.len();
    anyhow::ensure!(pages > 0, "no page was read: {errors} errors");
    let at = |share: f64| ms(times[(pages.saturating_sub(1) as f64 * share) as usize]);
    let memory = resident(serving.child.id()).unwrap_or_default() as f64 / f64::from(1 << 20);
    println!(
        "  {pages} pages in {took} s ({RATE} a second were due) beside {appended} appends: p50 {:.1} ms, p99 {:.1} ms, {errors} errors, {memory:.0} MiB",
        at(0.5),
        at(0.99),
    );
    Ok(())
}

/// Reads the pages that are due. Returns how long each took from when it was due, and how many failed.
fn read_pages(
    browser: &Browser,
    due: impl Fn() -> Option<(u32, Instant)>,
) -> (Vec<Duration>, usize) {
    let (mut times, mut errors) = (Vec::new(), 0);
    while let Some((n, at)) = due() {
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        match browser.read(PAGES[n as usize % PAGES.len()]) {
            Ok(_) => times.push(at.elapsed()),
            Err(_) => errors += 1,
        }
    }
    (times, errors)
}

/// Appends [`APPENDS`] messages a second until then, and returns how many.
fn append_until(serving: &ServeProcess, end: Instant) -> Result<u64> {
    let began = Instant::now();
    let mut n = 0;
    while Instant::now() < end {
        let due = began + Duration::from_secs(1) / APPENDS * n;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let body = format!(
            "{{\"agent\":\"bench\",\"session\":\"s{}\",\"folder\":\"/home/ada/tidepool\",\"events\":[{{\"id\":\"{n}\",\"role\":\"user\",\"text\":\"message {n}\"}}]}}",
            n % SPEAKING,
        );
        let headers = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\n",
            serving.token
        );
        let (head, _) = exchange(&serving.address, "POST /v1/append", &headers, &body)?;
        if !head.starts_with("HTTP/1.1 200") {
            bail!("{head}");
        }
        n += 1;
    }
    Ok(u64::from(n))
}

/// A browser that is logged in.
pub(crate) struct Browser {
    address: String,
    cookie: String,
    scope: String,
}

impl Browser {
    pub(crate) fn open(serving: &ServeProcess) -> Result<Self> {
        let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
        let body = format!("token={}", serving.token);
        let (head, _) = exchange(&serving.address, "POST /window/login", headers, &body)?;
        let mut lines = head.lines();
        let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
        Ok(Self {
            address: serving.address.clone(),
            cookie: cookie.with_context(|| head.clone())?.to_owned(),
            scope: String::new(),
        })
    }

    /// The memory that is listed first is the largest.
    fn find_scope(&mut self) -> Result<()> {
        let page = self.get("/memory")?;
        let named = page.split("/window/file?scope=").nth(1);
        let scope = named.and_then(|rest| rest.split('"').next());
        scope.context("a memory")?.clone_into(&mut self.scope);
        Ok(())
    }

    /// Reads a page. Returns how long it took, and its size in bytes.
    fn read(&self, path: &str) -> Result<(Duration, usize)> {
        let (took, page) = self.timed(path)?;
        Ok((took, page.len()))
    }

    /// Reads a page. Returns how long it took, and its text.
    pub(crate) fn timed(&self, path: &str) -> Result<(Duration, String)> {
        let began = Instant::now();
        let page = self.get(path)?;
        Ok((began.elapsed(), page))
    }

    fn get(&self, path: &str) -> Result<String> {
        let headers = format!("Cookie: {}\r\n", self.cookie);
        let path = path.replace("SCOPE", &self.scope);
        let (head, page) = exchange(&self.address, &format!("GET /window{path}"), &headers, "")?;
        match head.starts_with("HTTP/1.1 200") {
            true => Ok(page),
            false => bail!("{path}: {head}"),
        }
    }
}

fn exchange(address: &str, what: &str, headers: &str, body: &str) -> Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let length = body.len();
    let request = format!(
        "{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, page) = answer.split_once("\r\n\r\n").context("an answer")?;
    Ok((head.to_owned(), page.to_owned()))
}
