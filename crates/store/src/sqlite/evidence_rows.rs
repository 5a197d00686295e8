//! Evidence as rows, and the observations that they make.
//!
//! An observation's row is derived from its live evidence. Whoever adds, cuts or takes away evidence
//! notes the observation as touched and settles it before the transaction ends.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    EventSeq, Evidence, Observation, ObservationId, ObservationKind, Scope, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::connection::Fault;
use super::names::{find_scope, scope_named, scope_no, session_id_of, session_no, word};
use super::sessions::event_no;
use super::{index, outlines};
use crate::documents::observation_doc;
use crate::evidence::{Cut, Piece, assemble, joined, split};

/// Observations whose evidence changed, by number; true where a reader could see the change.
#[derive(Debug, Default)]
pub(super) struct Touched(BTreeMap<i64, bool>);

impl Touched {
    pub(super) fn note(&mut self, observation: i64, visible: bool) {
        *self.0.entry(observation).or_default() |= visible;
    }
}

/// What settling observations came to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Scopes whose files must show a change.
    pub(super) scopes: BTreeSet<Scope>,
    /// Observations that no longer hold.
    pub(super) withdrawn: u64,
}

/// Evidence as a row, with the numbers that it hangs on.
struct EvidenceRow {
    no: i64,
    observation: i64,
    live: bool,
    piece: Piece,
}

const EVIDENCE: &str =
    "SELECT evidence_no, observation_no, generation, live, evidence.events AS events, lines,
    evidence.label AS label, at, branch, root, stated, quoted, text, context, subject,
        tokens,
    tenant, agent, host_id
    FROM evidence JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)";

/// Generation of what a person asked to remember, in the column.
const OBSERVED: i64 = -1;

/// Adds one piece of evidence for what is said in `scope`, unless a person took it back.
pub(super) fn add(
    tx: &Connection,
    scope: &Scope,
    what: (ObservationId, ObservationKind),
    piece: &Piece,
    live: bool,
    touched: &mut Touched,
) -> Result<(), Fault> {
    let scope = scope_no(tx, scope)?;
    let session = session_no(tx, &piece.evidence.session)?;
    if is_retracted(tx, scope, what.0, session, &piece.evidence.events)? {
        return Ok(());
    }
    let observation = observation_no(tx, scope, what, piece)?;
    let evidence = &piece.evidence;
    let (first, last) = piece.span();
    let added = tx
        .prepare_cached(
            "INSERT INTO evidence (observation_no, session_no, events, generation, live,
                first_seq, last_seq, lines, label, at, branch, root, stated, quoted, text, context,
                subject, tokens)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (observation_no, session_no, events, generation) DO NOTHING",
        )?
        .execute(params![
            observation,
            session,
            joined(evidence.events.iter().map(|seq| seq.0)),
            piece.generation.map_or(OBSERVED, i64::from),
            live,
            first.0,
            last.0,
            joined(evidence.lines.iter().map(|&line| u64::from(line))),
            evidence.label,
            evidence.at.0,
            evidence.branch,
            evidence.root,
            piece.stated,
            piece.quoted,
            piece.text,
            piece.context,
            piece.subject,
            piece.tokens,
        ])?;
    touched.note(observation, live && added > 0);
    Ok(())
}

fn observation_no(
    tx: &Connection,
    scope: i64,
    (id, kind): (ObservationId, ObservationKind),
    piece: &Piece,
) -> Result<i64, Fault> {
    let mut find =
        tx.prepare_cached("SELECT observation_no FROM observations WHERE scope_no = ? AND id = ?")?;
    let key = params![scope, id.0.cast_signed()];
    if let Some(no) = find.query_row(key, |row| row.get(0)).optional()? {
        return Ok(no);
    }
    tx.prepare_cached(
        "INSERT INTO observations (scope_no, id, kind, holds, text, tokens)
         VALUES (?, ?, ?, 0, ?, '')",
    )?
    .execute(params![scope, id.0.cast_signed(), kind.word(), piece.text])?;
    Ok(tx.last_insert_rowid())
}

/// Whether a person took the observation back with all of these events in view.
fn is_retracted(
    tx: &Connection,
    scope: i64,
    id: ObservationId,
    session: i64,
    events: &[EventSeq],
) -> Result<bool, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT 1 FROM retractions WHERE scope_no = ? AND id = ? AND session_no = ? AND seq = ?",
    )?;
    for seq in positions(events) {
        if !find.exists(params![scope, id.0.cast_signed(), session, seq])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Positions that stand for evidence in retractions; evidence without events has position 0.
fn positions(events: &[EventSeq]) -> Vec<u64> {
    match events {
        [] => vec![0],
        events => events.iter().map(|seq| seq.0).collect(),
    }
}

/// Takes events out of all evidence of a session.
pub(super) fn cut(
    tx: &Connection,
    session: i64,
    gone: &BTreeSet<EventSeq>,
    touched: &mut Touched,
) -> Result<(), Fault> {
    let (Some(first), Some(last)) = (gone.first(), gone.last()) else {
        return Ok(());
    };
    let rows = rows_where(
        tx,
        "session_no = ? AND first_seq <= ? AND last_seq >= ? ORDER BY evidence_no",
        params![session, last.0, first.0],
    )?;
    for mut row in rows {
        let began = row.piece.span().0;
        match row.piece.cut(|seq| gone.contains(&seq)) {
            Cut::Untouched => {}
            Cut::Emptied => delete(tx, &row, touched)?,
            Cut::Shortened => {
                delete(tx, &row, touched)?;
                let begins = row.piece.span().0;
                if begins != began {
                    row.piece.evidence.at =
                        time_of(tx, session, begins)?.unwrap_or(row.piece.evidence.at);
                }
                let (scope, what) = observed_as(tx, row.observation)?;
                add(tx, &scope, what, &row.piece, row.live, touched)?;
            }
        }
    }
    Ok(())
}

fn time_of(tx: &Connection, session: i64, seq: EventSeq) -> Result<Option<Timestamp>, Fault> {
    let mut find = tx.prepare_cached("SELECT at FROM events WHERE event_no = ? AND at <> 0")?;
    let no = event_no(session, seq);
    Ok(find
        .query_row([no], |row| row.get(0))
        .optional()?
        .map(Timestamp))
}

fn observed_as(
    tx: &Connection,
    observation: i64,
) -> Result<(Scope, (ObservationId, ObservationKind)), Fault> {
    let mut find =
        tx.prepare_cached("SELECT scope_no, id, kind FROM observations WHERE observation_no = ?")?;
    let (scope, id, kind): (i64, i64, _) = find.query_row([observation], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            word(row, "kind", ObservationKind::from_word)?,
        ))
    })?;
    Ok((
        scope_named(tx, scope)?,
        (ObservationId(id.cast_unsigned()), kind),
    ))
}

/// Deletes the evidence that `condition` selects.
pub(super) fn delete_where(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
    touched: &mut Touched,
) -> Result<(), Fault> {
    for row in rows_where(tx, condition, values)? {
        delete(tx, &row, touched)?;
    }
    Ok(())
}

/// Makes the evidence that a session's redo wrote visible.
pub(super) fn enliven(tx: &Connection, session: i64, touched: &mut Touched) -> Result<(), Fault> {
    let mut update = tx.prepare_cached(
        "UPDATE evidence SET live = 1 WHERE session_no = ? AND live = 0 RETURNING observation_no",
    )?;
    let mut rows = update.query([session])?;
    while let Some(row) = rows.next()? {
        touched.note(row.get(0)?, true);
    }
    Ok(())
}

fn delete(tx: &Connection, row: &EvidenceRow, touched: &mut Touched) -> Result<(), Fault> {
    tx.prepare_cached("DELETE FROM evidence WHERE evidence_no = ?")?
        .execute([row.no])?;
    touched.note(row.observation, row.live);
    Ok(())
}

/// Files one piece of evidence under another scope, where its observation has another identity.
pub(super) fn move_to(
    tx: &Connection,
    evidence: i64,
    to: &Scope,
    touched: &mut Touched,
) -> Result<(), Fault> {
    for row in rows_where(tx, "evidence_no = ?", [evidence])? {
        let (_, (_, kind)) = observed_as(tx, row.observation)?;
        let id = ObservationId::of(to, kind, &row.piece.text);
        delete(tx, &row, touched)?;
        add(tx, to, (id, kind), &row.piece, row.live, touched)?;
    }
    Ok(())
}

/// Withdraws an observation for good, as far as these events go. False when it does not hold.
pub(super) fn retract(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
    touched: &mut Touched,
) -> Result<bool, Fault> {
    let Some(scope) = find_scope(tx, scope)? else {
        return Ok(false);
    };
    let mut find = tx.prepare_cached(
        "SELECT observation_no, kind FROM observations WHERE scope_no = ? AND id = ? AND holds",
    )?;
    let key = params![scope, id.0.cast_signed()];
    let found: Option<(i64, String)> = find
        .query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((observation, kind)) = found else {
        return Ok(false);
    };
    for row in rows_where(tx, "observation_no = ?", [observation])? {
        let session = session_no(tx, &row.piece.evidence.session)?;
        for seq in positions(&row.piece.evidence.events) {
            tx.prepare_cached(
                "INSERT OR REPLACE INTO retractions (scope_no, id, session_no, seq, kind, text, root)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                scope,
                id.0.cast_signed(),
                session,
                seq,
                kind,
                row.piece.text,
                row.piece.evidence.root
            ])?;
        }
        delete(tx, &row, touched)?;
    }
    Ok(true)
}

/// Derives the touched observations from the evidence that is left.
pub(super) fn settle(tx: &Connection, touched: &Touched) -> Result<Settled, Fault> {
    let mut settled = Settled::default();
    for (&observation, &visible) in &touched.0 {
        let mut find = tx.prepare_cached(
            "SELECT scope_no, holds, tokens FROM observations WHERE observation_no = ?",
        )?;
        let before: Option<(i64, bool, String)> = find
            .query_row([observation], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((scope, held, tokens)) = before else {
            continue;
        };
        let indexed = held.then_some(tokens);
        let holds = settle_one(tx, observation, scope, indexed)?;
        settled.withdrawn += u64::from(held && !holds);
        if visible {
            settled.scopes.insert(scope_named(tx, scope)?);
        }
    }
    Ok(settled)
}

/// Derives one observation; `indexed` are the tokens that it had while it held. True when it holds.
fn settle_one(
    tx: &Connection,
    observation: i64,
    scope: i64,
    indexed: Option<String>,
) -> Result<bool, Fault> {
    let live = rows_where(tx, "observation_no = ? AND live", [observation])?;
    let shown = live
        .iter()
        .min_by(|a, b| a.piece.rank().cmp(&b.piece.rank()));
    let Some(shown) = shown else {
        if indexed.is_some() {
            index::forget(tx, observation_doc(observation))?;
        }
        tx.prepare_cached(
            "UPDATE observations SET holds = 0, shown = NULL, tokens = '' WHERE observation_no = ?",
        )?
        .execute([observation])?;
        tx.prepare_cached(
            "DELETE FROM observations WHERE observation_no = ?1
             AND NOT EXISTS (SELECT 1 FROM evidence WHERE observation_no = ?1)",
        )?
        .execute([observation])?;
        return Ok(false);
    };
    let piece = &shown.piece;
    tx.prepare_cached(
        "UPDATE observations SET holds = 1, shown = ?, text = ?, context = ?, subject = ?,
            tokens = ? WHERE observation_no = ?",
    )?
    .execute(params![
        shown.no,
        piece.text,
        piece.context,
        piece.subject,
        piece.tokens,
        observation
    ])?;
    let doc = observation_doc(observation);
    if indexed.as_ref() == Some(&piece.tokens) {
        outlines::set_time(tx, doc, piece.evidence.at)?;
    } else {
        index::forget(tx, doc)?;
        index::put_observation(tx, observation, scope, &piece.tokens)?;
    }
    Ok(true)
}

/// Observations that hold in a scope.
pub(super) fn observations(tx: &Connection, scope: &Scope) -> Result<Vec<Observation>, Fault> {
    let Some(no) = find_scope(tx, scope)? else {
        return Ok(Vec::new());
    };
    let mut pieces: BTreeMap<i64, Vec<Piece>> = BTreeMap::new();
    let live = "observation_no IN (SELECT observation_no FROM observations WHERE scope_no = ?)
        AND live";
    for row in rows_where(tx, live, [no])? {
        pieces.entry(row.observation).or_default().push(row.piece);
    }
    let mut find = tx.prepare_cached(
        "SELECT observation_no, id, kind FROM observations WHERE scope_no = ? AND holds",
    )?;
    let mut rows = find.query([no])?;
    let mut observations = Vec::new();
    while let Some(row) = rows.next()? {
        let id = ObservationId(row.get::<_, i64>("id")?.cast_unsigned());
        let kind = word(row, "kind", ObservationKind::from_word)?;
        let pieces = pieces.remove(&row.get(0)?).unwrap_or_default();
        observations.extend(assemble(scope.clone(), id, kind, pieces));
    }
    observations.sort_by_key(|observation| (observation.first_at(), observation.id));
    Ok(observations)
}

/// The evidence that lends an observation its words.
pub(super) fn shown(tx: &Connection, evidence: i64) -> Result<Option<Evidence>, Fault> {
    let row = rows_where(tx, "evidence_no = ?", [evidence])?.pop();
    Ok(row.map(|row| row.piece.evidence))
}

fn rows_where(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<EvidenceRow>, Fault> {
    let sql = format!("{EVIDENCE} WHERE {condition}");
    let mut find = tx.prepare_cached(&sql)?;
    let rows = find.query_map(values, evidence_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn evidence_row(row: &Row<'_>) -> rusqlite::Result<EvidenceRow> {
    let events: String = row.get("events")?;
    let lines: String = row.get("lines")?;
    let generation: i64 = row.get("generation")?;
    Ok(EvidenceRow {
        no: row.get("evidence_no")?,
        observation: row.get("observation_no")?,
        live: row.get("live")?,
        piece: Piece {
            evidence: Evidence {
                session: session_id_of(row)?,
                label: row.get("label")?,
                events: split(&events).map(EventSeq).collect(),
                lines: split(&lines)
                    .filter_map(|line| u32::try_from(line).ok())
                    .collect(),
                at: Timestamp(row.get("at")?),
                branch: row.get("branch")?,
                root: row.get("root")?,
            },
            generation: u32::try_from(generation).ok(),
            text: row.get("text")?,
            context: row.get("context")?,
            subject: row.get("subject")?,
            stated: row.get("stated")?,
            quoted: row.get("quoted")?,
            tokens: row.get("tokens")?,
        },
    })
}
