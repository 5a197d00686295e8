//! Reading the log.

use std::collections::BTreeSet;

use daybook_domain::working::LogEntry;
use daybook_domain::{Event, EventId, EventSeq, Place, SessionId, ToolStatus};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::names::find_session;
use super::row_numbers::{event_no, event_nos, seq_of};
use super::values::{get, parse_column, values};

const EVENT: &str = "SELECT event_no, line, origin, at, text, tool, call, status, sidechain, root,
    branch FROM events LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no)";

const ENTRY: &str = "SELECT event_no, line, origin, at, text, tool, call, status, sidechain, root,
    branch, entry FROM events LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no)";

/// The position and the identity of each event, in order.
pub(super) async fn ids(tx: &Tx, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, Fault> {
    let Some(row) = find_session(tx, session).await? else {
        return Ok(Vec::new());
    };
    let find = "SELECT event_no, id FROM events WHERE event_no BETWEEN $1 AND $2 ORDER BY event_no";
    let first = event_no(row.no, EventSeq(1));
    let last = event_no(row.no, row.session.events);
    let rows = tx.rows(find, values![first, last]).await?;
    rows.iter()
        .map(|row| Ok((seq_of(get(row, "event_no")?), id_of(row)?)))
        .collect()
}

pub(super) fn id_of(row: &Row) -> Result<EventId, Fault> {
    let id: Vec<u8> = get(row, "id")?;
    let id = id.try_into();
    let id = id.map_err(|id: Vec<u8>| Fault::corrupt(format!("an event's id of {id:?}")))?;
    Ok(EventId(u128::from_be_bytes(id)))
}

/// Events after the first position and up to the second.
pub(super) async fn window(
    tx: &Tx,
    session: &SessionId,
    (after, upto): (EventSeq, EventSeq),
    limit: usize,
    bytes: usize,
) -> Result<Vec<Event>, Fault> {
    let Some(row) = find_session(tx, session).await? else {
        return Ok(Vec::new());
    };
    // Cut by the server, so that unwanted text is not transferred.
    let sql = format!(
        "SELECT * FROM (
            SELECT *, row_number() OVER so_far AS nth, sum(octet_length(text)) OVER so_far AS size
            FROM ({EVENT} WHERE event_no > $1 AND event_no <= $2 ORDER BY event_no LIMIT $3) AS near
            WINDOW so_far AS (ORDER BY event_no)
        ) AS measured WHERE size <= $4 OR nth = 1 ORDER BY event_no"
    );
    let range = values![
        event_no(row.no, after),
        event_no(row.no, upto),
        limit,
        bytes
    ];
    tx.rows(&sql, range).await?.iter().map(event_of).collect()
}

/// What events after the first position and up to the second retract.
pub(super) async fn retracted(
    tx: &Tx,
    session: &SessionId,
    (after, upto): (EventSeq, EventSeq),
) -> Result<BTreeSet<EventSeq>, Fault> {
    let Some(row) = find_session(tx, session).await? else {
        return Ok(BTreeSet::new());
    };
    let find = "SELECT target FROM event_retractions WHERE event_no > $1 AND event_no <= $2";
    let range = values![event_no(row.no, after), event_no(row.no, upto)];
    let rows = tx.rows(find, range).await?;
    rows.iter()
        .map(|row| Ok(EventSeq(get(row, "target")?)))
        .collect()
}

/// Entries of the thread with this number after a position.
pub(super) async fn entries(
    tx: &Tx,
    thread: i64,
    after: EventSeq,
    limit: usize,
    bytes: usize,
) -> Result<Vec<LogEntry>, Fault> {
    let range = (after, seq_of(event_nos(thread).1));
    entries_between(tx, thread, range, limit, bytes).await
}

/// Events of the session with this number after the first position and up to the second, with their entries.
pub(super) async fn entries_between(
    tx: &Tx,
    session: i64,
    (after, upto): (EventSeq, EventSeq),
    limit: usize,
    bytes: usize,
) -> Result<Vec<LogEntry>, Fault> {
    let sql = format!(
        "SELECT * FROM (
            SELECT *, row_number() OVER so_far AS nth,
                sum(octet_length(text) + coalesce(octet_length(entry), 0)) OVER so_far AS size
            FROM ({ENTRY} WHERE event_no > $1 AND event_no <= $2 ORDER BY event_no LIMIT $3) AS near
            WINDOW so_far AS (ORDER BY event_no)
        ) AS measured WHERE size <= $4 OR nth = 1 ORDER BY event_no"
    );
    let range = values![
        event_no(session, after),
        event_no(session, upto),
        limit,
        bytes
    ];
    let rows = tx.rows(&sql, range).await?;
    let entry_of = |row: &Row| {
        let (event, entry) = (event_of(row)?, get(row, "entry")?);
        Ok(LogEntry { event, entry })
    };
    rows.iter().map(entry_of).collect()
}

/// Events whose line number is in `lines`. Line numbers never fall along the log, so the first one is found by
/// binary search, without an index of its own.
pub(super) async fn at_lines(
    tx: &Tx,
    session: &SessionId,
    (from, to): (u32, u32),
    limit: usize,
) -> Result<Vec<Event>, Fault> {
    let Some(row) = find_session(tx, session).await? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "WITH RECURSIVE halving (low, high) AS (
            SELECT $1, $2 + 1
            UNION ALL
            SELECT CASE WHEN line < $3 THEN event_no + 1 ELSE low END,
                CASE WHEN line < $3 THEN high ELSE middle END
            FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM halving WHERE low < high)
                AS half
            LEFT JOIN LATERAL (
                SELECT event_no, line FROM events WHERE event_no BETWEEN middle AND $2
                ORDER BY event_no LIMIT 1
            ) AS probe ON TRUE
        )
        {EVENT} WHERE event_no >= (SELECT low FROM halving WHERE low >= high)
            AND event_no <= $2 AND line <= $4 ORDER BY event_no LIMIT $5"
    );
    let first = event_no(row.no, EventSeq(1));
    let last = event_no(row.no, row.session.events);
    let values = values![first, last, from, to, limit];
    tx.rows(&sql, values).await?.iter().map(event_of).collect()
}

fn event_of(row: &Row) -> Result<Event, Fault> {
    let root: Option<String> = get(row, "root")?;
    let branch = get(row, "branch")?;
    Ok(Event {
        seq: seq_of(get(row, "event_no")?),
        line: get(row, "line")?,
        origin: parse_column(row, "origin")?,
        at: get(row, "at")?,
        text: get(row, "text")?,
        tool: get(row, "tool")?,
        call: get(row, "call")?,
        status: match get::<Option<String>>(row, "status")? {
            Some(_) => Some(parse_column::<ToolStatus>(row, "status")?),
            None => None,
        },
        sidechain: get(row, "sidechain")?,
        place: root.map(|root| Place { root, branch }),
    })
}
