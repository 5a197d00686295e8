//! Threads. A thread's log is its session's; its row has the session's number, and every change of it locks the
//! session's row first.

use async_trait::async_trait;
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadBlock, ThreadStore,
};
use daybook_domain::{EventSeq, SessionId, StoreError, Tenant, Timestamp};
use serde_json::{Map, Value};
use tokio_postgres::Row;

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::names::{find_session, lock_session, session_id_of};
use super::values::{get, parse_column, values};
use super::{PostgresStore, events, sessions, sources, tombstones};
use crate::bounds::check_entries;
use crate::log;
use crate::log::SessionRow;
use crate::threads::{Blocking, ThreadRow, deleted_thread, unknown_thread};

const BLOCKING: &str = "block_generation, block_reason, block_at, block_until";

#[async_trait]
impl ThreadStore for PostgresStore {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        let access = TenantAccess::Only(&new.session.id.tenant);
        let creating = |tx: Tx| async move { create(&tx, new).await };
        self.write(access, creating).await
    }

    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError> {
        let find = |tx: Tx| async move { thread(&tx, id).await };
        self.read(TenantAccess::Only(&id.tenant), find).await
    }

    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError> {
        let newest = "SELECT tenant, agent, host_id
            FROM threads JOIN sessions USING (session_no)
            JOIN tenants ON tenants.tenant_no = sessions.tenant_no
            WHERE tenant = $1 AND known AND deleted_at IS NULL
            ORDER BY updated_at DESC, agent, host_id LIMIT $2";
        let find = |tx: Tx| async move {
            let mut threads = Vec::new();
            for row in tx.rows(newest, values![&tenant.0, limit]).await? {
                threads.extend(thread(&tx, &session_id_of(&row)?).await?);
            }
            Ok(threads)
        };
        self.read(TenantAccess::Only(tenant), find).await
    }

    async fn append_entries(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError> {
        check_entries(append)?;
        let access = TenantAccess::Only(&append.append.session.id.tenant);
        let appending = |tx: Tx| async move { append_to(&tx, append).await };
        self.write(access, appending).await
    }

    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<LogPage, StoreError> {
        let read = |tx: Tx| async move {
            let found = find_session(&tx, id).await?;
            let (session, blocking) = of_session(&tx, found)
                .await?
                .ok_or_else(|| unknown_thread(id))?;
            Ok(LogPage {
                entries: events::entries(&tx, session.no, after, limit, bytes).await?,
                block: blocking.block,
                last: session.session.events,
            })
        };
        self.read(TenantAccess::Only(&id.tenant), read).await
    }

    async fn block(
        &self,
        id: &SessionId,
        reason: BlockingReason,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BlockOutcome, StoreError> {
        let blocking = |tx: Tx| async move {
            let found = lock_thread(&tx, id).await?;
            let (session, mut blocking) = found.ok_or_else(|| unknown_thread(id))?;
            let outcome = blocking.block(reason, session.session.events, until, now);
            save(&tx, session.no, &blocking);
            Ok(outcome)
        };
        self.write(TenantAccess::Only(&id.tenant), blocking).await
    }

    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.change_block(id, |blocking| blocking.extend(token, until))
            .await
    }

    async fn unblock(&self, id: &SessionId, token: BlockToken) -> Result<bool, StoreError> {
        self.change_block(id, |blocking| blocking.unblock(token))
            .await
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError> {
        let put = "INSERT INTO thread_snapshots AS kept (session_no, tenant_no, seq, body)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (session_no) DO UPDATE SET seq = excluded.seq, body = excluded.body
            WHERE excluded.seq >= kept.seq";
        let putting = |tx: Tx| async move {
            let found = lock_thread(&tx, id).await?;
            let (session, _) = found.ok_or_else(|| unknown_thread(id))?;
            if seq <= session.session.events {
                tx.defer(put, values![session.no, session.tenant, seq.0, snapshot]);
            }
            Ok(())
        };
        self.write(TenantAccess::Only(&id.tenant), putting).await
    }

    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError> {
        let find = "SELECT seq, body FROM thread_snapshots WHERE session_no = $1";
        let finding = |tx: Tx| async move {
            let found = find_session(&tx, id).await?;
            let Some((session, _)) = of_session(&tx, found).await? else {
                return Ok(None);
            };
            let row = tx.row(find, values![session.no]).await?;
            row.map(|row| Ok((EventSeq(get(&row, "seq")?), get(&row, "body")?)))
                .transpose()
        };
        self.read(TenantAccess::Only(&id.tenant), finding).await
    }

    async fn delete_thread(&self, id: &SessionId, now: Timestamp) -> Result<bool, StoreError> {
        let delete = "UPDATE threads SET deleted_at = $2 WHERE session_no = $1";
        let forget = "DELETE FROM thread_snapshots WHERE session_no = $1";
        let deleting = |tx: Tx| async move {
            let Some((session, mut blocking)) = lock_thread(&tx, id).await? else {
                return Ok(false);
            };
            blocking.block = None;
            save(&tx, session.no, &blocking);
            tx.defer(delete, values![session.no, now]);
            tx.defer(forget, values![session.no]);
            Ok(true)
        };
        self.write(TenantAccess::Only(&id.tenant), deleting).await
    }
}

impl PostgresStore {
    /// Changes the block of a thread, if the thread exists.
    async fn change_block(
        &self,
        id: &SessionId,
        transition: impl Fn(&mut Blocking) -> bool + Send + Sync,
    ) -> Result<bool, StoreError> {
        let transition = &transition;
        let changing = |tx: Tx| async move {
            let Some((session, mut blocking)) = lock_thread(&tx, id).await? else {
                return Ok(false);
            };
            let changed = transition(&mut blocking);
            if changed {
                save(&tx, session.no, &blocking);
            }
            Ok(changed)
        };
        self.write(TenantAccess::Only(&id.tenant), changing).await
    }
}

async fn append_to(tx: &Tx, append: &ThreadAppend) -> Result<ThreadAppendOutcome, Fault> {
    let log = &append.append;
    let id = &log.session.id;
    if let Some(import) = log.import {
        sources::lock_import(tx, &id.tenant, import).await?;
    }
    let found = lock_thread(tx, id).await?;
    let (session, known) = found.ok_or_else(|| unknown_thread(id))?;
    let mut blocking = known;
    if !blocking.pass(append.ends, log.now) {
        return Ok(ThreadAppendOutcome::BlockLost);
    }
    if blocking != known {
        save(tx, session.no, &blocking);
    }
    let placed = sessions::add_to(tx, Some(session), log, &append.entries).await?;
    Ok(ThreadAppendOutcome::Stored {
        seqs: placed.seqs,
        before: placed.before,
        block: blocking.block,
    })
}

/// Adjusts a thread when entries from `from` on are deleted.
pub(super) async fn truncate(tx: &Tx, session: i64, from: EventSeq) -> Result<(), Fault> {
    if let Some(mut blocking) = load_blocking(tx, session).await? {
        blocking.truncate(from);
        save(tx, session, &blocking);
    }
    let forget = "DELETE FROM thread_snapshots WHERE session_no = $1 AND seq >= $2";
    tx.defer(forget, values![session, from.0]);
    Ok(())
}

async fn create(tx: &Tx, new: &NewThread) -> Result<Thread, Fault> {
    let id = &new.session.id;
    let session = lock_session(tx, id).await?;
    let former = match &session {
        Some(session) => load(tx, session.no).await?,
        None => None,
    };
    if former
        .as_ref()
        .is_some_and(|former| former.deleted_at.is_some())
    {
        return Err(deleted_thread(id).into());
    }
    if let Some(session) = session.as_ref().filter(|session| session.known) {
        log::check_venue_named(&session.session, &new.session)?;
    }
    let session = match (session, &former) {
        (Some(session), Some(row)) if session.known => {
            return Ok(row.thread(&session.session));
        }
        (Some(session), _) if session.known => session,
        (cited, _) => {
            tombstones::check_session(tx, id).await?;
            sessions::add_to(tx, cited, &log::empty_append(new), &[]).await?;
            find_session(tx, id)
                .await?
                .ok_or_else(|| unknown_thread(id))?
        }
    };
    let row = ThreadRow::new(new, former.as_ref());
    let insert = "INSERT INTO threads
            (session_no, tenant_no, created_at, updated_at, custom, block_generation)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (session_no) DO UPDATE SET created_at = excluded.created_at,
            updated_at = excluded.updated_at, custom = excluded.custom,
            block_reason = NULL, block_at = NULL, block_until = NULL";
    let values = values![
        session.no,
        session.tenant,
        row.created_at,
        row.updated_at,
        Value::Object(row.custom.clone()).to_string(),
        row.blocking.generation,
    ];
    tx.execute(insert, values).await?;
    Ok(row.thread(&session.session))
}

async fn thread(tx: &Tx, id: &SessionId) -> Result<Option<Thread>, Fault> {
    let Some(session) = find_session(tx, id).await?.filter(|row| row.known) else {
        return Ok(None);
    };
    let row = load(tx, session.no).await?;
    let row = row.filter(|row| row.deleted_at.is_none());
    Ok(row.map(|row| row.thread(&session.session)))
}

/// Finds and locks a thread until this transaction ends, unless it was deleted.
async fn lock_thread(tx: &Tx, id: &SessionId) -> Result<Option<(SessionRow, Blocking)>, Fault> {
    let found = lock_session(tx, id).await?;
    of_session(tx, found).await
}

/// The block of a session's thread, if it has one.
async fn of_session(
    tx: &Tx,
    found: Option<SessionRow>,
) -> Result<Option<(SessionRow, Blocking)>, Fault> {
    let Some(session) = found.filter(|row| row.known) else {
        return Ok(None);
    };
    let blocking = load_blocking(tx, session.no).await?;
    Ok(blocking.map(|blocking| (session, blocking)))
}

/// The block of a thread, unless the thread was deleted.
async fn load_blocking(tx: &Tx, session: i64) -> Result<Option<Blocking>, Fault> {
    let find =
        format!("SELECT {BLOCKING} FROM threads WHERE session_no = $1 AND deleted_at IS NULL");
    let row = tx.row(&find, values![session]).await?;
    row.as_ref().map(blocking_of).transpose()
}

/// A thread's row, also of a deleted one.
async fn load(tx: &Tx, session: i64) -> Result<Option<ThreadRow>, Fault> {
    let find = format!(
        "SELECT created_at, updated_at, custom, deleted_at, {BLOCKING} FROM threads
         WHERE session_no = $1"
    );
    let row = tx.row(&find, values![session]).await?;
    row.as_ref().map(thread_row).transpose()
}

fn save(tx: &Tx, session: i64, blocking: &Blocking) {
    let block = blocking.block.as_ref();
    let update = "UPDATE threads
        SET block_generation = $2, block_reason = $3, block_at = $4, block_until = $5
        WHERE session_no = $1";
    let values = values![
        session,
        blocking.generation,
        block.map(|block| block.reason.as_str()),
        block.map(|block| block.at.0),
        block.map(|block| block.until),
    ];
    tx.defer(update, values);
}

fn thread_row(row: &Row) -> Result<ThreadRow, Fault> {
    let custom: String = get(row, "custom")?;
    let custom: Map<String, Value> = serde_json::from_str(&custom)
        .map_err(|error| Fault::corrupt(format!("custom of a thread: {error}")))?;
    Ok(ThreadRow {
        created_at: get(row, "created_at")?,
        updated_at: get(row, "updated_at")?,
        custom,
        deleted_at: get(row, "deleted_at")?,
        blocking: blocking_of(row)?,
    })
}

fn blocking_of(row: &Row) -> Result<Blocking, Fault> {
    let generation = get(row, "block_generation")?;
    let block = match get::<Option<Timestamp>>(row, "block_until")? {
        Some(until) => Some(ThreadBlock {
            reason: parse_column(row, "block_reason")?,
            token: BlockToken(generation),
            at: EventSeq(get(row, "block_at")?),
            until,
        }),
        None => None,
    };
    Ok(Blocking { generation, block })
}
