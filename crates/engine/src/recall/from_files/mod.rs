//! Answers questions for a whole page or section of the memory files, which share no words with what answers them: "what did
//! we do yesterday?", "what are my preferences?", "what is still open?".
//!
//! The files are read as they are, with a person's edits. Not here: questions that name what they are about, which are
//! searched for (`search`).

mod diary;
mod diary_question;
mod section_question;
mod sections;

use std::path::Path;

use daybook_domain::index::MemoryLayer;
use daybook_domain::page::read_all;
use daybook_domain::seams::{RecallStore, ScopeState, ScopeStore, Store};
use daybook_domain::{Citation, Reach, Scope, ScopeKind, StoreError, Tenant, Timestamp};
use daybook_ranking::confidence::Likelihood;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use self::diary_question::DiaryQuestion;
use self::section_question::SectionQuestion;
use super::persons_words::use_persons_words;
use super::search::answers::resolve;
use super::search::{ANSWERS, RankedAnswer, RecallQuestion, RecallResult};
use crate::files::reindex::split_citation;

/// The score of a line of what was asked for.
const SCORE: f64 = 0.95;

/// Longest question that is looked at, in bytes: longer ones say more than they ask.
const QUESTION: usize = 300;

/// A person's memory files, for answers.
#[derive(Debug, Clone, Copy)]
pub struct PersonsFiles<'a> {
    /// The data folder that they are in.
    pub root: &'a Path,
    /// The person.
    pub person: &'a Scope,
    /// Where days begin for them.
    pub zone: &'a TimeZone,
}

/// What files have for a question.
struct FoundLines {
    answers: Vec<RankedAnswer>,
    /// Whether the question asks for nothing else, so that other answers are none.
    are_all: bool,
}

/// Whether a prompt of `now` asks memory for a page or a section.
#[must_use]
pub fn asks_for_page(prompt: &str, now: Timestamp, zone: &TimeZone) -> bool {
    let of_diary = |today| DiaryQuestion::parse(prompt, today).is_some();
    let of_section = || SectionQuestion::parse(prompt).is_some_and(SectionQuestion::is_for_memory);
    prompt.len() <= QUESTION && (day_of(now, zone).is_some_and(of_diary) || of_section())
}

/// Completes what was found in the store by what the memory files say: a person's own words take the place of what they
/// corrected, and where the question asks for a page or a section, its lines come before the other answers.
///
/// # Errors
/// When the store fails.
pub async fn use_files(
    store: &dyn Store,
    files: PersonsFiles<'_>,
    question: &RecallQuestion<'_>,
    recalled: &mut RecallResult,
) -> Result<(), StoreError> {
    use_persons_words(store, files.root, files.person, question, recalled).await?;
    let place = (files.root, &files.person.tenant, files.zone);
    answer_from_files((store, store), place, question, recalled).await
}

/// Puts what the memory files below `root` have before the other answers, where the question asks for a page or a section of
/// them. Days are those of `zone`.
async fn answer_from_files(
    (store, scopes): (&dyn RecallStore, &dyn ScopeStore),
    (root, tenant, zone): (&Path, &Tenant, &TimeZone),
    question: &RecallQuestion<'_>,
    recalled: &mut RecallResult,
) -> Result<(), StoreError> {
    let layers = &question.layers;
    if question.text.len() > QUESTION {
        return Ok(());
    }
    if !layers.is_empty() && !layers.contains(&MemoryLayer::Entry) {
        return Ok(());
    }
    let limit = question.limit.min(ANSWERS);
    let of_diary = day_of(question.now, zone)
        .and_then(|today| Some((DiaryQuestion::parse(question.text, today)?, today)));
    let found = if let Some((asked, today)) = of_diary {
        let scopes = in_reach(scopes, tenant, &question.reach).await?;
        let mut answers = diary::find(root, &scopes, (&asked, today), (limit, zone));
        answers.retain(|answer| question.until.is_none_or(|until| answer.time <= until));
        FoundLines {
            answers,
            are_all: asked.is_about_all(),
        }
    } else if let Some(asked) = SectionQuestion::parse(question.text) {
        // Files show what holds now.
        if question.until.is_some() {
            return Ok(());
        }
        let scopes = in_reach(scopes, tenant, &question.reach).await?;
        FoundLines {
            answers: sections::find(root, &scopes, asked, limit),
            are_all: true,
        }
    } else {
        return Ok(());
    };
    put_first(store, tenant, limit, found, recalled).await
}

async fn put_first(
    store: &dyn RecallStore,
    tenant: &Tenant,
    limit: usize,
    found: FoundLines,
    recalled: &mut RecallResult,
) -> Result<(), StoreError> {
    let FoundLines {
        mut answers,
        are_all,
    } = found;
    if answers.is_empty() {
        return Ok(());
    }
    answers.truncate(limit);
    for answer in &mut answers {
        let time = answer.time;
        if let Some(cited) = answer.citation.as_deref().and_then(Citation::parse) {
            resolve(store, tenant, &cited, answer).await?;
        }
        // A diary's hour is that of its line.
        if time != Timestamp::ZERO {
            answer.time = time;
        }
    }
    if are_all {
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

/// The scopes in reach: the persons' own, then the others, those with most observations first.
async fn in_reach(
    store: &dyn ScopeStore,
    tenant: &Tenant,
    reach: &Reach,
) -> Result<Vec<Scope>, StoreError> {
    let mut all: Vec<ScopeState> = read_all(|page| store.scopes(tenant, page)).await?;
    all.retain(|state| reach.admits(Some(&state.scope)));
    all.sort_by_key(|state| {
        let is_persons = state.scope.kind == ScopeKind::User;
        (!is_persons, std::cmp::Reverse(state.observations))
    });
    Ok(all.into_iter().map(|state| state.scope).collect())
}

/// A line of a memory file as an answer.
fn answer(scope: &Scope, file: String, line: &str, context: Option<String>) -> RankedAnswer {
    let (text, citation) = split_citation(line);
    RankedAnswer {
        context,
        score: SCORE,
        scope: Some(scope.clone()),
        file: Some(file),
        citation,
        ..RankedAnswer::of_text(text.to_owned(), MemoryLayer::Entry)
    }
}
