//! Asking the index: how often words occur, and which documents hold them.

use std::collections::HashSet;

use daybook_domain::index::{Document, Filter, Found, Layer, Step, TermStats};
use daybook_domain::{
    EventSeq, ObservationId, ObservationKind, Origin, Scope, ScopeKind, Tenant, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::connection::Fault;
use super::evidence_rows;
use super::index::{ENTRIES, Mark, OBSERVATIONS, whole_word};
use super::names::{find_scope, find_tenant, scope_of, session_id_of, word};
use super::sessions::seq_of;
use crate::bounds::{DOCUMENT_TEXT, head};

pub(super) fn term_stats(
    tx: &Connection,
    tenant: &Tenant,
    tokens: &[String],
) -> Result<TermStats, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(TermStats {
            documents: 0,
            frequencies: vec![0; tokens.len()],
        });
    };
    if is_only_tenant(tx)? {
        return stats_of_all(tx, tokens);
    }
    let mark = quoted(&Mark::Tenant(no).word());
    let mut count = tx.prepare_cached("SELECT count(*) FROM ix_text WHERE ix_text MATCH ?")?;
    let documents = count.query_row([&mark], |row| row.get(0))?;
    let mut frequencies = Vec::with_capacity(tokens.len());
    for token in tokens {
        let both = format!("{} AND {mark}", quoted(&whole_word(token)));
        frequencies.push(count.query_row([both], |row| row.get(0))?);
    }
    Ok(TermStats {
        documents,
        frequencies,
    })
}

/// With one tenant, which is nearly always so, the index's own counts are the tenant's.
fn stats_of_all(tx: &Connection, tokens: &[String]) -> Result<TermStats, Fault> {
    let documents = tx
        .prepare_cached("SELECT count(*) FROM ix_text_docsize")?
        .query_row([], |row| row.get(0))?;
    let mut find = tx.prepare_cached("SELECT doc FROM ix_words WHERE term = ?")?;
    let mut frequencies = Vec::with_capacity(tokens.len());
    for token in tokens {
        let held: Option<u64> = find
            .query_row([whole_word(token)], |row| row.get(0))
            .optional()?;
        frequencies.push(held.unwrap_or(0));
    }
    Ok(TermStats {
        documents,
        frequencies,
    })
}

fn is_only_tenant(tx: &Connection) -> Result<bool, Fault> {
    let mut count = tx.prepare_cached("SELECT count(*) = 1 FROM tenants")?;
    Ok(count.query_row([], |row| row.get(0))?)
}

pub(super) fn candidates(
    tx: &Connection,
    tenant: &Tenant,
    steps: &[Step],
    filter: &Filter,
) -> Result<Vec<Document>, Fault> {
    let parts = searched_parts(tx, tenant, filter)?;
    let mut seen = HashSet::new();
    let mut documents = Vec::new();
    for step in steps {
        for doc in matches(tx, &parts, step)? {
            if seen.insert(doc) {
                documents.extend(load(tx, doc)?);
            }
        }
    }
    Ok(documents)
}

/// A layer that is searched: its range of documents, and what they must carry besides the words.
struct Part {
    from: i64,
    to: i64,
    filter: String,
}

/// The layers that may hold a match, those with the greatest documents first.
fn searched_parts(tx: &Connection, tenant: &Tenant, filter: &Filter) -> Result<Vec<Part>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    let mut common = Vec::new();
    if !is_only_tenant(tx)? {
        common.push(any_of(&[Mark::Tenant(no)]));
    }
    let mut parts = Vec::new();
    for layer in Layer::ALL {
        if !filter.layers.is_empty() && !filter.layers.contains(&layer) {
            continue;
        }
        let (from, to) = match layer {
            Layer::Entry => (ENTRIES, i64::MAX),
            Layer::Observation => (OBSERVATIONS, ENTRIES - 1),
            Layer::Event => (0, OBSERVATIONS - 1),
        };
        let mut conditions = common.clone();
        if let Some(scopes) = &filter.scopes {
            let own: Vec<&Scope> = scopes.iter().filter(|s| &s.tenant == tenant).collect();
            let marks = match layer {
                Layer::Entry | Layer::Observation => scope_marks(tx, &own)?,
                Layer::Event => root_marks(tx, &own)?,
            };
            if marks.is_empty() {
                continue;
            }
            conditions.push(any_of(&marks));
        }
        if layer == Layer::Event && !filter.origins.is_empty() {
            let marks: Vec<Mark> = filter.origins.iter().map(|&o| Mark::Origin(o)).collect();
            conditions.push(any_of(&marks));
        }
        let filter = conditions.iter().map(|c| format!(" AND {c}")).collect();
        parts.push(Part { from, to, filter });
    }
    Ok(parts)
}

fn scope_marks(tx: &Connection, scopes: &[&Scope]) -> Result<Vec<Mark>, Fault> {
    let mut marks = Vec::new();
    for scope in scopes {
        marks.extend(find_scope(tx, scope)?.map(Mark::Scope));
    }
    Ok(marks)
}

/// Events belong to the scopes of projects, by the root that they happened under.
fn root_marks(tx: &Connection, scopes: &[&Scope]) -> Result<Vec<Mark>, Fault> {
    let mut find = tx.prepare_cached("SELECT root_no FROM roots WHERE project = ?")?;
    let mut marks = Vec::new();
    for scope in scopes.iter().filter(|s| s.kind == ScopeKind::Project) {
        let mut rows = find.query([&scope.name])?;
        while let Some(row) = rows.next()? {
            marks.push(Mark::Root(row.get(0)?));
        }
    }
    Ok(marks)
}

fn any_of(marks: &[Mark]) -> String {
    let words: Vec<String> = marks.iter().map(|mark| quoted(&mark.word())).collect();
    format!("({})", words.join(" OR "))
}

fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// The newest documents that hold all of a step's words.
fn matches(tx: &Connection, parts: &[Part], step: &Step) -> Result<Vec<i64>, Fault> {
    let mut docs = Vec::new();
    if step.all_of.is_empty() {
        return Ok(docs);
    }
    let words: Vec<String> = step.all_of.iter().map(|t| quoted(&whole_word(t))).collect();
    let words = words.join(" AND ");
    let mut find = tx.prepare_cached(
        "SELECT rowid FROM ix_text WHERE ix_text MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid DESC LIMIT ?",
    )?;
    for part in parts {
        let left = step.limit - docs.len();
        if left == 0 {
            break;
        }
        let query = format!("{words}{}", part.filter);
        let mut rows = find.query(params![query, part.from, part.to, left])?;
        while let Some(row) = rows.next()? {
            docs.push(row.get(0)?);
        }
    }
    Ok(docs)
}

/// The document with this number; `None` when what it stood for is gone.
fn load(tx: &Connection, doc: i64) -> Result<Option<Document>, Fault> {
    if doc >= ENTRIES {
        load_entry(tx, doc - ENTRIES)
    } else if doc >= OBSERVATIONS {
        load_observation(tx, doc - OBSERVATIONS)
    } else {
        load_event(tx, doc)
    }
}

fn load_event(tx: &Connection, no: i64) -> Result<Option<Document>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, agent, host_id, label, line, origin, at, text, project
         FROM events JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no) WHERE event_no = ?",
    )?;
    let load = |row: &Row<'_>| {
        let session = session_id_of(row)?;
        let project: Option<String> = row.get("project")?;
        let text = row.get_ref("text")?.as_str()?;
        Ok(Document {
            what: Found::Event {
                origin: word(row, "origin", Origin::from_word)?,
            },
            scope: project.map(|name| Scope {
                tenant: session.tenant.clone(),
                kind: ScopeKind::Project,
                name,
            }),
            text: head(text, DOCUMENT_TEXT).to_owned(),
            context: None,
            at: Timestamp(row.get("at")?),
            session: Some((session, row.get("label")?)),
            events: vec![seq_of(no)],
            lines: vec![row.get("line")?],
        })
    };
    Ok(find.query_row([no], load).optional()?)
}

fn load_observation(tx: &Connection, no: i64) -> Result<Option<Document>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, scopes.kind AS kind, name, id, observations.kind AS what, shown, text,
            context
         FROM observations JOIN scopes USING (scope_no) JOIN tenants USING (tenant_no)
         WHERE observation_no = ? AND holds",
    )?;
    let load = |row: &Row<'_>| {
        let document = Document {
            what: Found::Observation {
                id: ObservationId(row.get::<_, i64>("id")?.cast_unsigned()),
                kind: word(row, "what", ObservationKind::from_word)?,
            },
            scope: Some(scope_of(row)?),
            text: row.get("text")?,
            context: row.get("context")?,
            at: Timestamp::ZERO,
            session: None,
            events: Vec::new(),
            lines: Vec::new(),
        };
        Ok((document, row.get("shown")?))
    };
    let Some((mut document, shown)) = find.query_row([no], load).optional()? else {
        return Ok(None);
    };
    if let Some(evidence) = evidence_rows::shown(tx, shown)? {
        document.at = evidence.at;
        document.session = Some((evidence.session, evidence.label));
        document.events = evidence.events;
        document.lines = evidence.lines;
    }
    Ok(Some(document))
}

fn load_entry(tx: &Connection, no: i64) -> Result<Option<Document>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, kind, name, file, line, text, heading, observation, citation, at
         FROM ix_entries JOIN ix_files USING (file_no) JOIN scopes USING (scope_no)
         JOIN tenants USING (tenant_no) WHERE entry_no = ?",
    )?;
    let load = |row: &Row<'_>| {
        let heading: String = row.get("heading")?;
        let observation: Option<i64> = row.get("observation")?;
        Ok(Document {
            what: Found::Entry {
                file: row.get("file")?,
                line: row.get("line")?,
                observation: observation.map(|id| ObservationId(id.cast_unsigned())),
                citation: row.get("citation")?,
            },
            scope: Some(scope_of(row)?),
            text: row.get("text")?,
            context: Some(heading).filter(|heading| !heading.is_empty()),
            at: Timestamp(row.get("at")?),
            session: None,
            events: Vec::<EventSeq>::new(),
            lines: Vec::new(),
        })
    };
    Ok(find.query_row([no], load).optional()?)
}
