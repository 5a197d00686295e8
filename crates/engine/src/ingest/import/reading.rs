//! Reading files on threads of their own: detect, parse, redact, tokenise, batch.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use daybook_domain::source::Source;
use daybook_domain::{EventId, NewEvent, RemoteEvidence};
use tokio::sync::mpsc;

use super::take::Take;
use super::{Candidate, FileStatus, Intake, kept_path};
use crate::bounded;
use crate::guard::panic_reason;
use crate::ingest::checkout::CommonDirs;
use crate::ingest::pieces::head;
use crate::ingest::place::GitCommonDir;
use crate::ingest::redact::Redactor;
use crate::ingest::stream::Stream;
use crate::ingest::{BadState, Format, Pieces, Reader, SessionHint, Start, detect};
use crate::stop::Stop;

/// Batches of one file that may wait to land.
const WAITING: usize = 4;
/// Bytes at either end of what was taken in that tell a file that grew from one that was rewritten.
const PRINT: u64 = 4096;

/// Version of what is kept of a file's lines: 1 keeps what they show of folders' remotes. A file that was
/// taken in under an older version is read from its beginning once more.
pub(super) const READING: u32 = 1;

/// What a reader has to say of its file.
pub(super) enum Piece {
    /// What the file is, before anything of it lands.
    Begun { format: String, status: FileStatus },
    /// Events that belong together, with the file's progress behind them.
    Batch(Box<Batch>),
    /// The file's end.
    Ended(Box<Ending>),
    /// Reading broke off.
    Failed(FileStatus),
}

/// Opens the reader of a format; a test hands in one that fails.
pub(super) type OpenReader = for<'a> fn(
    &Format,
    &str,
    GitCommonDir<'a>,
    Option<&str>,
) -> Result<Option<Box<dyn Reader + 'a>>, BadState>;

/// Events of one session.
pub(super) struct Batch {
    pub(super) session: SessionHint,
    pub(super) events: Vec<NewEvent>,
    /// The file's progress behind them, where they end with a line.
    pub(super) progress: Option<Progress>,
    /// What shows whose checkouts folders are: of these events, or of the session's last one.
    pub(super) remotes: Vec<RemoteEvidence>,
}

/// How a file ended.
pub(super) struct Ending {
    pub(super) status: Option<FileStatus>,
    pub(super) partial_line: bool,
    pub(super) progress: Progress,
    pub(super) secrets: BTreeMap<String, u64>,
    /// All events of a file that was rewritten: what is no longer there is taken back.
    pub(super) all_ids: Option<HashSet<EventId>>,
}

/// How far a file has been read.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    pub(super) offset: u64,
    pub(super) lines: u32,
    pub(super) bad_lines: u32,
    pub(super) first_bad: Option<(u32, String)>,
    pub(super) secrets: u32,
    pub(super) state: String,
    pub(super) fingerprint: (u64, u64),
}

/// One file, while it is read.
pub(super) struct FileUnderWay {
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) modified: i64,
    /// It can be gone on with later: it is a file.
    pub(super) lasting: bool,
    pub(super) pieces: mpsc::Receiver<Piece>,
}

/// The files under way, in the order handed in.
pub(super) struct Readers {
    waiting: VecDeque<FileUnderWay>,
}

impl Readers {
    /// The next file. Its pieces come while it is read.
    pub(super) fn next(&mut self) -> Option<FileUnderWay> {
        self.waiting.pop_front()
    }
}

struct Task {
    candidate: Candidate,
    known: Option<Source>,
    out: mpsc::Sender<Piece>,
}

/// Starts reading. Threads end with the last file, or when nobody listens any more.
pub(super) fn start(
    open: OpenReader,
    intake: &Intake,
    candidates: Vec<Candidate>,
    known: &BTreeMap<String, Source>,
    stop: &Stop,
    passed: &Arc<AtomicU64>,
) -> Readers {
    let mut waiting = VecDeque::new();
    let mut tasks = VecDeque::new();
    for candidate in candidates {
        let (out, pieces) = mpsc::channel(WAITING);
        let (path, size, modified, lasting) = match &candidate {
            Candidate::File {
                path,
                size,
                modified,
            } => (kept_path(path), *size, *modified, true),
            // What is not there has no progress to keep.
            Candidate::Missing(path, error) => {
                let lasting = error.kind() != io::ErrorKind::NotFound;
                (kept_path(path), 0, 0, lasting)
            }
            Candidate::Stream(_) => ("-".to_owned(), 0, 0, false),
        };
        let known = known.get(&path).cloned();
        waiting.push_back(FileUnderWay {
            path,
            size,
            modified,
            lasting,
            pieces,
        });
        tasks.push_back(Task {
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
            // Tasks are handed out in order, so a reader never waits for a file behind its own.
            while let Some(task) = tasks.lock().ok().and_then(|mut tasks| tasks.pop_front()) {
                let file = FileReader {
                    open,
                    redactor: &redactor,
                    common_dirs: &common_dirs,
                    stop: &stop,
                    passed: &passed,
                };
                let out = task.out.clone();
                // A defect that one file's content brings to light is that file's failure, and the
                // thread goes on with the next. Nothing shared is left half changed: what a reader
                // keeps of a file ends with it.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| file.read(task))) {
                    let status = FileStatus::Failed(panic_reason(&*panic));
                    let _ = out.blocking_send(Piece::Failed(status));
                }
            }
        });
    }
    Readers { waiting }
}

pub(super) struct FileReader<'a> {
    pub(super) open: OpenReader,
    pub(super) redactor: &'a Redactor,
    pub(super) common_dirs: &'a CommonDirs,
    pub(super) stop: &'a Stop,
    pub(super) passed: &'a AtomicU64,
}

impl FileReader<'_> {
    fn read(&self, task: Task) {
        let Task {
            candidate,
            known,
            out,
        } = task;
        let result = match candidate {
            Candidate::File {
                path,
                size,
                modified,
            } => {
                let before = self.passed.load(Ordering::Relaxed);
                let result = self.file(&path, size, modified, known, &out);
                // However it was read, the whole file has been dealt with.
                let _ = self.passed.fetch_max(before + size, Ordering::Relaxed);
                result
            }
            Candidate::Missing(_, error) => Err(error),
            Candidate::Stream(stream) => self.stream(stream, &out),
        };
        if let Err(error) = result {
            let status = FileStatus::Unreadable(error.to_string());
            let _ = out.blocking_send(Piece::Failed(status));
        }
    }

    fn file(
        &self,
        path: &Path,
        size: u64,
        modified: i64,
        known: Option<Source>,
        out: &mpsc::Sender<Piece>,
    ) -> io::Result<()> {
        let begun = |format: &str, status| {
            out.blocking_send(Piece::Begun {
                format: format.to_owned(),
                status,
            })
        };
        if self.stop.asked() {
            let _ = begun("", FileStatus::Stopped);
            return Ok(());
        }
        let unchanged = known
            .as_ref()
            .filter(|k| k.size == size && k.modified == modified && k.failure.is_none());
        if let Some(known) = unchanged.filter(|known| known.reading >= READING) {
            let _ = begun(&known.format, FileStatus::Unchanged);
            return Ok(());
        }
        let is_unchanged = unchanged.is_some();
        let format = detect(&head(bounded::open(path)?)?);
        if let Format::Unknown(reason) = &format {
            let _ = begun("unknown", FileStatus::Unknown(reason.clone()));
            return Ok(());
        }
        let go_on = known.filter(|known| known.format == format.word());
        let name = session_name(path);
        let common_dir = |folder: &Path| self.common_dirs.of(folder);
        // A state that the reader does not know any more means reading from the beginning.
        let going_on = go_on
            .as_ref()
            .filter(|known| grew(path, known).unwrap_or(false))
            .and_then(|known| {
                let state = Some(known.state.as_str());
                (self.open)(&format, &name, &common_dir, state).ok()
            });
        let status = match (&go_on, &going_on) {
            (Some(_), Some(_)) if is_unchanged => FileStatus::Unchanged,
            (Some(_), Some(_)) => FileStatus::Grew,
            (Some(_), None) => FileStatus::Rewritten,
            (None, _) => FileStatus::New,
        };
        let rewritten = status == FileStatus::Rewritten;
        if begun(format.word(), status).is_err() {
            return Ok(());
        }
        let is_current = go_on.as_ref().is_some_and(|known| known.reading >= READING);
        let going_on = going_on.filter(|_| is_current);
        let go_on = go_on.filter(|_| going_on.is_some());
        let progress = go_on.as_ref().map(progress_of).unwrap_or_default();
        let start = Start {
            offset: progress.offset,
            lines: progress.lines,
        };
        let mut pieces = Pieces::at(bounded::open(path)?, &format, start)?;
        let reader = match going_on {
            Some(reader) => reader,
            None => (self.open)(&format, &name, &common_dir, None).map_err(io::Error::other)?,
        };
        let Some(mut reader) = reader else {
            return Ok(());
        };
        let mut take = Take::new(self, out, Some(path), progress);
        take.all_ids = rewritten.then(HashSet::new);
        if take.pieces(&mut pieces, &mut *reader)?.is_ok() {
            take.end();
        }
        Ok(())
    }

    fn stream(
        &self,
        mut stream: Box<dyn Read + Send>,
        out: &mpsc::Sender<Piece>,
    ) -> io::Result<()> {
        let mut first = Vec::new();
        (&mut stream).take(64 * 1024).read_to_end(&mut first)?;
        let format = detect(&head(Cursor::new(&first))?);
        let begun = |format: &str, status| {
            out.blocking_send(Piece::Begun {
                format: format.to_owned(),
                status,
            })
        };
        if let Format::Unknown(reason) = &format {
            let _ = begun("unknown", FileStatus::Unknown(reason.clone()));
            return Ok(());
        }
        if begun(format.word(), FileStatus::New).is_err() {
            return Ok(());
        }
        let line = first
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let name = format!("stdin-{:08x}", EventId::of(&[line]).0 & 0xffff_ffff);
        let mut pieces = Pieces::new(Cursor::new(first).chain(stream), &format)?;
        let common_dir = |folder: &Path| self.common_dirs.of(folder);
        let Some(mut reader) =
            (self.open)(&format, &name, &common_dir, None).map_err(io::Error::other)?
        else {
            return Ok(());
        };
        let mut take = Take::new(self, out, None, Progress::default());
        if take.pieces(&mut pieces, &mut *reader)?.is_ok() {
            take.end();
        }
        Ok(())
    }
}

fn progress_of(known: &Source) -> Progress {
    Progress {
        offset: known.offset,
        lines: known.lines,
        bad_lines: known.bad_lines,
        first_bad: known.first_bad.clone(),
        secrets: known.secrets,
        state: known.state.clone(),
        fingerprint: known.fingerprint,
    }
}

/// Whether the file still begins with what was taken in.
fn grew(path: &Path, known: &Source) -> io::Result<bool> {
    Ok(fingerprint(path, known.offset)? == known.fingerprint)
}

/// Of the first and the last bytes of the first `offset` bytes of a file's text. A compressed file
/// is written once, and decoding it for a print costs more than reading it anew.
pub(super) fn fingerprint(path: &Path, offset: u64) -> io::Result<(u64, u64)> {
    if path.extension().is_some_and(|extension| extension == "zst") {
        return Ok((0, 0));
    }
    let print = |from: u64| -> io::Result<u64> {
        let mut bytes = Vec::new();
        let part = PRINT.min(offset - from);
        Stream::at(bounded::open(path)?, from)?
            .take(part)
            .read_to_end(&mut bytes)?;
        let short = bytes.len() as u64 != part;
        Ok(if short {
            0
        } else {
            EventId::of(&[&bytes]).0 as u64
        })
    };
    Ok((print(0)?, print(offset.saturating_sub(PRINT))?))
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
