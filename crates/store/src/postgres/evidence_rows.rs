//! Evidence as rows, and the observations derived from it.
//!
//! An observation's row is derived from its live evidence. Each addition, cut or removal of evidence records
//! the observation as touched and derives it again (`observation_rows`) before the transaction ends. The row of
//! a scope is the lock of all observations in it and of their evidence: see [`lock`].

use std::collections::{BTreeSet, HashMap, HashSet};

use daybook_domain::rescan::{EvidenceRewrite, StoredEvidence};
use daybook_domain::{
    EventSeq, Evidence, ObservationId, ObservationKind, Scope, SessionId, Timestamp,
};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::names::{scope_no, scope_of, session_id_of, session_no};
use super::row_numbers::{event_no, seq_of};
use super::tombstones;
use super::values::{SqlValue, get, parse_column, values};
use crate::evidence::{
    CutOutcome, EvidencePiece, EvidenceRow, TouchedObservations, join_numbers, origin_of,
    origin_text, parse_numbers,
};

/// Scopes that are locked until the transaction ends, with their numbers.
#[derive(Debug)]
pub(super) struct LockedScopes(HashMap<Scope, i64>);

impl LockedScopes {
    pub(super) fn no(&self, scope: &Scope) -> Result<i64, Fault> {
        let no = self.0.get(scope).copied();
        no.ok_or_else(|| Fault::corrupt(format!("scope {scope} was not locked")))
    }
}

/// One piece of evidence to be added.
#[derive(Debug)]
pub(super) struct NewEvidence {
    pub(super) scope: Scope,
    pub(super) what: (ObservationId, ObservationKind),
    pub(super) piece: EvidencePiece,
    pub(super) live: bool,
}

const EVIDENCE: &str =
    "SELECT evidence_no, observation_no, generation, live, evidence.events AS events, lines,
        evidence.label AS label, at, branch, root, stated, quoted, text, context, subject, tokens,
        origin, tenant, agent, host_id
    FROM evidence JOIN sessions USING (session_no)
    JOIN tenants ON tenants.tenant_no = sessions.tenant_no";

/// The columns of one piece.
const PIECE: &str = "observation_no, session_no, events, generation, live, first_seq, last_seq,
    lines, label, at, branch, root, stated, quoted, text, context, subject, tokens, origin";

/// The generation column's value for what a person asked to remember.
const REMEMBERED: i64 = -1;

/// Selects the evidence that gives observations: live, and of no polluted session unless a person asked to remember
/// it.
pub(super) const VISIBLE: &str = "live AND (pollution IS NULL OR generation = -1)";

/// Locks scopes, with those in which a session has evidence, all in one order. Every change of evidence locks
/// them first: otherwise one transaction could delete an observation that loses its last evidence while another
/// adds some to it.
pub(super) async fn lock(
    tx: &Tx,
    scopes: &BTreeSet<&Scope>,
    session: Option<i64>,
) -> Result<LockedScopes, Fault> {
    let column = |part: fn(&Scope) -> &str| -> Vec<String> {
        scopes.iter().map(|scope| part(scope).to_owned()).collect()
    };
    let lock = "SELECT scope_no, tenant, kind, name
        FROM scopes JOIN tenants USING (tenant_no)
        WHERE scope_no IN (
            SELECT scope_no FROM scopes JOIN tenants USING (tenant_no)
            JOIN unnest($1, $2, $3) AS asked (tenant, kind, name) USING (tenant, kind, name)
            UNION SELECT scope_no FROM observations JOIN evidence USING (observation_no)
            WHERE session_no = $4)
        ORDER BY scope_no FOR UPDATE OF scopes";
    let asked = values![
        column(|scope| &scope.tenant.0),
        column(|scope| scope.kind.as_str()),
        column(|scope| &scope.name),
        session
    ];
    let mut locked = HashMap::new();
    for row in tx.rows(lock, asked).await? {
        locked.insert(scope_of(&row)?, get(&row, "scope_no")?);
    }
    for scope in scopes {
        if !locked.contains_key(*scope) {
            // The new row is invisible to others until this transaction ends.
            locked.insert((*scope).clone(), scope_no(tx, scope).await?);
        }
    }
    Ok(LockedScopes(locked))
}

/// Adds evidence for observations in locked scopes, unless a person retracted or purged them.
pub(super) async fn add(
    tx: &Tx,
    locked: &LockedScopes,
    additions: &[NewEvidence],
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    if additions.is_empty() {
        return Ok(());
    }
    let pieces = additions.iter().map(|addition| {
        (
            &addition.scope,
            addition.what.0,
            &addition.piece.evidence.session,
        )
    });
    let purged = tombstones::purged_evidence(tx, &pieces.collect::<Vec<_>>()).await?;
    let additions = additions.iter().zip(purged).filter(|(_, purged)| !purged);
    let additions: Vec<&NewEvidence> = additions.map(|(addition, _)| addition).collect();
    let mut sessions: HashMap<&SessionId, i64> = HashMap::new();
    for addition in &additions {
        let session = &addition.piece.evidence.session;
        if !sessions.contains_key(session) {
            sessions.insert(session, session_no(tx, session).await?);
        }
    }
    let retracted = find_retracted(tx, locked, &additions).await?;
    let mut kept = Vec::with_capacity(additions.len());
    for addition in additions {
        let evidence = &addition.piece.evidence;
        let (scope, session) = (locked.no(&addition.scope)?, sessions[&evidence.session]);
        let id = addition.what.0.0.cast_signed();
        let took_back = |&seq: &u64| retracted.contains(&(scope, id, session, seq));
        if !positions(&evidence.events).iter().all(took_back) {
            kept.push((scope, session, addition));
        }
    }
    let observations = observation_nos(tx, &kept).await?;
    insert(tx, &kept, &observations, touched).await
}

/// Numbers of the observations that evidence is added to, by scope and identity; missing ones are inserted, in
/// order of first appearance.
async fn observation_nos(
    tx: &Tx,
    kept: &[(i64, i64, &NewEvidence)],
) -> Result<HashMap<(i64, i64), i64>, Fault> {
    let mut seen = HashSet::new();
    let (mut scopes, mut ids) = (Vec::new(), Vec::new());
    let (mut kinds, mut texts) = (Vec::new(), Vec::new());
    for (scope, _, addition) in kept {
        let (id, kind) = addition.what;
        if seen.insert((*scope, id)) {
            scopes.push(*scope);
            ids.push(id.0.cast_signed());
            kinds.push(kind.as_str().to_owned());
            texts.push(addition.piece.text.clone());
        }
    }
    // A statement does not see its own inserts, so no observation is found twice.
    let find = "WITH asked AS (
            SELECT * FROM unnest($1, $2, $3, $4) WITH ORDINALITY
                AS asked (scope_no, id, kind, text, nth)
        ), known AS (
            SELECT observation_no, scope_no, id FROM observations JOIN asked USING (scope_no, id)
        ), made AS (
            INSERT INTO observations (tenant_no, scope_no, id, kind, holds, text, tokens)
            SELECT tenant_no, scope_no, id, asked.kind, FALSE, text, ''
            FROM asked JOIN scopes USING (scope_no)
            WHERE NOT EXISTS (SELECT FROM known
                WHERE known.scope_no = asked.scope_no AND known.id = asked.id)
            ORDER BY nth
            RETURNING observation_no, scope_no, id
        )
        SELECT * FROM known UNION ALL SELECT * FROM made";
    let rows = tx.rows(find, values![scopes, ids, kinds, texts]).await?;
    rows.iter()
        .map(|row| {
            let key = (get(row, "scope_no")?, get(row, "id")?);
            Ok((key, get(row, "observation_no")?))
        })
        .collect()
}

/// Inserts evidence that does not exist yet.
async fn insert(
    tx: &Tx,
    kept: &[(i64, i64, &NewEvidence)],
    observations: &HashMap<(i64, i64), i64>,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let mut numbers = Vec::with_capacity(kept.len());
    for (scope, _, addition) in kept {
        let id = addition.what.0;
        let no = observations.get(&(*scope, id.0.cast_signed())).copied();
        let no = no.ok_or_else(|| Fault::corrupt(format!("observation {id} was not made")))?;
        touched.note(no, false);
        numbers.push(no);
    }
    let evidence = |n: usize| &kept[n].2.piece.evidence;
    let piece = |n: usize| &kept[n].2.piece;
    let all = 0..kept.len();
    let ints = |of: &dyn Fn(usize) -> i64| -> Vec<i64> { all.clone().map(of).collect() };
    let words = |of: &dyn Fn(usize) -> String| -> Vec<String> { all.clone().map(of).collect() };
    let maybe = |of: &dyn Fn(usize) -> Option<String>| -> Vec<Option<String>> {
        all.clone().map(of).collect()
    };
    let bools = |of: &dyn Fn(usize) -> bool| -> Vec<bool> { all.clone().map(of).collect() };
    // In order: of two that rest on the same events, the first one stays.
    let add = format!(
        "INSERT INTO evidence (tenant_no, {PIECE})
         SELECT (SELECT tenant_no FROM observations
                WHERE observations.observation_no = added.observation_no), {PIECE}
         FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                $18, $19)
            WITH ORDINALITY AS added ({PIECE}, nth)
         ORDER BY nth ON CONFLICT DO NOTHING RETURNING observation_no, live"
    );
    let columns = values![
        numbers,
        ints(&|n| kept[n].1),
        words(&|n| join_numbers(evidence(n).events.iter().map(|seq| seq.0))),
        ints(&|n| piece(n).generation.map_or(REMEMBERED, i64::from)),
        bools(&|n| kept[n].2.live),
        ints(&|n| seq_column(piece(n).span().0)),
        ints(&|n| seq_column(piece(n).span().1)),
        words(&|n| join_numbers(evidence(n).lines.iter().map(|&line| u64::from(line)))),
        words(&|n| evidence(n).label.clone()),
        ints(&|n| evidence(n).at.0),
        maybe(&|n| evidence(n).branch.clone()),
        maybe(&|n| evidence(n).root.clone()),
        bools(&|n| piece(n).stated),
        bools(&|n| piece(n).quoted),
        words(&|n| piece(n).text.clone()),
        maybe(&|n| piece(n).context.clone()),
        maybe(&|n| piece(n).subject.clone()),
        words(&|n| piece(n).tokens.clone()),
        maybe(&|n| origin_text(piece(n).origin).map(str::to_owned)),
    ];
    note_all(&tx.rows(&add, columns).await?, touched)
}

pub(super) fn seq_column(seq: EventSeq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// Records as touched the observations in the columns observation_no and live.
fn note_all(rows: &[Row], touched: &mut TouchedObservations) -> Result<(), Fault> {
    for row in rows {
        touched.note(get(row, "observation_no")?, get(row, "live")?);
    }
    Ok(())
}

/// Removes events from all evidence of a session.
pub(super) async fn cut(
    tx: &Tx,
    session: i64,
    gone: &BTreeSet<EventSeq>,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let (Some(&first), Some(&last)) = (gone.first(), gone.last()) else {
        return Ok(());
    };
    let locked = lock(tx, &BTreeSet::new(), Some(session)).await?;
    let reaching = "session_no = $1 AND first_seq <= $2 AND last_seq >= $3 ORDER BY evidence_no";
    let rows = rows_where(tx, reaching, values![session, last.0, first.0]).await?;
    let (mut deleted, mut shortened, mut begun) = (Vec::new(), Vec::new(), Vec::new());
    for mut row in rows {
        let began = row.piece.span().0;
        match row.piece.cut(|seq| gone.contains(&seq)) {
            CutOutcome::Untouched => {}
            CutOutcome::Emptied => deleted.push(row.no),
            CutOutcome::Shortened => {
                deleted.push(row.no);
                let begins = row.piece.span().0;
                begun.push((begins != began).then_some(begins));
                shortened.push(row);
            }
        }
    }
    delete_where(tx, "evidence_no = ANY ($1)", values![deleted], touched).await?;
    let times = times_of(tx, session, begun.iter().flatten()).await?;
    for (row, begins) in shortened.iter_mut().zip(begun) {
        if let Some(&at) = begins.and_then(|begins| times.get(&begins)) {
            row.piece.evidence.at = at;
        }
    }
    let again = as_new_evidence(tx, shortened).await?;
    add(tx, &locked, &again, touched).await
}

/// Deletes the evidence of a session that rests on an event of a range, whatever else it rests on.
pub(super) async fn delete_within(
    tx: &Tx,
    session: i64,
    (from, to): (EventSeq, EventSeq),
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    lock(tx, &BTreeSet::new(), Some(session)).await?;
    let reaching = "session_no = $1 AND first_seq <= $2 AND last_seq >= $3";
    let span = values![session, seq_column(to), seq_column(from)];
    let rows = rows_where(tx, reaching, span).await?;
    let gone = rows.iter().filter(|row| {
        let events = &row.piece.evidence.events;
        // What a person asked to remember may rest on no event.
        events.is_empty() || events.iter().any(|seq| (from..=to).contains(seq))
    });
    let gone: Vec<i64> = gone.map(|row| row.no).collect();
    delete_where(tx, "evidence_no = ANY ($1)", values![gone], touched).await
}

/// The times of events of a session, as far as they are known.
async fn times_of(
    tx: &Tx,
    session: i64,
    events: impl Iterator<Item = &EventSeq>,
) -> Result<HashMap<EventSeq, Timestamp>, Fault> {
    let numbers: Vec<i64> = events.map(|&seq| event_no(session, seq)).collect();
    let mut times = HashMap::new();
    if numbers.is_empty() {
        return Ok(times);
    }
    let find = "SELECT event_no, at FROM events WHERE event_no = ANY ($1) AND at <> 0";
    for row in tx.rows(find, values![numbers]).await? {
        times.insert(seq_of(get(&row, "event_no")?), get(&row, "at")?);
    }
    Ok(times)
}

/// Evidence as additions to its observations.
async fn as_new_evidence(tx: &Tx, rows: Vec<EvidenceRow>) -> Result<Vec<NewEvidence>, Fault> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let find = "SELECT observation_no, id, observations.kind AS what, tenant, scopes.kind AS kind,
            name
        FROM observations JOIN scopes USING (scope_no)
        JOIN tenants ON tenants.tenant_no = scopes.tenant_no WHERE observation_no = ANY ($1)";
    let numbers: Vec<i64> = rows.iter().map(|row| row.observation).collect();
    let mut observed: HashMap<i64, (Scope, (ObservationId, ObservationKind))> = HashMap::new();
    for row in tx.rows(find, values![numbers]).await? {
        let id = ObservationId(get::<i64>(&row, "id")?.cast_unsigned());
        let what = (id, parse_column::<ObservationKind>(&row, "what")?);
        observed.insert(get(&row, "observation_no")?, (scope_of(&row)?, what));
    }
    let again = rows.into_iter().filter_map(|row| {
        let (scope, what) = observed.get(&row.observation)?.clone();
        Some(NewEvidence {
            scope,
            what,
            piece: row.piece,
            live: row.live,
        })
    });
    Ok(again.collect())
}

/// Deletes the evidence that `condition` selects. Its scopes are locked.
pub(super) async fn delete_where(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let delete = format!("DELETE FROM evidence WHERE {condition} RETURNING observation_no, live");
    note_all(&tx.rows(&delete, values).await?, touched)
}

/// Makes the evidence visible that a session's redo wrote. Its scopes are locked.
pub(super) async fn make_evidence_live(
    tx: &Tx,
    session: i64,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let update = "UPDATE evidence SET live = TRUE WHERE session_no = $1 AND NOT live
        RETURNING observation_no, live";
    note_all(&tx.rows(update, values![session]).await?, touched)
}

/// The evidence of a session, with the words of its observations.
pub(super) async fn stored(tx: &Tx, session: i64) -> Result<Vec<StoredEvidence>, Fault> {
    let of_session = "session_no = $1 ORDER BY evidence_no";
    let rows = rows_where(tx, of_session, values![session]).await?;
    let numbers: Vec<i64> = rows.iter().map(|row| row.no).collect();
    let pieces = as_new_evidence(tx, rows).await?.into_iter().zip(numbers);
    let stored = pieces.map(|(one, no)| one.piece.stored(no, one.scope, one.what));
    Ok(stored.collect())
}

/// Replaces the words of pieces of evidence, which may make them evidence of other observations. Those that have
/// other words by now stay. The session's scopes are locked.
pub(super) async fn rewrite(
    tx: &Tx,
    (session, locked): (i64, &LockedScopes),
    rewrites: &[EvidenceRewrite],
    touched: &mut TouchedObservations,
) -> Result<bool, Fault> {
    let numbers: Vec<i64> = rewrites.iter().map(|rewrite| rewrite.before.no).collect();
    let found = "session_no = $1 AND evidence_no = ANY ($2) ORDER BY evidence_no";
    let rows = rows_where(tx, found, values![session, numbers]).await?;
    let numbers: Vec<i64> = rows.iter().map(|row| row.no).collect();
    let mut replaced = Vec::new();
    let mut again = Vec::new();
    for (mut one, no) in as_new_evidence(tx, rows).await?.into_iter().zip(numbers) {
        let stored = one.piece.stored(no, one.scope.clone(), one.what);
        let Some(rewrite) = rewrites.iter().find(|rewrite| rewrite.before == stored) else {
            continue;
        };
        one.piece = one.piece.rewritten(rewrite);
        one.what.0 = rewrite.after.id;
        replaced.push(no);
        again.push(one);
    }
    let changed = !replaced.is_empty();
    delete_where(tx, "evidence_no = ANY ($1)", values![replaced], touched).await?;
    add(tx, locked, &again, touched).await?;
    Ok(changed)
}

/// Records as touched the observations that rest on a session and are hidden when it is polluted. Their scopes are
/// locked.
pub(super) async fn touch_session(
    tx: &Tx,
    session: i64,
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let find = "SELECT DISTINCT observation_no, live FROM evidence
        WHERE session_no = $1 AND live AND generation >= 0";
    note_all(&tx.rows(find, values![session]).await?, touched)
}

/// Moves pieces of evidence, by number, each to another scope, where their observations have other identities.
pub(super) async fn move_to(
    tx: &Tx,
    moves: &[(i64, Scope)],
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    let targets: HashMap<i64, &Scope> = moves.iter().map(|(no, to)| (*no, to)).collect();
    let numbers: Vec<i64> = moves.iter().map(|(no, _)| *no).collect();
    let rows = rows_where(
        tx,
        "evidence_no = ANY ($1) ORDER BY evidence_no",
        values![numbers.clone()],
    )
    .await?;
    let numbered: Vec<i64> = rows.iter().map(|row| row.no).collect();
    let mut moved = as_new_evidence(tx, rows).await?;
    let scopes = moved.iter().map(|addition| &addition.scope);
    let scopes: BTreeSet<Scope> = scopes.chain(targets.values().copied()).cloned().collect();
    let locked = lock(tx, &scopes.iter().collect(), None).await?;
    delete_where(tx, "evidence_no = ANY ($1)", values![numbers], touched).await?;
    for (addition, no) in moved.iter_mut().zip(numbered) {
        let to = targets[&no];
        let kind = addition.what.1;
        addition.what = (ObservationId::of(to, kind, &addition.piece.text), kind);
        addition.scope = to.clone();
    }
    add(tx, &locked, &moved, touched).await
}

pub(super) async fn rows_where(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<EvidenceRow>, Fault> {
    let sql = format!("{EVIDENCE} WHERE {condition}");
    let rows = tx.rows(&sql, values).await?;
    rows.iter().map(evidence_row).collect()
}

fn evidence_row(row: &Row) -> Result<EvidenceRow, Fault> {
    let (events, lines): (String, String) = (get(row, "events")?, get(row, "lines")?);
    let generation: i64 = get(row, "generation")?;
    Ok(EvidenceRow {
        no: get(row, "evidence_no")?,
        observation: get(row, "observation_no")?,
        live: get(row, "live")?,
        piece: EvidencePiece {
            evidence: Evidence {
                session: session_id_of(row)?,
                label: get(row, "label")?,
                events: parse_numbers(&events).map(EventSeq).collect(),
                lines: parse_numbers(&lines)
                    .filter_map(|line| u32::try_from(line).ok())
                    .collect(),
                at: get(row, "at")?,
                branch: get(row, "branch")?,
                root: get(row, "root")?,
            },
            generation: u32::try_from(generation).ok(),
            text: get(row, "text")?,
            context: get(row, "context")?,
            subject: get(row, "subject")?,
            stated: get(row, "stated")?,
            origin: origin_of(
                get::<Option<String>>(row, "origin")?.as_deref(),
                get(row, "stated")?,
            )
            .map_err(Fault::corrupt)?,
            quoted: get(row, "quoted")?,
            tokens: get(row, "tokens")?,
        },
    })
}

/// Those of these that a person retracted: scope, observation, session, position.
pub(super) async fn find_retracted(
    tx: &Tx,
    locked: &LockedScopes,
    additions: &[&NewEvidence],
) -> Result<HashSet<(i64, i64, i64, u64)>, Fault> {
    let mut keys = BTreeSet::new();
    for addition in additions {
        keys.insert((locked.no(&addition.scope)?, addition.what.0.0.cast_signed()));
    }
    let (scopes, ids): (Vec<i64>, Vec<i64>) = keys.into_iter().unzip();
    let find = "SELECT scope_no, id, session_no, seq FROM retractions
        JOIN unnest($1, $2) AS asked (scope_no, id) USING (scope_no, id)";
    let rows = tx.rows(find, values![scopes, ids]).await?;
    rows.iter()
        .map(|row| {
            let (scope, id) = (get(row, "scope_no")?, get(row, "id")?);
            Ok((scope, id, get(row, "session_no")?, get(row, "seq")?))
        })
        .collect()
}

/// The positions that a retraction stores for evidence; evidence without events has position 0.
pub(super) fn positions(events: &[EventSeq]) -> Vec<u64> {
    match events {
        [] => vec![0],
        events => events.iter().map(|seq| seq.0).collect(),
    }
}
