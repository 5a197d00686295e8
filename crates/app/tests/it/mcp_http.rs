//! The MCP server over streamable HTTP: `/mcp` of the built program's `serve`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::mcp::McpClient;
use crate::serve::DaybookServer;

/// A file of the memory that the tests import.
const PAGE: &str = "projects/tidepool/memory/MEMORY.md";

/// A client of `/mcp`, with the id of its session.
struct HttpClient<'a> {
    server: &'a DaybookServer,
    token: String,
    path: &'static str,
    session: String,
}

/// The answer to a message.
struct Answer {
    status: u16,
    head: String,
    /// Messages of a stream, or the one body.
    messages: Vec<Value>,
}

impl Answer {
    /// Reads an answer to its end.
    fn read(mut from: BufReader<TcpStream>) -> Self {
        let mut text = String::new();
        from.read_to_string(&mut text).expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
        let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let whole = body.lines().filter(|line| line.starts_with('{'));
        let messages = events
            .chain(whole)
            .filter_map(|text| serde_json::from_str(text.trim()).ok());
        Self {
            status: status.expect("a status"),
            head: head.to_lowercase(),
            messages: messages.collect(),
        }
    }

    fn session(&self) -> String {
        let id = self.head.split("mcp-session-id: ").nth(1);
        let id = id.and_then(|rest| rest.lines().next());
        id.expect("an id").to_owned()
    }

    fn code(&self) -> (u16, &str) {
        let code = self.messages.first().map(|body| &body["error"]["code"]);
        (
            self.status,
            code.and_then(Value::as_str).unwrap_or_default(),
        )
    }
}

impl<'a> HttpClient<'a> {
    /// A client that has begun no session.
    fn new(server: &'a DaybookServer, token: &str) -> Self {
        Self {
            server,
            token: token.to_owned(),
            path: "/mcp",
            session: String::new(),
        }
    }

    fn connect(server: &'a DaybookServer, token: &str, path: &'static str) -> Self {
        let mut client = Self::new(server, token);
        client.path = path;
        let greeting = client.post(&greeting());
        assert_eq!(greeting.status, 200, "{:?}", greeting.messages);
        assert_eq!(
            greeting.messages[0]["result"]["serverInfo"]["name"],
            "daybook"
        );
        client.session = greeting.session();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&ready).status, 202);
        client
    }

    /// Sends a message with more headers, each with its line end. Nothing of the answer was read.
    fn begin(&self, method: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let Self {
            server,
            path,
            token,
            ..
        } = self;
        let session = match self.session.as_str() {
            "" => String::new(),
            id => format!("Mcp-Session-Id: {id}\r\n"),
        };
        let host = match headers.contains("Host: ") {
            true => String::new(),
            false => format!("Host: {}\r\n", server.address),
        };
        server.begin(&format!(
            "{method} {path} HTTP/1.1\r\n{host}Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n{session}{headers}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    fn post(&self, message: &Value) -> Answer {
        Answer::read(self.begin("POST", "", &message.to_string()))
    }

    fn request(&self, id: u64, method: &str, params: Value) -> Value {
        let answer = self.post(&request(id, method, params));
        let message = answer.messages.into_iter().find(|it| it["id"] == id);
        message.expect("an answer")
    }

    fn call(&self, id: u64, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.request(id, "tools/call", params)["result"].take();
        assert_ne!(result["isError"], true, "{result}");
        result
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn greeting() -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    request(0, "initialize", params)
}

fn remember(id: u64, text: &str) -> String {
    let arguments = json!({"name": "remember", "arguments": {"text": text}});
    request(id, "tools/call", arguments).to_string()
}

fn imported_server() -> DaybookServer {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit())
}

#[test]
fn tools_resources_and_prompts_are_those_of_the_standard_streams() {
    let server = imported_server();
    let client = HttpClient::connect(&server, &server.token, "/mcp?tools=entities,history");
    let mut other = McpClient::connect(
        &server.place,
        &["--tools", "entities", "--tools", "history"],
    );
    let memory = "what do we know about pushing";
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        (
            "resources/read",
            json!({"uri": format!("daybook:///{PAGE}")}),
        ),
        ("resources/read", json!({"uri": "daybook:///daybook.toml"})),
        ("prompts/list", json!({})),
        (
            "prompts/get",
            json!({"name": "what-do-we-know", "arguments": {"question": memory}}),
        ),
        (
            "tools/call",
            json!({"name": "recall", "arguments": {"question": "push"}}),
        ),
        ("tools/call", json!({"name": "no_such_tool"})),
        ("no/such/method", json!({})),
    ] {
        let mut ours = client.request(7, method, params.clone());
        let mut theirs = other.request(method, params);
        for answer in [&mut ours, &mut theirs] {
            answer.as_object_mut().expect("an object").remove("id");
        }
        assert_eq!(ours, theirs, "{method}");
    }
    other.close();
    let few = HttpClient::connect(&server, &server.token, "/mcp");
    let tools = few.request(1, "tools/list", json!({}))["result"]["tools"].take();
    assert_eq!(tools.as_array().map(Vec::len), Some(6));
    few.call(
        2,
        "remember",
        json!({"text": "the ferry leaves from pier seven"}),
    );
    let found = client.call(
        3,
        "recall",
        json!({"question": "where does the ferry leave"}),
    );
    assert!(found.to_string().contains("pier seven"), "{found}");
    // The folder of the server is none of its client's.
    assert_eq!(
        found["structuredContent"]["results"][0]["scope"],
        "user/ada"
    );
    client.call(4, "context", json!({}));
    let relative = json!({"name": "context", "arguments": {"folder": "tidepool"}});
    let refused = client.request(5, "tools/call", relative);
    assert!(refused.to_string().contains("whole path"), "{refused}");
}

#[test]
fn a_subscriber_is_told_over_its_stream_and_a_session_that_was_ended_is_over() {
    let server = imported_server();
    let client = HttpClient::connect(&server, &server.token, "/mcp");
    let uri = format!("daybook:///{PAGE}");
    client.request(1, "resources/subscribe", json!({"uri": uri}));
    let mut stream = client.begin("GET", "", "");
    let file = server.place.root().join(PAGE);
    let standing = fs::read_to_string(&file).expect("a memory file");
    fs::write(&file, format!("{standing}\nAda wrote this by hand.\n")).expect("a file");
    let mut line = String::new();
    while !line.contains("notifications/resources/updated") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).expect("a line"), 0, "it ended");
    }
    assert!(line.contains(&uri), "{line}");
    assert!(Answer::read(client.begin("DELETE", "", "")).status < 300);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("its end");
    let late = client.post(&request(2, "ping", json!({})));
    assert_eq!(late.code(), (404, "no_session"));
}

/// Cancels a call that waits for another one, which waits for the database. Whether its text was remembered all the same.
fn remembers_what_was_cancelled(
    client: &HttpClient,
    database: &rusqlite::Connection,
    text: &str,
) -> bool {
    database.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let mut first = client.begin("POST", "", &remember(1, "the gulls nest in April"));
    assert!(!first.fill_buf().expect("a head").is_empty());
    let mut second = client.begin("POST", "", &remember(2, text));
    let mut head = String::new();
    second.read_line(&mut head).expect("a line");
    let params = json!({"requestId": 2, "reason": "the person pressed escape"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    assert_eq!(client.post(&cancel).status, 202);
    assert!(client.request(3, "ping", json!({}))["result"].is_object());
    let mut rest = String::new();
    second.read_to_string(&mut rest).expect("its end");
    assert!(!rest.contains("jsonrpc"), "{rest}");
    client.call(4, "recall", json!({"question": "push"}));
    database.execute_batch("ROLLBACK").expect("a lock");
    assert!(Answer::read(first).messages[0]["result"].is_object());
    // What was remembered after it is there, so it would be, too.
    client.call(
        5,
        "remember",
        json!({"text": "the seals sleep on the bank"}),
    );
    found(client, text).contains(text)
}

fn found(client: &HttpClient, question: &str) -> String {
    let answer = client.call(6, "recall", json!({"question": question}));
    answer["content"][0]["text"].to_string()
}

#[test]
fn a_cancelled_call_does_no_work_and_its_session_goes_on() {
    let server = imported_server();
    let client = HttpClient::connect(&server, &server.token, "/mcp");
    let database = rusqlite::Connection::open(server.place.root().join("daybook.db"));
    let database = database.expect("a database");
    // Now and then the second call begins before the first, and is under way when it is cancelled.
    let mut texts = [
        "herons fish at dusk",
        "owls hunt at noon",
        "swifts sleep in flight",
    ]
    .iter();
    assert!(texts.any(|text| !remembers_what_was_cancelled(&client, &database, text)));
    assert!(found(&client, "when do gulls nest").contains("in April"));
    assert!(found(&client, "where do the seals sleep").contains("on the bank"));
}

#[test]
fn what_is_no_message_is_refused_and_the_session_goes_on() {
    let server = imported_server();
    let client = HttpClient::connect(&server, &server.token, "/mcp");
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{\"id\":3,\"method\":\"ping\"}", -32600),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":[]}",
            -32602,
        ),
    ] {
        let answer = Answer::read(client.begin("POST", "", body));
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.messages[0]["error"]["code"], code, "{body}");
    }
    let ping = request(1, "ping", json!({}));
    let newcomer = HttpClient::new(&server, &server.token);
    assert_eq!(newcomer.post(&ping).code(), (400, "invalid_request"));
    for (headers, refusal) in [
        (
            "Mcp-Protocol-Version: 1999-01-01\r\n",
            (400, "invalid_request"),
        ),
        ("Accept: text/html\r\n", (200, "")),
    ] {
        let answer = Answer::read(client.begin("POST", headers, &ping.to_string()));
        assert_eq!(answer.code(), refusal, "{headers}");
    }
    let put = Answer::read(client.begin("PUT", "", "{}"));
    assert_eq!(put.code(), (405, "wrong_method"));
    let mut unknown = HttpClient::new(&server, &server.token);
    unknown.path = "/mcp?tools=everything";
    assert_eq!(unknown.post(&greeting()).code(), (400, "invalid_request"));
    assert!(client.request(2, "ping", json!({}))["result"].is_object());
}

#[test]
fn strangers_are_refused_before_they_reach_the_protocol() {
    let place = TestPlace::new();
    let tokens = place.root().join("tokens");
    fs::create_dir_all(&tokens).expect("a folder");
    let theirs = "token-of-harbour-0123456789abcdef0123456789";
    let file = tokens.join("harbour");
    fs::write(&file, theirs).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    }
    let server = DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit());
    let own = HttpClient::connect(&server, &server.token, "/mcp");
    own.call(
        1,
        "remember",
        json!({"text": "the ferry is called Zephyrine"}),
    );

    // Another tenant has neither the memory nor the session.
    let mut other = HttpClient::connect(&server, theirs, "/mcp");
    let found = other.call(1, "recall", json!({"question": "what is the ferry called"}));
    assert!(!found.to_string().contains("Zephyrine"), "{found}");
    other.session.clone_from(&own.session);
    let ping = request(2, "ping", json!({})).to_string();
    for method in ["POST", "GET"] {
        let answer = Answer::read(other.begin(method, "", &ping));
        assert_eq!(answer.code(), (404, "no_session"), "{method}");
    }
    // It ends no session of its own.
    Answer::read(other.begin("DELETE", "", ""));
    assert!(own.request(3, "ping", json!({}))["result"].is_object());

    // No token, and none of this server: also with the id of an open session.
    for token in ["", "token-that-was-replaced-0123456789abcdef0123456789"] {
        let mut stranger = HttpClient::new(&server, token);
        for session in ["", &own.session] {
            session.clone_into(&mut stranger.session);
            let answer = stranger.post(&greeting());
            assert_eq!(answer.code(), (401, "unauthorized"), "{token}");
        }
    }
    for (header, code) in [
        ("Host: ferry.example\r\n", "wrong_host"),
        ("Host: 127.0.0.1.ferry.example\r\n", "wrong_host"),
        ("Origin: https://ferry.example\r\n", "wrong_origin"),
        ("Origin: http://localhost.ferry.example\r\n", "wrong_origin"),
        ("Origin: null\r\n", "wrong_origin"),
    ] {
        let answer = Answer::read(own.begin("POST", header, &ping));
        assert_eq!(answer.code(), (403, code), "{header}");
    }
    let local = Answer::read(own.begin("POST", "Origin: http://localhost:3000\r\n", &ping));
    assert_eq!(local.status, 200);

    let large = format!("{ping}{}", " ".repeat(1024 * 1024));
    let refused = Answer::read(own.begin("POST", "", &large));
    assert_eq!(refused.code(), (413, "too_large"));
    for path in [
        "/mcp/",
        "/MCP",
        "//mcp",
        "/mcp/../mcp",
        "/mcp%2f",
        "/v1/../mcp",
    ] {
        let mut client = HttpClient::new(&server, &server.token);
        client.path = path;
        let answer = client.post(&greeting());
        assert_eq!(answer.code(), (404, "no_such_route"), "{path}");
    }
    assert!(own.request(9, "ping", json!({}))["result"].is_object());
}

#[test]
fn a_token_that_allows_reading_alone_changes_nothing_through_a_tool() {
    let server = DaybookServer::start_in(TestPlace::new(), &["--no-follow"], Stdio::inherit());
    let made = |name: &str, more: &[&str]| {
        let command = [&["token", "add", name, "--right", "read"], more].concat();
        let made = server.place.json(&command);
        made["token"].as_str().expect("a token").to_owned()
    };
    let (reader, brief) = (made("reader", &[]), made("brief", &["--expires", "1ms"]));
    let own = HttpClient::connect(&server, &server.token, "/mcp");
    own.call(
        1,
        "remember",
        json!({"text": "the ferry is called Zephyrine"}),
    );
    let narrow = HttpClient::connect(&server, &reader, "/mcp");
    let found = narrow.call(1, "recall", json!({"question": "what is the ferry called"}));
    assert!(found.to_string().contains("Zephyrine"), "{found}");
    for (id, tool, arguments) in [
        (
            2,
            "remember",
            json!({"text": "the ferry is called Halcyon"}),
        ),
        (
            3,
            "forget",
            json!({"memory": "the ferry is called Zephyrine"}),
        ),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let refused = narrow.request(id, "tools/call", params)["result"].take();
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(
            refused.to_string().contains("allows reading alone"),
            "{refused}"
        );
    }
    let found = narrow.call(4, "recall", json!({"question": "what is the ferry called"}));
    assert!(
        found.to_string().contains("Zephyrine") && !found.to_string().contains("Halcyon"),
        "{found}"
    );
    // The session goes on for another token of its tenant, by that token's rights; an expired one opens none.
    let mut wider = HttpClient::new(&server, &server.token);
    wider.session.clone_from(&narrow.session);
    wider.call(
        5,
        "remember",
        json!({"text": "the crane is called Halcyon"}),
    );
    let late = HttpClient::new(&server, &brief);
    assert_eq!(late.post(&greeting()).code(), (401, "unauthorized"));
    server.place.stdout(&["token", "revoke", "reader"]);
    let ping = request(6, "ping", json!({}));
    assert_eq!(narrow.post(&ping).code(), (401, "unauthorized"));
}
