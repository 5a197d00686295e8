//! Queries of the index: how often words occur, and which documents contain them.

use std::cmp::Reverse;
use std::collections::HashSet;

use daybook_domain::index::{
    CandidateQuery, DocumentKind, DocumentNo, IndexedDocument, SearchFilter, TermStats,
};
use daybook_domain::index_words::AdmittedOwners;
use daybook_domain::limits::COUNTED;
use daybook_domain::{
    EventSeq, Observation, ObservationId, ObservationOrigin, Scope, ScopeKind, Tenant, Timestamp,
    Venue,
};
use memchr::memmem::Finder;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::connection::Fault;
use super::evidence_rows;
use super::index_words::{Mark, whole_word};
use super::listing::is_invalid_value;
use super::names::{find_scope, find_tenant, parse_column, scope_of, session_id_of, shared_scope};
use super::outlines::origin_no;
use super::row_numbers::seq_of;
use super::term_counts::{self, TermCounts};
use crate::bounds::{DOCUMENT_TEXT, head};
use crate::documents::{DocumentRange, ENTRIES, OBSERVATIONS, SAID, document_ranges};

pub(super) fn term_stats(
    tx: &Connection,
    known: &TermCounts,
    tenant: &Tenant,
    tokens: &[String],
) -> Result<TermStats, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(TermStats {
            documents: 0,
            frequencies: vec![0; tokens.len()],
        });
    };
    let pending = Pending::load(tx)?;
    let mark = Mark::Tenant(no).word();
    let words: Vec<String> = tokens.iter().map(|token| whole_word(token)).collect();
    let mut stats = if is_only_tenant(tx)? {
        stats_of_all(tx, known, &words)?
    } else {
        stats_of_one(tx, known, &words, &quoted(&mark))?
    };
    let mark = WordFinder::of(&mark);
    stats.documents += pending.count(std::slice::from_ref(&mark));
    for (word, frequency) in words.iter().zip(&mut stats.frequencies) {
        *frequency += pending.count(&[WordFinder::of(word), mark.clone()]);
        *frequency = (*frequency).min(COUNTED);
    }
    Ok(stats)
}

/// Counts documents that carry a tenant's mark.
fn stats_of_one(
    tx: &Connection,
    known: &TermCounts,
    words: &[String],
    mark: &str,
) -> Result<TermStats, Fault> {
    let both = |word: &String| format!("{} AND {mark}", quoted(word));
    let queries: Vec<String> = words.iter().map(both).collect();
    let documents = known.count(tx, &[mark.to_owned()], i64::MAX.cast_unsigned())?;
    Ok(TermStats {
        documents: documents.first().copied().unwrap_or_default(),
        frequencies: known.count(tx, &queries, COUNTED)?,
    })
}

/// Counts all documents. With one tenant, which is nearly always so, these are the tenant's.
fn stats_of_all(tx: &Connection, known: &TermCounts, words: &[String]) -> Result<TermStats, Fault> {
    let queries: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Ok(TermStats {
        documents: term_counts::documents(tx)?,
        frequencies: known.count(tx, &queries, COUNTED)?,
    })
}

pub(super) fn is_only_tenant(tx: &Connection) -> Result<bool, Fault> {
    let mut count = tx.prepare_cached("SELECT count(*) = 1 FROM tenants")?;
    Ok(count.query_row([], |row| row.get(0))?)
}

pub(super) fn matches(
    tx: &Connection,
    tenant: &Tenant,
    steps: &[CandidateQuery],
    filter: &SearchFilter,
) -> Result<Vec<DocumentNo>, Fault> {
    let parts = searched_parts(tx, tenant, filter)?;
    let pending = Pending::load(tx)?;
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for step in steps {
        for doc in matches_of(tx, &parts, &pending, step)? {
            if seen.insert(doc) {
                found.push(DocumentNo(doc));
            }
        }
    }
    Ok(found)
}

/// Whether a document is a tenant's. Its session or scope names the tenant.
pub(super) fn is_of_tenant(document: &IndexedDocument, tenant: &Tenant) -> bool {
    let session = document.session.as_ref().map(|(id, _)| &id.tenant);
    let scope = document.scope.as_ref().map(|scope| &scope.tenant);
    session.or(scope) == Some(tenant)
}

/// Documents that are read before the share admitted by a filter is estimated.
const SAMPLED_DOCUMENTS: usize = 64;
/// A filter that admits fewer than one in so many admits few.
const FEW_RATIO: usize = 4;

/// Documents that wait to be moved into the index, each with its words between blanks.
struct Pending(Vec<(i64, Vec<u8>)>);

/// A word between blanks, so that only whole words match, prepared for searching many documents.
#[derive(Clone)]
struct WordFinder(Finder<'static>);

impl WordFinder {
    fn of(word: &str) -> Self {
        Self(Finder::new(&between_blanks(word)).into_owned())
    }

    fn is_in(&self, words: &[u8]) -> bool {
        self.0.find(words).is_some()
    }
}

impl Pending {
    fn load(tx: &Connection) -> Result<Self, Fault> {
        let mut find = tx.prepare_cached("SELECT doc, words FROM ix_pending")?;
        // A document with damaged words matches nothing, and other documents are still found.
        let rows = find.query_map([], |row| {
            let words = row.get_ref(1)?.as_bytes().unwrap_or_default();
            Ok((row.get(0)?, words.to_vec()))
        })?;
        Ok(Self(rows.collect::<Result<_, _>>()?))
    }

    /// Counts the documents that contain all of these words.
    fn count(&self, words: &[WordFinder]) -> u64 {
        let holding = self.0.iter().filter(|(_, held)| contains_all(held, words));
        holding.count() as u64
    }

    /// The documents of a part that contain all of these words.
    fn matches(&self, part: &SearchPart, words: &[WordFinder]) -> impl Iterator<Item = i64> {
        let range = part.from..=part.to;
        let lying = self.0.iter().filter(move |(doc, _)| range.contains(doc));
        lying
            .filter(move |(_, held)| contains_all(held, words) && part.admits(held))
            .map(|&(doc, _)| doc)
    }
}

fn contains_all(held: &[u8], words: &[WordFinder]) -> bool {
    words.iter().all(|word| word.is_in(held))
}

pub(super) fn between_blanks(word: &str) -> String {
    format!(" {word} ")
}

/// A range of documents that is searched, and the marks that they must carry besides the words, at least one of
/// each group.
struct SearchPart {
    from: i64,
    to: i64,
    groups: Vec<Vec<String>>,
    /// Marks of which they must carry none.
    excepted: Vec<String>,
    /// The same conditions on the rows of documents.
    own: RowFilter,
    /// Whether any of its documents is in the index; all may be pending.
    is_indexed: bool,
}

/// Conditions on the rows of documents that a filter admits.
#[derive(Clone)]
struct RowFilter {
    tenant: i64,
    owners: AdmittedOwners,
    /// Empty for all.
    origins: Vec<i64>,
}

impl RowFilter {
    fn admits(&self, (tenant, owner, origin): (i64, i64, i64)) -> bool {
        tenant == self.tenant
            && self.owners.admits(owner)
            && (self.origins.is_empty() || self.origins.contains(&origin))
    }
}

/// The ranges to search, from the greatest documents down. Each costs a look-up in every piece of the index.
fn searched_parts(
    tx: &Connection,
    tenant: &Tenant,
    filter: &SearchFilter,
) -> Result<Vec<SearchPart>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    let mut groups = Vec::new();
    if !is_only_tenant(tx)? {
        groups.push(words_of(&[Mark::Tenant(no)]));
    }
    if let Some(scopes) = &filter.scopes {
        let own: Vec<&Scope> = scopes.iter().filter(|s| &s.tenant == tenant).collect();
        // Only entries and observations carry the mark of a scope, and only events that of a root.
        let mut marks = scope_marks(tx, &own)?;
        marks.extend(root_marks(tx, &own)?);
        if marks.is_empty() {
            return Ok(Vec::new());
        }
        groups.push(words_of(&marks));
    }
    let own = RowFilter {
        tenant: no,
        owners: owners(tx, tenant, filter)?,
        origins: Vec::new(),
    };
    let excepted: Vec<&Scope> = filter.except.iter().collect();
    let excepted = words_of(&scope_marks(tx, &excepted)?);
    let part = |range: DocumentRange| {
        let mut groups = groups.clone();
        let mut own = own.clone();
        own.origins = range.origins.iter().map(|&o| origin_no(Some(o))).collect();
        if !range.origins.is_empty() {
            let marks: Vec<Mark> = range.origins.into_iter().map(Mark::Origin).collect();
            groups.push(words_of(&marks));
        }
        let (from, to) = (range.from, range.to);
        let mut find = tx.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM ix_text_docsize WHERE id BETWEEN ? AND ?)",
        )?;
        Ok(SearchPart {
            from,
            to,
            groups,
            excepted: excepted.clone(),
            own,
            is_indexed: find.query_row([from, to], |row| row.get(0))?,
        })
    };
    document_ranges(filter).into_iter().map(part).collect()
}

fn scope_marks(tx: &Connection, scopes: &[&Scope]) -> Result<Vec<Mark>, Fault> {
    let mut marks = Vec::new();
    for scope in scopes {
        marks.extend(find_scope(tx, scope)?.map(Mark::Scope));
    }
    Ok(marks)
}

/// Events belong to the scopes of projects, through the root under which they happened.
fn root_marks(tx: &Connection, scopes: &[&Scope]) -> Result<Vec<Mark>, Fault> {
    let mut marks = Vec::new();
    for scope in scopes {
        marks.extend(roots_of(tx, scope)?.into_iter().map(Mark::Root));
    }
    Ok(marks)
}

/// The roots of a project's scope; none for another scope.
pub(super) fn roots_of(tx: &Connection, scope: &Scope) -> Result<Vec<i64>, Fault> {
    if scope.kind != ScopeKind::Project {
        return Ok(Vec::new());
    }
    let mut find = tx.prepare_cached(
        "SELECT root_no FROM roots JOIN tenants USING (tenant_no) WHERE tenant = ? AND project = ?",
    )?;
    let rows = find.query_map([&scope.tenant.0, &scope.name], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn words_of(marks: &[Mark]) -> Vec<String> {
    marks.iter().map(|mark| mark.word()).collect()
}

impl SearchPart {
    /// The query for documents of this part that contain all of `words`.
    fn query(&self, words: &[String]) -> String {
        let any_of = |group: &[String]| {
            let any: Vec<String> = group.iter().map(|word| quoted(word)).collect();
            format!("({})", any.join(" OR "))
        };
        let mut conditions: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        conditions.extend(self.groups.iter().map(|group| any_of(group)));
        let all = conditions.join(" AND ");
        match self.excepted.as_slice() {
            [] => all,
            excepted => format!("({all}) NOT {}", any_of(excepted)),
        }
    }

    /// Whether a pending document of this part carries the marks.
    fn admits(&self, held: &[u8]) -> bool {
        let holds = |word: &String| WordFinder::of(word).is_in(held);
        let any = |group: &Vec<String>| group.iter().any(holds);
        self.groups.iter().all(any) && !self.excepted.iter().any(holds)
    }
}

pub(super) fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// The newest documents that contain all of a step's words.
fn matches_of(
    tx: &Connection,
    parts: &[SearchPart],
    pending: &Pending,
    step: &CandidateQuery,
) -> Result<Vec<i64>, Fault> {
    let mut docs = Vec::new();
    if step.all_of.is_empty() {
        return Ok(docs);
    }
    let words: Vec<String> = step.all_of.iter().map(|t| whole_word(t)).collect();
    let mut find = tx.prepare_cached(
        "SELECT rowid FROM ix_text WHERE ix_text MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid DESC LIMIT ?",
    )?;
    let held: Vec<WordFinder> = words.iter().map(|word| WordFinder::of(word)).collect();
    for part in parts {
        docs.extend(pending.matches(part, &held));
        if !part.is_indexed {
            continue;
        }
        if let Some(own) = newest_own(tx, part, &words, step.limit)? {
            docs.extend(own);
            continue;
        }
        let range = params![part.query(&words), part.from, part.to, step.limit];
        let mut rows = find.query(range)?;
        while let Some(row) = rows.next()? {
            docs.push(row.get(0)?);
        }
    }
    docs.sort_unstable_by_key(|&doc| Reverse(DocumentNo(doc).age()));
    docs.truncate(step.limit);
    Ok(docs)
}

/// The newest of a part's documents that contain all of these words, for filters that admit most of these
/// documents: then it is cheaper to read each document's row than to have the index intersect the words with a
/// mark that nearly every document carries. `None` where few are admitted, or no mark is required.
fn newest_own(
    tx: &Connection,
    part: &SearchPart,
    words: &[String],
    limit: usize,
) -> Result<Option<Vec<i64>>, Fault> {
    if part.groups.is_empty() {
        return Ok(None);
    }
    let holding: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let mut find = tx.prepare_cached(
        "SELECT rowid FROM ix_text WHERE ix_text MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid DESC LIMIT ?",
    )?;
    let mut row_of =
        tx.prepare_cached("SELECT tenant_no, owner, origin FROM ix_docs WHERE doc = ?")?;
    let most = limit
        .saturating_mul(FEW_RATIO)
        .saturating_add(SAMPLED_DOCUMENTS);
    let range = params![holding.join(" AND "), part.from, part.to, most];
    let mut rows = find.query(range)?;
    let (mut own, mut looked_at) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let doc: i64 = row.get(0)?;
        let known = row_of.query_row([doc], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        if known
            .optional()?
            .is_some_and(|known| part.own.admits(known))
        {
            own.push(doc);
        }
        looked_at += 1;
        if own.len() == limit {
            return Ok(Some(own));
        }
        if looked_at >= SAMPLED_DOCUMENTS && own.len() * FEW_RATIO < looked_at {
            return Ok(None);
        }
    }
    Ok((looked_at < most).then_some(own))
}

/// The document with this number; `None` when its row is gone or damaged, so that other documents can still be
/// found.
pub(super) fn load(tx: &Connection, doc: i64) -> Result<Option<IndexedDocument>, Fault> {
    match load_sound(tx, doc) {
        Err(Fault::Sql(error)) if is_invalid_value(&error) => Ok(None),
        loaded => loaded,
    }
}

/// A document's text and context; empty when it is gone or damaged. Events are many, so only these columns of
/// an event are read.
pub(super) fn text_of(tx: &Connection, doc: i64) -> Result<(String, Option<String>), Fault> {
    if doc >= OBSERVATIONS {
        let document = load(tx, doc)?;
        return Ok(document.map_or_else(Default::default, |d| (d.text, d.context)));
    }
    let mut find = tx.prepare_cached("SELECT text FROM events WHERE event_no = ?")?;
    let text = |row: &Row<'_>| Ok(head(row.get_ref(0)?.as_str()?, DOCUMENT_TEXT).to_owned());
    match find.query_row([doc & !SAID], text).optional() {
        Err(error) if is_invalid_value(&error) => Ok(Default::default()),
        text => Ok((text?.unwrap_or_default(), None)),
    }
}

fn load_sound(tx: &Connection, doc: i64) -> Result<Option<IndexedDocument>, Fault> {
    if doc >= ENTRIES {
        load_entry(tx, doc - ENTRIES)
    } else if doc >= OBSERVATIONS {
        load_observation(tx, doc - OBSERVATIONS)
    } else {
        load_event(tx, doc & !SAID)
    }
}

fn load_event(tx: &Connection, no: i64) -> Result<Option<IndexedDocument>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, agent, host_id, label, line, origin, at, text, project, user, room_id, team, filed_in
         FROM events JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         LEFT JOIN places USING (place_no) LEFT JOIN roots USING (root_no) WHERE event_no = ?",
    )?;
    let load = |row: &Row<'_>| {
        let session = session_id_of(row)?;
        let project: Option<String> = row.get("project")?;
        let text = row.get_ref("text")?.as_str()?;
        Ok(IndexedDocument {
            what: DocumentKind::Event {
                origin: parse_column(row, "origin")?,
            },
            scope: match shared_scope(row)? {
                Some(shared) => Some(shared),
                None => Venue::default().event_scope(&session.tenant, (project, row.get("user")?)),
            },
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

fn load_observation(tx: &Connection, no: i64) -> Result<Option<IndexedDocument>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, scopes.kind AS kind, name, id, observations.kind AS what, shown, text,
            subject, context, origin
         FROM observations JOIN scopes USING (scope_no) JOIN tenants USING (tenant_no)
         WHERE observation_no = ? AND holds",
    )?;
    let load = |row: &Row<'_>| {
        let document = IndexedDocument {
            what: DocumentKind::Observation {
                id: ObservationId(row.get::<_, i64>("id")?.cast_unsigned()),
                kind: parse_column(row, "what")?,
                origin: match row.get_ref("origin")? {
                    ValueRef::Null => ObservationOrigin::Unknown,
                    _ => parse_column(row, "origin")?,
                },
            },
            scope: Some(scope_of(row)?),
            text: Observation::statement_of(
                row.get::<_, Option<String>>("subject")?.as_deref(),
                &row.get::<_, String>("text")?,
            ),
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
    if let Some(evidence) = evidence_rows::shown_evidence(tx, shown)? {
        document.at = evidence.at;
        document.session = Some((evidence.session, evidence.label));
        document.events = evidence.events;
        document.lines = evidence.lines;
    }
    Ok(Some(document))
}

fn load_entry(tx: &Connection, no: i64) -> Result<Option<IndexedDocument>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, kind, name, file, line, text, heading, observation, citation, at
         FROM ix_entries JOIN ix_files USING (file_no) JOIN scopes USING (scope_no)
         JOIN tenants USING (tenant_no) WHERE entry_no = ?",
    )?;
    let load = |row: &Row<'_>| {
        let heading: String = row.get("heading")?;
        let observation: Option<i64> = row.get("observation")?;
        Ok(IndexedDocument {
            what: DocumentKind::Entry {
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

/// The owners whose documents a filter admits.
pub(super) fn owners(
    tx: &Connection,
    tenant: &Tenant,
    filter: &SearchFilter,
) -> Result<AdmittedOwners, Fault> {
    let mut except = HashSet::default();
    for scope in &filter.except {
        except.extend(find_scope(tx, scope)?);
    }
    let Some(scopes) = &filter.scopes else {
        return Ok(AdmittedOwners { only: None, except });
    };
    let mut owners = HashSet::default();
    for scope in scopes.iter().filter(|scope| &scope.tenant == tenant) {
        owners.extend(find_scope(tx, scope)?);
        owners.extend(roots_of(tx, scope)?.into_iter().map(|root| -root));
    }
    Ok(AdmittedOwners {
        only: Some(owners),
        except,
    })
}
