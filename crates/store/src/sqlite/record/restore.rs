//! Makes a database from the lines of a record.
//!
//! The rows go into a fresh file beside the place of the lost one; [`RecordRestore::finish`] puts it there in one step.
//! So a process that ends in between leaves no database, and the next one begins again. A line that cannot be used is
//! reported and costs no other line.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use daybook_domain::{
    BadRecordLine, EXPIRED_EVENT, EventSeq, Job, JobKey, Origin, RecordKey, RecordKind, StoreError,
    Timestamp,
};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use super::lines::{ROW, insert_line};
use super::rows::{LineKind, OF_SCOPE, OF_SESSION, OF_TENANT, SCOPE, SESSION};
use crate::evidence::TouchedObservations;
use crate::sqlite::connection::Fault;
use crate::sqlite::health::Tokenize;
use crate::sqlite::names::{parse_column, scope_named, session_numbered};
use crate::sqlite::outlines::{NewDocument, Owner};
use crate::sqlite::row_numbers::event_no;
use crate::sqlite::{SqliteOptions, connection, evidence_rows, index_rows, job_rows, migrations};

/// Name of the fresh database while it is filled.
const FRESH: &str = "restoring.db";

/// What a restore brought back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredRecord {
    /// Sessions.
    pub sessions: u64,
    /// Observations that hold.
    pub observations: u64,
    /// Lines that could not be used.
    pub bad: Vec<BadRecordLine>,
}

/// A database that is being made from a record. [`RecordRestore::add_identity`] of every session and scope comes first,
/// then the parts of tenants, sessions and scopes.
pub struct RecordRestore {
    path: PathBuf,
    fresh_path: PathBuf,
    fresh: Connection,
    report: RestoredRecord,
}

impl std::fmt::Debug for RecordRestore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = &self.path;
        f.debug_struct("RecordRestore")
            .field("path", path)
            .finish_non_exhaustive()
    }
}

impl RecordRestore {
    /// Creates the fresh database, which will be put at `path`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(path: &Path) -> Result<Self, StoreError> {
        let fresh_path = path.with_file_name(FRESH);
        let open = || -> Result<Connection, Fault> {
            remove_with_logs(&fresh_path);
            let mut fresh =
                connection::open(&fresh_path, SqliteOptions::default(), Arc::default())?;
            migrations::ensure(&mut fresh, &fresh_path)?;
            fresh.execute_batch("BEGIN")?;
            Ok(fresh)
        };
        let fresh = open().map_err(|fault| fault.into_error(&fresh_path))?;
        Ok(Self {
            path: path.to_owned(),
            fresh_path,
            fresh,
            report: RestoredRecord::default(),
        })
    }

    /// Adds the session or scope that the lines of a part are about, so that other parts can name it.
    pub fn add_identity(&mut self, key: RecordKey, lines: &[&str]) {
        let (first, last) = (lines.first(), lines.last());
        let is_added = |line: &&&str| self.identify(key, line).is_ok();
        if !first.iter().chain(last.iter()).any(is_added) {
            return self.bad(
                key,
                0,
                "neither its first nor its last line says what it is about",
            );
        }
        self.report.sessions += u64::from(key.kind == RecordKind::Session);
    }

    fn identify(&self, key: RecordKey, line: &str) -> Result<(), String> {
        let kind = match key.kind {
            RecordKind::Session => &SESSION,
            RecordKind::Scope => &SCOPE,
            RecordKind::Tenant => return Ok(()),
        };
        let fields = parse(line)?;
        let named = fields.get(ROW).and_then(Value::as_str) == Some(kind.name);
        let number = |field| fields.get(field).and_then(Value::as_i64).unwrap_or(0);
        if !named || number("no") != key.no {
            return Err("it is about something else".to_owned());
        }
        insert_line(&self.fresh, kind, &fields, &[])?;
        let done = match key.kind {
            RecordKind::Session if number("has_job") != 0 => number("done"),
            RecordKind::Session | RecordKind::Tenant => return Ok(()),
            RecordKind::Scope if number("written") != 0 => number("revision").max(1),
            RecordKind::Scope => return Ok(()),
        };
        let done = done.cast_unsigned();
        let redo = u32::try_from(number("redo")).unwrap_or(0);
        self.add_job(key, done, redo)
            .map_err(|fault| fault.into_error(&self.path).to_string())
    }

    /// The job of a session or a scope, with nothing left to do.
    fn add_job(&self, key: RecordKey, done: u64, redo: u32) -> Result<(), Fault> {
        let (job_key, user) = match key.kind {
            RecordKind::Session => match session_numbered(&self.fresh, key.no)? {
                Some(row) => (JobKey::Extract(row.session.id), row.session.user),
                None => return Ok(()),
            },
            RecordKind::Scope => (JobKey::Consolidate(scope_named(&self.fresh, key.no)?), None),
            RecordKind::Tenant => return Ok(()),
        };
        let job = Job {
            user,
            input: done,
            done,
            redo,
            ..Job::new(job_key)
        };
        job_rows::save(&self.fresh, &job)
    }

    /// Adds the lines of a part; `number` counts lines of the file from 1.
    pub fn add(&mut self, key: RecordKey, lines: &[(usize, &str)]) {
        for (number, line) in lines {
            if let Err(why) = self.add_line(key, line) {
                self.bad(key, *number, &why);
            }
        }
    }

    fn add_line(&self, key: RecordKey, line: &str) -> Result<(), String> {
        let fields = parse(line)?;
        let kind = key.kind;
        let context = match kind {
            RecordKind::Tenant => Vec::new(),
            RecordKind::Session | RecordKind::Scope => vec![(kind.as_str(), key.no)],
        };
        let name = fields.get(ROW).and_then(Value::as_str).unwrap_or_default();
        let kinds: &[LineKind] = match kind {
            RecordKind::Tenant => &OF_TENANT,
            RecordKind::Session => &OF_SESSION,
            RecordKind::Scope => &OF_SCOPE,
        };
        match name {
            "events" if kind == RecordKind::Session => self.add_events(&fields, key.no),
            // Both identities of a part were added already.
            name if name == SESSION.name || name == SCOPE.name => Ok(()),
            name => match kinds.iter().find(|known| known.name == name) {
                Some(known) => insert_line(&self.fresh, known, &fields, &context),
                None => Err(format!("this Daybook knows no line of the kind {name:?}")),
            },
        }
    }

    /// Adds events without their words, each in its place in the log.
    fn add_events(&self, fields: &Map<String, Value>, session: i64) -> Result<(), String> {
        const IDENTITY: usize = 32;
        let damaged = || "its lists do not fit together".to_owned();
        let numbers = |field| -> Option<Vec<i64>> {
            let steps = fields.get(field)?.as_array()?.iter().map(Value::as_i64);
            let mut sum = 0_i64;
            let add = |step: i64| {
                sum = sum.saturating_add(step);
                sum
            };
            Some(
                steps
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .map(add)
                    .collect(),
            )
        };
        let ids = fields
            .get("ids")
            .and_then(Value::as_str)
            .ok_or_else(damaged)?;
        let first = fields
            .get("from")
            .and_then(Value::as_u64)
            .ok_or_else(damaged)?;
        let (lines, times) = numbers("lines").zip(numbers("at")).ok_or_else(damaged)?;
        let is_whole = ids.is_ascii() && ids.len() == lines.len() * IDENTITY;
        if !is_whole || lines.len() != times.len() {
            return Err(damaged());
        }
        let insert = || -> rusqlite::Result<()> {
            let mut insert = self.fresh.prepare_cached(
                "INSERT OR IGNORE INTO events (event_no, session_no, id, line, origin, at, sidechain, text)
                 VALUES (?1, ?2, unhex(?3), ?4, 'harness', ?5, 0, ?6)",
            )?;
            for (at, (line, time)) in lines.iter().zip(&times).enumerate() {
                let no = event_no(session, EventSeq(first + at as u64));
                let id = &ids[at * IDENTITY..(at + 1) * IDENTITY];
                insert.execute(params![no, session, id, line, time, EXPIRED_EVENT])?;
            }
            Ok(())
        };
        insert().map_err(|error| error.to_string())
    }

    fn bad(&mut self, key: RecordKey, line: usize, why: &str) {
        let why = why.to_owned();
        self.report.bad.push(BadRecordLine { key, line, why });
    }

    /// Derives the observations from their evidence, indexes them and what a person asked to remember by `tokens`, and
    /// puts the database in place of the lost one.
    ///
    /// # Errors
    /// When the database fails.
    pub fn finish(mut self, tokens: Tokenize<'_>) -> Result<RestoredRecord, StoreError> {
        let settled = self.index_words(tokens).and_then(|()| self.settle());
        settled.map_err(|fault| fault.into_error(&self.fresh_path))?;
        let failed = |source: std::io::Error| StoreError::Unavailable {
            what: self.path.display().to_string(),
            source: source.into(),
        };
        // Closing the last connection moves the log into the file.
        let closed = self.fresh.close();
        closed.map_err(|(_, error)| Fault::from(error).into_error(&self.fresh_path))?;
        for log in ["-wal", "-shm"] {
            let _ = fs::remove_file(with_suffix(&self.path, log));
        }
        put_new(&self.fresh_path, &self.path).map_err(failed)?;
        remove_with_logs(&self.fresh_path);
        Ok(self.report)
    }

    fn index_words(&self, tokens: Tokenize<'_>) -> Result<(), Fault> {
        let mut find = self.fresh.prepare(
            "SELECT event_no, origin, text, sessions.tenant_no, root_no, at FROM events
             JOIN sessions USING (session_no) LEFT JOIN places USING (place_no)
             WHERE text <> ? ORDER BY event_no",
        )?;
        let mut rows = find.query([EXPIRED_EVENT])?;
        while let Some(row) = rows.next()? {
            let origin = parse_column::<Origin>(row, 1)?;
            let words = tokens(origin, &row.get::<_, String>(2)?);
            let origin_and_time = (origin, Timestamp(row.get(5)?));
            let owner = Owner::of_event(&self.fresh, None, row.get(4)?)?;
            let document = NewDocument::event(row.get(0)?, row.get(3)?, owner, origin_and_time);
            index_rows::put(&self.fresh, &document, &words)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Fault> {
        let mut touched = TouchedObservations::default();
        {
            let mut find = self
                .fresh
                .prepare("SELECT observation_no FROM observations ORDER BY observation_no")?;
            let mut rows = find.query([])?;
            while let Some(row) = rows.next()? {
                touched.note(row.get(0)?, true);
            }
        }
        evidence_rows::settle(&self.fresh, &touched)?;
        // A session whose lines of events were damaged ends where its events end.
        self.fresh.execute_batch(
            "UPDATE sessions SET events = ifnull((SELECT max(event_no) & 4294967295 FROM events
                WHERE event_no BETWEEN sessions.session_no << 32
                    AND (sessions.session_no << 32) | 4294967295), 0);
             DELETE FROM observations
                WHERE observation_no NOT IN (SELECT observation_no FROM evidence);",
        )?;
        if !self.report.bad.is_empty() {
            // Entries in files may rest on lost lines: they stay, as the person's own text.
            self.fresh
                .execute_batch("UPDATE jobs SET done = 0 WHERE kind = 'consolidate'")?;
        }
        let holding = "SELECT count(*) FROM observations WHERE holds";
        let holding: i64 = self.fresh.query_row(holding, [], |row| row.get(0))?;
        self.report.observations = holding.cast_unsigned();
        Ok(self.fresh.execute_batch("COMMIT")?)
    }
}

/// Moves a file to a path where no file exists.
fn put_new(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::hard_link(from, to) {
        // Some file systems have no links.
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists && !to.exists() => {
            fs::rename(from, to)
        }
        linked => linked,
    }
}

fn parse(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("it is no object of JSON".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove_with_logs(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(path, suffix));
    }
}
