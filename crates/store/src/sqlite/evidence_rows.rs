//! Evidence as rows, and the observations derived from it.
//!
//! An observation's row is derived from its live evidence. Each addition, cut or removal of evidence records
//! the observation as touched and derives it again before the transaction ends.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use daybook_domain::rescan::{EvidenceRewrite, StoredEvidence};
use daybook_domain::seams::RetractedText;
use daybook_domain::{
    EventSeq, Evidence, Observation, ObservationId, ObservationKind, ObservationOrigin, Scope,
    ScopeKind, SessionId, Tenant, Timestamp,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::connection::Fault;
use super::names::{
    find_scope, find_session, find_tenant, parse_column, scope_named, scope_no, session_no,
};
use super::row_numbers::event_no;
use super::{index_rows, outlines, tombstones};
use crate::documents::observation_doc;
use crate::evidence::{
    CutOutcome, EvidencePiece, EvidenceRow, SettleOutcome, TouchedObservations, assemble,
    join_numbers, most_trusted, origin_text, parse_numbers, sort_observations,
};

/// The columns of [`evidence_row`].
const COLUMNS: &str = "evidence_no, evidence.observation_no, generation, live, evidence.events, lines,
    evidence.label, at, branch, evidence.root, stated, quoted, evidence.text, evidence.context, evidence.subject,
    evidence.tokens, evidence.origin, tenant, agent, host_id";

/// The generation column's value for what a person asked to remember.
const REMEMBERED: i64 = -1;

/// Selects the evidence that gives observations: live, and of no polluted session unless a person asked to remember
/// it.
pub(super) const VISIBLE: &str = "live AND (pollution IS NULL OR generation = -1)";

/// Adds one piece of evidence for an observation in `scope`, unless a person retracted or purged it.
pub(super) fn add(
    tx: &Connection,
    scope: &Scope,
    what: (ObservationId, ObservationKind),
    piece: &EvidencePiece,
    live: bool,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    if tombstones::is_evidence_purged(tx, scope, what.0, &piece.evidence.session)? {
        return Ok(());
    }
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
                subject, tokens, origin)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (observation_no, session_no, events, generation) DO NOTHING",
        )?
        .execute(params![
            observation,
            session,
            join_numbers(evidence.events.iter().map(|seq| seq.0)),
            piece.generation.map_or(REMEMBERED, i64::from),
            live,
            first.0,
            last.0,
            join_numbers(evidence.lines.iter().map(|&line| u64::from(line))),
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
            origin_text(piece.origin),
        ])?;
    touched.note(observation, live && added > 0);
    Ok(())
}

fn observation_no(
    tx: &Connection,
    scope: i64,
    (id, kind): (ObservationId, ObservationKind),
    piece: &EvidencePiece,
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
    .execute(params![
        scope,
        id.0.cast_signed(),
        kind.as_str(),
        piece.text
    ])?;
    Ok(tx.last_insert_rowid())
}

/// Whether a person retracted the observation for all of these events.
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

/// The positions that a retraction stores for evidence; evidence without events has position 0.
fn positions(events: &[EventSeq]) -> Vec<u64> {
    match events {
        [] => vec![0],
        events => events.iter().map(|seq| seq.0).collect(),
    }
}

/// Removes events from all evidence of a session.
pub(super) fn cut(
    tx: &Connection,
    session: i64,
    gone: &BTreeSet<EventSeq>,
    touched: &mut TouchedObservations,
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
            CutOutcome::Untouched => {}
            CutOutcome::Emptied => delete(tx, &row, touched)?,
            CutOutcome::Shortened => {
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

/// Deletes the evidence of a session that rests on an event of a range, whatever else it rests on.
pub(super) fn delete_within(
    tx: &Connection,
    session: i64,
    (from, to): (EventSeq, EventSeq),
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let overlapping = "session_no = ? AND first_seq <= ? AND last_seq >= ?";
    for row in rows_where(tx, overlapping, params![session, to.0, from.0])? {
        let events = &row.piece.evidence.events;
        // What a person asked to remember may rest on no event.
        if events.is_empty() || events.iter().any(|seq| (from..=to).contains(seq)) {
            delete(tx, &row, touched)?;
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
            parse_column::<ObservationKind>(row, "kind")?,
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
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    for row in rows_where(tx, condition, values)? {
        delete(tx, &row, touched)?;
    }
    Ok(())
}

/// Makes the evidence visible that a session's redo wrote.
pub(super) fn make_evidence_live(
    tx: &Connection,
    session: i64,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let mut update = tx.prepare_cached(
        "UPDATE evidence SET live = 1 WHERE session_no = ? AND live = 0 RETURNING observation_no",
    )?;
    let mut rows = update.query([session])?;
    while let Some(row) = rows.next()? {
        touched.note(row.get(0)?, true);
    }
    Ok(())
}

fn delete(
    tx: &Connection,
    row: &EvidenceRow,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    tx.prepare_cached("DELETE FROM evidence WHERE evidence_no = ?")?
        .execute([row.no])?;
    touched.note(row.observation, row.live);
    Ok(())
}

/// Moves one piece of evidence to another scope, where its observation has another identity.
pub(super) fn move_to(
    tx: &Connection,
    evidence: i64,
    to: &Scope,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    for row in rows_where(tx, "evidence_no = ?", [evidence])? {
        let (_, (_, kind)) = observed_as(tx, row.observation)?;
        let id = ObservationId::of(to, kind, &row.piece.text);
        delete(tx, &row, touched)?;
        add(tx, to, (id, kind), &row.piece, row.live, touched)?;
    }
    Ok(())
}

/// The evidence of a session, with the words of its observations.
pub(super) fn stored(tx: &Connection, session: i64) -> Result<Vec<StoredEvidence>, Fault> {
    let mut all = Vec::new();
    for row in rows_where(tx, "session_no = ? ORDER BY evidence_no", [session])? {
        let (scope, (id, kind)) = observed_as(tx, row.observation)?;
        all.push(row.piece.stored(row.no, scope, (id, kind)));
    }
    Ok(all)
}

/// Replaces the words of one piece of evidence, which may make it evidence of another observation. False when it
/// has other words by now.
pub(super) fn rewrite(
    tx: &Connection,
    session: i64,
    rewrite: &EvidenceRewrite,
    touched: &mut TouchedObservations,
) -> Result<bool, Fault> {
    let found = params![rewrite.before.no, session];
    let rows = rows_where(tx, "evidence_no = ? AND session_no = ?", found)?;
    let Some(row) = rows.into_iter().next() else {
        return Ok(false);
    };
    let (scope, (id, kind)) = observed_as(tx, row.observation)?;
    if row.piece.stored(row.no, scope.clone(), (id, kind)) != rewrite.before {
        return Ok(false);
    }
    delete(tx, &row, touched)?;
    let piece = row.piece.rewritten(rewrite);
    add(
        tx,
        &scope,
        (rewrite.after.id, kind),
        &piece,
        row.live,
        touched,
    )?;
    Ok(true)
}

/// Retracts an observation for good, for the events of its evidence. False when it does not hold.
pub(super) fn retract(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
    touched: &mut TouchedObservations,
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

/// The words that a person took back of a session's events.
pub(super) fn retracted_texts(
    tx: &Connection,
    session: &SessionId,
) -> Result<Vec<RetractedText>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(Vec::new());
    };
    let mut find = tx.prepare_cached("SELECT seq, text FROM retractions WHERE session_no = ?")?;
    let texts = find.query_map([row.no], |row| {
        Ok(RetractedText {
            session: session.clone(),
            seq: EventSeq(row.get(0)?),
            text: row.get(1)?,
        })
    })?;
    texts.map(|text| Ok(text?)).collect()
}

/// Deletes the retractions of an observation, so that evidence brings it back.
pub(super) fn lift_retractions(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
) -> Result<(), Fault> {
    if let Some(scope) = find_scope(tx, scope)? {
        tx.prepare_cached("DELETE FROM retractions WHERE scope_no = ? AND id = ?")?
            .execute(params![scope, id.0.cast_signed()])?;
    }
    Ok(())
}

/// Records as touched the observations that rest on a session and are hidden when it is polluted.
pub(super) fn touch_session(
    tx: &Connection,
    session: i64,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT DISTINCT observation_no FROM evidence
         WHERE session_no = ? AND live AND generation >= 0",
    )?;
    let mut rows = find.query([session])?;
    while let Some(row) = rows.next()? {
        touched.note(row.get(0)?, true);
    }
    Ok(())
}

/// Derives the touched observations from their remaining evidence.
pub(super) fn settle(
    tx: &Connection,
    touched: &TouchedObservations,
) -> Result<SettleOutcome, Fault> {
    let mut settled = SettleOutcome::default();
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
    let live = rows_where(
        tx,
        &format!("observation_no = ? AND {VISIBLE}"),
        [observation],
    )?;
    let shown = live
        .iter()
        .min_by(|a, b| a.piece.rank().cmp(&b.piece.rank()));
    let Some(shown) = shown else {
        if indexed.is_some() {
            index_rows::forget(tx, observation_doc(observation))?;
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
            tokens = ?, origin = ? WHERE observation_no = ?",
    )?
    .execute(params![
        shown.no,
        piece.text,
        piece.context,
        piece.subject,
        piece.tokens,
        origin_text(most_trusted(live.iter().map(|row| row.piece.origin))),
        observation
    ])?;
    let doc = observation_doc(observation);
    if indexed.as_ref() == Some(&piece.tokens) {
        outlines::set_time(tx, doc, piece.evidence.at)?;
    } else {
        index_rows::forget(tx, doc)?;
        index_rows::put_observation(tx, observation, scope, &piece.tokens)?;
    }
    Ok(true)
}

/// Observations that hold in a scope.
pub(super) fn observations(tx: &Connection, scope: &Scope) -> Result<Vec<Observation>, Fault> {
    match find_scope(tx, scope)? {
        Some(no) => observations_where(tx, "scope_no = ?", &[&no]),
        None => Ok(Vec::new()),
    }
}

/// The observation with this id that holds in a scope.
pub(super) fn observation(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
) -> Result<Option<Observation>, Fault> {
    let Some(no) = find_scope(tx, scope)? else {
        return Ok(None);
    };
    let id = id.0.cast_signed();
    let found = observations_where(tx, "scope_no = ? AND observations.id = ?", &[&no, &id])?;
    Ok(found.into_iter().next())
}

/// Observations of `kinds` that hold in a tenant's scopes of one kind.
pub(super) fn observations_of_kinds(
    tx: &Connection,
    tenant: &Tenant,
    scopes: ScopeKind,
    kinds: &[ObservationKind],
) -> Result<Vec<Observation>, Fault> {
    let Some(tenant) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    let (scopes, kinds) = (scopes.as_str(), kinds.iter().map(|kind| kind.as_str()));
    let kinds: Vec<&str> = kinds.collect();
    let slots = vec!["?"; kinds.len()].join(", ");
    let condition =
        format!("scopes.tenant_no = ? AND scopes.kind = ? AND observations.kind IN ({slots})");
    let mut values: Vec<&dyn ToSql> = vec![&tenant, &scopes];
    values.extend(kinds.iter().map(|kind| kind as &dyn ToSql));
    observations_where(tx, &condition, &values)
}

/// An observation's own columns, and its evidence.
struct ObservationRows {
    id: ObservationId,
    kind: ObservationKind,
    scope_no: i64,
    pieces: Vec<EvidencePiece>,
}

/// Observations that hold, ordered by scope, first time and id.
fn observations_where(
    tx: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Observation>, Fault> {
    // Observations come first, in the order of their numbers: their evidence lies in the same order, so that hardly a
    // page of the database is read twice.
    let mut find = tx.prepare_cached(&format!(
        "SELECT {COLUMNS}, observations.id, observations.kind, scope_no
         FROM observations JOIN scopes USING (scope_no)
         CROSS JOIN evidence ON evidence.observation_no = observations.observation_no
         JOIN sessions USING (session_no) JOIN tenants ON tenants.tenant_no = sessions.tenant_no
         WHERE {condition} AND holds AND {VISIBLE}"
    ))?;
    let mut rows = find.query(values)?;
    let mut found: HashMap<i64, ObservationRows> = HashMap::new();
    while let Some(row) = rows.next()? {
        let EvidenceRow {
            observation, piece, ..
        } = evidence_row(row)?;
        match found.entry(observation) {
            Entry::Occupied(known) => known.into_mut().pieces.push(piece),
            Entry::Vacant(new) => {
                new.insert(ObservationRows {
                    id: ObservationId(row.get::<_, i64>(20)?.cast_unsigned()),
                    kind: parse_column(row, 21)?,
                    scope_no: row.get(22)?,
                    pieces: vec![piece],
                });
            }
        }
    }
    let mut scopes: HashMap<i64, Scope> = HashMap::new();
    let mut observations = Vec::with_capacity(found.len());
    for one in found.into_values() {
        let scope = match scopes.entry(one.scope_no) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => new.insert(scope_named(tx, one.scope_no)?).clone(),
        };
        observations.extend(assemble(scope, one.id, one.kind, one.pieces));
    }
    sort_observations(&mut observations);
    Ok(observations)
}

/// The evidence that provides an observation's words.
pub(super) fn shown_evidence(tx: &Connection, evidence: i64) -> Result<Option<Evidence>, Fault> {
    let row = rows_where(tx, "evidence_no = ?", [evidence])?.pop();
    Ok(row.map(|row| row.piece.evidence))
}

fn rows_where(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<EvidenceRow>, Fault> {
    let mut find = tx.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM evidence JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE {condition}"
    ))?;
    let rows = find.query_map(values, evidence_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The evidence in [`COLUMNS`]. Columns are named by their place: a scope may have 100,000 rows, and a search
/// for names would take most of the time.
fn evidence_row(row: &Row<'_>) -> rusqlite::Result<EvidenceRow> {
    let generation: i64 = row.get(2)?;
    let stated = row.get(10)?;
    Ok(EvidenceRow {
        no: row.get(0)?,
        observation: row.get(1)?,
        live: row.get(3)?,
        piece: EvidencePiece {
            evidence: Evidence {
                session: SessionId {
                    tenant: Tenant(row.get(17)?),
                    agent: row.get(18)?,
                    host_id: row.get(19)?,
                },
                label: row.get(6)?,
                events: parse_numbers(row.get_ref(4)?.as_str()?)
                    .map(EventSeq)
                    .collect(),
                lines: parse_numbers(row.get_ref(5)?.as_str()?)
                    .filter_map(|line| u32::try_from(line).ok())
                    .collect(),
                at: Timestamp(row.get(7)?),
                branch: row.get(8)?,
                root: row.get(9)?,
            },
            generation: u32::try_from(generation).ok(),
            text: row.get(12)?,
            context: row.get(13)?,
            subject: row.get(14)?,
            stated,
            origin: match row.get_ref(16)? {
                ValueRef::Null => ObservationOrigin::unrecorded(stated),
                _ => parse_column(row, 16)?,
            },
            quoted: row.get(11)?,
            tokens: row.get(15)?,
        },
    })
}
