//! Simple systems that answer the same questions over the same events: BM25, the last turns, and a search
//! for words as text. A memory that is worth its cost finds more than they do.

use std::collections::BTreeSet;

use daybook_domain::seams::Store;
use daybook_domain::{Event, EventSeq, Origin, StoreError, Tenant, Timestamp};

use crate::ask::{Hit, Retrieved};
use crate::bm25::{Bm25, content_words};
use crate::dataset::EventRef;

/// Events read from the store at once.
const PAGE: usize = 512;

/// What is said in a memory, oldest first.
pub(crate) struct Corpus {
    turns: Vec<CorpusTurn>,
    bm25: Bm25,
}

struct CorpusTurn {
    event: EventRef,
    at: Timestamp,
    text: String,
    lower: String,
}

/// A system to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Baseline {
    Bm25,
    LastTurns,
    Grep,
}

impl Baseline {
    pub(crate) const ALL: [Self; 3] = [Self::Bm25, Self::LastTurns, Self::Grep];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::LastTurns => "last turns",
            Self::Grep => "grep",
        }
    }
}

impl Corpus {
    /// Reads all that people and agents said.
    pub(crate) async fn read(store: &dyn Store, tenant: &Tenant) -> Result<Self, StoreError> {
        let mut sessions = store.sessions(tenant, usize::MAX).await?;
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

    /// How many turns there are.
    pub(crate) fn len(&self) -> usize {
        self.turns.len()
    }

    /// What `baseline` returns for a question.
    pub(crate) fn ask(&self, baseline: Baseline, text: &str, limit: usize) -> Retrieved {
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
        Retrieved {
            signs: None,
            confidence: order.first().map_or(0.0, |first| scores[*first]),
            is_likely: !order.is_empty(),
            results: order.into_iter().map(|index| self.hit(index)).collect(),
        }
    }

    /// For each turn, the share of the question's words that occur in it as text.
    fn grep(&self, text: &str) -> Vec<f64> {
        let words: BTreeSet<String> = content_words(text).into_iter().collect();
        let share = |turn: &CorpusTurn| {
            let present = words.iter().filter(|word| turn.lower.contains(&***word));
            present.count() as f64 / words.len().max(1) as f64
        };
        self.turns.iter().map(share).collect()
    }

    fn hit(&self, index: usize) -> Hit {
        let turn = &self.turns[index];
        Hit {
            events: vec![turn.event.clone()],
            text: turn.text.clone(),
            at: turn.at,
        }
    }
}

fn is_spoken(event: &Event) -> bool {
    matches!(event.origin, Origin::Human | Origin::Assistant)
}
