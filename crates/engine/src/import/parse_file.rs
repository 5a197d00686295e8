//! Parses one file: reads, redacts, tokenises and batches its events.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::{EventId, NewEvent};
use tokio::sync::mpsc;

use super::FileStatus;
use super::file_messages::{FileEnding, FileMessage, ParsedBatch, ReadProgress, fingerprint};
use super::remotes::{Remotes, split_state};
use crate::append::split::split_batches;
use crate::places::checkout::CommonDirs;
use crate::stop::Stop;
use crate::transcripts::beside::NumberedPiece;
use crate::transcripts::{PieceReader, PieceStep, SessionHint, TranscriptItem, TranscriptReader};
use crate::uses::EventMention;
use daybook_text::RawEvent;
use daybook_text::prepare_event;
use daybook_text::redact::Redactor;

/// The receiver of the file's messages is closed: the import failed elsewhere.
pub(super) struct ReceiverClosed;

/// What the parsers of all files share.
#[derive(Clone, Copy)]
pub(super) struct ParseContext<'a> {
    pub(super) redactor: &'a Redactor,
    pub(super) common_dirs: &'a CommonDirs,
    pub(super) stop: &'a Stop,
    /// Bytes that were read, of all files.
    pub(super) passed: &'a AtomicU64,
}

/// Parses one file.
pub(super) struct FileParser<'a> {
    context: ParseContext<'a>,
    out: &'a mpsc::Sender<FileMessage>,
    /// The file, if a later import can resume it.
    path: Option<&'a Path>,
    progress: ReadProgress,
    session: Option<SessionHint>,
    events: Vec<NewEvent>,
    bytes: usize,
    remotes: Remotes,
    mentioned: Vec<EventMention>,
    retracts: BTreeMap<EventId, Vec<EventId>>,
    secrets: BTreeMap<String, u64>,
    pub(super) all_ids: Option<HashSet<EventId>>,
    partial_line: bool,
    stopped: bool,
}

impl<'a> FileParser<'a> {
    pub(super) fn new(
        context: ParseContext<'a>,
        out: &'a mpsc::Sender<FileMessage>,
        path: Option<&'a Path>,
        progress: ReadProgress,
    ) -> Self {
        let (_, remotes) = split_state(&progress.state);
        let remotes = Remotes::resume(remotes);
        Self {
            context,
            path,
            out,
            progress,
            session: None,
            events: Vec::new(),
            bytes: 0,
            remotes,
            mentioned: Vec::new(),
            retracts: BTreeMap::new(),
            secrets: BTreeMap::new(),
            all_ids: None,
            partial_line: false,
            stopped: false,
        }
    }

    /// Reads to the end. The outer error is the file's; the inner one means that the receiver is closed.
    pub(super) fn parse<R: Read>(
        &mut self,
        pieces: &mut PieceReader<R>,
        reader: &mut dyn TranscriptReader,
    ) -> io::Result<Result<(), ReceiverClosed>> {
        let mut items = Vec::new();
        loop {
            if self.context.stop.is_requested() {
                self.stopped = true;
                break;
            }
            let sent = match pieces.step()? {
                PieceStep::Piece(line) => {
                    self.line(line.number, line.end, line.bytes, reader, &mut items)
                }
                PieceStep::TooLong {
                    number,
                    end,
                    length,
                } => {
                    self.record_bad_line(number, format!("the line is {length} bytes long"));
                    self.advance(number, end);
                    Ok(())
                }
                PieceStep::Partial { .. } => {
                    let Some(line) = pieces.finish_partial() else {
                        self.partial_line = true;
                        break;
                    };
                    self.line(line.number, line.end, line.bytes, reader, &mut items)
                }
                PieceStep::End => break,
            };
            if sent.is_err() || self.flush_when_full(reader)?.is_err() {
                return Ok(Err(ReceiverClosed));
            }
        }
        self.record_resume_point(reader)?;
        Ok(self.flush(true))
    }

    /// Reads what stands beside the file, before its first line. The outer error is the file's.
    pub(super) fn read_beside(
        &mut self,
        pieces: impl Iterator<Item = NumberedPiece>,
        reader: &mut dyn TranscriptReader,
    ) -> io::Result<Result<(), ReceiverClosed>> {
        let mut items = Vec::new();
        for (number, piece) in pieces {
            // These pieces are no part of the file: they take it no further.
            if self.line(number, 0, &piece, reader, &mut items).is_err() {
                return Ok(Err(ReceiverClosed));
            }
            self.progress.lines = 0;
            if self.flush_when_full(reader)?.is_err() {
                return Ok(Err(ReceiverClosed));
            }
        }
        Ok(Ok(()))
    }

    fn line(
        &mut self,
        number: u32,
        end: u64,
        bytes: &[u8],
        reader: &mut dyn TranscriptReader,
        items: &mut Vec<TranscriptItem>,
    ) -> Result<(), ReceiverClosed> {
        if let Err(bad) = reader.line(number, bytes, items) {
            self.record_bad_line(number, bad.0);
        }
        for item in items.drain(..) {
            self.item(item)?;
        }
        self.advance(number, end);
        Ok(())
    }

    fn item(&mut self, item: TranscriptItem) -> Result<(), ReceiverClosed> {
        match item {
            TranscriptItem::Session(hint) => {
                let hidden = hint.redacted(self.context.redactor);
                if self
                    .session
                    .as_ref()
                    .is_some_and(|now| now.host_id != hidden.host_id)
                {
                    // This is within a line: the batches flushed here carry no progress.
                    self.flush(false)?;
                }
                let common_dir = |folder: &Path| self.context.common_dirs.of(folder);
                // The repository is looked up by the folder's own path; the evidence is redacted.
                self.remotes.set_session(&hint, &common_dir);
                self.session = Some(hidden);
            }
            TranscriptItem::Event(event) => self.event(event),
            TranscriptItem::PullRequest(request) => {
                self.remotes
                    .add_pull_request(self.context.redactor, request.repository);
            }
            TranscriptItem::Title(_) => {}
        }
        Ok(())
    }

    fn event(&mut self, mut event: RawEvent) {
        if let Some(ids) = &mut self.all_ids {
            ids.insert(event.id);
        }
        let common_dir = |folder: &Path| self.context.common_dirs.of(folder);
        self.remotes
            .add_event(self.context.redactor, &event, &common_dir);
        self.mentioned.extend(EventMention::take_from(&mut event));
        if !event.retracts.is_empty() {
            let retracts = std::mem::take(&mut event.retracts);
            self.retracts.insert(event.id, retracts);
        }
        let (event, found) = prepare_event(self.context.redactor, event);
        self.progress.secrets += u32::try_from(found.len()).unwrap_or(u32::MAX);
        for finding in found {
            *self.secrets.entry(finding.rule.to_string()).or_default() += 1;
        }
        self.bytes += event.text.len();
        self.events.push(event);
    }

    fn record_bad_line(&mut self, number: u32, why: String) {
        self.progress.bad_lines += 1;
        self.progress.first_bad.get_or_insert((number, why));
    }

    fn advance(&mut self, number: u32, end: u64) {
        self.context
            .passed
            .fetch_add(end.saturating_sub(self.progress.offset), Ordering::Relaxed);
        self.progress.lines = number;
        self.progress.offset = end;
    }

    fn flush_when_full(
        &mut self,
        reader: &dyn TranscriptReader,
    ) -> io::Result<Result<(), ReceiverClosed>> {
        // At half of what an append may carry, so that a last line's events seldom need a second one.
        if self.events.len() < APPEND_EVENTS / 2 && self.bytes < APPEND_BYTES / 2 {
            return Ok(Ok(()));
        }
        self.record_resume_point(reader)?;
        Ok(self.flush(true))
    }

    /// Records all that resuming from here needs. Called after a whole line.
    fn record_resume_point(&mut self, reader: &dyn TranscriptReader) -> io::Result<()> {
        let redactor = self.context.redactor;
        self.progress.state = self.remotes.stored_state(redactor, reader.state());
        if let Some(path) = self.path {
            self.progress.fingerprint = fingerprint(path, self.progress.offset)?;
        }
        Ok(())
    }

    fn flush(&mut self, is_resumable: bool) -> Result<(), ReceiverClosed> {
        let Some(session) = self.session.clone() else {
            return Ok(());
        };
        self.bytes = 0;
        let mut batches = split_batches(std::mem::take(&mut self.events));
        if batches.is_empty() && self.remotes.has_waiting() {
            batches.push(Vec::new());
        }
        let retracts = std::mem::take(&mut self.retracts);
        let retracts_of = |event: &NewEvent| Some((event.id, retracts.get(&event.id)?.clone()));
        let mut batches = batches.into_iter().peekable();
        while let Some(events) = batches.next() {
            let is_last = batches.peek().is_none();
            let batch = ParsedBatch {
                session: session.clone(),
                progress: (is_resumable && is_last).then(|| self.progress.clone()),
                remotes: self.remotes.take_for(&events, is_last),
                retracts: events.iter().filter_map(retracts_of).collect(),
                // With the first batch: uses are recorded before the events that cite them.
                mentioned: std::mem::take(&mut self.mentioned),
                events,
            };
            self.out
                .blocking_send(FileMessage::Batch(Box::new(batch)))
                .map_err(|_| ReceiverClosed)?;
        }
        Ok(())
    }

    pub(super) fn end(self) {
        let ending = FileEnding {
            status: self.stopped.then_some(FileStatus::Stopped),
            partial_line: self.partial_line,
            progress: self.progress,
            secrets: self.secrets,
            all_ids: self.all_ids.filter(|_| !self.stopped),
        };
        let _ = self.out.blocking_send(FileMessage::Ended(Box::new(ending)));
    }
}
