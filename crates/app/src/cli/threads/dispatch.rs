//! `daybook threads dispatch`: stores events, line by line, and prints the result of each.
//!
//! Each line is answered before the next one is read, so that a program may hold both ends of the pipe. A
//! line that is no event stores nothing, and the lines behind it are processed all the same.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use daybook_domain::SessionId;
use daybook_domain::working::ThreadEvent;
use daybook_working::manager::MemoryManager;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::ThreadName;
use crate::terminal::messages::print_error;
use crate::threads::{self, EventResult};
use crate::wiring::Daybook;

/// Longest line, in bytes. What an event holds beyond a fraction of that is cut anyway.
const LINE: usize = 8 * 1024 * 1024;
/// Lines that are read ahead.
const AHEAD: usize = 16;

/// Store events, one JSON object on each line, and print the result of each. Always JSON, a line for each.
#[derive(Args)]
pub(super) struct DispatchCommand {
    #[command(flatten)]
    of: ThreadName,
    /// The file with the events [default: -, standard input]
    #[arg(value_name = "FILE")]
    file: Option<String>,
    /// Wait only until they are on disk; nothing is compacted automatically
    #[arg(long)]
    no_wait: bool,
}

/// A line that was read; `None` for one that is too long.
type ReadLine = io::Result<Option<Vec<u8>>>;

impl DispatchCommand {
    pub(super) async fn run(&self, daybook: &Daybook) -> Result<ExitCode> {
        let thread = threads::find(daybook, &self.of.thread).await?;
        let manager = match self.no_wait {
            true => daybook.new_thread_manager(false)?,
            false => daybook.thread_manager()?,
        };
        // A missing thread is an error before anything is read.
        threads::check_exists(&manager, &thread).await?;
        let mut lines = self.lines()?;
        let (mut number, mut all_fine) = (0, true);
        while let Some(line) = lines.recv().await {
            number += 1;
            let line = line.context("the events cannot be read")?;
            if line
                .as_ref()
                .is_some_and(|line| line.trim_ascii().is_empty())
            {
                continue;
            }
            let answer = match event(daybook, line.as_deref()) {
                Ok(event) => self.store(daybook, &manager, &thread, event).await,
                Err(why) => Err(anyhow::Error::msg(why)),
            };
            all_fine &= print_results(number, answer)?;
        }
        threads::settle(&manager, &thread).await?;
        Ok(match all_fine {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    async fn store(
        &self,
        daybook: &Daybook,
        manager: &MemoryManager,
        thread: &SessionId,
        event: ThreadEvent,
    ) -> Result<Vec<EventResult>> {
        match self.no_wait {
            true => threads::append(daybook, manager, thread, &[event]).await,
            false => threads::dispatch(daybook, manager, thread, &[event], Duration::MAX).await,
        }
    }

    /// Reads lines on a thread of its own, so that compactions continue while no line arrives.
    fn lines(&self) -> Result<mpsc::Receiver<ReadLine>> {
        let input: Box<dyn Read + Send> = match self.file.as_deref() {
            None | Some("-") => Box::new(io::stdin()),
            Some(file) => {
                Box::new(File::open(file).with_context(|| format!("cannot read {file}"))?)
            }
        };
        let (out, lines) = mpsc::channel(AHEAD);
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(line) = next(&mut input).transpose() {
                let is_broken = line.is_err();
                if out.blocking_send(line).is_err() || is_broken {
                    return;
                }
            }
        });
        Ok(lines)
    }
}

/// The next line without its end; `None` at the end of the input.
fn next(input: &mut impl BufRead) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Vec::new();
    let read = input.take(LINE as u64 + 1).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || read <= LINE {
        return Ok(Some(Some(line)));
    }
    // The rest of it goes unread.
    input.skip_until(b'\n')?;
    Ok(Some(None))
}

fn event(daybook: &Daybook, line: Option<&[u8]>) -> Result<ThreadEvent, String> {
    let line = line.ok_or_else(|| format!("it is longer than {LINE} bytes"))?;
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("it is no JSON: {error}"))?;
    threads::event_from_json(value, daybook.clock.now())
}

/// Prints the results of a line. Returns whether all events were applied without an error.
fn print_results(number: u64, answer: Result<Vec<EventResult>>) -> Result<bool> {
    let mut out = io::stdout().lock();
    let error = match answer {
        Ok(applied) => {
            let mut error = None;
            for one in applied {
                serde_json::to_writer(&mut out, &one)?;
                out.write_all(b"\n")?;
                if let Some(note) = one.note {
                    print_error(&format!("line {number}: {note}"));
                }
                error = one.error;
            }
            error
        }
        Err(error) => {
            let error = format!("{error:#}");
            writeln!(out, "{}", json!({ "line": number, "error": error }))?;
            Some(error)
        }
    };
    out.flush()?;
    if let Some(error) = &error {
        print_error(&format!("line {number}: {error}"));
    }
    Ok(error.is_none())
}
