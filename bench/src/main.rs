//! Named questions about Daybook's speed and size.
//!
//! `cargo run --release -p daybook-bench -- <question>` answers one question; without a name, all. Data is generated with
//! fixed seeds, or read from `../shared/data/transcripts` if that folder exists. `models [folder] [--json]` reads any
//! folder; `recall-scale [memories] [folder]` and `hook [memories]` generate the given number of memories, `scale [sessions]
//! [folder]` the given number of sessions;
//! `secrets [--seed N] [--cases N] [--family NAME] [--json]` plants random secrets, and fails if it finds one again.
//! Machines differ and are shared, so each time is printed beside a baseline from the same run.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time, runs the built binary and prints its results"
)]

mod append;
mod browse;
mod context;
mod echo;
mod formats;
mod hook;
mod http;
mod http_appends;
mod idle;
mod import;
mod jobs;
mod mcp;
mod memory;
mod models;
mod mutations;
mod poisoning;
mod postgres;
mod process;
mod questions;
mod recall;
mod recall_scale;
mod regression;
mod scale;
mod scale_sessions;
mod secrets;
mod serving;
mod transcripts;
mod typed;
mod understanding;
mod window;
mod working;

use anyhow::{Result, bail};

/// How to call it; the questions follow.
const HELP: &str = "\
daybook-bench [QUESTION]...     answers the questions, or all
daybook-bench models [FOLDER] [--json]
daybook-bench recall-scale [MEMORIES] [FOLDER]
daybook-bench hook [MEMORIES]
daybook-bench scale [SESSIONS] [FOLDER]
daybook-bench secrets [--seed N] [--cases N] [--family NAME]... [--json]
  plants random secrets in every place of all inputs of the built binary, and searches database, memory files,
  git objects, spool, log and answers for them; fails if one is found. --cases is the number of secrets,
  --family plants those of one family alone, --json also lists the random texts that were found
";

fn main() -> Result<()> {
    type Question = (&'static str, &'static str, fn() -> Result<()>);
    let questions: [Question; 35] = [
        (
            "import",
            "how fast are real transcripts taken in?",
            import::first,
        ),
        (
            "again",
            "how long does a second import of 40 files take?",
            import::again,
        ),
        (
            "formats",
            "how fast is each format imported and learned from, beside Claude Code's?",
            formats::import,
        ),
        (
            "memory",
            "how much memory does a 1 GiB file with a 64 MiB line take?",
            memory::large,
        ),
        (
            "recall",
            "how long does a recall take, as a process, on 100,000 events?",
            recall::process,
        ),
        (
            "recall-scale",
            "how long does a recall take, in process, among 100,000 memories?",
            recall_scale::ask,
        ),
        (
            "window",
            "how soon are the pages of the window there, among 100,000 memories?",
            window::pages,
        ),
        (
            "hook",
            "how long does a host wait for a hook, on 100,000 events?",
            hook::process,
        ),
        (
            "context",
            "how long does a context take, in process, in a scope of 10,000 memories?",
            context::assembled,
        ),
        (
            "mcp",
            "how soon does an MCP server answer, and how much memory does it take?",
            mcp::first_answer,
        ),
        (
            "idle",
            "how long does a recall over HTTP take beside 1,000 idle and slow connections?",
            idle::beside_a_crowd,
        ),
        (
            "understanding",
            "what is understood of real transcripts?",
            understanding::count,
        ),
        (
            "typed",
            "are a person's typed words found, and nothing else taken for them?",
            typed::compare,
        ),
        (
            "questions",
            "does an owner find what was discussed, and nothing else?",
            questions::ask,
        ),
        (
            "mutations",
            "do damaged transcripts cost anything but themselves?",
            mutations::import,
        ),
        (
            "echo",
            "does memory grow from its own words, in 20 rounds of recall and extraction?",
            echo::repeat,
        ),
        (
            "poisoning",
            "does a stranger's text become an instruction?",
            poisoning::plant,
        ),
        ("append", "how fast is a durable append?", append::durable),
        (
            "jobs",
            "how fast are jobs claimed and finished?",
            jobs::cycles,
        ),
        (
            "crowd",
            "do sixteen processes on one data folder get in each other's way?",
            jobs::crowd,
        ),
        (
            "beside",
            "how long does an append take while eight workers work?",
            jobs::beside_workers,
        ),
        (
            "scale",
            "how long does consolidation take in a scope of 10,000 sessions?",
            scale::consolidated,
        ),
        (
            "models",
            "what is sent to a model, and how long does the engine take beside it?",
            models::ask,
        ),
        (
            "reducing",
            "how fast are events of a thread reduced and applied?",
            working::reducing,
        ),
        (
            "dispatching",
            "how fast are events of many threads stored, and how soon while others compact?",
            working::dispatching,
        ),
        (
            "opening",
            "what do idle threads take, and how soon does a long one open?",
            working::opening,
        ),
        (
            "replaying",
            "do real conversations stay within their budget?",
            working::replaying,
        ),
        (
            "failures",
            "do 200 threads survive a minute of compactions that fail at random?",
            working::failures,
        ),
        (
            "postgres",
            "what does one PostgreSQL server do for 1 to 16 workers?",
            postgres::curve,
        ),
        (
            "http-appends",
            "how many events a second does a server take in over HTTP, on SQLite and PostgreSQL?",
            http_appends::rates,
        ),
        (
            "http",
            "how many recalls and events a second does a server answer, at 10,000 memories?",
            http::rates,
        ),
        (
            "mcp-crowd",
            "what do twenty MCP servers on one data folder take, and how soon is the first recall?",
            mcp::crowd,
        ),
        (
            "secrets",
            "does any secret reach the disk, the log or an answer?",
            secrets::search,
        ),
        (
            "browse",
            "do lists of a million lines of memory take longer the deeper a person goes?",
            browse::lists,
        ),
        (
            "regression",
            "does anything take twice as long as it should, beside its baseline?",
            regression::check,
        ),
    ];
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let [member, role, n, root] = asked.as_slice()
        && member == "crowd-member"
    {
        return jobs::crowd_member(role, n.parse()?, root.as_ref());
    }
    if let [member, root, folders @ ..] = asked.as_slice()
        && member == scale::MEMBER
    {
        return scale::run_member(root.as_ref(), folders);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "scale"
        && !arguments.is_empty()
    {
        return scale::consolidated_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "models"
        && !arguments.is_empty()
    {
        return models::ask_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "recall-scale"
        && !arguments.is_empty()
    {
        return recall_scale::ask_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "hook"
        && !arguments.is_empty()
    {
        return hook::process_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "poisoning"
        && !arguments.is_empty()
    {
        return poisoning::plant_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "secrets"
        && !arguments.is_empty()
    {
        return secrets::search_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "window"
        && !arguments.is_empty()
    {
        return window::pages_with(arguments);
    }
    if let [question, arguments @ ..] = asked.as_slice()
        && question == "http"
        && !arguments.is_empty()
    {
        return http::rates_with(arguments);
    }
    if asked.iter().any(|name| name == "--help") {
        println!("{HELP}");
        for (name, question, _) in questions {
            println!("  {name:14} {question}");
        }
        return Ok(());
    }
    for name in &asked {
        if !questions.iter().any(|(known, ..)| known == name) {
            let known: Vec<&str> = questions.iter().map(|(name, ..)| *name).collect();
            bail!(
                "no question is named {name}; name one of: {}",
                known.join(", ")
            );
        }
    }
    for (name, question, answer) in questions {
        if asked.is_empty() || asked.iter().any(|wanted| wanted == name) {
            println!("\n{name}: {question}");
            answer()?;
        }
    }
    Ok(())
}
