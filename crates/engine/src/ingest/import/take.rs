//! Taking in one file: parse, redact, tokenise, batch.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::{EventId, NewEvent};
use tokio::sync::mpsc;

use super::FileStatus;
use super::reading::{Batch, Ending, FileReader, Piece, Progress, fingerprint};
use super::remotes::Remotes;
use crate::ingest::batches::split_batches;
use crate::ingest::checkout::CommonDirs;
use crate::ingest::prepared;
use crate::ingest::redact::Redactor;
use crate::ingest::{Parsed, Pieces, RawEvent, Reader, SessionHint, Step};
use crate::stop::Stop;

/// Nobody listens any more: the import failed elsewhere.
pub(super) struct Unheard;

/// Taking in one file.
pub(super) struct Take<'a> {
    redactor: &'a Redactor,
    common_dirs: &'a CommonDirs,
    stop: &'a Stop,
    passed: &'a AtomicU64,
    out: &'a mpsc::Sender<Piece>,
    /// The file, when it can be gone on with.
    path: Option<&'a Path>,
    progress: Progress,
    session: Option<SessionHint>,
    events: Vec<NewEvent>,
    bytes: usize,
    remotes: Remotes,
    secrets: BTreeMap<String, u64>,
    pub(super) all_ids: Option<HashSet<EventId>>,
    partial_line: bool,
    stopped: bool,
}

impl<'a> Take<'a> {
    pub(super) fn new(
        file: &FileReader<'a>,
        out: &'a mpsc::Sender<Piece>,
        path: Option<&'a Path>,
        progress: Progress,
    ) -> Self {
        Self {
            path,
            redactor: file.redactor,
            common_dirs: file.common_dirs,
            stop: file.stop,
            passed: file.passed,
            out,
            progress,
            session: None,
            events: Vec::new(),
            bytes: 0,
            remotes: Remotes::default(),
            secrets: BTreeMap::new(),
            all_ids: None,
            partial_line: false,
            stopped: false,
        }
    }

    /// Reads to the end. The outer error is the file's; the inner says that nobody listens.
    pub(super) fn pieces<R: Read>(
        &mut self,
        pieces: &mut Pieces<R>,
        reader: &mut dyn Reader,
    ) -> io::Result<Result<(), Unheard>> {
        let mut parsed = Vec::new();
        loop {
            if self.stop.asked() {
                self.stopped = true;
                break;
            }
            let taken = match pieces.step()? {
                Step::Line(line) => {
                    self.line(line.number, line.end, line.bytes, reader, &mut parsed)
                }
                Step::TooLong {
                    number,
                    end,
                    length,
                } => {
                    self.bad(number, format!("the line is {length} bytes long"));
                    self.advance(number, end);
                    Ok(())
                }
                Step::Partial { .. } => {
                    let Some(line) = pieces.finish_partial() else {
                        self.partial_line = true;
                        break;
                    };
                    self.line(line.number, line.end, line.bytes, reader, &mut parsed)
                }
                Step::End => break,
            };
            if taken.is_err() || self.flush_when_full(reader)?.is_err() {
                return Ok(Err(Unheard));
            }
        }
        self.settle(reader)?;
        Ok(self.flush(true))
    }

    fn line(
        &mut self,
        number: u32,
        end: u64,
        bytes: &[u8],
        reader: &mut dyn Reader,
        parsed: &mut Vec<Parsed>,
    ) -> Result<(), Unheard> {
        if let Err(bad) = reader.line(number, bytes, parsed) {
            self.bad(number, bad.0);
        }
        for item in parsed.drain(..) {
            self.item(item)?;
        }
        self.advance(number, end);
        Ok(())
    }

    fn item(&mut self, item: Parsed) -> Result<(), Unheard> {
        match item {
            Parsed::Session(hint) => {
                if self
                    .session
                    .as_ref()
                    .is_some_and(|now| now.host_id != hint.host_id)
                {
                    // This is within a line: what is flushed here carries no progress.
                    self.flush(false)?;
                }
                let common_dir = |folder: &Path| self.common_dirs.of(folder);
                self.remotes.session(&hint, &common_dir);
                self.session = Some(hint);
            }
            Parsed::Event(event) => self.event(event),
            Parsed::PullRequest(request) => {
                self.remotes.pull_request(self.redactor, request.repository);
            }
            Parsed::Title(_) => {}
        }
        Ok(())
    }

    fn event(&mut self, event: RawEvent) {
        if let Some(ids) = &mut self.all_ids {
            ids.insert(event.id);
        }
        self.remotes.event(self.redactor, &event);
        let (event, found) = prepared(self.redactor, event);
        self.progress.secrets += u32::try_from(found.len()).unwrap_or(u32::MAX);
        for finding in found {
            *self.secrets.entry(finding.rule.to_owned()).or_default() += 1;
        }
        self.bytes += event.text.len();
        self.events.push(event);
    }

    fn bad(&mut self, number: u32, why: String) {
        self.progress.bad_lines += 1;
        self.progress.first_bad.get_or_insert((number, why));
    }

    fn advance(&mut self, number: u32, end: u64) {
        self.passed
            .fetch_add(end.saturating_sub(self.progress.offset), Ordering::Relaxed);
        self.progress.lines = number;
        self.progress.offset = end;
    }

    fn flush_when_full(&mut self, reader: &dyn Reader) -> io::Result<Result<(), Unheard>> {
        // At half of what an append may carry, so that what a last line adds seldom needs a second one.
        if self.events.len() < APPEND_EVENTS / 2 && self.bytes < APPEND_BYTES / 2 {
            return Ok(Ok(()));
        }
        self.settle(reader)?;
        Ok(self.flush(true))
    }

    /// Notes all that going on from here needs. Stands behind a whole line.
    fn settle(&mut self, reader: &dyn Reader) -> io::Result<()> {
        self.progress.state = reader.state();
        if let Some(path) = self.path {
            self.progress.fingerprint = fingerprint(path, self.progress.offset)?;
        }
        Ok(())
    }

    fn flush(&mut self, settled: bool) -> Result<(), Unheard> {
        let Some(session) = self.session.clone() else {
            return Ok(());
        };
        self.bytes = 0;
        let mut batches = split_batches(std::mem::take(&mut self.events));
        if batches.is_empty() && self.remotes.are_waiting() {
            batches.push(Vec::new());
        }
        let mut batches = batches.into_iter().peekable();
        while let Some(events) = batches.next() {
            let is_last = batches.peek().is_none();
            let batch = Batch {
                session: session.clone(),
                progress: (settled && is_last).then(|| self.progress.clone()),
                remotes: self.remotes.take_of(&events, is_last),
                events,
            };
            self.out
                .blocking_send(Piece::Batch(Box::new(batch)))
                .map_err(|_| Unheard)?;
        }
        Ok(())
    }

    pub(super) fn end(self) {
        let ending = Ending {
            status: self.stopped.then_some(FileStatus::Stopped),
            partial_line: self.partial_line,
            progress: self.progress,
            secrets: self.secrets,
            all_ids: self.all_ids.filter(|_| !self.stopped),
        };
        let _ = self.out.blocking_send(Piece::Ended(Box::new(ending)));
    }
}
