//! Importing: files in, events in the log.
//!
//! Files are read on their own threads and land in the order in which they were handed in, so
//! that the same import gives the same log. Events and the progress of their file are one
//! transaction: an import that is killed anywhere goes on where it stopped, and a second run adds
//! nothing. Memory is bounded by the batches under way, not by the files. What goes wrong with one file
//! is that file's status; only an outage of the store ends an import early.
//!
//! Not here: what a format looks like, which files a person meant, when sessions are extracted.

mod failing;
mod landing;
mod reading;
mod remotes;
mod retraction;
mod scan;
mod take;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::source::{ImportNo, Source};
use daybook_domain::time::Clock;
use daybook_domain::trigger::Patience;
use daybook_domain::{SessionId, StoreError, Tenant};
use serde::Serialize;
use tracing::field::Empty;
use tracing::{Span, debug_span, info_span};

use super::reader;
use super::redact::Redactor;
use crate::guard::{Broken, guarded};
use crate::stage::within;
use crate::stop::Stop;
use landing::Landing;
use reading::{FileUnderWay, OpenReader, READING};
pub use scan::{Candidate, scan};

/// Files that an older version took in and that are as they were: reading them once more stores what they
/// show of folders' remotes, and adds no event.
#[must_use]
pub fn outdated(sources: &[Source]) -> Vec<Candidate> {
    let outdated = sources
        .iter()
        .filter(|source| source.reading < READING && source.session.is_some());
    let paths: Vec<PathBuf> = outdated.map(|source| source.path.as_str().into()).collect();
    let known: BTreeMap<&str, (u64, i64)> = sources
        .iter()
        .map(|source| (source.path.as_str(), (source.size, source.modified)))
        .collect();
    let mut candidates = scan(&paths);
    candidates.retain(|candidate| match candidate {
        Candidate::File {
            path,
            size,
            modified,
        } => known.get(&*kept_path(path)) == Some(&(*size, *modified)),
        Candidate::Stream(_) | Candidate::Missing(..) => false,
    });
    candidates
}

/// What importing needs.
#[derive(Clone)]
pub struct Intake {
    /// Where events land.
    pub store: Arc<dyn Store>,
    /// The present time.
    pub clock: Arc<dyn Clock>,
    /// The wall that they land behind.
    pub tenant: Tenant,
    /// How long their sessions may rest.
    pub patience: Patience,
    /// Where memory is switched off: what is said there is logged, and never learned.
    pub switches: Switches,
    /// What hides secrets.
    pub redactor: Arc<Redactor>,
    /// Threads that read; more than cores gains nothing.
    pub readers: usize,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status", content = "why")]
pub enum FileStatus {
    /// Seen for the first time.
    New,
    /// It grew, and was gone on with.
    Grew,
    /// As it was.
    Unchanged,
    /// It no longer begins as it did, and was read anew.
    Rewritten,
    /// Not a transcript that is known.
    Unknown(String),
    /// It could not be read.
    Unreadable(String),
    /// It was read, and broke off: the store refused something of it, or its reader failed.
    Failed(String),
    /// The import was stopped before its end.
    Stopped,
}

impl FileStatus {
    /// The word that stands for it in reports and logs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grew => "grew",
            Self::Unchanged => "unchanged",
            Self::Rewritten => "rewritten",
            Self::Unknown(_) => "unknown",
            Self::Unreadable(_) => "unreadable",
            Self::Failed(_) => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// One file of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Which file.
    pub path: String,
    /// What it was recognised as.
    pub format: String,
    /// What became of it.
    #[serde(flatten)]
    pub status: FileStatus,
    /// Its session.
    pub session: Option<String>,
    /// Events that it added.
    pub added: u64,
    /// Events that were known from other files, or from an earlier import.
    pub known: u64,
    /// Lines of it that could not be read, over all imports.
    pub bad_lines: u32,
    /// The first of them, and why.
    pub first_bad: Option<(u32, String)>,
    /// Its last line is not complete yet: it is taken next time.
    pub partial_line: bool,
    /// Its session's id was in use by another conversation, so it has a session of its own.
    pub same_id_as: Option<String>,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Its number, for undoing it; `None` when there was nothing new.
    pub import: Option<ImportNo>,
    /// Each file, in the order handed in.
    pub files: Vec<FileReport>,
    /// Sessions that events were added to.
    pub sessions: std::collections::BTreeSet<SessionId>,
    /// Secrets that were hidden, by rule.
    pub secrets: BTreeMap<String, u64>,
    /// It was asked to stop before its end.
    pub stopped: bool,
}

impl ImportReport {
    /// Events added.
    #[must_use]
    pub fn added(&self) -> u64 {
        self.files.iter().map(|file| file.added).sum()
    }

    /// Files that could not be imported to their end; their status says why.
    pub fn failed(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|f| f.status.failure().is_some())
    }
}

/// Told how far reading has come.
pub trait ImportProgress: Send + Sync {
    /// So many bytes of all files have been passed.
    fn bytes(&self, done: u64);
    /// A file is done.
    fn file(&self, report: &FileReport);
}

/// Takes in the candidates. `what` is the import's name in the list of imports.
///
/// A file that cannot be read, is refused or panics is in the report and in the store
/// ([`Source::failure`]), and stops nothing.
///
/// # Errors
/// When the store as a whole fails; what landed before that stays.
pub async fn import(
    intake: &Intake,
    what: &str,
    candidates: Vec<Candidate>,
    stop: &Stop,
    progress: &dyn ImportProgress,
) -> Result<ImportReport, StoreError> {
    import_with(reader, intake, what, candidates, stop, progress).await
}

/// [`import`] with readers of formats that `open` opens.
async fn import_with(
    open: OpenReader,
    intake: &Intake,
    what: &str,
    candidates: Vec<Candidate>,
    stop: &Stop,
    progress: &dyn ImportProgress,
) -> Result<ImportReport, StoreError> {
    let span = info_span!(
        "import",
        import = Empty,
        files = candidates.len(),
        events = Empty,
        known = Empty,
        bad_lines = Empty,
        secrets = Empty,
        outcome = Empty,
    );
    let work = take_in(open, intake, what, candidates, stop, progress);
    within(span, work, note_import).await
}

async fn take_in(
    open: OpenReader,
    intake: &Intake,
    what: &str,
    candidates: Vec<Candidate>,
    stop: &Stop,
    progress: &dyn ImportProgress,
) -> Result<ImportReport, StoreError> {
    let known: BTreeMap<String, Source> = intake
        .store
        .sources(&intake.tenant)
        .await?
        .into_iter()
        .map(|s| (s.path.clone(), s))
        .collect();
    failing::forget_gone(intake, known.values()).await?;
    let passed = Arc::new(AtomicU64::new(0));
    let mut landing = Landing::new(intake, what, &known);
    let mut readers = reading::start(open, intake, candidates, &known, stop, &passed);
    while let Some(mut file) = readers.next() {
        let span = debug_span!(
            "file",
            path = file.path,
            format = Empty,
            session = Empty,
            events = Empty,
            known = Empty,
            bad_lines = Empty,
            outcome = Empty,
        );
        let bytes = || progress.bytes(passed.load(Ordering::Relaxed));
        let landed = within(span, land(&mut landing, &mut file, &bytes), note_file);
        progress.file(landed.await?);
    }
    landing.finish(stop).await
}

async fn land<'a>(
    landing: &'a mut Landing<'_>,
    file: &mut FileUnderWay,
    told: &(dyn Fn() + Sync),
) -> Result<&'a FileReport, StoreError> {
    let mut under = landing.begin(file);
    while let Some(piece) = file.pieces.recv().await {
        match guarded(landing.land(&mut under, piece)).await {
            Ok(()) => told(),
            Err(Broken::Store(error)) => return Err(error),
            Err(Broken::Alone(reason)) => {
                // Its reader goes on with the next file.
                file.pieces.close();
                let status = FileStatus::Failed(reason);
                landing.failed(&mut under, status).await?;
                break;
            }
        }
    }
    Ok(landing.end(under))
}

fn note_file(span: &Span, report: &&FileReport) {
    span.record("format", &report.format);
    span.record("session", report.session.as_deref());
    span.record("events", report.added);
    span.record("known", report.known);
    span.record("bad_lines", report.bad_lines);
    span.record("outcome", report.status.word());
}

fn note_import(span: &Span, report: &ImportReport) {
    let files = &report.files;
    let outcome = match report {
        ImportReport { stopped: true, .. } => "stopped",
        ImportReport { import: None, .. } => "nothing_new",
        ImportReport { .. } => "added",
    };
    span.record("import", report.import.map(|import| import.0));
    span.record("events", report.added());
    span.record("known", files.iter().map(|file| file.known).sum::<u64>());
    span.record(
        "bad_lines",
        files.iter().map(|file| file.bad_lines).sum::<u32>(),
    );
    span.record("secrets", report.secrets.values().sum::<u64>());
    span.record("outcome", outcome);
}

/// The path as it is kept.
fn kept_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
