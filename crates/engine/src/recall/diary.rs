//! Answers what was done in a period from the diary: "what did we do yesterday?".
//!
//! Such a question shares no word with what answers it, and a search by words finds whatever says "yesterday". The diary has
//! a file for each day, which is read as it is, with a person's edits.
//!
//! Not here: which questions these are (`diary_question`), what is written to the diary (`consolidate`).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

use daybook_domain::index::MemoryLayer;
use daybook_domain::page::read_all;
use daybook_domain::seams::{ScopeStore, SessionCatalog};
use daybook_domain::{Citation, Reach, Scope, StoreError, Tenant, Timestamp};
use daybook_text::redact::Redactor;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::confidence::Likelihood;
use super::diary_question::{DiaryQuestion, WantedLines};
use super::rank::ScoreParts;
use super::search::{ANSWERS, RankedAnswer, RecallQuestion, RecallResult};
use crate::files::diary::{DiaryEntry, between};
use crate::files::layout::folder;
use crate::files::own_secrets::masked;
use crate::files::reindex::split_citation;

/// Most days of one memory that are read for a question, the latest of its period.
const MOST_DAYS: usize = 100;
/// The score of a line that stands in the diary of the period.
const SCORE: f64 = 0.95;

/// An entry of a diary, with the memory that has it.
struct FoundEntry {
    scope: Scope,
    entry: DiaryEntry,
}

/// Puts what the diary has of the period before the other answers, where the question asks for that, and in their place
/// where it asks for nothing else.
///
/// # Errors
/// When the store fails.
pub async fn answer_from_diary(
    store: &(impl ScopeStore + SessionCatalog + ?Sized),
    (root, tenant, zone): (&Path, &Tenant, &TimeZone),
    question: &RecallQuestion<'_>,
    recalled: &mut RecallResult,
) -> Result<(), StoreError> {
    let layers = &question.layers;
    let Some(today) = day_of(question.now, zone) else {
        return Ok(());
    };
    if !layers.is_empty() && !layers.contains(&MemoryLayer::Entry) {
        return Ok(());
    }
    let Some(asked) = DiaryQuestion::parse(question.text, today) else {
        return Ok(());
    };
    let mut found = Vec::new();
    for scope in scopes(store, tenant, &question.reach).await? {
        found.extend(entries(root, &scope, &asked, today));
    }
    let limit = question.limit.min(ANSWERS);
    let mut answers = match asked.wanted {
        WantedLines::Sessions => Vec::new(),
        WantedLines::Of(kind) => lines_of(&found, kind, zone),
    };
    if answers.is_empty() {
        answers = sessions(found, (limit, asked.days.is_none()), zone);
    }
    if answers.is_empty() {
        return Ok(());
    }
    answers.truncate(limit);
    for answer in &mut answers {
        answer.session = session_of(store, tenant, answer).await?;
    }
    if asked.is_about_all() {
        recalled.answers.clear();
    }
    answers.append(&mut recalled.answers);
    answers.truncate(limit);
    recalled.answers = answers;
    recalled.confidence.label = Likelihood::Likely;
    recalled.confidence.score = recalled.confidence.score.max(SCORE);
    Ok(())
}

fn day_of(at: Timestamp, zone: &TimeZone) -> Option<Date> {
    let at = (at != Timestamp::ZERO).then_some(at)?;
    let instant = jiff::Timestamp::from_millisecond(at.0).ok()?;
    Some(instant.to_zoned(zone.clone()).date())
}

async fn scopes(
    store: &(impl ScopeStore + ?Sized),
    tenant: &Tenant,
    reach: &Reach,
) -> Result<Vec<Scope>, StoreError> {
    if let Reach::Scopes(named) = reach {
        let own = named.iter().filter(|scope| &scope.tenant == tenant);
        return Ok(own.cloned().collect());
    }
    let all = read_all(|page| store.scopes(tenant, page)).await?;
    let all = all.into_iter().map(|state| state.scope);
    Ok(all.filter(|scope| reach.admits(Some(scope))).collect())
}

/// What one memory's diary has of the period that is asked for. A folder that cannot be read has nothing: it is listed among
/// what is refused.
fn entries(root: &Path, scope: &Scope, asked: &DiaryQuestion, today: Date) -> Vec<FoundEntry> {
    let (from, to) = asked.days.unwrap_or((Date::ZERO, today));
    let days = (from.to_string(), to.min(today).to_string());
    let read = between(&folder(root, scope), (&days.0, &days.1), MOST_DAYS);
    let redactor = Redactor::current();
    let shown = |text: &str| masked(&redactor, text).into_owned();
    let found = read
        .unwrap_or_default()
        .into_iter()
        .map(|entry| FoundEntry {
            scope: scope.clone(),
            entry: DiaryEntry {
                line: shown(&entry.line),
                below: entry.below.iter().map(|line| shown(line)).collect(),
                day: entry.day,
            },
        });
    let is_about = |one: &FoundEntry| {
        let DiaryEntry { line, below, .. } = &one.entry;
        asked.is_about_all() || asked.is_about(&format!("{line}\n{}", below.join("\n")))
    };
    found.filter(is_about).collect()
}

/// The entries of sessions: those of which most came, or the latest; the newest day first, each day in the order of time.
fn sessions(
    mut found: Vec<FoundEntry>,
    (limit, are_latest): (usize, bool),
    zone: &TimeZone,
) -> Vec<RankedAnswer> {
    // A session of two memories is in the diary of both.
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert((one.entry.day.clone(), one.entry.line.clone())));
    found.sort_by_key(|one| {
        let DiaryEntry { day, line, below } = &one.entry;
        let came = if are_latest { 0 } else { below.len() };
        Reverse((came, day.clone(), line.clone()))
    });
    found.truncate(limit);
    found.sort_by(|a, b| {
        let day = |one: &FoundEntry| Reverse(one.entry.day.clone());
        (day(a), &a.entry.line).cmp(&(day(b), &b.entry.line))
    });
    let answers = found.into_iter().map(|one| {
        let below = one.entry.below.join("\n");
        let context = (!below.is_empty()).then_some(below);
        answer(&one, &one.entry.line, context, zone)
    });
    answers.collect()
}

/// The lines below the entries that begin with a word and a colon, the newest first.
fn lines_of(found: &[FoundEntry], kind: &str, zone: &TimeZone) -> Vec<RankedAnswer> {
    let start = format!("{kind}: ");
    let mut seen = HashSet::new();
    let mut answers: Vec<RankedAnswer> = Vec::new();
    for one in found {
        let lines = one
            .entry
            .below
            .iter()
            .filter(|line| line.starts_with(&start));
        for line in lines.filter(|line| seen.insert((*line).clone())) {
            let about = split_citation(&one.entry.line).0.to_owned();
            answers.push(answer(one, line, Some(about), zone));
        }
    }
    answers.sort_by_key(|answer| Reverse(answer.time));
    answers
}

fn answer(
    found: &FoundEntry,
    line: &str,
    context: Option<String>,
    zone: &TimeZone,
) -> RankedAnswer {
    let (text, citation) = split_citation(line);
    let DiaryEntry { day, line, .. } = &found.entry;
    RankedAnswer {
        text: text.to_owned(),
        context,
        score: SCORE,
        parts: ScoreParts::default(),
        scope: Some(found.scope.clone()),
        layer: MemoryLayer::Entry,
        origin: None,
        kind: None,
        learned_from: None,
        observation: None,
        file: Some(format!("daily/{day}.md")),
        citation,
        session: None,
        events: Vec::new(),
        time: time_of(day, line, zone).unwrap_or(Timestamp::ZERO),
        replaced: None,
    }
}

/// When an entry of a day began: its line begins with the hour.
fn time_of(day: &str, line: &str, zone: &TimeZone) -> Option<Timestamp> {
    let day: Date = day.parse().ok()?;
    let hour = line.get(..5).and_then(|hour| hour.parse::<Time>().ok());
    let begins = day.to_datetime(hour.unwrap_or_default());
    let instant = begins.to_zoned(zone.clone()).ok()?.timestamp();
    Some(Timestamp(instant.as_millisecond()))
}

/// The session that an answer cites; `None` where none has that label, or several have.
async fn session_of(
    store: &(impl SessionCatalog + ?Sized),
    tenant: &Tenant,
    answer: &RankedAnswer,
) -> Result<Option<daybook_domain::SessionId>, StoreError> {
    let Some(cited) = answer.citation.as_deref().and_then(Citation::parse) else {
        return Ok(None);
    };
    let found = store.find_sessions(tenant, &cited.session).await?;
    Ok(match found.as_slice() {
        [session] => Some(session.id.clone()),
        _ => None,
    })
}

#[cfg(test)]
#[path = "diary_tests.rs"]
mod tests;
