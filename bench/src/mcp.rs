//! How soon an MCP server answers, and how much memory it takes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::http;
use crate::process::{daybook, median, ms, proportional, resident, timed};
use crate::recall::large_root;
use crate::scale_sessions::question;
use crate::transcripts::SeededNumbers;

/// Starts that are timed.
const STARTS: usize = 30;
/// Servers on one data folder.
const SERVERS: usize = 20;
/// Sessions of its memory; each teaches about three things.
const SESSIONS: usize = 3_400;

/// First answers against starting the program, and resident memory on 100,000 events.
pub(crate) fn first_answer() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = large_root(&folder)?;
    let mut answers = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let mut server = McpServer::start(&root)?;
        server.greet()?;
        answers.push(began.elapsed());
        server.end()?;
        starts.push(timed(&["--version"])?);
    }
    let worst = answers.iter().max().copied().unwrap_or_default();
    let (answer, start) = (median(answers), median(starts));
    println!(
        "  initialize  median {:6.1} ms, worst of {STARTS} {:6.1} ms   (wanted: under 60)",
        ms(answer),
        ms(worst)
    );
    println!(
        "  --version   median {:6.1} ms   ratio {:.1}",
        ms(start),
        answer.as_secs_f64() / start.as_secs_f64()
    );
    let mut server = McpServer::start(&root)?;
    server.greet()?;
    let greeted = server.resident()?;
    let began = Instant::now();
    server.recall(&SeededNumbers(99).sentence(5))?;
    let recall = began.elapsed();
    println!(
        "  resident    {:.1} MiB greeted, {:.1} MiB after a recall of {:.1} ms on 100,000 events   (wanted: under 30)",
        greeted,
        server.resident()?,
        ms(recall)
    );
    server.end()
}

/// Twenty servers on one data folder of 10,000 memories: the first recall of each, and the memory that each takes when
/// what they share is shared out among them.
pub(crate) fn crowd() -> Result<()> {
    let made = tempfile::tempdir()?;
    let root = made.path().join("root");
    http::fill(made.path(), &root, SESSIONS)?;
    let root = root.display().to_string();
    let (mut servers, mut numbers, mut recalls) = (Vec::new(), SeededNumbers(99), Vec::new());
    for _ in 0..SERVERS {
        let mut server = McpServer::start(&root)?;
        server.greet()?;
        servers.push(server);
    }
    for server in &mut servers {
        let question = question(&mut numbers);
        let began = Instant::now();
        server.recall(&question)?;
        recalls.push(began.elapsed());
    }
    let worst = recalls.iter().max().copied().unwrap_or_default();
    println!(
        "  first recall  median {:.1} ms, worst of {SERVERS} {:.1} ms   (wanted: median under 100)",
        ms(median(recalls)),
        ms(worst)
    );
    let taken = servers.iter().map(|server| proportional(server.child.id()));
    let taken: Option<Vec<u64>> = taken.collect();
    let bytes: u64 = taken
        .context("their memory is not known")?
        .iter()
        .sum::<u64>()
        / SERVERS as u64;
    println!(
        "  proportional  {:.1} MiB each   (wanted: 15)",
        bytes as f64 / f64::from(1 << 20)
    );
    servers.into_iter().try_for_each(McpServer::end)
}

struct McpServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl McpServer {
    fn start(root: &str) -> Result<Self> {
        let mut child = Command::new(daybook()?)
            .args(["mcp", "--root", root])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("daybook does not start")?;
        let input = child.stdin.take().context("no pipe")?;
        let output = BufReader::new(child.stdout.take().context("no pipe")?);
        Ok(Self {
            child,
            input,
            output,
        })
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<()> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.input, "{message}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        if answer["result"].is_null() || answer["result"]["isError"] == true {
            bail!("{method} was answered with {answer}");
        }
        Ok(())
    }

    fn greet(&mut self) -> Result<()> {
        let client = json!({"name": "bench", "version": "1"});
        self.ask(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        )
    }

    fn recall(&mut self, question: &str) -> Result<()> {
        let arguments = json!({"question": question});
        self.ask(
            "tools/call",
            &json!({"name": "recall", "arguments": arguments}),
        )
    }

    fn resident(&self) -> Result<f64> {
        let bytes = resident(self.child.id()).context("its memory is not known")?;
        Ok(bytes as f64 / f64::from(1 << 20))
    }

    fn end(mut self) -> Result<()> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}
