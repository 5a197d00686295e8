//! The answers and refusals of `daybook serve`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::TestPlace;

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub(crate) struct DaybookServer {
    pub(crate) place: TestPlace,
    child: ServerProcess,
    pub(crate) address: String,
    pub(crate) token: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl HttpAnswer {
    pub(crate) fn code(&self) -> (u16, &str) {
        (
            self.status,
            self.body["error"]["code"].as_str().unwrap_or_default(),
        )
    }
}

impl DaybookServer {
    pub(crate) fn start() -> Self {
        Self::start_in(TestPlace::new(), &[], Stdio::inherit())
    }

    /// One on the data folder of `place`, that writes its standard error to `log`.
    pub(crate) fn start_in(place: TestPlace, options: &[&str], log: Stdio) -> Self {
        let mut command = place.daybook(&[&["serve", "--listen", "127.0.0.1:0"], options].concat());
        command.stderr(log);
        Self::spawned(place, command)
    }

    /// The one that `command` starts on the data folder of `place`.
    pub(crate) fn spawned(place: TestPlace, mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("daybook starts");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("it says where it listens");
        // Its output is read to the end, so that it never waits for a reader.
        thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let address = line
            .trim()
            .rsplit("http://")
            .next()
            .expect("an address")
            .to_owned();
        let token = fs::read_to_string(place.root().join("token")).expect("a token");
        Self {
            place,
            child: ServerProcess(child),
            address,
            token: token.trim().to_owned(),
        }
    }

    /// Ends it, and gives the place back.
    pub(crate) fn end(self) -> TestPlace {
        drop(self.child);
        self.place
    }

    /// Sends `request` unchanged, and reads the answer to its end: head and body.
    pub(crate) fn exchange(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        (head.to_owned(), body.to_owned())
    }

    /// An open stream of events, of which nothing was read.
    pub(crate) fn stream(&self, path: &str) -> BufReader<TcpStream> {
        let headers = self.headers(&self.token);
        self.begin(&format!("GET {path} HTTP/1.1\r\n{headers}\r\n"))
    }

    /// Sends `request` unchanged, and returns the connection, of which nothing was read.
    pub(crate) fn begin(&self, request: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        BufReader::new(stream)
    }

    /// Sends the server the signal to end.
    #[cfg(unix)]
    pub(crate) fn ask_to_end(&self) {
        let sent = Command::new("kill")
            .args(["-TERM", &self.child.0.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(sent.success());
    }

    /// The head and the body of an answer that is no JSON.
    pub(crate) fn text(&self, path: &str) -> (String, String) {
        let (host, token) = (&self.address, &self.token);
        self.exchange(&format!(
            "GET {path} HTTP/1.1\r\nConnection: close\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
        ))
    }

    fn raw(&self, request: &str) -> HttpAnswer {
        let (head, body) = self.exchange(request);
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        HttpAnswer {
            status: status.expect("a status"),
            head: head.to_lowercase(),
            body: serde_json::from_str(&body).expect("a JSON body"),
        }
    }

    /// Sends a request with `headers` and without a token.
    pub(crate) fn send(&self, what: &str, headers: &str, body: &str) -> HttpAnswer {
        let length = body.len();
        self.raw(&format!(
            "{what} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
    }

    pub(crate) fn send_request(&self, what: &str, body: &str) -> HttpAnswer {
        self.send_request_as(&self.token, what, body)
    }

    /// Sends a request with the token of another tenant.
    pub(crate) fn send_request_as(&self, token: &str, what: &str, body: &str) -> HttpAnswer {
        let headers = self.headers(token);
        self.send(what, &headers, body)
    }

    /// Sends a request with one more header.
    pub(crate) fn send_with(&self, header: &str, what: &str, body: &str) -> HttpAnswer {
        let headers = format!("{}{header}\r\n", self.headers(&self.token));
        self.send(what, &headers, body)
    }

    fn headers(&self, token: &str) -> String {
        let host = &self.address;
        format!(
            "Host: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        )
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.expect_ok(&format!("GET {path}"), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.expect_ok(&format!("POST {path}"), &body.to_string())
    }

    fn expect_ok(&self, what: &str, body: &str) -> Value {
        let answer = self.send_request(what, body);
        assert_eq!(answer.status, 200, "{what}: {}", answer.body);
        answer.body
    }

    #[track_caller]
    pub(crate) fn check(&self, what: &str, body: &str, status: u16, code: &str) {
        let answer = self.send_request(what, body);
        assert_eq!(answer.code(), (status, code), "{what}: {}", answer.body);
        assert!(
            answer.body["error"]["message"]
                .as_str()
                .is_some_and(|said| !said.is_empty())
        );
    }
}

/// Ended when dropped.
struct ServerProcess(Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn append_body(events: &Value) -> Value {
    json!({
        "agent": "harbour-bot",
        "session": "2026-03-02-tides",
        "folder": "/nowhere/ada/tidepool",
        "branch": "main",
        "events": events,
    })
}

fn teaching_events() -> Value {
    append_body(&json!([
        {"id": "1", "role": "user", "text": "please always write the test first"},
        {"id": "2", "role": "assistant", "text": "I will write the test first."},
        {"id": "3", "role": "assistant", "tool": "Bash", "text": "cargo test"},
        {"id": "4", "role": "tool", "tool": "Bash", "text": "test result: ok. 3 passed"},
    ]))
}

#[test]
fn what_is_appended_and_triggered_is_found_after_an_update() {
    let server = DaybookServer::start();
    let appended = server.post("/v1/append", &teaching_events());
    assert_eq!(appended, json!({"added": 4, "known": 0, "last": 4}));
    let ended = json!({"agent": "harbour-bot", "session": "2026-03-02-tides", "what": "reset"});
    let triggered = server.post("/v1/trigger", &ended);
    assert_eq!(
        (&triggered["outcome"], &triggered["priority"]),
        (&json!("due"), &json!("high"))
    );
    // Without --all: the trigger alone makes the session due.
    server.place.stdout(&["update"]);
    assert_eq!(server.post("/v1/trigger", &ended)["outcome"], "nothing_new");

    let found = server.post(
        "/v1/recall",
        &json!({"question": "should I write the test first"}),
    );
    let best = &found["results"][0];
    assert!(
        best["text"]
            .as_str()
            .is_some_and(|text| text.contains("test first")),
        "{found}"
    );
    let citation = best["citation"].as_str().expect("a citation");
    let shown = server.get(&format!("/v1/show?citation={citation}"));
    assert_eq!(shown["session"], "harbour-bot:2026-03-02-tides");
    assert_eq!(
        shown["events"][0]["text"],
        "please always write the test first"
    );
    // The name of the last release.
    let words = server.get(&format!("/v1/words?citation={citation}"));
    assert_eq!(words, shown);

    let context = server.get("/v1/context?folder=/nowhere/ada/tidepool");
    assert_eq!(context["project"], "tidepool");
    assert!(
        context["text"]
            .as_str()
            .is_some_and(|text| text.contains("test first")),
        "{context}"
    );
    let at_hand = "files=src/cache.rs%0Asrc/chart.rs&prompt=should%20tests%20or%20code%20be%20written%20first%20here";
    let prompted = server.get(&format!("/v1/context?project=tidepool&{at_hand}"));
    assert!(
        prompted["entries"].as_u64() >= context["entries"].as_u64(),
        "{prompted}"
    );
    let status = server.get("/v1/status");
    assert_eq!(
        (&status["sessions"]["covered"], &status["events"]),
        (&json!(1), &json!(4))
    );
}

#[test]
fn what_is_appended_again_is_not_added_again() {
    let server = DaybookServer::start();
    server.post("/v1/append", &teaching_events());
    let again = json!({"added": 0, "known": 4, "last": 4});
    assert_eq!(server.post("/v1/append", &teaching_events()), again);
    let unnamed = append_body(&json!([
        {"role": "user", "text": "yes", "at": "2026-03-02T08:15:00Z"},
        {"role": "user", "text": "yes", "at": "2026-03-02T08:16:00Z"},
    ]));
    let added = json!({"added": 2, "known": 0, "last": 6});
    assert_eq!(server.post("/v1/append", &unnamed), added);
    let known = json!({"added": 0, "known": 2, "last": 6});
    assert_eq!(server.post("/v1/append", &unnamed), known);
}

#[test]
fn what_is_remembered_is_found_at_once() {
    let server = DaybookServer::start();
    let kept = server.post(
        "/v1/remember",
        &json!({"text": "deploys happen on Tuesdays"}),
    );
    assert_eq!(
        (&kept["scope"], &kept["secrets_hidden"]),
        (&json!("user/ada"), &json!(0))
    );
    let found = server.post("/v1/recall", &json!({"question": "when do deploys happen"}));
    assert_eq!(found["results"][0]["text"], "deploys happen on Tuesdays");
}

#[test]
fn an_ephemeral_session_is_never_learned_from() {
    let server = DaybookServer::start();
    let mut teaching_session = teaching_events();
    teaching_session["kind"] = json!("ephemeral");
    server.post("/v1/append", &teaching_session);
    let ended = json!({"agent": "harbour-bot", "session": "2026-03-02-tides", "what": "end"});
    assert_eq!(server.post("/v1/trigger", &ended)["outcome"], "never");
}

#[test]
fn a_secret_in_an_appended_event_is_nowhere_in_the_data_folder() {
    let server = DaybookServer::start();
    let secret = "Tr0ub4dor&3xyz";
    let says = format!("export DB_PASSWORD='{secret}'");
    let events = json!([
        {"role": "user", "text": says},
        {"role": "tool", "tool": says, "text": says, "id": says},
    ]);
    server.post("/v1/append", &append_body(&events));
    server.post("/v1/remember", &json!({"text": says}));
    let mut named = append_body(&json!([{"role": "user", "text": "hello"}]));
    named["branch"] = json!(says);
    server.check(
        "POST /v1/append",
        &named.to_string(),
        400,
        "invalid_request",
    );
    server.place.stdout(&["update", "--all"]);
    let mut seen = 0;
    for file in files(&server.place.root()) {
        let bytes = fs::read(&file).unwrap_or_default();
        seen += bytes.len();
        let hides = !bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(hides, "{} holds the secret", file.display());
    }
    assert!(seen > 10_000, "only {seen} bytes were looked at");
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn only_who_has_the_token_comes_in() {
    let server = DaybookServer::start();
    let host = format!("Host: {}\r\n", server.address);
    let without = server.send("GET /v1/status", &host, "");
    assert_eq!(without.code(), (401, "unauthorized"));
    assert!(
        without.head.contains("www-authenticate: bearer"),
        "{}",
        without.head
    );
    let unknown = server.send("GET /metrics", &host, "");
    assert_eq!(unknown.code(), (401, "unauthorized"));
    let wrong = format!("{host}Authorization: Bearer {}\r\n", "0".repeat(64));
    assert_eq!(
        server.send("GET /v1/status", &wrong, "").code(),
        (401, "unauthorized")
    );
    let health = server.send("GET /health", &host, "");
    assert_eq!((health.status, &health.body["ok"]), (200, &json!(true)));
}

#[test]
fn a_name_that_only_points_here_is_refused() {
    let server = DaybookServer::start();
    for path in ["/health", "/v1/status", "/metrics"] {
        let headers = format!(
            "Host: evil.example\r\nAuthorization: Bearer {}\r\n",
            server.token
        );
        let answer = server.send(&format!("GET {path}"), &headers, "");
        assert_eq!(answer.code(), (403, "wrong_host"), "{path}");
    }
}

#[test]
fn the_token_is_for_its_owner_alone_and_stays() {
    let server = DaybookServer::start();
    assert_eq!(server.token.len(), 64);
    let file = server.place.root().join("token");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).expect("a token").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let beside = server.place.json(&["status"]);
    assert_eq!(beside["sessions"]["all"], 0);
    assert_eq!(
        fs::read_to_string(file).expect("a token").trim(),
        server.token
    );
}

#[test]
fn what_cannot_be_answered_says_why() {
    let server = DaybookServer::start();
    server.check("GET /v1/nothing", "", 404, "no_such_route");
    server.check("GET /v1/append", "", 405, "wrong_method");
    server.check("POST /v1/append", "{\"agent\":", 400, "malformed");
    server.check("POST /v1/append", "{\"agents\": 1}", 400, "invalid_request");
    server.check(
        "POST /v1/recall",
        "{\"question\": \"\"}",
        400,
        "invalid_request",
    );
    let unknown = "{\"question\": \"tides\", \"scopes\": [\"project/nothing\"]}";
    server.check("POST /v1/recall", unknown, 404, "not_found");
    server.check("GET /v1/show?citation=abcd:L1", "", 404, "not_found");
    server.check("GET /v1/show?citing=abcd:L1", "", 400, "invalid_request");
    let files = "GET /v1/context?file=src/cache.rs";
    server.check(files, "", 400, "invalid_request");
    server.check(
        "GET /v1/context?folder=tidepool",
        "",
        400,
        "invalid_request",
    );
    let end = "{\"agent\": \"harbour-bot\", \"session\": \"none\", \"what\": \"end\"}";
    server.check("POST /v1/trigger", end, 404, "not_found");
    let future =
        append_body(&json!([{"role": "user", "text": "hi", "at": "2999-01-01T00:00:00Z"}]));
    server.check(
        "POST /v1/append",
        &future.to_string(),
        400,
        "invalid_request",
    );
}

#[test]
fn what_is_not_json_or_too_large_is_refused() {
    let server = DaybookServer::start();
    let headers = format!(
        "Host: {}\r\nAuthorization: Bearer {}\r\n",
        server.address, server.token
    );
    let plain = server.send("POST /v1/recall", &headers, "tides");
    assert_eq!(plain.code(), (415, "not_json"));
    // Only announced: it is refused before it is sent.
    let large = server.raw(&format!(
        "POST /v1/append HTTP/1.1\r\nConnection: close\r\nContent-Length: 2000000\r\n{headers}\r\n"
    ));
    assert_eq!(large.code(), (413, "too_large"));
    let event = json!({"role": "user", "text": "tides"});
    let many = append_body(&Value::Array(vec![event; 513]));
    server.check("POST /v1/append", &many.to_string(), 400, "invalid_request");
}

#[test]
fn the_largest_append_is_taken_in() {
    let server = DaybookServer::start();
    let event = json!({"role": "tool", "text": "tide ".repeat(50_000)});
    let added = server.post("/v1/append", &append_body(&Value::Array(vec![event; 4])));
    assert_eq!(added, json!({"added": 4, "known": 0, "last": 4}));
}

#[test]
fn the_published_document_is_the_committed_one() {
    let server = DaybookServer::start();
    let published = server.get("/openapi.json");
    let committed = include_str!("../../openapi.json");
    assert_eq!(
        published,
        serde_json::from_str::<Value>(committed).expect("JSON")
    );
    for path in [
        "append", "trigger", "recall", "remember", "context", "status", "words",
    ] {
        assert!(
            published["paths"][format!("/v1/{path}")].is_object(),
            "{path}"
        );
    }
    assert!(published["paths"]["/metrics"]["get"].is_object());
}

#[cfg(unix)]
#[test]
fn the_end_signal_ends_it() {
    let mut server = DaybookServer::start();
    server.post("/v1/append", &teaching_events());
    // A silent connection delays no other.
    let _idle = TcpStream::connect(&server.address).expect("it listens");
    server.ask_to_end();
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = server.child.0.try_wait().expect("a child") {
            assert!(status.success(), "{status}");
            break;
        }
        assert!(Instant::now() < until, "it goes on");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.place.json(&["status"])["events"], 4);
}

#[test]
fn plain_http_beyond_this_machine_is_refused_without_a_proxy() {
    let place = TestPlace::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let output = place.run(&["serve", "--listen", address]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && error.contains("--behind-proxy"),
            "{address}: {error}"
        );
        assert!(!place.root().exists(), "{address}: it had begun to serve");
    }
}
