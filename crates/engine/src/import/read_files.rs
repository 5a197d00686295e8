//! Reads files on several threads: detects, parses, redacts, tokenises and batches them.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use daybook_domain::EventId;
use daybook_domain::source::TranscriptSource;
use tokio::sync::mpsc;

use super::file_messages::{FileMessage, ReadProgress, fingerprint};
use super::parse_file::{FileParser, ParseContext};
use super::remotes::split_state;
use super::{FileStatus, ImportCandidate};
use crate::append::IngestContext;
use crate::bounded;
use crate::guard::panic_reason;
use crate::places::checkout::CommonDirs;
use crate::places::folding::GitCommonDir;
use crate::places::stored_path::stored_path;
use crate::stop::Stop;
use crate::transcripts::beside::pieces_beside;
use crate::transcripts::pieces::head;
use crate::transcripts::{
    BadState, PieceReader, ReadPosition, TranscriptFormat, TranscriptReader, detect,
};

/// Most messages of one file that may wait to be appended.
const WAITING: usize = 4;
/// Version of what is stored of a file's lines: 1 adds evidence of folders' remotes. A file that was
/// imported under an older version is read from its beginning again.
pub(crate) const READER_VERSION: u32 = 2;

/// Opens the reader of a format; a test hands in one that fails.
pub(super) type OpenReader = for<'a> fn(
    &TranscriptFormat,
    &str,
    GitCommonDir<'a>,
    Option<&str>,
)
    -> Result<Option<Box<dyn TranscriptReader + 'a>>, BadState>;

/// One file, while it is read.
pub(super) struct ReadingFile {
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) modified: i64,
    /// Whether a later import can resume it: it is a file, not a stream.
    pub(super) lasting: bool,
    pub(super) messages: mpsc::Receiver<FileMessage>,
}

/// The files being read, in the order of the candidates.
pub(super) struct ReaderThreads {
    waiting: VecDeque<ReadingFile>,
}

impl ReaderThreads {
    /// The next file. Its messages arrive while it is read.
    pub(super) fn next(&mut self) -> Option<ReadingFile> {
        self.waiting.pop_front()
    }
}

struct ReadTask {
    candidate: ImportCandidate,
    known: Option<TranscriptSource>,
    out: mpsc::Sender<FileMessage>,
}

/// Starts the reading threads. They end with the last file, or when every receiver is closed.
pub(super) fn start(
    open: OpenReader,
    intake: &IngestContext,
    candidates: Vec<ImportCandidate>,
    known: &BTreeMap<String, TranscriptSource>,
    stop: &Stop,
    passed: &Arc<AtomicU64>,
) -> ReaderThreads {
    let mut waiting = VecDeque::new();
    let mut tasks = VecDeque::new();
    for candidate in candidates {
        let (out, messages) = mpsc::channel(WAITING);
        let (path, size, modified, lasting) = match &candidate {
            ImportCandidate::File {
                path,
                size,
                modified,
            } => (stored_path(path), *size, *modified, true),
            // A missing file has no progress to keep.
            ImportCandidate::Missing(path, error) => {
                let lasting = error.kind() != io::ErrorKind::NotFound;
                (stored_path(path), 0, 0, lasting)
            }
            ImportCandidate::Stream { name, .. } => (name.clone(), 0, 0, false),
        };
        let known = known.get(&path).cloned();
        waiting.push_back(ReadingFile {
            path,
            size,
            modified,
            lasting,
            messages,
        });
        tasks.push_back(ReadTask {
            candidate,
            known,
            out,
        });
    }
    let readers = intake.readers.clamp(1, tasks.len().max(1));
    let tasks = Arc::new(Mutex::new(tasks));
    let common_dirs = Arc::new(CommonDirs::default());
    for _ in 0..readers {
        let (tasks, redactor) = (Arc::clone(&tasks), Arc::clone(&intake.redactor));
        let (stop, passed) = (stop.clone(), Arc::clone(passed));
        let common_dirs = Arc::clone(&common_dirs);
        thread::spawn(move || {
            // Tasks are handed out in order, so a thread never waits for a file behind its own.
            while let Some(task) = tasks.lock().ok().and_then(|mut tasks| tasks.pop_front()) {
                let context = ParseContext {
                    redactor: &redactor,
                    common_dirs: &common_dirs,
                    stop: &stop,
                    passed: &passed,
                };
                let file = FileReader { open, context };
                let out = task.out.clone();
                // A defect that one file's content brings to light is that file's failure, and the
                // thread goes on with the next. Nothing shared is left half changed: what a reader
                // keeps of a file ends with it.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| file.read(task))) {
                    let status = FileStatus::Failed(panic_reason(&*panic));
                    let _ = out.blocking_send(FileMessage::Failed(status));
                }
            }
        });
    }
    ReaderThreads { waiting }
}

struct FileReader<'a> {
    open: OpenReader,
    context: ParseContext<'a>,
}

impl FileReader<'_> {
    fn read(&self, task: ReadTask) {
        let ReadTask {
            candidate,
            known,
            out,
        } = task;
        let result = match candidate {
            ImportCandidate::File {
                path,
                size,
                modified,
            } => {
                let before = self.context.passed.load(Ordering::Relaxed);
                let result = self.file(&path, size, modified, known, &out);
                // Whether read or skipped, the whole file counts as passed.
                let _ = self
                    .context
                    .passed
                    .fetch_max(before + size, Ordering::Relaxed);
                result
            }
            ImportCandidate::Missing(_, error) => Err(error),
            ImportCandidate::Stream { input, .. } => self.stream(input, &out),
        };
        if let Err(error) = result {
            let status = FileStatus::Unreadable(error.to_string());
            let _ = out.blocking_send(FileMessage::Failed(status));
        }
    }

    fn file(
        &self,
        path: &Path,
        size: u64,
        modified: i64,
        known: Option<TranscriptSource>,
        out: &mpsc::Sender<FileMessage>,
    ) -> io::Result<()> {
        let send_format = |format: &str, status| {
            out.blocking_send(FileMessage::Begun {
                format: format.to_owned(),
                status,
            })
        };
        if self.context.stop.is_requested() {
            let _ = send_format("", FileStatus::Stopped);
            return Ok(());
        }
        let unchanged = known
            .as_ref()
            .filter(|k| k.size == size && k.modified == modified && k.failure.is_none());
        if let Some(known) = unchanged.filter(|known| known.reading >= READER_VERSION) {
            let _ = send_format(&known.format, FileStatus::Unchanged);
            return Ok(());
        }
        let is_unchanged = unchanged.is_some();
        let format = detect(&head(bounded::open(path)?)?);
        if let TranscriptFormat::Unknown(reason) = &format {
            let _ = send_format("unknown", FileStatus::Unknown(reason.clone()));
            return Ok(());
        }
        let go_on = known.filter(|known| known.format == format.as_str());
        let name = session_name(path);
        let common_dir = |folder: &Path| self.context.common_dirs.of(folder);
        // A state that the reader no longer understands means reading from the beginning.
        let going_on = go_on
            .as_ref()
            .filter(|known| grew(path, known).unwrap_or(false))
            .and_then(|known| {
                let (state, _) = split_state(&known.state);
                (self.open)(&format, &name, &common_dir, Some(state)).ok()
            });
        let status = match (&go_on, &going_on) {
            (Some(_), Some(_)) if is_unchanged => FileStatus::Unchanged,
            (Some(_), Some(_)) => FileStatus::Grew,
            (Some(_), None) => FileStatus::Rewritten,
            (None, _) => FileStatus::New,
        };
        let rewritten = status == FileStatus::Rewritten;
        if send_format(format.as_str(), status).is_err() {
            return Ok(());
        }
        let is_current = go_on
            .as_ref()
            .is_some_and(|known| known.reading >= READER_VERSION);
        let going_on = going_on.filter(|_| is_current);
        let go_on = go_on.filter(|_| going_on.is_some());
        let progress = go_on.as_ref().map(ReadProgress::of).unwrap_or_default();
        let start = ReadPosition {
            offset: progress.offset,
            lines: progress.lines,
        };
        let mut pieces = PieceReader::at(bounded::open(path)?, &format, start)?;
        let reader = match going_on {
            Some(reader) => reader,
            None => (self.open)(&format, &name, &common_dir, None).map_err(io::Error::other)?,
        };
        let Some(mut reader) = reader else {
            return Ok(());
        };
        let mut parser = FileParser::new(self.context, out, Some(path), progress);
        parser.all_ids = rewritten.then(HashSet::new);
        if start == ReadPosition::default() {
            let beside = pieces_beside(path, &format);
            if parser.read_beside(beside, &mut *reader)?.is_err() {
                return Ok(());
            }
        }
        if parser.parse(&mut pieces, &mut *reader)?.is_ok() {
            parser.end();
        }
        Ok(())
    }

    fn stream(
        &self,
        mut stream: Box<dyn Read + Send>,
        out: &mpsc::Sender<FileMessage>,
    ) -> io::Result<()> {
        let mut first = Vec::new();
        (&mut stream).take(64 * 1024).read_to_end(&mut first)?;
        let format = detect(&head(Cursor::new(&first))?);
        let send_format = |format: &str, status| {
            out.blocking_send(FileMessage::Begun {
                format: format.to_owned(),
                status,
            })
        };
        if let TranscriptFormat::Unknown(reason) = &format {
            let _ = send_format("unknown", FileStatus::Unknown(reason.clone()));
            return Ok(());
        }
        if send_format(format.as_str(), FileStatus::New).is_err() {
            return Ok(());
        }
        let line = first
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let name = format!("stdin-{:08x}", EventId::of(&[line]).0 & 0xffff_ffff);
        let mut pieces = PieceReader::new(Cursor::new(first).chain(stream), &format)?;
        let common_dir = |folder: &Path| self.context.common_dirs.of(folder);
        let Some(mut reader) =
            (self.open)(&format, &name, &common_dir, None).map_err(io::Error::other)?
        else {
            return Ok(());
        };
        let mut parser = FileParser::new(self.context, out, None, ReadProgress::default());
        if parser.parse(&mut pieces, &mut *reader)?.is_ok() {
            parser.end();
        }
        Ok(())
    }
}

/// Whether the file still begins with what was taken in.
fn grew(path: &Path, known: &TranscriptSource) -> io::Result<bool> {
    Ok(fingerprint(path, known.offset)? == known.fingerprint)
}

/// Stands for the session's id where the host gives none: the file's name, and its folder's print.
fn session_name(path: &Path) -> String {
    let folder = path.parent().map(Path::to_string_lossy).unwrap_or_default();
    let print = EventId::of(&[folder.as_bytes()]).0 & 0xffff_ffff;
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    format!("{}-{print:08x}", stem.unwrap_or_default())
}
