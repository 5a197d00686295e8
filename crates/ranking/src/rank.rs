//! Ranks candidates by one score, a sum of parts that `recall --explain` shows.
//!
//! A text is scored by its words, by those of its passages and of the messages around it, by the angle between its
//! vector and the question's, and by the time, the person and the session that the question is about. No part counts
//! everywhere: the messages around a short message say what it is about, those around a long one add nothing, so they
//! count by its length. The order is total and depends on values alone, so every store gives the same.
//!
//! The weights were tuned on some conversations and checked on others; `daybook eval` repeats the check.
//!
//! Not here: fetching candidates (`search`), whether the question was discussed at all (`confidence`).

use std::collections::{HashMap, HashSet};

use daybook_domain::Origin;
use daybook_domain::index::{DocumentNo, DocumentOutline, MemoryLayer};
use daybook_domain::vector::Direction;
use foldhash::fast::RandomState;

use crate::dates::Dates;
use crate::lexical::{LengthNorm, LexicalQuery, PassageStats, QueryTermCounts, TextStats};

/// Length norms of a message alone, of windows of three and five messages, and of a passage.
const TURN: LengthNorm = LengthNorm {
    average: 40.0,
    b: 0.75,
};
const WINDOW_OF_THREE: LengthNorm = LengthNorm {
    average: 120.0,
    b: 0.5,
};
const WINDOW_OF_FIVE: LengthNorm = LengthNorm {
    average: 200.0,
    b: 0.5,
};
const PASSAGE: LengthNorm = LengthNorm {
    average: 40.0,
    b: 0.5,
};
/// Weights of the window and passage scores; a message's own words weigh 1.
const WINDOW_OF_THREE_SHARE: f64 = 0.25;
const WINDOW_OF_FIVE_SHARE: f64 = 0.5;
const PASSAGE_SHARE: f64 = 0.5;
/// Weight of words akin to the question's.
const AKIN: f64 = 1.2;
/// Length in tokens up to which the words around a message count fully; beyond it they count in inverse proportion.
const RELIANT_LENGTH: f64 = 60.0;
/// Weights of the words of a neighbour, and of the next but one.
const NEIGHBOUR: [f64; 2] = [0.2, 0.1];
/// Weights of the cosines: of the message's vector, of its nearest passage's, of its window's.
const VECTOR: f64 = 0.5;
const PASSAGE_VECTOR: f64 = 0.25;
const WINDOW_VECTOR: f64 = 0.5;
/// Shares of a neighbour's vector, and of the next but one's, in the vector of a window.
const WINDOW_MIX: [f64; 2] = [0.7, 0.35];
/// Bonus of a standing instruction: such texts also answer questions that share none of their words.
const INSTRUCTION: f64 = 0.05;
/// Weight of a text's length, because an answer takes more than three words. It grows with the logarithm of the
/// length, and no further than a few sentences, so that long texts gain nothing more.
const SUBSTANCE: f64 = 0.25;
/// Tokens at which that growth slows down, and at which it ends.
const SUBSTANCE_SOME: f64 = 36.0;
const SUBSTANCE_WHOLE: u32 = 90;
/// Penalty of a text of open sentences alone: it asks or announces, and does not answer.
const OPEN: f64 = 0.4;
/// The same of an agent's message. People's are often more than what they ask, and answer other questions.
const OPEN_OF_AGENT: f64 = 0.7;
/// Penalty of a passage of open sentences alone, when the one is chosen that is shown.
const OPEN_PASSAGE: f64 = 0.2;
/// How much more of a question's words such a passage has than the first. Most answers begin with their point.
const FAR_MORE: f64 = 0.3;
/// Bonus of a text from a period that the question names.
const DATED: f64 = 0.2;
/// Bonus of a text by the person whom the question names, as a share of the best score.
const SPEAKER_BOOST: f64 = 0.3;
/// One text in so many must begin with a name for it to count as a speaker's.
const SPEAKER_ONE_IN: usize = 12;
/// Weight of the mean score of a session's best texts, added to each of its texts.
const SESSION: f64 = 0.5;
/// How many of the best texts. A session with fewer gains less.
const SESSION_BEST: usize = 3;
/// The ratio of median lengths above which one side of the conversations counts as verbose, and the factor for its
/// messages.
const VERBOSE_RATIO: f64 = 3.0;
const VERBOSE_FACTOR: f64 = 1.0 / 1.5;

/// Greatest distance of neighbours in events. Where tools work in between, the next message hardly answers the one
/// before.
const NEIGHBOUR_DISTANCE: usize = 1;

/// Factor of entries and observations for a question about what holds: a rule or a decision answers it, and the
/// conversation that led to it does not.
const HOLDS: f64 = 1.3;

/// Scores are rounded down to multiples of this. Answers of equal score are ordered by time, newest first.
const SCORE_STEP: f64 = 0.0001;

/// Messages on each side of a text that count for its score.
pub const REACH: usize = 2;

/// Documents, each once.
pub type Documents = HashSet<DocumentNo, RandomState>;

/// A question prepared for ranking: its words, its vector and its periods.
pub struct RankingQuery<'a> {
    /// Its words.
    pub lexical: LexicalQuery<'a>,
    /// The question's vector; none without one.
    pub vector: Direction<'a>,
    /// The periods that it names.
    pub dates: &'a Dates,
    /// The question is what is to be done, or what was decided.
    pub asks_what_holds: bool,
}

/// A text that may be an answer, or is a neighbour of one.
#[derive(Debug)]
pub struct RecallCandidate {
    /// The text as the index has it.
    pub outline: DocumentOutline,
    /// Counts of the question's terms in it.
    pub stats: TextStats,
    /// Counts of the window of three messages around it.
    pub window_counts: QueryTermCounts,
    /// Whether it may be an answer; otherwise it only counts as a neighbour.
    pub is_ranked: bool,
    /// Its score.
    pub parts: ScoreParts,
    /// How long the vector of the whole text is; 0 without one.
    length: f64,
}

/// The parts of a text's score. `side` and `layer` are factors, the others are added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ScoreParts {
    /// BM25 over its own words.
    pub words: f64,
    /// BM25 over the words of its best passage.
    pub passage: f64,
    /// Words akin to the question's.
    pub akin: f64,
    /// BM25 over the windows around it, its own words included.
    pub window: f64,
    /// The word scores of its neighbours.
    pub neighbours: f64,
    /// The cosine of its vector.
    pub vector: f64,
    /// The cosine of its best passage's vector.
    pub passage_vector: f64,
    /// The cosine of its window's vector.
    pub window_vector: f64,
    /// Bonus of a standing instruction.
    pub instruction: f64,
    /// Bonus for its length, up to a few sentences.
    pub substance: f64,
    /// Penalty for its open sentences; at most 0.
    pub open: f64,
    /// Bonus of a time that the question names.
    pub dated: f64,
    /// Bonus of the speaker whom the question names.
    pub speaker: f64,
    /// Share in the best scores of its session.
    pub session: f64,
    /// Factor of the side of the conversations that writes much longer messages.
    pub side: f64,
    /// Factor of its layer of memory.
    pub layer: f64,
    /// Bonus of what the question asks for, such as a number, and of the latest answers; only of the first ones.
    pub asked: f64,
}

impl ScoreParts {
    /// The score by its own words and its windows.
    fn own_words(&self) -> f64 {
        self.words + self.passage + self.window + self.akin
    }

    /// The score without the share of its session and the factor of its layer.
    pub(crate) fn all_but_session(&self) -> f64 {
        let words = self.own_words() + self.neighbours;
        let vectors = self.vector + self.passage_vector + self.window_vector;
        let content = self.instruction + self.substance + self.open + self.dated;
        (words + vectors + content) * self.side + self.speaker
    }

    /// The whole score.
    #[must_use]
    pub fn total(&self) -> f64 {
        (self.all_but_session() + self.session) * self.layer + self.asked
    }
}

impl RecallCandidate {
    /// Scans a text, and scores it without its neighbours.
    #[inline(never)]
    pub fn new(ranking: &RankingQuery<'_>, outline: DocumentOutline) -> Self {
        let stats = ranking.lexical.text_stats(&outline.terms);
        let mut candidate = Self {
            outline,
            window_counts: stats.whole,
            stats,
            is_ranked: true,
            parts: ScoreParts {
                side: 1.0,
                layer: 1.0,
                ..ScoreParts::default()
            },
            length: 0.0,
        };
        candidate.score_own_text(ranking);
        candidate
    }

    /// Scores the text as if it had no neighbours: it is a window of its own.
    fn score_own_text(&mut self, ranking: &RankingQuery<'_>) {
        let lexical = &ranking.lexical;
        let whole = &self.stats.whole;
        let best = self
            .stats
            .passages
            .iter()
            .map(|passage| lexical.score(&passage.counts, PASSAGE));
        let best = best.fold(None, |best: Option<f64>, score| {
            Some(best.map_or(score, |b| b.max(score)))
        });
        self.parts.words = lexical.score(whole, TURN);
        self.parts.akin = AKIN * self.stats.akin;
        self.parts.passage = PASSAGE_SHARE * best.unwrap_or_else(|| lexical.score(whole, PASSAGE));
        self.parts.window = self.window_score(ranking, whole, whole);
        self.parts.instruction = if self.stats.is_instruction {
            INSTRUCTION
        } else {
            0.0
        };
        self.parts.substance = self.substance();
        let open = match self.outline.origin {
            Some(Origin::Assistant) => OPEN_OF_AGENT,
            _ => OPEN,
        };
        // Not `-open * …`, which is -0 for a text without open sentences.
        self.parts.open = 0.0 - open * self.stats.open_share();
        self.parts.dated = if ranking.dates.contains(self.outline.at) {
            DATED
        } else {
            0.0
        };
        let question = &ranking.vector;
        let width = question.codes().len().max(1);
        let mut vectors = self.outline.vectors.chunks_exact(width);
        let cosine = |codes| question.cosine(&Direction::of(codes));
        let whole = vectors.next().map_or(Direction::of(&[]), Direction::of);
        self.length = whole.length();
        let whole = question.cosine(&whole);
        let best = vectors.map(cosine).fold(None, |best: Option<f64>, cosine| {
            Some(best.map_or(cosine, |b| b.max(cosine)))
        });
        self.parts.vector = VECTOR * whole;
        self.parts.passage_vector = PASSAGE_VECTOR * best.unwrap_or(whole);
        self.parts.window_vector = WINDOW_VECTOR * whole;
    }

    fn window_score(
        &self,
        ranking: &RankingQuery<'_>,
        three: &QueryTermCounts,
        five: &QueryTermCounts,
    ) -> f64 {
        let three = WINDOW_OF_THREE_SHARE * ranking.lexical.score(three, WINDOW_OF_THREE);
        let five = WINDOW_OF_FIVE_SHARE * ranking.lexical.score(five, WINDOW_OF_FIVE);
        self.context_reliance() * (three + five)
    }

    /// The bonus for the text's length.
    fn substance(&self) -> f64 {
        let length = self.stats.whole.length().min(SUBSTANCE_WHOLE);
        SUBSTANCE * (f64::from(length) / SUBSTANCE_SOME).ln_1p()
    }

    /// How much the messages around it count, from 0 to 1: fully for a short message.
    fn context_reliance(&self) -> f64 {
        (RELIANT_LENGTH / f64::from(self.stats.whole.length().max(1))).min(1.0)
    }

    /// The passage that answers, counted from 0: the one with most of the question's words, where it has far more than the
    /// first. `None` for a text of one passage.
    pub fn best_passage(&self, ranking: &RankingQuery<'_>) -> Option<usize> {
        let score = |passage: &PassageStats| {
            let open = f64::from(passage.open) / f64::from(passage.counts.length().max(1));
            ranking.lexical.score(&passage.counts, PASSAGE) - OPEN_PASSAGE * open
        };
        let scores: Vec<f64> = self.stats.passages.iter().map(score).collect();
        let better = |one: &usize, other: &usize| {
            let earlier = || other.cmp(one);
            scores[*one].total_cmp(&scores[*other]).then_with(earlier)
        };
        let best = (0..scores.len()).max_by(better)?;
        Some(if scores[best] >= scores[0] + FAR_MORE {
            best
        } else {
            0
        })
    }

    /// The vector of the whole text, without those of its passages.
    fn whole_vector(&self, dimensions: usize) -> Direction<'_> {
        let codes = self.outline.vectors.get(..dimensions).unwrap_or_default();
        Direction::with_length(codes, self.length)
    }

    /// The score before neighbours are known.
    #[must_use]
    pub fn own_score(&self) -> f64 {
        self.parts.total()
    }

    /// The score in steps, so that what differs by less is equal.
    #[must_use]
    pub fn stepped_score(&self) -> f64 {
        (self.parts.total() / SCORE_STEP).floor() * SCORE_STEP
    }

    /// The greater cosine of the whole text's vector and the nearest passage's.
    pub(crate) fn best_cosine(&self) -> f64 {
        (self.parts.passage_vector / PASSAGE_VECTOR).max(self.parts.vector / VECTOR)
    }
}

/// Adds the parts that depend on other candidates: neighbours, sides, speakers and sessions.
///
/// `candidates` are in the order of their numbers. `surrounded` are documents whose neighbours up to [`REACH`] are all
/// among the candidates; others are scored without neighbours.
#[inline(never)]
pub fn score(
    ranking: &RankingQuery<'_>,
    candidates: &mut [RecallCandidate],
    surrounded: &Documents,
) {
    let neighbours: Vec<MessageNeighbours> = (0..candidates.len())
        .map(
            |at| match surrounded.contains(&candidates[at].outline.doc) {
                true => MessageNeighbours::of(candidates, at),
                false => MessageNeighbours::default(),
            },
        )
        .collect();
    for (at, around) in neighbours.iter().enumerate() {
        if around.iter().next().is_some() {
            around.score(ranking, candidates, at);
        }
    }
    let own: Vec<f64> = candidates.iter().map(|c| c.parts.own_words()).collect();
    for (candidate, around) in candidates.iter_mut().zip(&neighbours) {
        let beside = around.iter().map(|(far, at)| NEIGHBOUR[far] * own[at]);
        // Not `sum`, which is -0 for an empty iterator.
        let beside = beside.fold(0.0, |sum, score| sum + score);
        candidate.parts.neighbours = candidate.context_reliance() * beside;
    }
    discount_verbose_side(candidates);
    boost_named_speaker(&ranking.lexical, candidates);
    add_session_scores(candidates);
    for candidate in candidates {
        candidate.parts.layer = layer_factor(&candidate.outline);
        if ranking.asks_what_holds && candidate.outline.doc.layer() != MemoryLayer::Event {
            candidate.parts.layer *= HOLDS;
        }
    }
}

/// The indexes of a text's neighbours on both sides, then of the next but one.
#[derive(Default)]
struct MessageNeighbours([[Option<usize>; 2]; REACH]);

impl MessageNeighbours {
    fn of(candidates: &[RecallCandidate], at: usize) -> Self {
        let own = candidates[at].outline.doc;
        let beside = |other: usize, far: usize| {
            let other = candidates.get(other)?.outline.doc;
            let are_said = own.is_said() && other.is_said() && other.session() == own.session();
            let apart = usize::try_from(own.0.abs_diff(other.0)).unwrap_or(usize::MAX);
            (are_said && apart <= far * NEIGHBOUR_DISTANCE).then_some(())
        };
        let mut around = Self::default();
        for (n, sides) in around.0.iter_mut().enumerate() {
            let far = n + 1;
            let before = at
                .checked_sub(far)
                .filter(|before| beside(*before, far).is_some());
            let after = Some(at + far).filter(|after| beside(*after, far).is_some());
            *sides = [before, after];
        }
        around
    }

    /// The neighbours, each as its distance less one and its index.
    fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.0.iter().enumerate();
        all.flat_map(|(far, sides)| sides.iter().flatten().map(move |at| (far, *at)))
    }

    /// Replaces the window parts of a text by those of the windows around it.
    fn score(&self, ranking: &RankingQuery<'_>, candidates: &mut [RecallCandidate], at: usize) {
        let mut windows = [candidates[at].stats.whole; REACH];
        for (far, beside) in self.iter() {
            for window in &mut windows[far..] {
                *window += candidates[beside].stats.whole;
            }
        }
        let [three, five] = windows;
        let cosine = self.window_cosine(ranking.vector.codes().len(), candidates, at);
        let candidate = &mut candidates[at];
        candidate.window_counts = three;
        candidate.parts.window = candidate.window_score(ranking, &three, &five);
        candidate.parts.window_vector = WINDOW_VECTOR * cosine;
    }

    /// The cosine between the question's vector and the weighted sum of the directions of a text's and its neighbours' vectors,
    /// of which each one's cosine is known: the rest is how long the sum is.
    fn window_cosine(&self, width: usize, candidates: &[RecallCandidate], at: usize) -> f64 {
        let beside = self.iter().map(|(far, at)| (at, WINDOW_MIX[far]));
        let window = std::iter::once((at, 1.0)).chain(beside);
        let window = window.map(|(at, weight)| {
            let candidate = &candidates[at];
            (candidate, candidate.whole_vector(width), weight)
        });
        let window: Vec<_> = window.filter(|(_, of, _)| !of.is_none()).collect();
        let (mut dot, mut square) = (0.0, 0.0);
        for (n, (candidate, one, weight)) in window.iter().enumerate() {
            dot += weight * candidate.parts.vector / VECTOR;
            let others = window[..n].iter();
            let products = others.map(|(_, other, of_other)| of_other * one.cosine(other));
            square += weight * (weight + 2.0 * products.sum::<f64>());
        }
        if square > 0.0 {
            dot / square.sqrt()
        } else {
            0.0
        }
    }
}

/// Discounts the side of the conversations whose messages are much longer than the other side's.
fn discount_verbose_side(candidates: &mut [RecallCandidate]) {
    let median = |origin: Origin| {
        let of = candidates
            .iter()
            .filter(|c| c.outline.origin == Some(origin));
        let mut lengths: Vec<u32> = of.map(|c| c.stats.whole.length()).collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied()
    };
    let (Some(human), Some(agent)) = (median(Origin::Human), median(Origin::Assistant)) else {
        return;
    };
    let (human, agent) = (f64::from(human.max(1)), f64::from(agent.max(1)));
    let verbose = match agent / human {
        ratio if ratio > VERBOSE_RATIO => Origin::Assistant,
        ratio if ratio < 1.0 / VERBOSE_RATIO => Origin::Human,
        _ => return,
    };
    for candidate in candidates
        .iter_mut()
        .filter(|c| c.outline.origin == Some(verbose))
    {
        candidate.parts.side = VERBOSE_FACTOR;
    }
}

/// The speakers of the conversations: terms of names that many texts begin with.
pub(crate) fn speakers(candidates: &[RecallCandidate]) -> Vec<u32> {
    let mut counts: HashMap<u32, usize, RandomState> = HashMap::default();
    for speaker in candidates.iter().filter_map(|c| c.stats.speaker) {
        *counts.entry(speaker).or_default() += 1;
    }
    let many = counts
        .into_iter()
        .filter(|(_, count)| *count > 1 && count * SPEAKER_ONE_IN >= candidates.len());
    let mut speakers: Vec<u32> = many.map(|(speaker, _)| speaker).collect();
    speakers.sort_unstable();
    speakers
}

/// Adds the bonus of a speaker, where the question names exactly one.
fn boost_named_speaker(lexical: &LexicalQuery<'_>, candidates: &mut [RecallCandidate]) {
    let named: Vec<u32> = speakers(candidates)
        .into_iter()
        .filter(|s| lexical.contains_term(*s))
        .collect();
    let [named] = named.as_slice() else {
        return;
    };
    let best = candidates
        .iter()
        .map(|c| c.parts.all_but_session())
        .fold(0.0, f64::max);
    for candidate in candidates
        .iter_mut()
        .filter(|c| c.stats.speaker == Some(*named))
    {
        candidate.parts.speaker = SPEAKER_BOOST * best;
    }
}

/// Adds to each text a share of the best scores of its session.
fn add_session_scores(candidates: &mut [RecallCandidate]) {
    let mut best: HashMap<i64, Vec<f64>, RandomState> = HashMap::default();
    for candidate in candidates.iter() {
        if let Some(session) = candidate.outline.doc.session() {
            best.entry(session)
                .or_default()
                .push(candidate.parts.all_but_session());
        }
    }
    for scores in best.values_mut() {
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores.truncate(SESSION_BEST);
    }
    for candidate in candidates {
        let session = candidate.outline.doc.session();
        let scores = session.and_then(|session| best.get(&session));
        // A text without a session counts as a session of its own.
        let sum = scores.map_or_else(
            || candidate.parts.all_but_session(),
            |scores| scores.iter().sum::<f64>(),
        );
        candidate.parts.session = SESSION * sum / SESSION_BEST as f64;
    }
}

/// The factor of a layer: entries and observations before messages, and those before tools' work.
///
/// With these factors an entry among the first ten answers is as often right as a message there (`daybook eval
/// questions` over all layers).
fn layer_factor(outline: &DocumentOutline) -> f64 {
    match (outline.doc.layer(), outline.origin) {
        (MemoryLayer::Entry, _) => 1.0,
        (MemoryLayer::Observation, _) => 0.97,
        (MemoryLayer::Event, Some(Origin::Human | Origin::Assistant)) => 0.9,
        (MemoryLayer::Event, Some(Origin::ToolCall)) => 0.75,
        (MemoryLayer::Event, Some(Origin::ToolResult)) => 0.6,
        (
            MemoryLayer::Event,
            Some(Origin::Harness | Origin::Synthetic | Origin::Recalled | Origin::Retraction)
            | None,
        ) => 0.3,
    }
}

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;
