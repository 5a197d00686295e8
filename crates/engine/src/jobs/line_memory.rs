//! The memory behind one line of a memory file, found by what the line cites. A scope of any size is not read as a whole.
//!
//! Not here: finding by an id or by words (`memories`), which must read it.

use std::collections::BTreeSet;
use std::path::Path;

use daybook_domain::seams::Store;
use daybook_domain::{Citation, Observation, Scope, Session, StoreError};

use super::memories::{Memory, ShownLine, entry_of, lines_of, main_line};
use crate::files::entry::EntryId;
use crate::files::layout::{BRANCHES, CURATED, SUMMARY, folder};
use crate::files::log_marks::page_text;
use crate::files::path::FilePath;
use crate::files::persons_lines::words_of;

/// Most sessions that one line cites; the rest of them is a number.
const SESSIONS: usize = 16;

/// The memory that a line of a file shows; `None` where the line shows no entry, or cites nothing that it rests on.
///
/// # Errors
/// When the store cannot be read.
pub async fn memory_of_line(
    store: &dyn Store,
    root: &Path,
    scope: &Scope,
    (file, line): (&FilePath, usize),
) -> Result<Option<Memory>, StoreError> {
    let path = folder(root, scope);
    let Some(text) = page_text(&path, file) else {
        return Ok(None);
    };
    let line = main_line(&text, line);
    let shown = lines_of(file, &text)
        .into_iter()
        .find(|one| one.line == line);
    let Some((shown, entry)) = shown.and_then(|shown| Some((shown.clone(), shown.entry?))) else {
        return Ok(None);
    };
    let cited = cited_observations(store, scope, &shown.text).await?;
    let Some(first) = cited.iter().find(|one| is_entry(one, &entry)) else {
        return Ok(None);
    };
    let is_merged = |one: &&Observation| {
        is_entry(one, &entry) || (one.kind == first.kind && !shares_session(one, first))
    };
    let mut observations: Vec<Observation> = cited.iter().filter(is_merged).cloned().collect();
    observations.sort_by_key(|one| (one.last_at(), one.id));
    let words = match shown.is_altered {
        true => words_of(&shown.text),
        false => first.text.clone(),
    };
    Ok(Some(Memory {
        scope: scope.clone(),
        lines: lines_with(&path, &entry, shown),
        entry: Some(entry),
        observations,
        words,
    }))
}

fn is_entry(one: &Observation, entry: &EntryId) -> bool {
    entry_of(one) == *entry || EntryId::of(&one.id.to_string()) == *entry
}

fn shares_session(one: &Observation, other: &Observation) -> bool {
    let sessions = |of: &Observation| -> BTreeSet<String> {
        let evidence = of.evidence.iter();
        evidence
            .map(|evidence| evidence.session.to_string())
            .collect()
    };
    !sessions(one).is_disjoint(&sessions(other))
}

/// The observations of a scope that rest on lines which a text cites.
async fn cited_observations(
    store: &dyn Store,
    scope: &Scope,
    text: &str,
) -> Result<Vec<Observation>, StoreError> {
    let cited = text.split(['[', ']', ';']).map(str::trim);
    let cited = cited
        .filter_map(Citation::parse)
        .filter(|one| !one.lines.is_empty());
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for citation in cited.take(SESSIONS) {
        let sessions = store
            .find_sessions(&scope.tenant, &citation.session)
            .await?;
        let [session] = sessions.as_slice() else {
            continue;
        };
        let evidence = store.session_texts(&session.id).await?.evidence;
        for one in evidence.into_iter().filter(|one| one.scope == *scope) {
            if !seen.insert(one.id) {
                continue;
            }
            let known = store.known_observation(scope, one.id).await?;
            let cited = known.filter(|one| rests_on(&one.0, session, &citation));
            found.extend(cited.map(|one| one.0.clone()));
        }
    }
    Ok(found)
}

fn rests_on(observation: &Observation, session: &Session, citation: &Citation) -> bool {
    let is_cited = |line: &u32| {
        citation
            .lines
            .iter()
            .any(|(from, to)| (from..=to).contains(&line))
    };
    let evidence = observation.evidence.iter();
    let of_session = evidence.filter(|evidence| evidence.session == session.id);
    of_session
        .flat_map(|evidence| &evidence.lines)
        .any(is_cited)
}

/// The line, and those of the files that agents and people read first which show the same entry.
fn lines_with(path: &Path, entry: &EntryId, shown: ShownLine) -> Vec<ShownLine> {
    let files = [CURATED, SUMMARY, BRANCHES].map(FilePath::engine_file);
    let others = files.iter().filter(|file| **file != shown.file);
    let others = others.flat_map(|file| {
        let text = page_text(path, file).unwrap_or_default();
        lines_of(file, &text)
    });
    let others = others.filter(|one| one.entry.as_ref() == Some(entry));
    let others: Vec<ShownLine> = others.collect();
    [vec![shown], others].concat()
}
