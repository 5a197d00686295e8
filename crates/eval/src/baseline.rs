//! Baseline systems that answer the same questions over the same events: BM25, the last turns, and a substring search.
//! Recall is worth its cost only if it finds more.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::page::read_all;
use daybook_domain::seams::Store;
use daybook_domain::{Event, EventSeq, Origin, StoreError, Tenant, Timestamp};
use strum::{IntoStaticStr, VariantArray};

use crate::ask::{RetrievalResult, RetrievedText, start_of};
use crate::bm25::{Bm25, content_words, stems};
use crate::dataset::{BenchmarkQuestion, EventRef};
use crate::metrics::SharedWords;

/// Events read from the store at once.
const PAGE: usize = 512;

/// The messages of a memory, oldest first.
pub(crate) struct BaselineCorpus {
    turns: Vec<CorpusTurn>,
    bm25: Bm25,
}

struct CorpusTurn {
    event: EventRef,
    at: Timestamp,
    text: String,
    lower: String,
}

/// A system to compare recall with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Baseline {
    Bm25,
    #[strum(serialize = "last turns")]
    LastTurns,
    Grep,
}

impl Baseline {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl BaselineCorpus {
    /// Reads all messages of people and agents.
    pub(crate) async fn read(store: &dyn Store, tenant: &Tenant) -> Result<Self, StoreError> {
        let mut sessions = read_all(|page| store.sessions(tenant, page)).await?;
        sessions.sort_by(|a, b| (a.first_at, &a.id).cmp(&(b.first_at, &b.id)));
        let mut turns = Vec::new();
        for session in sessions {
            let (mut after, upto) = (EventSeq(0), session.events);
            loop {
                let page = store.events(&session.id, after, upto, PAGE, usize::MAX);
                let page = page.await?;
                let Some(last) = page.last() else { break };
                after = last.seq;
                let spoken = page.into_iter().filter(is_spoken);
                turns.extend(spoken.map(|event| CorpusTurn {
                    event: EventRef {
                        session: session.id.clone(),
                        seq: event.seq,
                    },
                    at: event.at,
                    lower: event.text.to_lowercase(),
                    text: event.text,
                }));
            }
        }
        let bm25 = Bm25::new(turns.iter().map(|turn| &*turn.text));
        Ok(Self { turns, bm25 })
    }

    /// Number of turns.
    pub(crate) fn len(&self) -> usize {
        self.turns.len()
    }

    /// Asks `baseline` a question.
    pub(crate) fn ask(&self, baseline: Baseline, text: &str, limit: usize) -> RetrievalResult {
        let scores = match baseline {
            Baseline::Bm25 => self.bm25.scores(text),
            Baseline::LastTurns => vec![1.0; self.turns.len()],
            Baseline::Grep => self.grep(text),
        };
        let mut order: Vec<usize> = (0..self.turns.len())
            .filter(|index| scores[*index] > 0.0)
            .collect();
        // The newest turn first among equals.
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(b.cmp(a)));
        order.truncate(limit);
        RetrievalResult {
            signals: None,
            confidence: order.first().map_or(0.0, |first| scores[*first]),
            is_likely: !order.is_empty(),
            results: order.into_iter().map(|index| self.hit(index)).collect(),
        }
    }

    /// For each turn, the share of the question's words that occur in it as substrings.
    fn grep(&self, text: &str) -> Vec<f64> {
        let words: BTreeSet<String> = content_words(text).into_iter().collect();
        let share = |turn: &CorpusTurn| {
            let present = words.iter().filter(|word| turn.lower.contains(&***word));
            present.count() as f64 / words.len().max(1) as f64
        };
        self.turns.iter().map(share).collect()
    }

    /// The most words of a question that one turn of its evidence shares.
    pub(crate) fn shared_words(&self, question: &BenchmarkQuestion) -> SharedWords {
        let words: HashSet<String> = stems(&question.text).into_iter().collect();
        let shared = |turn: &CorpusTurn| {
            let own: HashSet<String> = stems(&turn.text).into_iter().collect();
            words.intersection(&own).count()
        };
        let evidence = self
            .turns
            .iter()
            .filter(|turn| question.rests_on(&turn.event));
        SharedWords {
            shared: evidence.map(shared).max().unwrap_or_default(),
            of: words.len(),
        }
    }

    fn hit(&self, index: usize) -> RetrievedText {
        let turn = &self.turns[index];
        RetrievedText {
            session: None,
            events: vec![turn.event.clone()],
            text: turn.text.clone(),
            excerpt: start_of(&turn.text).to_owned(),
            at: turn.at,
        }
    }
}

fn is_spoken(event: &Event) -> bool {
    matches!(event.origin, Origin::Human | Origin::Assistant)
}
