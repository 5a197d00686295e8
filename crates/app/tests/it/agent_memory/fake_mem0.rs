//! A scripted mem0 server on loopback, with the paths and bodies of mem0's own server. A search ranks by shared words.
//!
//! `tests/interop/mem0_backend.py` does the same with mem0's own `Memory`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// How the server behaves from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It answers.
    Answers,
    /// It answers each request with this status, and repeats the key.
    Refuses(u16),
    /// It keeps what it is sent, and closes the connection in place of an answer.
    HangsUp,
}

#[derive(Debug)]
struct State {
    behaviour: Behaviour,
    memories: Vec<Value>,
    /// What was asked: method and path, with the body.
    requests: Vec<(String, Value)>,
    made: u64,
}

pub(super) struct FakeMem0 {
    pub(super) url: String,
    state: Arc<Mutex<State>>,
}

impl FakeMem0 {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State {
            behaviour: Behaviour::Answers,
            memories: Vec::new(),
            requests: Vec::new(),
            made: 0,
        }));
        let served = Arc::clone(&state);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&served);
                thread::spawn(move || serve(&stream, &state));
            }
        });
        Self {
            url: format!("http://{address}"),
            state,
        }
    }

    pub(super) fn behave(&self, behaviour: Behaviour) {
        self.state.lock().expect("a lock").behaviour = behaviour;
    }

    /// Puts a memory there that Daybook did not send.
    pub(super) fn put(&self, user_id: &str, text: &str) {
        self.state
            .lock()
            .expect("a lock")
            .add(user_id, text, &json!({}));
    }

    pub(super) fn texts(&self) -> Vec<String> {
        let state = self.state.lock().expect("a lock");
        let texts = state
            .memories
            .iter()
            .map(|memory| memory["memory"].as_str());
        texts.flatten().map(str::to_owned).collect()
    }

    pub(super) fn memories(&self) -> Vec<Value> {
        self.state.lock().expect("a lock").memories.clone()
    }

    /// The bodies of all requests like `what`, such as `POST /search`.
    pub(super) fn requests(&self, what: &str) -> Vec<Value> {
        let state = self.state.lock().expect("a lock");
        let asked = state.requests.iter().filter(|(asked, _)| asked == what);
        asked.map(|(_, body)| body.clone()).collect()
    }
}

impl State {
    fn add(&mut self, user_id: &str, text: &str, metadata: &Value) -> String {
        self.made += 1;
        let id = format!("00000000-0000-4000-8000-{:012x}", self.made);
        self.memories.push(json!({
            "id": id, "memory": text, "user_id": user_id, "metadata": metadata,
            "created_at": "2026-03-02T10:00:00.000000-08:00", "updated_at": null, "score": null,
        }));
        id
    }

    fn of<'a>(&'a self, user_id: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.memories
            .iter()
            .filter(move |one| one["user_id"] == *user_id)
    }

    fn answer(&mut self, method: &str, path: &str, query: &str, body: &Value) -> (u16, Value) {
        let id = path.strip_prefix("/memories/");
        match (method, path, id) {
            ("POST", "/memories", _) => {
                let user_id = body["user_id"].as_str().expect("an owner").to_owned();
                let messages = body["messages"].as_array().expect("messages").clone();
                let texts = messages.iter().filter_map(|it| it["content"].as_str());
                let added: Vec<Value> = texts
                    .map(|text| {
                        let id = self.add(&user_id, text, &body["metadata"]);
                        json!({"id": id, "memory": text, "event": "ADD"})
                    })
                    .collect();
                (200, json!({ "results": added }))
            }
            ("GET", "/memories", _) => {
                let user_id = query.split('&').find_map(|it| it.strip_prefix("user_id="));
                let user_id = json!(user_id.expect("an owner").replace("%2B", "+"));
                let all: Vec<&Value> = self.of(&user_id).collect();
                (200, json!({ "results": all }))
            }
            ("POST", "/search", _) => {
                let words: Vec<&str> = body["query"]
                    .as_str()
                    .expect("a query")
                    .split(' ')
                    .collect();
                let score = |memory: &Value| {
                    let text = memory["memory"].as_str().unwrap_or_default();
                    let shared = words.iter().filter(|word| text.contains(**word)).count();
                    shared as f64 / words.len() as f64
                };
                let least = body["threshold"].as_f64().unwrap_or(0.1);
                let mut found: Vec<Value> = self
                    .of(&body["filters"]["user_id"])
                    .map(|memory| {
                        let mut memory = memory.clone();
                        memory["score"] = json!(score(&memory));
                        memory
                    })
                    .filter(|memory| memory["score"].as_f64() >= Some(least))
                    .collect();
                found.sort_by(|a, b| {
                    b["score"]
                        .as_f64()
                        .partial_cmp(&a["score"].as_f64())
                        .expect("numbers")
                });
                (200, json!({ "results": found }))
            }
            (_, _, Some(id)) => {
                let Some(at) = self.memories.iter().position(|one| one["id"] == id) else {
                    return match method {
                        "GET" => (200, Value::Null),
                        _ => (404, json!({"detail": "Memory not found"})),
                    };
                };
                match method {
                    "GET" => (200, self.memories[at].clone()),
                    "PUT" => {
                        self.memories[at]["memory"] = body["text"].clone();
                        (200, json!({"message": "Memory updated successfully!"}))
                    }
                    _ => {
                        self.memories.remove(at);
                        (200, json!({"message": "Memory deleted successfully"}))
                    }
                }
            }
            _ => (404, json!({"detail": "Not Found"})),
        }
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let header = |name: &str| {
            head.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim().to_owned())
        };
        let length = header("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).expect("a whole body");
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let mut words = head.split(' ');
        let (method, target) = (
            words.next().expect("a method"),
            words.next().expect("a path"),
        );
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut state = state.lock().expect("a lock");
        state
            .requests
            .push((format!("{method} {path}"), body.clone()));
        let (status, answer) = match state.behaviour {
            Behaviour::Refuses(status) => {
                let key = header("x-api-key").unwrap_or_default();
                (status, json!({"detail": format!("refused: {key}")}))
            }
            Behaviour::HangsUp if method == "POST" => {
                state.answer(method, path, query, &body);
                return;
            }
            Behaviour::Answers | Behaviour::HangsUp => state.answer(method, path, query, &body),
        };
        drop(state);
        let answer = answer.to_string();
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        if (&*stream)
            .write_all(format!("{head}{answer}").as_bytes())
            .is_err()
        {
            return;
        }
    }
}
