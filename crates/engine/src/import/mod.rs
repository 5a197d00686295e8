//! Imports transcripts: reads files and appends their events to the log.
//!
//! Files are read on several threads and appended in the order of the candidates, so that the same
//! import gives the same log. Events and the progress of their file are one transaction: a killed
//! import resumes where it stopped, and a second run adds nothing. Memory is bounded by the batches in
//! flight, not by the files. A failure of one file is that file's status; only an outage of the store
//! ends an import early.
//!
//! Not here: formats (`transcripts`), the choice of files, when sessions are extracted.

mod append_batches;
mod failing;
mod file_messages;
mod parse_file;
mod read_files;
mod remotes;
mod retraction;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use daybook_domain::limits::PAGE;
use daybook_domain::page::visit_all;
use daybook_domain::seams::SourceStore;
use daybook_domain::source::{ImportNo, TranscriptSource};
use daybook_domain::{SessionId, StoreError, Tenant};
use serde::Serialize;
use strum::IntoStaticStr;
use tracing::field::Empty;
use tracing::{Span, debug_span, info_span};

use crate::append::IngestContext;
use crate::guard::{ItemFailure, run_isolated};
use crate::places::stored_path::{path_on_disk, stored_path};
use crate::stage::within;
use crate::stop::Stop;
use crate::transcripts::reader;
use append_batches::EventAppender;
use daybook_text::names::redact_name;
pub(crate) use read_files::READER_VERSION;
use read_files::{OpenReader, ReadingFile};
pub use scan::{AIDER_HISTORY, ImportCandidate, scan};

/// Files that an older version imported and that have not changed since: reading them again stores their
/// evidence of folders' remotes, and adds no event.
///
/// # Errors
/// When the store fails.
pub async fn find_outdated(
    store: &dyn SourceStore,
    tenant: &Tenant,
) -> Result<Vec<ImportCandidate>, StoreError> {
    let mut sources: Vec<TranscriptSource> = Vec::new();
    let keep = |source: TranscriptSource| {
        if source.reading < READER_VERSION && source.session.is_some() {
            sources.push(source);
        }
    };
    visit_all(|page| store.sources(tenant, page), keep).await?;
    let paths: Vec<PathBuf> = sources
        .iter()
        .map(|source| path_on_disk(&source.path))
        .collect();
    let known: BTreeMap<&str, (u64, i64)> = sources
        .iter()
        .map(|source| (source.path.as_str(), (source.size, source.modified)))
        .collect();
    let mut candidates = scan(&paths);
    candidates.retain(|candidate| match candidate {
        ImportCandidate::File {
            path,
            size,
            modified,
        } => known.get(&*stored_path(path)) == Some(&(*size, *modified)),
        ImportCandidate::Stream { .. } | ImportCandidate::Missing(..) => false,
    });
    Ok(candidates)
}

/// What earlier imports stored of the candidates' files.
///
/// # Errors
/// When the store fails.
pub async fn known_sources(
    store: &dyn SourceStore,
    tenant: &Tenant,
    candidates: &[ImportCandidate],
) -> Result<Vec<TranscriptSource>, StoreError> {
    let paths = candidates.iter().filter_map(|candidate| match candidate {
        ImportCandidate::File { path, .. } | ImportCandidate::Missing(path, _) => {
            Some(stored_path(path))
        }
        ImportCandidate::Stream { .. } => None,
    });
    let paths: Vec<String> = paths.collect();
    let mut known = Vec::new();
    for some in paths.chunks(PAGE) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        known.extend(store.sources_at(tenant, &some).await?);
    }
    Ok(known)
}

/// The outcome of importing one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case", tag = "status", content = "why")]
#[strum(serialize_all = "snake_case")]
pub enum FileStatus {
    /// Imported for the first time.
    New,
    /// It grew, and its new lines were read.
    Grew,
    /// Unchanged since the last import.
    Unchanged,
    /// Its beginning changed, and it was read from the start.
    Rewritten,
    /// Not a transcript of a known format.
    Unknown(String),
    /// A file of another system's home that states nothing by itself, and why it is kept.
    Companion(String),
    /// It could not be read.
    Unreadable(String),
    /// Its import broke off: the store refused some of it, or its reader failed.
    Failed(String),
    /// The import was stopped before its end.
    Stopped,
}

impl FileStatus {
    /// Its word in reports and logs.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

/// The report on one file of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Its path.
    pub path: String,
    /// Its format, as detected.
    pub format: String,
    /// The outcome.
    #[serde(flatten)]
    pub status: FileStatus,
    /// Its session.
    pub session: Option<String>,
    /// Events that it added.
    pub added: u64,
    /// Events that other files or an earlier import had added already.
    pub known: u64,
    /// Lines of it that could not be read, over all imports.
    pub bad_lines: u32,
    /// The first of them, and why.
    pub first_bad: Option<(u32, String)>,
    /// Whether its last line is incomplete; the next import reads it.
    pub partial_line: bool,
    /// The session id that the file claims, when another conversation has it; the file then has a session of
    /// its own.
    pub same_id_as: Option<String>,
}

/// The report on an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Its number, for undoing it; `None` when there was nothing new.
    pub import: Option<ImportNo>,
    /// Each file, in the order of the candidates.
    pub files: Vec<FileReport>,
    /// Sessions that events were added to.
    pub sessions: std::collections::BTreeSet<SessionId>,
    /// Secrets that were hidden, by rule.
    pub secrets: BTreeMap<String, u64>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl ImportReport {
    /// Events added.
    #[must_use]
    pub fn added(&self) -> u64 {
        self.files.iter().map(|file| file.added).sum()
    }

    /// Files that could not be imported to their end; their status holds the reason.
    pub fn failed(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|f| f.status.failure().is_some())
    }
}

/// Receives the progress of an import.
pub trait ImportProgress: Send + Sync {
    /// `done` bytes of all files are read or skipped.
    fn bytes(&self, done: u64);
    /// A file is done.
    fn file(&self, report: &FileReport);
}

/// Imports the candidates. `what` is the import's name in the list of imports.
///
/// A file that cannot be read, is refused or makes its reader panic is recorded in the report and in the
/// store ([`TranscriptSource::failure`]); the other files are imported.
///
/// # Errors
/// When the store as a whole fails; what was appended before stays.
pub async fn import(
    intake: &IngestContext,
    what: &str,
    candidates: Vec<ImportCandidate>,
    stop: &Stop,
    progress: &dyn ImportProgress,
) -> Result<ImportReport, StoreError> {
    import_learned(intake, what, candidates, &BTreeSet::new(), stop, progress).await
}

/// [`import`] of transcripts that another system may have learned from: the events of those in `learned`, by their stored
/// paths, are logged and found, and never extracted. What is appended to them later is.
///
/// # Errors
/// As [`import`].
pub async fn import_learned(
    intake: &IngestContext,
    what: &str,
    candidates: Vec<ImportCandidate>,
    learned: &BTreeSet<String>,
    stop: &Stop,
    progress: &dyn ImportProgress,
) -> Result<ImportReport, StoreError> {
    import_with(reader, intake, what, (candidates, learned), stop, progress).await
}

/// [`import`] with an `open` of its own for the readers of formats.
async fn import_with(
    open: OpenReader,
    intake: &IngestContext,
    what: &str,
    (candidates, learned): (Vec<ImportCandidate>, &BTreeSet<String>),
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
    // The name repeats paths of the command line.
    let what = &*redact_name(&intake.redactor, what);
    let work = import_files(open, intake, what, (candidates, learned), stop, progress);
    within(span, work, record_import).await
}

async fn import_files(
    open: OpenReader,
    intake: &IngestContext,
    what: &str,
    (candidates, learned): (Vec<ImportCandidate>, &BTreeSet<String>),
    stop: &Stop,
    progress: &dyn ImportProgress,
) -> Result<ImportReport, StoreError> {
    let sources = known_sources(&*intake.store, &intake.tenant, &candidates).await?;
    let known: BTreeMap<String, TranscriptSource> =
        sources.into_iter().map(|s| (s.path.clone(), s)).collect();
    failing::forget_gone(intake).await?;
    let passed = Arc::new(AtomicU64::new(0));
    let mut appender = EventAppender::new(intake, what, (&known, learned));
    let mut readers = read_files::start(open, intake, candidates, &known, stop, &passed);
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
        let appended = within(
            span,
            append_file(&mut appender, &mut file, &bytes),
            record_file,
        );
        progress.file(appended.await?);
    }
    appender.finish(stop).await
}

async fn append_file<'a>(
    appender: &'a mut EventAppender<'_>,
    file: &mut ReadingFile,
    on_progress: &(dyn Fn() + Sync),
) -> Result<&'a FileReport, StoreError> {
    let mut under = appender.begin(file);
    while let Some(piece) = file.messages.recv().await {
        match run_isolated(appender.append_message(&mut under, piece)).await {
            Ok(()) => on_progress(),
            Err(ItemFailure::Store(error)) => return Err(error),
            Err(ItemFailure::Item(reason)) => {
                // Its reader goes on with the next file.
                file.messages.close();
                let status = FileStatus::Failed(reason);
                appender.record_failure(&mut under, status).await?;
                break;
            }
        }
    }
    Ok(appender.end(under))
}

fn record_file(span: &Span, report: &&FileReport) {
    span.record("format", &report.format);
    span.record("session", report.session.as_deref());
    span.record("events", report.added);
    span.record("known", report.known);
    span.record("bad_lines", report.bad_lines);
    span.record("outcome", report.status.as_str());
}

fn record_import(span: &Span, report: &ImportReport) {
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

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
