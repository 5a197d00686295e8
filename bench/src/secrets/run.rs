//! Takes secrets in through every interface of the built binary, with its log at trace.
//!
//! Not here: what is searched (`search`).

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::planter::Planter;
use super::search::SecretSearch;
use super::transcripts;
use crate::process::daybook;

/// The agent of reported sessions.
const AGENT: &str = "harbour-bot";

/// A data folder with everything around it, until dropped.
pub(super) struct Workplace {
    folder: tempfile::TempDir,
    /// What commands and servers answered.
    output: Vec<u8>,
    /// Standard error: the log, and messages for people.
    log: Vec<u8>,
    /// What hooks queued, before another command processes it.
    spool: Vec<u8>,
}

impl Workplace {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for name in ["home", "transcripts"] {
            fs::create_dir(folder.path().join(name))?;
        }
        Ok(Self {
            folder,
            output: Vec::new(),
            log: Vec::new(),
            spool: Vec::new(),
        })
    }

    /// Plants one secret in every place.
    pub(super) fn round(&mut self, planter: &mut Planter) -> Result<()> {
        let transcript = transcripts::write(&self.path("transcripts"), planter)?;
        self.hooks(planter, &transcript)?;
        self.read_spool()?;
        self.remember(planter)?;
        self.trigger(planter)?;
        self.threads(planter)?;
        self.tools(planter)?;
        self.settings(planter)?;
        self.serve(planter)
    }

    /// Imports the transcripts, processes all work, and asks for what is remembered.
    pub(super) fn process(&mut self) -> Result<()> {
        let transcripts = self.path("transcripts").display().to_string();
        self.succeed(&["import", &transcripts])?;
        // What changed afterwards is read from where the first import ended.
        self.succeed(&["import", &transcripts, "--json"])?;
        self.succeed(&["update"])?;
        for question in ["deployment", "password", "token", "tide"] {
            self.succeed(&["recall", question])?;
            self.succeed(&["recall", question, "--json"])?;
        }
        for command in [
            ["context"],
            ["status"],
            ["sessions"],
            ["projects"],
            ["jobs"],
            ["doctor"],
        ] {
            self.run(&command, "")?;
        }
        self.run(&["status", "--json"], "")?;
        self.run(&["sessions", "--json"], "")?;
        Ok(())
    }

    /// Searches everything that was written or printed.
    pub(super) fn search(&self, search: &mut SecretSearch) -> Result<()> {
        search.bytes("output", &self.output);
        search.bytes("log", &self.log);
        search.bytes("spool", &self.spool);
        search.folder(&self.path("root"))
    }

    /// Reads what hooks queued; the next command may process and remove it.
    fn read_spool(&mut self) -> Result<()> {
        for entry in fs::read_dir(self.path("root").join("spool"))? {
            self.spool.extend(fs::read(entry?.path())?);
        }
        Ok(())
    }

    fn hooks(&mut self, p: &mut Planter, transcript: &Path) -> Result<()> {
        let payload = json!({
            "hook_event_name": "Stop", "session_id": p.name("hook: session id"),
            "cwd": format!("/srv/{}", p.name("hook: working directory")), "transcript_path": transcript,
        });
        self.hook(&payload.to_string())?;
        let payload = json!({
            "hook_event_name": "Stop", "session_id": p.id(),
            "transcript_path": format!("/srv/{}/none.jsonl", p.name("hook: missing transcript")),
        });
        self.hook(&payload.to_string())?;
        let payload = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": p.id(), "cwd": "/srv/app",
            "prompt": p.text("hook: prompt"),
        });
        self.hook(&payload.to_string())?;
        let unreadable =
            json!({ "hook_event_name": 7, "session_id": p.text("hook: unreadable payload") });
        self.hook(&unreadable.to_string())
    }

    fn hook(&mut self, payload: &str) -> Result<()> {
        self.run(&["hook", "claude-code"], payload).map(drop)
    }

    fn remember(&mut self, p: &mut Planter) -> Result<()> {
        let note = p.text("remember: text");
        self.succeed_with(&["remember"], &note)?;
        let scope = format!("project/{}", p.name("remember: scope"));
        self.run(&["remember", "--scope", &scope, "the tide is high"], "")
            .map(drop)
    }

    fn trigger(&mut self, p: &mut Planter) -> Result<()> {
        let session = p.name("trigger: session");
        self.run(
            &["trigger", "end", "--agent", AGENT, "--session", &session],
            "",
        )?;
        let user = p.name("trigger: user");
        self.run(
            &[
                "trigger",
                "end",
                "--agent",
                AGENT,
                "--session",
                "s1",
                "--user",
                &user,
            ],
            "",
        )?;
        let successor = p.name("trigger: successor");
        let next = [
            "trigger",
            "reset",
            "--agent",
            AGENT,
            "--session",
            "s1",
            "--successor",
            &successor,
        ];
        self.run(&next, "").map(drop)
    }

    fn threads(&mut self, p: &mut Planter) -> Result<()> {
        let name = p.id();
        self.succeed(&["threads", "create", &name])?;
        let key = p.text("thread: argument key");
        let field = p.name("thread: metadata key");
        let events = [
            json!({
                "type": "USER_MESSAGE", "content": p.text("thread: message"),
                "attachments": [{ "name": p.text("thread: attachment") }],
            }),
            json!({
                "type": "LLM_TOOL_CALL", "callId": p.name("thread: call id"), "toolName": p.name("thread: tool name"),
                "arguments": { "path": p.text("thread: argument"), key: [1] },
                "metadata": { field: p.text("thread: metadata") },
            }),
            json!({
                "type": "TOOL_RESULT", "callId": "c1", "toolName": "grep", "success": false,
                "result": { "out": p.text("thread: result") },
            }),
            json!({ "type": p.name("thread: event type"), "content": 1 }),
            json!({ "type": "USER_MESSAGE", "content": [p.text("thread: wrong event")] }),
        ];
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        self.run(&["threads", "dispatch", &name], &lines)?;
        self.succeed(&["threads", "state", &name])?;
        let secret = p.name("thread: name");
        self.run(&["threads", "create", &secret], "").map(drop)
    }

    /// Settings of another system: one file with an unknown setting, and one that is no TOML.
    fn settings(&mut self, p: &mut Planter) -> Result<()> {
        let unknown = format!(
            "memory = {{ key = {:?} }}",
            p.text("settings: unknown value")
        );
        let broken = format!("memory = {}", p.text("settings: broken line"));
        for text in [unknown, broken] {
            let file = self.path("block.toml");
            fs::write(&file, text)?;
            let name = file.display().to_string();
            self.run(&["config", "import", &name], "")?;
        }
        Ok(())
    }

    /// Calls of the MCP tools, one line each.
    fn tools(&mut self, p: &mut Planter) -> Result<()> {
        let key = p.name("mcp: argument key");
        let calls = [
            json!({ "name": "remember", "arguments": { "text": p.text("mcp: remembered text") } }),
            json!({ "name": "memory_create_entity", "arguments": {
                "entity": "harbour", "name": p.name("mcp: entity name"),
                "description": p.name("mcp: entity description"),
            } }),
            json!({ "name": "memory_upsert_record", "arguments": {
                "entity": "harbour", "record": p.name("mcp: record name"), "content": p.text("mcp: record"),
            } }),
            json!({ "name": "memory_upsert_record", "arguments": { "entity": p.name("mcp: wrong entity") } }),
            json!({ "name": "recall", "arguments": { key: 1 } }),
            json!({ "name": "recall", "arguments": { "question": [p.name("mcp: wrong argument")] } }),
            json!({ "name": "show", "arguments": { "target": p.name("mcp: target") } }),
            json!({ "name": p.name("mcp: tool name"), "arguments": {} }),
        ];
        let greeting = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": p.name("mcp: client"), "version": "1" },
        });
        let mut lines = vec![request(0, "initialize", &greeting)];
        lines.push(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        lines.extend(
            (1..)
                .zip(&calls)
                .map(|(id, call)| request(id, "tools/call", call)),
        );
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let output = self.run(&["mcp", "--tools", "entities"], &lines)?;
        let answers = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        ensure!(answers == calls.len() + 1, "an MCP call was not answered");
        Ok(())
    }

    fn serve(&mut self, p: &mut Planter) -> Result<()> {
        let log = self.path("serve.log");
        let mut server = Server::start(
            self.command(&["serve", "--no-follow", "--listen", "127.0.0.1:0"])?,
            &log,
        )?;
        let token = fs::read_to_string(self.path("root").join("token"))?;
        let mut plain = json!({
            "agent": AGENT, "session": p.id(), "folder": "/srv/app", "branch": "main",
            "events": [
                { "role": "user", "text": p.text("append: message") },
                { "role": "assistant", "text": p.text("append: call"), "tool": p.name("append: tool name") },
                { "role": "tool", "text": p.text("append: result"), "id": p.name("append: event id") },
            ],
        });
        let mut bodies = vec![("/v1/append", plain.clone())];
        plain["events"] = json!([{ "role": "user", "text": "the tide is high" }]);
        for (field, value) in [
            ("session", p.name("append: session")),
            ("agent", p.name("append: agent")),
            ("user", p.name("append: user")),
            ("folder", format!("/srv/{}/app", p.name("append: folder"))),
            ("branch", p.name("append: branch")),
            ("kind", p.name("append: wrong kind")),
        ] {
            let mut body = plain.clone();
            body[field] = value.into();
            bodies.push(("/v1/append", body));
        }
        let reset = json!({
            "agent": AGENT, "session": plain["session"], "what": "reset",
            "successor": p.name("http: successor"),
        });
        bodies.push(("/v1/trigger", reset));
        bodies.push((
            "/v1/remember",
            json!({ "text": p.text("http: remembered text") }),
        ));
        for (path, body) in bodies {
            let answer = server.post(path, token.trim(), &body)?;
            self.output.extend(answer);
        }
        drop(server);
        self.log.extend(fs::read(&log)?);
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn succeed(&mut self, arguments: &[&str]) -> Result<()> {
        self.succeed_with(arguments, "")
    }

    fn succeed_with(&mut self, arguments: &[&str], input: &str) -> Result<()> {
        let output = self.run(arguments, input)?;
        let why = || {
            format!(
                "daybook {} failed: {}",
                arguments[0],
                String::from_utf8_lossy(&output.stderr)
            )
        };
        ensure!(output.status.success(), why());
        Ok(())
    }

    /// Runs a command, which may refuse its input.
    fn run(&mut self, arguments: &[&str], input: &str) -> Result<Output> {
        let mut command = self.command(arguments)?;
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("daybook does not start")?;
        if let Some(mut stdin) = child.stdin.take() {
            // A process that does not read its input has ended already.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output()?;
        self.output.extend_from_slice(&output.stdout);
        self.log.extend_from_slice(&output.stderr);
        Ok(output)
    }

    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(daybook()?);
        command.args(arguments).arg("--root").arg(self.path("root"));
        command.args(["--log", "trace"]);
        // No agent of this machine is read.
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .current_dir(self.path("home"));
        Ok(command)
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A running `daybook serve`, until dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(mut command: Command, log: &Path) -> Result<Self> {
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log)?);
        let mut child = command.spawn().context("daybook does not start")?;
        let output = child.stdout.take().context("it has an output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line
            .trim()
            .rsplit("http://")
            .next()
            .unwrap_or_default()
            .to_owned();
        Ok(Self { child, address })
    }

    /// The whole answer, head and body.
    fn post(&mut self, path: &str, token: &str, body: &Value) -> Result<Vec<u8>> {
        let (address, body) = (&self.address, body.to_string());
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
