//! Homes of other systems, and agents' databases, among the paths of an import.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Result;
use daybook_domain::StoreError;
use daybook_domain::source::TranscriptSource;
use daybook_engine::bounded;
use daybook_engine::homes::{
    FILE_BYTES, FileRole, Home, is_row_learned, is_transcript_learned, learned_sessions,
    memory_entries, recognize,
};
use daybook_engine::import::{FileReport, ImportCandidate, ImportReport};
use daybook_engine::jobs::WorkerContext;
use daybook_engine::jobs::homes::take_over;
use daybook_engine::places::stored_path::{path_on_disk, stored_path};
use daybook_store::sqlite::{SessionDatabase, agno_rows};
use serde_json::{Value, json};

use crate::folders::data_folder::display_path;
use crate::terminal::output::{count, print_line};

/// Ends the name of the rows of a database that its system has learned from.
const LEARNED: &str = " (learned from)";
/// Separates a database from a session of it, in the name of the session's lines.
const SESSION_OF: char = '#';
/// The beginning of every SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The homes among the paths of an import.
#[derive(Default)]
pub(super) struct HomesToImport(Vec<Home>);

/// The lines of one session in an agent's database, read when they are first asked for.
struct StoredSession {
    database: SessionDatabase,
    session: String,
    lines: Option<Cursor<Vec<u8>>>,
}

impl Read for StoredSession {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.lines.is_none() {
            let lines = self.database.lines(&self.session);
            self.lines = Some(Cursor::new(lines.map_err(io::Error::other)?));
        }
        match &mut self.lines {
            Some(lines) => lines.read(buffer),
            None => Ok(0),
        }
    }
}

/// What an import would take over from one home.
struct HomeSurvey<'a> {
    home: &'a Home,
    memory_files: u64,
    memories: u64,
    unreadable: Vec<String>,
    transcripts: u64,
    learned: u64,
    others: Vec<String>,
}

impl HomesToImport {
    /// Splits paths into homes and the rest. The transcripts of a home are among the rest.
    pub(super) fn split(paths: Vec<PathBuf>) -> (Self, Vec<PathBuf>) {
        let (mut homes, mut rest) = (Vec::new(), Vec::new());
        for path in paths {
            match recognize(&path) {
                Some(home) => {
                    let transcripts = home.paths(|role| role == FileRole::Transcript);
                    rest.extend(transcripts.map(|path| home.at(path)));
                    homes.push(home);
                }
                None => rest.push(path),
            }
        }
        (Self(homes), rest)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of candidates that a home's system has learned from.
    pub(super) fn learned(&self, candidates: &[ImportCandidate]) -> BTreeSet<String> {
        let learned = self.0.iter().flat_map(learned_transcripts);
        let mut names: BTreeSet<String> = learned.map(|path| stored_path(&path)).collect();
        for candidate in candidates {
            if let ImportCandidate::Stream { name, .. } = candidate
                && name.ends_with(LEARNED)
            {
                names.insert(name.clone());
            }
        }
        names
    }

    /// Puts the sessions in place of each agent's database: those that a home's system has learned from apart.
    pub(super) fn read_databases(&self, candidates: Vec<ImportCandidate>) -> Vec<ImportCandidate> {
        let mut read = Vec::new();
        for candidate in candidates {
            match candidate {
                ImportCandidate::File { ref path, .. } if is_sqlite(path) => {
                    match self.read_database(path) {
                        Ok(Some(streams)) => read.extend(streams),
                        Ok(None) => read.push(candidate),
                        Err(error) => {
                            let error = io::Error::other(error);
                            read.push(ImportCandidate::Missing(path.clone(), error));
                        }
                    }
                }
                candidate => read.push(candidate),
            }
        }
        read
    }

    /// The sessions of an agent's database; `None` where it is another program's.
    fn read_database(&self, path: &Path) -> Result<Option<Vec<ImportCandidate>>, StoreError> {
        if let Some(database) = SessionDatabase::recognize(path)? {
            let sessions = database.sessions()?.into_iter();
            let streams = sessions.map(|session| ImportCandidate::Stream {
                name: format!("{}{SESSION_OF}{session}", stored_path(path)),
                input: Box::new(StoredSession {
                    database: database.clone(),
                    session,
                    lines: None,
                }),
            });
            return Ok(Some(streams.collect()));
        }
        let rows = agno_rows(path)?;
        Ok(rows.map(|(rows, _)| self.streams(path, rows)))
    }

    fn streams(&self, path: &Path, rows: Vec<String>) -> Vec<ImportCandidate> {
        let home = self.0.iter().find(|home| path.starts_with(&home.root));
        let learned = home.map(learned_sessions).unwrap_or_default();
        let is_learned = |row: &String| {
            let row: Value = serde_json::from_str(row).unwrap_or_default();
            is_row_learned(&row, &learned)
        };
        let (learned, new): (Vec<String>, Vec<String>) = rows.into_iter().partition(is_learned);
        let path = stored_path(path);
        let named = [(format!("{path}{LEARNED}"), learned), (path, new)];
        let filled = named.into_iter().filter(|(_, rows)| !rows.is_empty());
        let streams = filled.map(|(name, rows)| ImportCandidate::Stream {
            name,
            input: Box::new(Cursor::new(rows.join("\n") + "\n")),
        });
        streams.collect()
    }

    /// Takes over the memory files, as part of the import in `report`, which gets a report on each.
    pub(super) async fn take_over(
        &self,
        worker: &WorkerContext,
        what: &str,
        report: &mut ImportReport,
    ) -> Result<()> {
        for home in &self.0 {
            let taken = take_over(worker, home, report.import, what).await?;
            report.import = taken.import;
            report.files.extend(taken.files);
            for (rule, found) in taken.secrets {
                *report.secrets.entry(rule).or_default() += found;
            }
        }
        Ok(())
    }

    /// Prints what an import would take over.
    pub(super) fn print_dry_run(&self) {
        for survey in self.0.iter().map(survey) {
            let HomeSurvey { home, .. } = survey;
            print_line!(
                "{}: a home of {}",
                display_path(&home.path),
                home.kind.name()
            );
            print_line!(
                "  {} in {} would become memories here",
                count(survey.memories, "entry"),
                count(survey.memory_files, "memory file"),
            );
            print_line!(
                "  {}, of which it has learned from {}: those are kept for search, and not read again",
                count(survey.transcripts, "transcript"),
                survey.learned,
            );
            for path in &survey.unreadable {
                print_line!("  unreadable: {path}");
            }
            for path in &survey.others {
                print_line!("  not known: {path}");
            }
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let homes = self.0.iter().map(survey).map(|survey| {
            json!({
                "path": survey.home.path,
                "kind": survey.home.kind.as_str(),
                "memory_files": survey.memory_files,
                "memories": survey.memories,
                "unreadable": survey.unreadable,
                "transcripts": survey.transcripts,
                "learned": survey.learned,
                "unknown": survey.others,
            })
        });
        Value::Array(homes.collect())
    }

    /// Prints how many memories each home's files brought.
    pub(super) fn print_taken_over(&self, report: &ImportReport) {
        for home in &self.0 {
            let format = home.kind.format();
            let files = report.files.iter().filter(|file| file.format == format);
            let files: Vec<&FileReport> = files.filter(|file| file.added > 0).collect();
            let entries = files.iter().map(|file| file.added).sum();
            print_line!(
                "{} from {} of the {} home {}",
                count(entries, "new memory entry"),
                count(files.len() as u64, "file"),
                home.kind.name(),
                display_path(&home.path),
            );
        }
    }
}

/// Records a look at each database whose sessions were imported, so that `status` lists it beside the files.
pub(super) async fn record_databases(worker: &WorkerContext, report: &ImportReport) -> Result<()> {
    let sessions = report.files.iter().filter(|file| file.format != "unknown");
    let databases: BTreeMap<&str, &str> = sessions
        .filter_map(|file| Some((file.path.rsplit_once(SESSION_OF)?.0, &*file.format)))
        .collect();
    for (path, format) in databases {
        let Ok(file) = std::fs::metadata(path_on_disk(path)) else {
            continue;
        };
        let modified = file.modified().ok();
        let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let nanos = modified.and_then(|at| i64::try_from(at.as_nanos()).ok());
        let source = TranscriptSource {
            path: path.to_owned(),
            format: format.to_owned(),
            session: None,
            claimed_id: None,
            size: file.len(),
            modified: nanos.unwrap_or_default(),
            offset: 0,
            lines: 0,
            fingerprint: (0, 0),
            bad_lines: 0,
            first_bad: None,
            secrets: 0,
            state: String::new(),
            failure: None,
            reading: 0,
        };
        let (store, tenant) = (&worker.store, &worker.tenant);
        store.put_source(tenant, &source, report.import).await?;
    }
    Ok(())
}

fn is_sqlite(path: &Path) -> bool {
    bounded::read_start(path, SQLITE.len() as u64).is_ok_and(|start| start == SQLITE)
}

fn learned_transcripts(home: &Home) -> Vec<PathBuf> {
    let learned = learned_sessions(home);
    let transcripts = home.paths(|role| role == FileRole::Transcript);
    let paths = transcripts.map(|path| home.at(path));
    paths
        .filter(|path| is_transcript_learned(path, &learned))
        .collect()
}

fn survey(home: &Home) -> HomeSurvey<'_> {
    let mut survey = HomeSurvey {
        home,
        memory_files: 0,
        memories: 0,
        unreadable: Vec::new(),
        transcripts: home.paths(|role| role == FileRole::Transcript).count() as u64,
        learned: learned_transcripts(home).len() as u64,
        others: Vec::new(),
    };
    for file in &home.files {
        match file.role {
            FileRole::Memory => match bounded::read_text(&home.at(&file.path), FILE_BYTES) {
                Ok(text) => {
                    survey.memory_files += 1;
                    survey.memories += memory_entries(home.kind, &file.path, &text).len() as u64;
                }
                Err(_) => survey.unreadable.push(file.path.clone()),
            },
            FileRole::Unknown(_) => survey.others.push(file.path.clone()),
            FileRole::Transcript | FileRole::Ledger | FileRole::Companion(_) => {}
        }
    }
    survey
}
