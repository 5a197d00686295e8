//! Threads. A thread's log is its session's; its row has the session's number.

use async_trait::async_trait;
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadBlock, ThreadStore,
};
use daybook_domain::{EventSeq, SessionId, StoreError, Tenant, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::committer::{PlaceCache, WriteSize};
use super::connection::Fault;
use super::names::{find_session, parse_column, session_id_of};
use super::{SqliteStore, events, row_numbers, sessions, tombstones};
use crate::bounds::check_entries;
use crate::log;
use crate::log::SessionRow;
use crate::threads::{Blocking, ThreadRow, deleted_thread, unknown_thread};

const BLOCKING: &str = "block_generation, block_reason, block_at, block_until";

#[async_trait]
impl ThreadStore for SqliteStore {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        self.write(|tx| create(tx, new))
    }

    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError> {
        self.read(|tx| {
            let Some(session) = known_session(tx, id)? else {
                return Ok(None);
            };
            let row = load(tx, session.no)?.filter(|row| row.deleted_at.is_none());
            Ok(row.map(|row| row.thread(&session.session)))
        })
    }

    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.read(|tx| {
            let mut find = tx.prepare_cached(
                "SELECT tenant, agent, host_id
                 FROM threads CROSS JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
                 WHERE tenant = ? AND known AND deleted_at IS NULL
                 ORDER BY updated_at DESC, agent, host_id LIMIT ?",
            )?;
            let newest = params![tenant.0, row_numbers::at_most(limit)];
            let ids: Vec<SessionId> = find
                .query_map(newest, session_id_of)?
                .collect::<Result<_, _>>()?;
            let mut threads = Vec::with_capacity(ids.len());
            for id in ids {
                let session = known_session(tx, &id)?.ok_or_else(|| unknown_thread(&id))?;
                let row = load(tx, session.no)?.ok_or_else(|| unknown_thread(&id))?;
                threads.push(row.thread(&session.session));
            }
            Ok(threads)
        })
    }

    async fn append_entries(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError> {
        check_entries(append)?;
        let mut size = sessions::size_of(&append.append);
        size.bytes += append.entries.iter().map(String::len).sum::<usize>();
        let append = append.clone();
        self.write_together(size, move |tx, places| add_entries(tx, &append, places))
            .await
    }

    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<LogPage, StoreError> {
        self.read(|tx| {
            let (session, blocking) = known_thread(tx, id)?;
            Ok(LogPage {
                entries: events::entries(tx, session.no, after, limit, bytes)?,
                block: blocking.block,
                last: session.session.events,
            })
        })
    }

    async fn block(
        &self,
        id: &SessionId,
        reason: BlockingReason,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BlockOutcome, StoreError> {
        let id = id.clone();
        self.write_together(WriteSize::default(), move |tx, _| {
            let (session, mut blocking) = known_thread(tx, &id)?;
            let outcome = blocking.block(reason, session.session.events, until, now);
            save(tx, session.no, &blocking)?;
            Ok(outcome)
        })
        .await
    }

    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.change_block(id, move |blocking| blocking.extend(token, until))
            .await
    }

    async fn unblock(&self, id: &SessionId, token: BlockToken) -> Result<bool, StoreError> {
        self.change_block(id, move |blocking| blocking.unblock(token))
            .await
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError> {
        let (id, body) = (id.clone(), snapshot.to_vec());
        let size = WriteSize {
            events: 0,
            bytes: body.len(),
        };
        self.write_together(size, move |tx, _| {
            let (session, _) = known_thread(tx, &id)?;
            if seq > session.session.events {
                return Ok(());
            }
            tx.prepare_cached(
                "INSERT INTO thread_snapshots (session_no, seq, body) VALUES (?, ?, ?)
                 ON CONFLICT DO UPDATE SET seq = excluded.seq, body = excluded.body
                 WHERE excluded.seq >= seq",
            )?
            .execute(params![session.no, seq.0, body])?;
            Ok(())
        })
        .await
    }

    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError> {
        self.read(|tx| {
            let Some((session, _)) = find_thread(tx, id)? else {
                return Ok(None);
            };
            let mut find =
                tx.prepare_cached("SELECT seq, body FROM thread_snapshots WHERE session_no = ?")?;
            let kept = |row: &Row<'_>| Ok((EventSeq(row.get(0)?), row.get(1)?));
            Ok(find.query_row([session.no], kept).optional()?)
        })
    }

    async fn delete_thread(&self, id: &SessionId, now: Timestamp) -> Result<bool, StoreError> {
        self.write(|tx| {
            let Some((session, mut blocking)) = find_thread(tx, id)? else {
                return Ok(false);
            };
            blocking.block = None;
            save(tx, session.no, &blocking)?;
            tx.prepare_cached("UPDATE threads SET deleted_at = ? WHERE session_no = ?")?
                .execute(params![now.0, session.no])?;
            tx.prepare_cached("DELETE FROM thread_snapshots WHERE session_no = ?")?
                .execute([session.no])?;
            Ok(true)
        })
    }
}

impl SqliteStore {
    /// Changes the block of a thread, if the thread exists.
    async fn change_block(
        &self,
        id: &SessionId,
        mut transition: impl FnMut(&mut Blocking) -> bool + Send + 'static,
    ) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write_together(WriteSize::default(), move |tx, _| {
            let Some((session, mut blocking)) = find_thread(tx, &id)? else {
                return Ok(false);
            };
            let changed = transition(&mut blocking);
            if changed {
                save(tx, session.no, &blocking)?;
            }
            Ok(changed)
        })
        .await
    }
}

/// Appends within a transaction.
fn add_entries(
    tx: &Connection,
    append: &ThreadAppend,
    places: &mut PlaceCache,
) -> Result<ThreadAppendOutcome, Fault> {
    let log = &append.append;
    let (session, known) = known_thread(tx, &log.session.id)?;
    let mut blocking = known;
    if !blocking.pass(append.ends, log.now) {
        return Ok(ThreadAppendOutcome::BlockLost);
    }
    if blocking != known {
        save(tx, session.no, &blocking)?;
    }
    let placed = sessions::add_to(tx, Some(session), log, &append.entries, places)?;
    Ok(ThreadAppendOutcome::Stored {
        seqs: placed.seqs,
        before: placed.before,
        block: blocking.block,
    })
}

/// Adjusts a thread when entries from `from` on are deleted.
pub(super) fn truncate(tx: &Connection, session: i64, from: EventSeq) -> Result<(), Fault> {
    if let Some(mut blocking) = load_blocking(tx, session)? {
        blocking.truncate(from);
        save(tx, session, &blocking)?;
    }
    tx.prepare_cached("DELETE FROM thread_snapshots WHERE session_no = ? AND seq >= ?")?
        .execute(params![session, from.0])?;
    Ok(())
}

fn create(tx: &Connection, new: &NewThread) -> Result<Thread, Fault> {
    let id = &new.session.id;
    let session = known_session(tx, id)?;
    let former = match find_session(tx, id)? {
        Some(cited) => load(tx, cited.no)?,
        None => None,
    };
    if former
        .as_ref()
        .is_some_and(|former| former.deleted_at.is_some())
    {
        return Err(deleted_thread(id).into());
    }
    if let Some(session) = &session {
        log::check_venue_named(&session.session, &new.session)?;
    }
    if let (Some(session), Some(row)) = (&session, &former) {
        return Ok(row.thread(&session.session));
    }
    if session.is_none() {
        tombstones::check_session(tx, id)?;
        sessions::add(tx, &log::empty_append(new))?;
    }
    let session = known_session(tx, id)?.ok_or_else(|| unknown_thread(id))?;
    let row = ThreadRow::new(new, former.as_ref());
    tx.prepare_cached(
        "INSERT INTO threads (session_no, created_at, updated_at, custom, block_generation)
         VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET created_at = excluded.created_at,
            updated_at = excluded.updated_at, custom = excluded.custom,
            block_reason = NULL, block_at = NULL, block_until = NULL",
    )?
    .execute(params![
        session.no,
        row.created_at.0,
        row.updated_at.0,
        Value::Object(row.custom.clone()).to_string(),
        row.blocking.generation,
    ])?;
    Ok(row.thread(&session.session))
}

fn known_session(tx: &Connection, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    Ok(find_session(tx, id)?.filter(|row| row.known))
}

fn known_thread(tx: &Connection, id: &SessionId) -> Result<(SessionRow, Blocking), Fault> {
    find_thread(tx, id)?.ok_or_else(|| unknown_thread(id).into())
}

/// A thread's session and block, unless it was deleted.
fn find_thread(tx: &Connection, id: &SessionId) -> Result<Option<(SessionRow, Blocking)>, Fault> {
    let Some(session) = known_session(tx, id)? else {
        return Ok(None);
    };
    let blocking = load_blocking(tx, session.no)?;
    Ok(blocking.map(|blocking| (session, blocking)))
}

/// The block of a thread, unless the thread was deleted.
fn load_blocking(tx: &Connection, session: i64) -> Result<Option<Blocking>, Fault> {
    let sql = format!("SELECT {BLOCKING} FROM threads WHERE session_no = ? AND deleted_at IS NULL");
    let mut find = tx.prepare_cached(&sql)?;
    Ok(find.query_row([session], blocking_of).optional()?)
}

/// A thread's row, also of a deleted one.
fn load(tx: &Connection, session: i64) -> Result<Option<ThreadRow>, Fault> {
    let sql = format!(
        "SELECT created_at, updated_at, custom, deleted_at, {BLOCKING} FROM threads
         WHERE session_no = ?"
    );
    let mut find = tx.prepare_cached(&sql)?;
    Ok(find.query_row([session], thread_row).optional()?)
}

fn save(tx: &Connection, session: i64, blocking: &Blocking) -> Result<(), Fault> {
    let block = blocking.block.as_ref();
    tx.prepare_cached(
        "UPDATE threads SET block_generation = ?, block_reason = ?, block_at = ?, block_until = ?
         WHERE session_no = ?",
    )?
    .execute(params![
        blocking.generation,
        block.map(|block| block.reason.as_str()),
        block.map(|block| block.at.0),
        block.map(|block| block.until.0),
        session,
    ])?;
    Ok(())
}

fn thread_row(row: &Row<'_>) -> rusqlite::Result<ThreadRow> {
    let custom: String = row.get("custom")?;
    let custom: Map<String, Value> = serde_json::from_str(&custom)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(2, Type::Text, error.into()))?;
    Ok(ThreadRow {
        created_at: Timestamp(row.get("created_at")?),
        updated_at: Timestamp(row.get("updated_at")?),
        custom,
        deleted_at: row.get::<_, Option<i64>>("deleted_at")?.map(Timestamp),
        blocking: blocking_of(row)?,
    })
}

fn blocking_of(row: &Row<'_>) -> rusqlite::Result<Blocking> {
    let generation = row.get("block_generation")?;
    let block = match row.get::<_, Option<i64>>("block_until")? {
        Some(until) => Some(ThreadBlock {
            reason: parse_column(row, "block_reason")?,
            token: BlockToken(generation),
            at: EventSeq(row.get("block_at")?),
            until: Timestamp(until),
        }),
        None => None,
    };
    Ok(Blocking { generation, block })
}
