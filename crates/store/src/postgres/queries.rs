//! Queries of the index: how often words occur, and which documents contain them.

use std::collections::{HashMap, HashSet};

use daybook_domain::index::{
    CandidateQuery, DocumentKind, DocumentNo, IndexedDocument, SearchFilter, TermStats,
};
use daybook_domain::limits::COUNTED;
use daybook_domain::{
    EventSeq, Observation, ObservationId, ObservationOrigin, Scope, ScopeKind, SessionId, Tenant,
    Timestamp, Venue,
};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::index_rows::{root_owner, whole_word};
use super::row_numbers::seq_of;
use super::values::{get, parse_column, values};
use crate::bounds::{DOCUMENT_TEXT, head};
use crate::documents::{DocumentRange, ENTRIES, OBSERVATIONS, SAID, document_ranges};
use crate::evidence::parse_numbers;

pub(super) async fn term_stats(
    tx: &Tx,
    tenant: &Tenant,
    tokens: &[String],
) -> Result<TermStats, Fault> {
    let count = "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1)
        SELECT documents, frequency
        FROM (SELECT coalesce(sum(documents), 0)::BIGINT AS documents FROM ix_sizes
            WHERE tenant_no = (SELECT tenant_no FROM own)) AS sizes
        LEFT JOIN LATERAL (
            SELECT nth, (SELECT count(*) FROM (SELECT FROM ix_words
                WHERE tenant_no = (SELECT tenant_no FROM own) AND word = asked.word
                LIMIT $3) AS held) AS frequency
            FROM unnest($2) WITH ORDINALITY AS asked (word, nth)
        ) AS counted ON TRUE
        ORDER BY nth";
    let words: Vec<String> = tokens.iter().map(|token| whole_word(token)).collect();
    let rows = tx.rows(count, values![&tenant.0, words, COUNTED]).await?;
    let mut stats = TermStats::default();
    for row in &rows {
        stats.documents = get(row, "documents")?;
        stats
            .frequencies
            .extend(get::<Option<u64>>(row, "frequency")?);
    }
    Ok(stats)
}

pub(super) async fn matches(
    tx: &Tx,
    tenant: &Tenant,
    steps: &[CandidateQuery],
    filter: &SearchFilter,
) -> Result<Vec<DocumentNo>, Fault> {
    let owners = owners_of(tx, tenant, filter).await?;
    let owners = (owners, excepted_of(tx, tenant, filter).await?);
    let mut docs = matches_of(tx, tenant, steps, &document_ranges(filter), owners).await?;
    let mut seen = HashSet::new();
    docs.retain(|doc| seen.insert(*doc));
    Ok(docs)
}

pub(super) async fn documents(
    tx: &Tx,
    tenant: &Tenant,
    docs: &[DocumentNo],
) -> Result<Vec<IndexedDocument>, Fault> {
    let loaded = load(tx, tenant, docs).await?;
    let documents = docs.iter().filter_map(|doc| loaded.get(&doc.0).cloned());
    Ok(documents.collect())
}

/// Owners of the documents that a filter's scopes admit; `None` for all.
pub(super) async fn owners_of(
    tx: &Tx,
    tenant: &Tenant,
    filter: &SearchFilter,
) -> Result<Option<Vec<i64>>, Fault> {
    match &filter.scopes {
        None => Ok(None),
        Some(scopes) => owners(tx, tenant, scopes).await.map(Some),
    }
}

/// Numbers of the scopes whose documents a filter leaves out.
pub(super) async fn excepted_of(
    tx: &Tx,
    tenant: &Tenant,
    filter: &SearchFilter,
) -> Result<Vec<i64>, Fault> {
    match filter.except.as_slice() {
        [] => Ok(Vec::new()),
        scopes => owners(tx, tenant, scopes).await,
    }
}

/// Owners of the documents of these scopes. Events belong to the scopes of projects, by the root that
/// they happened under.
async fn owners(tx: &Tx, tenant: &Tenant, scopes: &[Scope]) -> Result<Vec<i64>, Fault> {
    let own: Vec<&Scope> = scopes.iter().filter(|s| &s.tenant == tenant).collect();
    let find = "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1)
        SELECT scope_no, NULL::BIGINT AS root_no
        FROM unnest($2, $3) AS asked (kind, name) JOIN scopes USING (kind, name)
        WHERE tenant_no = (SELECT tenant_no FROM own)
        UNION ALL
        SELECT NULL, root_no FROM roots
        WHERE tenant_no = (SELECT tenant_no FROM own) AND project = ANY ($4)";
    let kinds: Vec<String> = own.iter().map(|s| s.kind.as_str().to_owned()).collect();
    let names: Vec<String> = own.iter().map(|s| s.name.clone()).collect();
    let projects = own.iter().filter(|s| s.kind == ScopeKind::Project);
    let projects: Vec<String> = projects.map(|s| s.name.clone()).collect();
    let mut owners = Vec::new();
    for row in tx
        .rows(find, values![&tenant.0, kinds, names, projects])
        .await?
    {
        owners.extend(get::<Option<i64>>(&row, "scope_no")?);
        owners.extend(get::<Option<i64>>(&row, "root_no")?.map(root_owner));
    }
    Ok(owners)
}

/// The newest documents that hold all of a step's words, step by step.
///
/// Each range is walked from its end along the first word of a step, which the plan makes the rarest; each
/// document there is looked up under the other words.
async fn matches_of(
    tx: &Tx,
    tenant: &Tenant,
    steps: &[CandidateQuery],
    document_ranges: &[DocumentRange],
    (owners, excepted): (Option<Vec<i64>>, Vec<i64>),
) -> Result<Vec<DocumentNo>, Fault> {
    let columns = StepColumns::of(steps);
    if columns.limits.is_empty()
        || document_ranges.is_empty()
        || owners.as_ref().is_some_and(Vec::is_empty)
    {
        return Ok(Vec::new());
    }
    let mut owned = String::new();
    if owners.is_some() {
        owned += "AND found.owner = ANY ($9)";
    }
    if !excepted.is_empty() {
        owned += " AND (found.owner IS NULL OR found.owner <> ALL ($12))";
    }
    let narrowed = if document_ranges
        .iter()
        .any(|range| !range.origins.is_empty())
    {
        "AND (NOT narrowed OR (SELECT origin FROM events
            WHERE event_no = found.doc & ~$11::BIGINT) = ANY ($10))"
    } else {
        ""
    };
    let find = format!(
        "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1)
        SELECT step, doc
        FROM unnest($3, $4, $5) WITH ORDINALITY AS steps (first, last, bound, step)
        CROSS JOIN unnest($6, $7, $8) AS stretches (low, high, narrowed)
        CROSS JOIN LATERAL (
            SELECT found.doc FROM ix_words AS found
            WHERE found.tenant_no = (SELECT tenant_no FROM own)
                AND found.word = ($2)[first] AND found.doc BETWEEN low AND high
                {owned} {narrowed}
                AND (first = last OR last - first = (SELECT count(*) FROM ix_words AS held
                    WHERE held.tenant_no = (SELECT tenant_no FROM own)
                    AND held.word = ANY (($2)[first + 1:last]) AND held.doc = found.doc))
            ORDER BY found.doc DESC LIMIT bound
        ) AS matching"
    );
    let origins = document_ranges.iter().flat_map(|range| &range.origins);
    let origins: Vec<String> = origins.map(|origin| origin.as_str().to_owned()).collect();
    let lows: Vec<i64> = document_ranges.iter().map(|range| range.from).collect();
    let highs: Vec<i64> = document_ranges.iter().map(|range| range.to).collect();
    let narrowed: Vec<bool> = document_ranges
        .iter()
        .map(|s| !s.origins.is_empty())
        .collect();
    let limits = columns.limits.clone();
    let rows = tx
        .rows(
            &find,
            values![
                &tenant.0,
                columns.words,
                columns.firsts,
                columns.lasts,
                limits,
                lows,
                highs,
                narrowed,
                owners.unwrap_or_default(),
                origins,
                SAID,
                excepted
            ],
        )
        .await?;
    let mut found: Vec<Vec<DocumentNo>> = vec![Vec::new(); columns.limits.len()];
    for row in &rows {
        let step: usize = get(row, "step")?;
        if let Some(docs) = found.get_mut(step - 1) {
            docs.push(DocumentNo(get(row, "doc")?));
        }
    }
    for (docs, limit) in found.iter_mut().zip(columns.limits) {
        docs.sort_unstable_by_key(|doc| std::cmp::Reverse(doc.age()));
        docs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    Ok(found.concat())
}

/// Steps as columns: where in `words` each one's words are, counted from 1.
#[derive(Default)]
struct StepColumns {
    words: Vec<String>,
    firsts: Vec<i64>,
    lasts: Vec<i64>,
    limits: Vec<i64>,
}

impl StepColumns {
    fn of(steps: &[CandidateQuery]) -> Self {
        let mut columns = Self::default();
        for step in steps.iter().filter(|step| !step.all_of.is_empty()) {
            let first = columns.words.len();
            for token in &step.all_of {
                let word = whole_word(token);
                if !columns.words[first..].contains(&word) {
                    columns.words.push(word);
                }
            }
            let column = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
            columns.firsts.push(column(first + 1));
            columns.lasts.push(column(columns.words.len()));
            columns.limits.push(column(step.limit));
        }
        columns
    }
}

/// Those of the documents that still exist, by their numbers.
pub(super) async fn load(
    tx: &Tx,
    tenant: &Tenant,
    docs: &[DocumentNo],
) -> Result<HashMap<i64, IndexedDocument>, Fault> {
    let (mut entries, mut observations, mut events) = (Vec::new(), Vec::new(), HashMap::new());
    for &DocumentNo(doc) in docs {
        if doc >= ENTRIES {
            entries.push(doc - ENTRIES);
        } else if doc >= OBSERVATIONS {
            observations.push(doc - OBSERVATIONS);
        } else {
            events.insert(doc & !SAID, doc);
        }
    }
    let mut loaded = HashMap::with_capacity(docs.len());
    if !entries.is_empty() {
        for row in tx.rows(LOAD_ENTRIES, values![entries]).await? {
            let no: i64 = get(&row, "entry_no")?;
            loaded.insert(ENTRIES | no, entry_document(&row, tenant)?);
        }
    }
    if !observations.is_empty() {
        for row in tx.rows(LOAD_OBSERVATIONS, values![observations]).await? {
            let no: i64 = get(&row, "observation_no")?;
            loaded.insert(OBSERVATIONS | no, observation_document(&row, tenant)?);
        }
    }
    if !events.is_empty() {
        let numbers: Vec<i64> = events.keys().copied().collect();
        let most = values![numbers, DOCUMENT_TEXT];
        for row in tx.rows(LOAD_EVENTS, most).await? {
            let no: i64 = get(&row, "event_no")?;
            if let Some(doc) = events.get(&no) {
                loaded.insert(*doc, event_document(&row, tenant, no)?);
            }
        }
    }
    Ok(loaded)
}

const LOAD_EVENTS: &str = "SELECT event_no, agent, host_id, label, line, origin, at,
        left(text, $2::INTEGER) AS text, project, \"user\", room_id, team, filed_in
    FROM events JOIN sessions USING (session_no)
    LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no)
    WHERE event_no = ANY ($1)";

fn event_document(row: &Row, tenant: &Tenant, no: i64) -> Result<IndexedDocument, Fault> {
    let project: Option<String> = get(row, "project")?;
    let text: String = get(row, "text")?;
    Ok(IndexedDocument {
        what: DocumentKind::Event {
            origin: parse_column(row, "origin")?,
        },
        scope: Venue {
            room_id: get(row, "room_id")?,
            team: get(row, "team")?,
            filed_in: get(row, "filed_in")?,
            ..Venue::default()
        }
        .event_scope(tenant, (project, get(row, "user")?)),
        text: head(&text, DOCUMENT_TEXT).to_owned(),
        context: None,
        at: get(row, "at")?,
        session: Some((session_of(row, tenant)?, get(row, "label")?)),
        events: vec![seq_of(no)],
        lines: vec![get(row, "line")?],
    })
}

const LOAD_OBSERVATIONS: &str =
    "SELECT observations.observation_no AS observation_no, scopes.kind AS kind, name, id,
        observations.kind AS what, observations.text AS text, observations.subject AS subject, observations.context AS context,
        observations.origin AS origin, evidence.at AS at, evidence.events AS events, lines, evidence.label AS label, agent, host_id
    FROM observations JOIN scopes USING (scope_no)
    JOIN evidence ON evidence_no = shown JOIN sessions USING (session_no)
    WHERE observations.observation_no = ANY ($1) AND holds";

fn observation_document(row: &Row, tenant: &Tenant) -> Result<IndexedDocument, Fault> {
    let (events, lines): (String, String) = (get(row, "events")?, get(row, "lines")?);
    Ok(IndexedDocument {
        what: DocumentKind::Observation {
            id: ObservationId(get::<i64>(row, "id")?.cast_unsigned()),
            kind: parse_column(row, "what")?,
            origin: match get::<Option<String>>(row, "origin")? {
                None => ObservationOrigin::Unknown,
                Some(_) => parse_column(row, "origin")?,
            },
        },
        scope: Some(scope_in(row, tenant)?),
        text: Observation::statement_of(
            get::<Option<String>>(row, "subject")?.as_deref(),
            &get::<String>(row, "text")?,
        ),
        context: get(row, "context")?,
        at: get(row, "at")?,
        session: Some((session_of(row, tenant)?, get(row, "label")?)),
        events: parse_numbers(&events).map(EventSeq).collect(),
        lines: parse_numbers(&lines)
            .filter_map(|line| u32::try_from(line).ok())
            .collect(),
    })
}

const LOAD_ENTRIES: &str = "SELECT entry_no, kind, name, file, line, text, heading, observation,
        citation, at
    FROM ix_entries JOIN ix_files USING (file_no) JOIN scopes USING (scope_no)
    WHERE entry_no = ANY ($1)";

fn entry_document(row: &Row, tenant: &Tenant) -> Result<IndexedDocument, Fault> {
    let heading: String = get(row, "heading")?;
    let observation: Option<i64> = get(row, "observation")?;
    Ok(IndexedDocument {
        what: DocumentKind::Entry {
            file: get(row, "file")?,
            line: get(row, "line")?,
            observation: observation.map(|id| ObservationId(id.cast_unsigned())),
            citation: get(row, "citation")?,
        },
        scope: Some(scope_in(row, tenant)?),
        text: get(row, "text")?,
        context: Some(heading).filter(|heading| !heading.is_empty()),
        at: get::<Timestamp>(row, "at")?,
        session: None,
        events: Vec::new(),
        lines: Vec::new(),
    })
}

fn session_of(row: &Row, tenant: &Tenant) -> Result<SessionId, Fault> {
    Ok(SessionId {
        tenant: tenant.clone(),
        agent: get(row, "agent")?,
        host_id: get(row, "host_id")?,
    })
}

fn scope_in(row: &Row, tenant: &Tenant) -> Result<Scope, Fault> {
    Ok(Scope {
        tenant: tenant.clone(),
        kind: parse_column(row, "kind")?,
        name: get(row, "name")?,
    })
}
