//! Makes salvaged rows consistent: deletes rows that reference lost ones, and derives derived values again.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::{
    DueMark, Event, EventId, JobKey, JobKind, ObservationId, ObservationKind, Priority, Session,
    Timestamp,
};
use rusqlite::{Connection, Transaction, params};

use super::super::connection::Fault;
use super::super::health::REFERENCES;
use super::super::job_rows;
use super::super::migrations::FILL_FROM_TEXTS;
use super::super::names::{parse_column, scope_named, session_numbered, sessions_where};
use super::{Salvaged, UnreadableEvent, insert_placeholder};
use crate::damage::Damage;
use crate::labels;

/// Most rounds of deletion: rows that reference lost ones may be referenced themselves.
const ROUNDS: usize = 6;

/// Makes all tables consistent, in one transaction.
pub(super) fn settle(
    fresh: &mut Connection,
    wanted: &BTreeMap<i64, UnreadableEvent>,
    unlearned: &BTreeSet<i64>,
    report: &mut Salvaged,
) -> Result<(), Fault> {
    let tx = fresh.transaction()?;
    tx.execute_batch(
        "UPDATE events SET session_no = event_no >> 32 WHERE session_no <> event_no >> 32",
    )?;
    for (no, wanted) in wanted {
        if !wanted.is_kept {
            insert_placeholder(&tx, *no, wanted.id)?;
        }
    }
    tx.execute_batch(FILL_FROM_TEXTS)?;
    settle_words(&tx)?;
    remove_orphans(&tx, report)?;
    settle_sessions(&tx)?;
    settle_observations(&tx)?;
    settle_jobs(&tx, unlearned)?;
    Ok(tx.commit()?)
}

/// Restores the content of an event.
pub(super) fn restore(
    fresh: &Connection,
    no: i64,
    id: EventId,
    event: &Event,
) -> Result<(), Fault> {
    insert_placeholder(fresh, no, Some(id))?;
    fresh.execute(
        "UPDATE events SET id = ?2, line = ?3, origin = ?4, at = ?5, tool = ?6, call = ?7,
            status = ?8, sidechain = ?9, text = ?10 WHERE event_no = ?1",
        params![
            no,
            id.0.to_be_bytes(),
            event.line,
            event.origin.as_str(),
            event.at.0,
            event.tool,
            event.call,
            event.status.map(|status| status.as_str()),
            event.sidechain,
            event.text,
        ],
    )?;
    if let Some(place) = &event.place {
        fresh.execute(
            "UPDATE events SET place_no = ifnull(place_no, (SELECT place_no FROM places
                JOIN roots USING (root_no) JOIN sessions USING (tenant_no)
                WHERE sessions.session_no = ?1 >> 32 AND root = ?2 AND branch IS ?3))
             WHERE event_no = ?1",
            params![no, place.root, place.branch],
        )?;
    }
    Ok(())
}

/// Makes the texts of observations and of the evidence that they show agree: where they differ, the text wins
/// from which the observation's identity was computed; else the one without replaced characters.
fn settle_words(tx: &Transaction<'_>) -> Result<(), Fault> {
    let mut find = tx.prepare(
        "SELECT observation_no, evidence_no, observations.scope_no, observations.id,
            observations.kind, observations.text, evidence.text
         FROM observations JOIN evidence USING (observation_no)
         WHERE evidence_no = shown AND (observations.text <> evidence.text
            OR observations.tokens <> evidence.tokens
            OR observations.context IS NOT evidence.context
            OR observations.subject IS NOT evidence.subject)",
    )?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (observation, evidence): (i64, i64) = (row.get(0)?, row.get(1)?);
        let scope = scope_named(tx, row.get(2)?)?;
        let id = ObservationId(row.get::<_, i64>(3)?.cast_unsigned());
        let kind = parse_column::<ObservationKind>(row, 4)?;
        let (ours, theirs): (String, String) = (row.get(5)?, row.get(6)?);
        let is_right = |text: &str| ObservationId::of(&scope, kind, text) == id;
        let keeps_ours = match (is_right(&ours), is_right(&theirs)) {
            (true, false) => true,
            (false, true) => false,
            _ => theirs.contains('\u{fffd}'),
        };
        let sql = match keeps_ours {
            true => {
                "UPDATE evidence SET (text, context, subject, tokens) = (SELECT text, context, subject,
                    tokens FROM observations WHERE observation_no = ?1) WHERE evidence_no = ?2"
            }
            false => {
                "UPDATE observations SET (text, context, subject, tokens) = (SELECT text, context,
                    subject, tokens FROM evidence WHERE evidence_no = ?2) WHERE observation_no = ?1"
            }
        };
        tx.execute(sql, [observation, evidence])?;
    }
    Ok(())
}

/// Deletes rows that reference lost ones. A lost place is only cleared.
fn remove_orphans(tx: &Transaction<'_>, report: &mut Salvaged) -> Result<(), Fault> {
    tx.execute_batch(
        "UPDATE events SET place_no = NULL
         WHERE place_no IS NOT NULL AND place_no NOT IN (SELECT place_no FROM places);
         UPDATE sources SET session_no = NULL
         WHERE session_no NOT IN (SELECT session_no FROM sessions);",
    )?;
    for _ in 0..ROUNDS {
        let mut removed = 0;
        // Jobs get their lanes below.
        for reference in REFERENCES
            .iter()
            .filter(|reference| reference.table != "jobs")
        {
            let (table, column, target) = (reference.table, reference.column, reference.target);
            let gone = tx.execute(
                &format!(
                    "DELETE FROM {table} WHERE {column} IS NOT NULL
                     AND {column} NOT IN (SELECT {column} FROM {target})"
                ),
                [],
            )?;
            if gone > 0 && !table.starts_with("ix_") {
                let what = format!("{gone} rows named lost rows of {target}");
                report.lost.push(Damage {
                    table: table.to_owned(),
                    key: None,
                    column: Some(column.to_owned()),
                    what,
                });
            }
            removed += gone;
        }
        if removed == 0 {
            break;
        }
    }
    Ok(())
}

/// Derives a session's fields from its events again, and gives each known session a label.
fn settle_sessions(tx: &Transaction<'_>) -> Result<(), Fault> {
    tx.execute_batch(
        "CREATE TEMP TABLE seen AS SELECT session_no, max(event_no) & 4294967295 AS last,
            max(line) AS line, min(nullif(at, 0)) AS first_at, max(at) AS last_at
            FROM events GROUP BY session_no;
         UPDATE sessions SET known = 1, events = seen.last,
            last_line = max(last_line, seen.line),
            first_at = ifnull(seen.first_at, 0), last_at = seen.last_at
            FROM seen WHERE seen.session_no = sessions.session_no
            AND (events <> seen.last OR sessions.last_at <> seen.last_at OR NOT known);
         UPDATE sessions SET events = 0, first_at = 0, last_at = 0, last_line = 0
            WHERE events > 0 AND session_no NOT IN (SELECT session_no FROM seen);
         DROP TABLE seen;",
    )?;
    let mut find = tx.prepare(
        "SELECT session_no, tenant_no, host_id FROM sessions
         WHERE known AND (label IS NULL OR instr(label, char(65533)))",
    )?;
    let unlabelled: Vec<(i64, i64, String)> = find
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (session, tenant, host_id) in unlabelled {
        let label = choose_label(tx, tenant, &host_id)?;
        tx.execute(
            "UPDATE sessions SET label = ? WHERE session_no = ?",
            params![label, session],
        )?;
    }
    Ok(())
}

fn choose_label(tx: &Connection, tenant: i64, host_id: &str) -> Result<String, Fault> {
    // Evidence carries the label that the session had at the extraction.
    let mut find = tx.prepare_cached(
        "SELECT host_id FROM sessions WHERE tenant_no = ? AND known AND host_id <> ?",
    )?;
    let others: Vec<String> = find
        .query_map(params![tenant, host_id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    labels::choose(host_id, &others, |label| -> Result<bool, Fault> {
        let mut find =
            tx.prepare_cached("SELECT 1 FROM sessions WHERE tenant_no = ? AND label = ?")?;
        Ok(find.exists(params![tenant, label])?)
    })
}

/// Deletes observations without evidence; one whose shown evidence is lost shows another piece.
fn settle_observations(tx: &Transaction<'_>) -> Result<(), Fault> {
    tx.execute_batch(
        "DELETE FROM observations
            WHERE observation_no NOT IN (SELECT observation_no FROM evidence);
         UPDATE observations SET shown = (SELECT evidence_no FROM evidence
                WHERE evidence.observation_no = observations.observation_no AND live
                    AND (generation = -1 OR session_no NOT IN
                        (SELECT session_no FROM sessions WHERE pollution IS NOT NULL))
                ORDER BY at, evidence_no LIMIT 1)
            WHERE holds AND (shown IS NULL
                OR shown NOT IN (SELECT evidence_no FROM evidence));
         UPDATE observations SET holds = 0 WHERE holds AND shown IS NULL;
         UPDATE observations SET (text, context, subject, tokens) = (SELECT text, context, subject,
                tokens FROM evidence WHERE evidence_no = shown)
            WHERE holds AND text <> (SELECT text FROM evidence WHERE evidence_no = shown);",
    )?;
    Ok(())
}

/// Rebuilds lost jobs: those of sessions from the windows that were read, those of scopes due at once. Sessions
/// that lost evidence are extracted again. Lanes follow from jobs.
fn settle_jobs(tx: &Transaction<'_>, unlearned: &BTreeSet<i64>) -> Result<(), Fault> {
    tx.execute_batch("DELETE FROM lanes")?;
    save_all_jobs(tx)?;
    let missing = "events > 0 AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.kind = 'extract'
        AND jobs.tenant = tenants.tenant AND owner = agent AND name = host_id)";
    for session in sessions_where(tx, missing, [])?.rows {
        if eligible(&session, &Switches::default()).is_ok() {
            make_job(tx, &session)?;
        }
    }
    let mut scopes = tx.prepare(
        "SELECT scope_no, revision FROM scopes JOIN tenants USING (tenant_no)
         WHERE revision > 0 AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.kind = 'consolidate'
            AND jobs.tenant = tenants.tenant AND owner = scopes.kind AND jobs.name = scopes.name)",
    )?;
    let scopes: Vec<(i64, u64)> = scopes
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (scope, revision) in scopes {
        let key = JobKey::Consolidate(scope_named(tx, scope)?);
        job_rows::mark(
            tx,
            &key,
            DueMark::at_once(revision, Timestamp::ZERO, Priority::Normal),
        )?;
    }
    for session in unlearned {
        redo(tx, *session)?;
    }
    Ok(())
}

/// Saves every job again, which gives it its lane. Deletes a job whose name is invalid.
fn save_all_jobs(tx: &Connection) -> Result<(), Fault> {
    let mut find = tx.prepare("SELECT job_no, kind, tenant, owner, name FROM jobs")?;
    type Parts = (i64, String, String, String, String);
    let parts: Vec<Parts> = find
        .query_map([], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
            ))
        })?
        .collect::<Result<_, _>>()?;
    for (no, kind, tenant, owner, name) in parts {
        let kind = kind.parse::<JobKind>().ok();
        let key = kind.and_then(|kind| JobKey::from_parts(kind, &tenant, &owner, &name));
        match key.map(|key| job_rows::load(tx, &key)) {
            Some(Ok(Some(job))) => job_rows::save(tx, &job)?,
            Some(Ok(None) | Err(_)) | None => {
                tx.execute("DELETE FROM jobs WHERE job_no = ?", [no])?;
            }
        }
    }
    Ok(())
}

/// The job of a session, done up to the end of its windows.
fn make_job(tx: &Connection, session: &Session) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT ifnull(max(to_seq), 0) FROM extractions JOIN sessions USING (session_no)
         JOIN tenants USING (tenant_no)
         WHERE live AND tenant = ? AND agent = ? AND host_id = ?",
    )?;
    let id = &session.id;
    let done: u64 = find.query_row(params![id.tenant.0, id.agent, id.host_id], |row| row.get(0))?;
    let key = JobKey::Extract(id.clone());
    job_rows::change_or_create(tx, &key, session.user.as_deref(), |job| {
        job.mark(DueMark::at_once(
            session.events.0,
            Timestamp::ZERO,
            Priority::Normal,
        ));
        job.done = done.min(session.events.0);
    })
}

fn redo(tx: &Connection, session: i64) -> Result<(), Fault> {
    let Some(row) = session_numbered(tx, session)?.filter(|row| row.known) else {
        return Ok(());
    };
    if let Some(mut job) = job_rows::load(tx, &JobKey::Extract(row.session.id))? {
        job.begin_redo(Timestamp::ZERO);
        job_rows::save(tx, &job)?;
    }
    Ok(())
}
