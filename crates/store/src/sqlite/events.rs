//! Reading the log.

use std::collections::BTreeSet;

use daybook_domain::working::LogEntry;
use daybook_domain::{Event, EventId, EventSeq, Place, SessionId, Timestamp, ToolStatus};
use rusqlite::{Connection, OptionalExtension, Row, Rows, params};

use super::connection::Fault;
use super::names::{find_session, parse_column};
use super::row_numbers::{at_most, event_no, event_nos, seq_of};

const EVENT: &str = "SELECT event_no, line, origin, at, text, tool, call, status, sidechain, root,
    branch FROM events LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no)";
const ENTRY: &str = "SELECT event_no, line, origin, at, text, tool, call, status, sidechain, root,
    branch, entry FROM events LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no)";

/// The position and the identity of each event, in order.
pub(super) fn ids(tx: &Connection, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(Vec::new());
    };
    let first = event_no(row.no, EventSeq(1));
    let mut find = tx.prepare_cached(
        "SELECT event_no - ?1 + 1, id FROM events WHERE event_no BETWEEN ?1 AND ?2 ORDER BY event_no",
    )?;
    let mut rows = find.query(params![first, event_no(row.no, row.session.events)])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push((
            EventSeq(row.get(0)?),
            EventId(u128::from_be_bytes(row.get(1)?)),
        ));
    }
    Ok(ids)
}

/// Events after the first position and up to the second.
pub(super) fn window(
    tx: &Connection,
    session: &SessionId,
    (after, upto): (EventSeq, EventSeq),
    limit: usize,
    bytes: usize,
) -> Result<Vec<Event>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(Vec::new());
    };
    let sql = format!("{EVENT} WHERE event_no > ? AND event_no <= ? ORDER BY event_no LIMIT ?");
    let mut find = tx.prepare_cached(&sql)?;
    let range = params![
        event_no(row.no, after),
        event_no(row.no, upto),
        at_most(limit)
    ];
    within(find.query(range)?, bytes, event_of, |event| {
        event.text.len()
    })
}

/// What events after the first position and up to the second retract.
pub(super) fn retracted(
    tx: &Connection,
    session: &SessionId,
    (after, upto): (EventSeq, EventSeq),
) -> Result<BTreeSet<EventSeq>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(BTreeSet::new());
    };
    let mut find = tx.prepare_cached(
        "SELECT target FROM event_retractions WHERE event_no > ? AND event_no <= ?",
    )?;
    let range = params![event_no(row.no, after), event_no(row.no, upto)];
    let targets = find.query_map(range, |row| Ok(EventSeq(row.get(0)?)))?;
    Ok(targets.collect::<Result<_, _>>()?)
}

/// Entries of the thread with this number after a position.
pub(super) fn entries(
    tx: &Connection,
    thread: i64,
    after: EventSeq,
    limit: usize,
    bytes: usize,
) -> Result<Vec<LogEntry>, Fault> {
    let range = (after, seq_of(event_nos(thread).1));
    entries_between(tx, thread, range, limit, bytes)
}

/// Events of the session with this number after the first position and up to the second, with their entries.
pub(super) fn entries_between(
    tx: &Connection,
    session: i64,
    (after, upto): (EventSeq, EventSeq),
    limit: usize,
    bytes: usize,
) -> Result<Vec<LogEntry>, Fault> {
    let sql = format!("{ENTRY} WHERE event_no > ? AND event_no <= ? ORDER BY event_no LIMIT ?");
    let mut find = tx.prepare_cached(&sql)?;
    let range = params![
        event_no(session, after),
        event_no(session, upto),
        at_most(limit)
    ];
    let entry_of = |row: &Row<'_>| {
        let (event, entry) = (event_of(row)?, row.get("entry")?);
        Ok(LogEntry { event, entry })
    };
    within(find.query(range)?, bytes, entry_of, |entry| {
        entry.event.text.len() + entry.entry.as_ref().map_or(0, String::len)
    })
}

/// The first rows that fit into `bytes`, but always one.
fn within<T>(
    mut rows: Rows<'_>,
    bytes: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    size_of: impl Fn(&T) -> usize,
) -> Result<Vec<T>, Fault> {
    let mut some = Vec::new();
    let mut size = 0;
    while let Some(row) = rows.next()? {
        let next = read(row)?;
        size += size_of(&next);
        if size > bytes && !some.is_empty() {
            break;
        }
        some.push(next);
    }
    Ok(some)
}

/// Events whose line number is in `lines`. Line numbers never fall along the log, so the first one is found by
/// binary search, without an index of its own.
pub(super) fn at_lines(
    tx: &Connection,
    session: &SessionId,
    (from, to): (u32, u32),
    limit: usize,
) -> Result<Vec<Event>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(Vec::new());
    };
    let end = event_no(row.no, row.session.events);
    let (mut low, mut high) = (event_no(row.no, EventSeq(1)), end + 1);
    let mut probe = tx.prepare_cached(
        "SELECT event_no, line FROM events WHERE event_no >= ? ORDER BY event_no LIMIT 1",
    )?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, u32)> = probe
            .query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match found {
            Some((no, line)) if no <= end && line < from => low = no + 1,
            _ => high = middle,
        }
    }
    let sql = format!(
        "{EVENT} WHERE event_no >= ? AND event_no <= ? AND line <= ? ORDER BY event_no LIMIT ?"
    );
    let mut find = tx.prepare_cached(&sql)?;
    let rows = find.query_map(params![low, end, to, at_most(limit)], event_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn event_of(row: &Row<'_>) -> rusqlite::Result<Event> {
    let root: Option<String> = row.get("root")?;
    let branch = row.get("branch")?;
    Ok(Event {
        seq: seq_of(row.get("event_no")?),
        line: row.get("line")?,
        origin: parse_column(row, "origin")?,
        at: Timestamp(row.get("at")?),
        text: row.get("text")?,
        tool: row.get("tool")?,
        call: row.get("call")?,
        status: match row.get::<_, Option<String>>("status")? {
            Some(_) => Some(parse_column::<ToolStatus>(row, "status")?),
            None => None,
        },
        sidechain: row.get("sidechain")?,
        place: root.map(|root| Place { root, branch }),
    })
}
