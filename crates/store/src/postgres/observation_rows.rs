//! Observations as rows, derived from their remaining evidence.

use std::collections::{BTreeMap, HashMap};

use daybook_domain::{
    Observation, ObservationId, ObservationKind, ObservationOrigin, Scope, ScopeKind, Tenant,
};

use super::connection::Tx;
use super::evidence_rows::{VISIBLE, rows_where};
use super::fault::Fault;
use super::index_rows;
use super::index_rows::NewDocument;
use super::names::{find_scope, scope_of};
use super::values::{SqlValue, get, parse_column, values};
use crate::documents::observation_doc;
use crate::evidence::{
    EvidencePiece, EvidenceRow, SettleOutcome, TouchedObservations, assemble, origin_of,
    origin_text, sort_observations,
};

/// Derives the touched observations from their remaining evidence.
pub(super) async fn settle(tx: &Tx, touched: &TouchedObservations) -> Result<SettleOutcome, Fault> {
    let mut settled = SettleOutcome::default();
    if touched.0.is_empty() {
        return Ok(settled);
    }
    let numbers: Vec<i64> = touched.0.keys().copied().collect();
    let find =
        "SELECT observation_no, observations.tenant_no AS tenant_no, scope_no, holds, tokens,
            tenant, scopes.kind AS kind, name
        FROM observations JOIN scopes USING (scope_no)
        JOIN tenants ON tenants.tenant_no = scopes.tenant_no
        WHERE observation_no = ANY ($1) ORDER BY observation_no";
    let before = tx.rows(find, values![numbers.clone()]).await?;
    let origins = origins_of(tx, numbers.clone()).await?;
    let shown = shown_evidence(tx, numbers).await?;
    let mut changes = ObservationChanges::default();
    for row in &before {
        let observation: i64 = get(row, "observation_no")?;
        let held: bool = get(row, "holds")?;
        settled.withdrawn += u64::from(held && !shown.contains_key(&observation));
        if touched.0[&observation] {
            settled.scopes.insert(scope_of(row)?);
        }
        let tokens: String = get(row, "tokens")?;
        let numbers = (get(row, "tenant_no")?, get(row, "scope_no")?, observation);
        let origin = origins.get(&observation).copied().unwrap_or_default();
        changes.note(
            numbers,
            held.then_some(tokens),
            shown.get(&observation),
            origin,
        );
    }
    changes.save(tx).await?;
    Ok(settled)
}

/// The most trusted origin of each observation's visible evidence.
async fn origins_of(
    tx: &Tx,
    observations: Vec<i64>,
) -> Result<HashMap<i64, ObservationOrigin>, Fault> {
    let find = format!(
        "SELECT DISTINCT observation_no, origin, stated FROM evidence JOIN sessions USING (session_no)
        WHERE observation_no = ANY ($1) AND {VISIBLE}"
    );
    let mut origins: HashMap<i64, ObservationOrigin> = HashMap::new();
    for row in tx.rows(&find, values![observations]).await? {
        let text: Option<String> = get(&row, "origin")?;
        let origin = origin_of(text.as_deref(), get(&row, "stated")?).map_err(Fault::corrupt)?;
        let known = origins.entry(get(&row, "observation_no")?).or_default();
        *known = origin.max(*known);
    }
    Ok(origins)
}

/// The evidence that provides each observation's words.
async fn shown_evidence(
    tx: &Tx,
    observations: Vec<i64>,
) -> Result<HashMap<i64, EvidenceRow>, Fault> {
    // Only the earliest pieces can have the lowest rank; among equally early ones, [`EvidencePiece::rank`] decides.
    let earliest = format!(
        "{VISIBLE} AND (observation_no, at) IN (
            SELECT observation_no, min(at) FROM evidence JOIN sessions USING (session_no)
            WHERE observation_no = ANY ($1) AND {VISIBLE} GROUP BY observation_no)"
    );
    let mut shown: HashMap<i64, EvidenceRow> = HashMap::new();
    for row in rows_where(tx, &earliest, values![observations]).await? {
        match shown.get(&row.observation) {
            Some(other) if other.piece.rank() <= row.piece.rank() => {}
            _ => {
                shown.insert(row.observation, row);
            }
        }
    }
    Ok(shown)
}

/// The changes of observations and of the index.
#[derive(Default)]
struct ObservationChanges<'a> {
    holding: Vec<(&'a EvidenceRow, ObservationOrigin)>,
    lost: Vec<i64>,
    forgotten: Vec<i64>,
    indexed: BTreeMap<i64, Vec<NewDocument<'a>>>,
}

impl<'a> ObservationChanges<'a> {
    /// Adds an observation's change; `indexed` are the tokens that it had while it held.
    fn note(
        &mut self,
        (tenant, scope, observation): (i64, i64, i64),
        indexed: Option<String>,
        shown: Option<&'a EvidenceRow>,
        origin: ObservationOrigin,
    ) {
        let tokens = shown.map(|shown| &shown.piece.tokens);
        // With the same words it stays in the index, and `show` sets its time.
        if indexed.as_ref() != tokens {
            if indexed.is_some() {
                self.forgotten.push(observation_doc(observation));
            }
            if let Some(shown) = shown {
                let (at, tokens) = (shown.piece.evidence.at, &shown.piece.tokens);
                let document = NewDocument::observation(observation, scope, at, tokens);
                self.indexed.entry(tenant).or_default().push(document);
            }
        }
        match shown {
            Some(shown) => self.holding.push((shown, origin)),
            None => self.lost.push(observation),
        }
    }

    async fn save(self, tx: &Tx) -> Result<(), Fault> {
        if !self.holding.is_empty() {
            show(tx, &self.holding).await?;
        }
        if !self.lost.is_empty() {
            hide(tx, self.lost).await?;
        }
        index_rows::forget(tx, self.forgotten).await?;
        for (tenant, documents) in self.indexed {
            index_rows::put(tx, tenant, &documents);
        }
        Ok(())
    }
}

/// Gives observations their origin, and the words and the time of their evidence.
async fn show(tx: &Tx, holding: &[(&EvidenceRow, ObservationOrigin)]) -> Result<(), Fault> {
    let shown: Vec<&EvidenceRow> = holding.iter().map(|(row, _)| *row).collect();
    let origins = holding.iter().map(|(_, origin)| origin_text(*origin));
    let origins: Vec<Option<String>> = origins.map(|text| text.map(str::to_owned)).collect();
    let maybe = |of: fn(&EvidencePiece) -> &Option<String>| -> Vec<Option<String>> {
        shown.iter().map(|row| of(&row.piece).clone()).collect()
    };
    let words = |of: fn(&EvidencePiece) -> &String| -> Vec<String> {
        shown.iter().map(|row| of(&row.piece).clone()).collect()
    };
    let update = "WITH new AS MATERIALIZED (
            SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
                AS new (observation_no, shown, text, context, subject, tokens, doc, at, origin)
        ), dated AS (
            UPDATE ix_docs SET at = new.at FROM new
            WHERE ix_docs.doc = new.doc AND ix_docs.at <> new.at
        )
        UPDATE observations SET holds = TRUE, shown = new.shown, text = new.text,
            context = new.context, subject = new.subject, tokens = new.tokens,
            origin = new.origin
        FROM new WHERE observations.observation_no = new.observation_no";
    let observations: Vec<i64> = shown.iter().map(|row| row.observation).collect();
    let docs = shown.iter().map(|row| observation_doc(row.observation));
    let docs: Vec<i64> = docs.collect();
    let times: Vec<i64> = shown.iter().map(|row| row.piece.evidence.at.0).collect();
    let numbers: Vec<i64> = shown.iter().map(|row| row.no).collect();
    let columns = values![
        observations,
        numbers,
        words(|piece| &piece.text),
        maybe(|piece| &piece.context),
        maybe(|piece| &piece.subject),
        words(|piece| &piece.tokens),
        docs,
        times,
        origins
    ];
    tx.execute(update, columns).await?;
    Ok(())
}

/// Marks observations as no longer held, and deletes those without any evidence.
async fn hide(tx: &Tx, observations: Vec<i64>) -> Result<(), Fault> {
    let hide = "WITH gone AS (
            DELETE FROM observations WHERE observation_no = ANY ($1) AND NOT EXISTS
                (SELECT FROM evidence WHERE evidence.observation_no = observations.observation_no)
        )
        UPDATE observations SET holds = FALSE, shown = NULL, tokens = ''
        WHERE observation_no = ANY ($1) AND EXISTS
            (SELECT FROM evidence WHERE evidence.observation_no = observations.observation_no)";
    tx.execute(hide, values![observations]).await?;
    Ok(())
}

/// Observations that hold in a scope.
pub(super) async fn in_scope(tx: &Tx, scope: &Scope) -> Result<Vec<Observation>, Fault> {
    match find_scope(tx, scope).await? {
        Some(no) => observations_where(tx, "scope_no = $1", values![no]).await,
        None => Ok(Vec::new()),
    }
}

/// The observation with this id that holds in a scope.
pub(super) async fn with_id(
    tx: &Tx,
    scope: &Scope,
    id: ObservationId,
) -> Result<Option<Observation>, Fault> {
    let Some(no) = find_scope(tx, scope).await? else {
        return Ok(None);
    };
    let id = id.0.cast_signed();
    let found = observations_where(tx, "scope_no = $1 AND id = $2", values![no, id]).await?;
    Ok(found.into_iter().next())
}

/// Observations of `kinds` that hold in a tenant's scopes of one kind.
pub(super) async fn of_kinds(
    tx: &Tx,
    tenant: &Tenant,
    scopes: ScopeKind,
    kinds: &[ObservationKind],
) -> Result<Vec<Observation>, Fault> {
    let condition = "tenant = $1 AND scopes.kind = $2 AND observations.kind = ANY ($3)";
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    observations_where(tx, condition, values![&tenant.0, scopes.as_str(), kinds]).await
}

/// Observations that hold, ordered by scope, first time and id.
async fn observations_where(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<Observation>, Fault> {
    let scoped = "observations JOIN scopes USING (scope_no)
        JOIN tenants ON tenants.tenant_no = scopes.tenant_no";
    let live = format!(
        "observation_no IN (SELECT observation_no FROM {scoped} WHERE {condition}) AND {VISIBLE}"
    );
    let mut pieces: BTreeMap<i64, Vec<EvidencePiece>> = BTreeMap::new();
    for row in rows_where(tx, &live, values).await? {
        pieces.entry(row.observation).or_default().push(row.piece);
    }
    let find = format!(
        "SELECT observation_no, id, observations.kind AS what, tenant, scopes.kind AS kind, name
         FROM {scoped} WHERE {condition} AND holds"
    );
    let mut observations = Vec::new();
    for row in tx.rows(&find, values).await? {
        let id = ObservationId(get::<i64>(&row, "id")?.cast_unsigned());
        let kind = parse_column::<ObservationKind>(&row, "what")?;
        let pieces = pieces.remove(&get(&row, "observation_no")?);
        observations.extend(assemble(
            scope_of(&row)?,
            id,
            kind,
            pieces.unwrap_or_default(),
        ));
    }
    sort_observations(&mut observations);
    Ok(observations)
}
