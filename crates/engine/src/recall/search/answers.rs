//! Turns ranked candidates into answers with their sources, without duplicates.
//!
//! Not here: fetching and scoring candidates.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::index::{DocumentKind, DocumentNo, IndexedDocument, MemoryLayer};
use daybook_domain::seams::RecallStore;
use daybook_domain::{Citation, EventSeq, ScopeKind, SessionId, StoreError, Tenant};
use daybook_ranking::lexical::{LexicalQuery, QueryTermCounts};
use daybook_ranking::phrases::has_phrases;
use daybook_ranking::rank::RecallCandidate;
use daybook_text::tokens::passages::passage_starts;

use super::candidates::CandidateFetcher;
use super::deduplicate::{AnswerDeduplicator, order_digested_first};
use super::replies::put_to_its_reply;
use super::rule_first::COMPARED_LINES;
use super::{ANSWERS, RankedAnswer};
use crate::recall::agents_rules::AgentsRules;

/// Most ranges of lines, and most events of a range, that an entry's answer names.
const EVENTS_SHOWN: usize = 50;

impl CandidateFetcher<'_> {
    /// The best answers without duplicates, at most `limit` and [`ANSWERS`]. `ranked` is in descending order.
    pub(super) async fn answers(
        &self,
        ranked: &[&RecallCandidate],
        limit: usize,
    ) -> Result<Vec<RankedAnswer>, StoreError> {
        let limit = limit.min(ANSWERS);
        let mut answers = Vec::new();
        let mut seen = AnswerDeduplicator::default();
        for group in groups(ranked, limit + limit / 2 + 8) {
            if answers.len() >= limit {
                break;
            }
            let mut found = Vec::with_capacity(group.len());
            for (document, candidate) in self.load_documents(group).await? {
                let nth = answers.len() + found.len();
                let answer = self.answer(&document, candidate).await?;
                let answer = self.with_reply(answer, (nth, candidate)).await?;
                if !put_to_its_reply(&mut found, &answer) {
                    found.push((document, answer));
                }
            }
            order_digested_first(&mut found);
            let new = found
                .into_iter()
                .filter(|(d, answer)| seen.insert_if_new(d, answer));
            answers.extend(new.map(|(_, answer)| answer));
        }
        answers.truncate(limit);
        Ok(answers)
    }

    /// Lines of memory files whose words name what the question is about, the best ones.
    pub(super) async fn lines_that_name_all(
        &self,
        ranked: &[&RecallCandidate],
        names_all: impl Fn(&QueryTermCounts, &LexicalQuery<'_>) -> bool,
    ) -> Result<Vec<RankedAnswer>, StoreError> {
        let names_all = |candidate: &&&RecallCandidate| {
            candidate.outline.doc.layer() == MemoryLayer::Entry
                && names_all(&candidate.stats.whole, &self.ranking.lexical)
        };
        let lines: Vec<&RecallCandidate> = ranked.iter().filter(names_all).copied().collect();
        self.answers(&lines, COMPARED_LINES).await
    }

    /// Loads the documents of candidates that are in scope and contain the required phrases, in answer order.
    pub(super) async fn load_documents<'c>(
        &self,
        group: &[&'c RecallCandidate],
    ) -> Result<Vec<(IndexedDocument, &'c RecallCandidate)>, StoreError> {
        let mut loaded = self.documents(group).await?;
        loaded.retain(|(document, _)| {
            self.is_in_scope(document) && has_phrases(self.ranking.lexical.query(), document)
        });
        self.leave_out_other_agents_rules(&mut loaded).await?;
        self.leave_out_forgotten(&mut loaded).await?;
        loaded.sort_by(|(first, a), (second, b)| {
            let newest = || second.at.cmp(&first.at);
            let by_name = || tie_break_key(first).cmp(&tie_break_key(second));
            b.stepped_score()
                .total_cmp(&a.stepped_score())
                .then_with(newest)
                .then_with(by_name)
        });
        Ok(loaded)
    }

    /// Loads the documents of candidates, paired with them.
    async fn documents<'c>(
        &self,
        group: &[&'c RecallCandidate],
    ) -> Result<Vec<(IndexedDocument, &'c RecallCandidate)>, StoreError> {
        let docs: Vec<DocumentNo> = group.iter().map(|c| c.outline.doc).collect();
        let documents = self.store.documents(self.tenant, &docs).await?;
        if documents.len() == group.len() {
            return Ok(documents.into_iter().zip(group.iter().copied()).collect());
        }
        // Some documents are gone, and the rest do not carry their numbers: load them one by one.
        let mut loaded = Vec::with_capacity(group.len());
        for (doc, candidate) in docs.chunks(1).zip(group) {
            let document = self.store.documents(self.tenant, doc).await?;
            loaded.extend(document.into_iter().map(|document| (document, *candidate)));
        }
        Ok(loaded)
    }

    fn is_in_scope(&self, document: &IndexedDocument) -> bool {
        self.reach.admits(document.scope.as_ref())
    }

    /// Leaves out events that are a person's rules for an agent whose memory is not in reach.
    async fn leave_out_other_agents_rules(
        &self,
        loaded: &mut Vec<(IndexedDocument, &RecallCandidate)>,
    ) -> Result<(), StoreError> {
        let is_event =
            |document: &IndexedDocument| matches!(document.what, DocumentKind::Event { .. });
        let mut rules = AgentsRules::default();
        let mut alone: BTreeMap<SessionId, BTreeSet<EventSeq>> = BTreeMap::new();
        for (document, _) in loaded.iter().filter(|(document, _)| is_event(document)) {
            let (Some((session, _)), Some(scope)) = (&document.session, &document.scope) else {
                continue;
            };
            // What a room, a team or a project shares is read by all who take part in it.
            if scope.kind == ScopeKind::User && !alone.contains_key(session) {
                let events = rules.events_alone(self.store, self.reach, session, &scope.name);
                let events = events.await?;
                alone.insert(session.clone(), events);
            }
        }
        loaded.retain(|(document, _)| {
            let session = document.session.as_ref().filter(|_| is_event(document));
            let alone = session.and_then(|(session, _)| alone.get(session));
            alone.is_none_or(|alone| document.events.iter().all(|event| !alone.contains(event)))
        });
        Ok(())
    }

    /// Leaves out messages that say hardly more than what a person took back.
    async fn leave_out_forgotten(
        &self,
        loaded: &mut Vec<(IndexedDocument, &RecallCandidate)>,
    ) -> Result<(), StoreError> {
        let session_of = |document: &IndexedDocument| match (&document.what, &document.session) {
            (DocumentKind::Event { .. }, Some((session, _))) => Some(session.clone()),
            _ => None,
        };
        let sessions = loaded
            .iter()
            .filter_map(|(document, _)| session_of(document));
        let sessions: BTreeSet<SessionId> = sessions.collect();
        let sessions: Vec<SessionId> = sessions.into_iter().collect();
        let forgotten = self.store.retracted_texts(self.tenant, &sessions).await?;
        if forgotten.is_empty() {
            return Ok(());
        }
        loaded.retain(|(document, _)| {
            let Some(session) = session_of(document) else {
                return true;
            };
            let mut of_it = forgotten
                .iter()
                .filter(|one| one.session == session && document.events.contains(&one.seq));
            !of_it.any(|one| says_little_beside(&document.text, &one.text))
        });
        Ok(())
    }

    fn begin_of_best_passage(&self, text: &str, candidate: &RecallCandidate) -> usize {
        let best = candidate
            .best_passage(self.ranking)
            .filter(|best| *best > 0);
        best.and_then(|best| {
            let starts = passage_starts(text);
            let is_same_text = starts.len() == candidate.stats.passages.len();
            starts.get(best).copied().filter(|_| is_same_text)
        })
        .unwrap_or_default()
    }

    pub(super) async fn answer(
        &self,
        document: &IndexedDocument,
        candidate: &RecallCandidate,
    ) -> Result<RankedAnswer, StoreError> {
        let total = candidate.stepped_score().max(0.0);
        let mut answer = RankedAnswer {
            text: document.text.clone(),
            begins: self.begin_of_best_passage(&document.text, candidate),
            context: document.context.clone(),
            score: total / (1.0 + total),
            parts: candidate.parts,
            scope: document.scope.clone(),
            layer: MemoryLayer::Event,
            origin: None,
            kind: None,
            learned_from: None,
            observation: None,
            file: None,
            citation: citation_of(document),
            session: document.session.as_ref().map(|(id, _)| id.clone()),
            events: document.events.clone(),
            time: document.at,
            replaced: None,
        };
        match &document.what {
            DocumentKind::Event { origin } => answer.origin = Some(*origin),
            DocumentKind::Observation { origin, id, kind } => {
                answer.layer = MemoryLayer::Observation;
                answer.kind = Some(*kind);
                answer.learned_from = Some(*origin);
                answer.observation = Some(*id);
            }
            DocumentKind::Entry { file, citation, .. } => {
                answer.layer = MemoryLayer::Entry;
                answer.file = Some(file.clone());
                answer.citation.clone_from(citation);
                if let Some(cited) = citation.as_deref().and_then(Citation::parse) {
                    resolve(self.store, self.tenant, &cited, &mut answer).await?;
                }
            }
        }
        Ok(answer)
    }
}

/// Resolves an entry's citation to its session, events and time.
pub(in crate::recall) async fn resolve(
    store: &dyn RecallStore,
    tenant: &Tenant,
    cited: &Citation,
    answer: &mut RankedAnswer,
) -> Result<(), StoreError> {
    let found = store.find_sessions(tenant, &cited.session).await?;
    let [session] = found.as_slice() else {
        return Ok(());
    };
    answer.session = Some(session.id.clone());
    answer.time = session.last_at;
    for (n, lines) in cited.lines.iter().take(EVENTS_SHOWN).enumerate() {
        let events = store.events_at(&session.id, *lines, EVENTS_SHOWN).await?;
        if let (0, Some(first)) = (n, events.first()) {
            answer.time = first.at;
        }
        answer.events.extend(events.iter().map(|event| event.seq));
    }
    answer.events.dedup();
    Ok(())
}

/// Whether a statement is at least half of a message.
fn says_little_beside(message: &str, statement: &str) -> bool {
    let statement = statement.trim().trim_matches('"').to_lowercase();
    message.to_lowercase().contains(&statement) && 2 * statement.len() >= message.trim().len()
}

/// Splits candidates into groups of about `size` that end where scores differ, so that equals are sorted together.
fn groups<'a, 'c>(
    ranked: &'a [&'c RecallCandidate],
    size: usize,
) -> impl Iterator<Item = &'a [&'c RecallCandidate]> {
    let mut rest = ranked;
    std::iter::from_fn(move || {
        let last = rest.len().checked_sub(1)?.min(size);
        let equal = |c: &&&RecallCandidate| c.stepped_score() == rest[last].stepped_score();
        let end = last + rest[last..].iter().take_while(equal).count();
        let (group, left) = rest.split_at(end);
        rest = left;
        Some(group)
    })
}

/// A key that orders documents of equal score and time the same way in every store.
fn tie_break_key(document: &IndexedDocument) -> String {
    let place = match &document.what {
        DocumentKind::Entry { file, line, .. } => format!("1/{file}/{line:08}"),
        DocumentKind::Observation { id, .. } => format!("2/{id}"),
        DocumentKind::Event { .. } => {
            let seq = document.events.first().copied().unwrap_or_default();
            format!("3/{:012}", seq.0)
        }
    };
    let session = document
        .session
        .as_ref()
        .map(|(id, _)| id.to_string())
        .unwrap_or_default();
    let scope = document
        .scope
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!("{place}/{session}/{scope}")
}

fn citation_of(document: &IndexedDocument) -> Option<String> {
    let (_, label) = document.session.as_ref()?;
    let mut lines: Vec<(u32, u32)> = Vec::new();
    for line in &document.lines {
        match lines.last_mut() {
            Some((_, to)) if *to == *line || *to + 1 == *line => *to = *line,
            _ => lines.push((*line, *line)),
        }
    }
    Some(
        Citation {
            session: label.clone(),
            lines,
        }
        .to_string(),
    )
}
