//! The order of what was found: one score, a sum of parts that `recall --explain` shows.
//!
//! A text is scored by its words, by those of its passages, and by those around it in its conversation; by
//! the angle between its vector and the question's; by the time, the person and the session that the
//! question is about. No part rules everywhere: the words around a short message say what it is about, and
//! mean nothing beside a long one; so they count by its length. The order is total and depends on values
//! alone, so every store gives the same.
//!
//! The figures were searched for on conversations and checked on others: `daybook eval` repeats that.
//!
//! Not here: fetching candidates (`search`), whether the question was discussed at all (`confidence`).

use std::collections::HashMap;

use daybook_domain::Origin;
use daybook_domain::index::{DocumentNo, Layer, Outline};
use daybook_domain::vector;

use super::dates::Dates;
use super::lexical::{Asked, Counts, Measure, Read};

/// How a message is measured alone, in windows of three and five, and passage by passage.
const TURN: Measure = Measure {
    average: 40.0,
    b: 0.75,
};
const WINDOW_OF_THREE: Measure = Measure {
    average: 120.0,
    b: 0.5,
};
const WINDOW_OF_FIVE: Measure = Measure {
    average: 200.0,
    b: 0.5,
};
const PASSAGE: Measure = Measure {
    average: 40.0,
    b: 0.5,
};
/// What they are worth beside the message itself.
const WINDOW_OF_THREE_SHARE: f64 = 0.25;
const WINDOW_OF_FIVE_SHARE: f64 = 0.5;
const PASSAGE_SHARE: f64 = 0.5;
/// What words are worth that mean nearly what the question's do.
const AKIN: f64 = 1.2;
/// Tokens up to which a message leans on those around it wholly.
const LEANING: f64 = 60.0;
/// What the words of a neighbour are worth, and of the next but one.
const NEIGHBOUR: [f64; 2] = [0.2, 0.1];
/// What angles are worth: of the message, of its nearest passage, of the messages around it.
const VECTOR: f64 = 0.5;
const PASSAGE_VECTOR: f64 = 0.25;
const WINDOW_VECTOR: f64 = 0.5;
/// What a neighbour adds to the vector of a window, and the next but one.
const WINDOW_MIX: [f64; 2] = [0.7, 0.35];
/// What saying how things are always to be done is worth: such texts answer what they do not name.
const INSTRUCTION: f64 = 0.05;
/// What having something to say is worth: who answers needs more than three words. It grows with the
/// logarithm of the length, and no further than a few sentences, so that long texts gain nothing by it.
const SUBSTANCE: f64 = 0.25;
/// Tokens at which it begins to grow slowly, and at which it is whole.
const SUBSTANCE_SOME: f64 = 36.0;
const SUBSTANCE_WHOLE: u32 = 90;
/// What being said in the time that the question names is worth.
const DATED: f64 = 0.2;
/// What being said by the person that the question names is worth, of the best score.
const SPEAKER: f64 = 0.3;
/// Share of the texts that must begin with a name for it to be a speaker's.
const SPEAKS: usize = 12;
/// What a session's best texts are worth to each of its texts.
const SESSION: f64 = 0.2;
/// How many of them.
const SESSION_BEST: usize = 3;
/// How many times longer one side's messages are than the other's before their length is held against
/// them, and how much.
const TALKATIVE: f64 = 3.0;
const TALKATIVE_SHARE: f64 = 1.0 / 1.5;

/// Most events that lie between neighbours, counting the second: where tools work in between, what is said
/// next is hardly an answer to what was said before.
const APART: usize = 1;

/// How far around a text others matter to it.
pub(super) const REACH: usize = 2;

/// What a question's text is compared by.
pub(super) struct Asking<'a> {
    pub(super) asked: Asked<'a>,
    /// Codes of its vector; empty without one.
    pub(super) vector: &'a [i8],
    pub(super) dates: &'a Dates,
}

/// A text that may be an answer, or stands beside one.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) outline: Outline,
    pub(super) read: Read,
    /// What it says together with its neighbours.
    pub(super) place: Counts,
    /// Whether it may be an answer; otherwise it only stands beside one.
    pub(super) is_ranked: bool,
    pub(super) parts: Parts,
}

/// What a text scored, part by part. The sum is multiplied by `side` and `layer`.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Parts {
    /// Its words.
    pub words: f64,
    /// The words of its best passage.
    pub passage: f64,
    /// Words that mean nearly what the question's do.
    pub akin: f64,
    /// The words of the messages around it, together with its own.
    pub window: f64,
    /// What the messages beside it scored by words.
    pub neighbours: f64,
    /// Its vector.
    pub vector: f64,
    /// The vector of its best passage.
    pub passage_vector: f64,
    /// The vector of the messages around it.
    pub window_vector: f64,
    /// Whether it says how things are always to be done.
    pub instruction: f64,
    /// How much it says at all.
    pub substance: f64,
    /// Whether it was said in the time that the question names.
    pub dated: f64,
    /// Whether the person whom the question names said it.
    pub speaker: f64,
    /// What else its session has to say.
    pub session: f64,
    /// The factor for the side of the conversation that says much more than the other.
    pub side: f64,
    /// The factor for its layer of memory.
    pub layer: f64,
}

impl Parts {
    /// By its words alone, whatever is beside it.
    fn own_words(&self) -> f64 {
        self.words + self.passage + self.window + self.akin
    }

    fn all_but_session(&self) -> f64 {
        let words = self.own_words() + self.neighbours;
        let vectors = self.vector + self.passage_vector + self.window_vector;
        let said = self.instruction + self.substance + self.dated;
        (words + vectors + said) * self.side + self.speaker
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> f64 {
        (self.all_but_session() + self.session) * self.layer
    }
}

impl Candidate {
    /// Reads a text, and scores what is its own.
    pub(super) fn new(asking: &Asking<'_>, outline: Outline) -> Self {
        let read = asking.asked.read(&outline.terms);
        let mut candidate = Self {
            outline,
            place: read.whole,
            read,
            is_ranked: true,
            parts: Parts {
                side: 1.0,
                layer: 1.0,
                ..Parts::default()
            },
        };
        candidate.score_alone(asking);
        candidate
    }

    /// Scored as if nothing stood beside it, it is a window of its own.
    fn score_alone(&mut self, asking: &Asking<'_>) {
        let asked = &asking.asked;
        let whole = &self.read.whole;
        let best = self
            .read
            .passages
            .iter()
            .map(|passage| asked.score(passage, PASSAGE));
        let best = best.fold(None, |best: Option<f64>, score| {
            Some(best.map_or(score, |b| b.max(score)))
        });
        self.parts.words = asked.score(whole, TURN);
        self.parts.akin = AKIN * self.read.akin;
        self.parts.passage = PASSAGE_SHARE * best.unwrap_or_else(|| asked.score(whole, PASSAGE));
        self.parts.window = self.window_score(asking, whole, whole);
        self.parts.instruction = if self.read.is_instruction {
            INSTRUCTION
        } else {
            0.0
        };
        self.parts.substance = self.substance();
        self.parts.dated = if asking.dates.have(self.outline.at) {
            DATED
        } else {
            0.0
        };
        let mut vectors = self
            .outline
            .vectors
            .chunks_exact(asking.vector.len().max(1));
        let whole = vectors
            .next()
            .map_or(0.0, |whole| vector::cosine(asking.vector, whole));
        let best = vectors.map(|passage| vector::cosine(asking.vector, passage));
        let best = best.fold(None, |best: Option<f64>, angle| {
            Some(best.map_or(angle, |b| b.max(angle)))
        });
        self.parts.vector = VECTOR * whole;
        self.parts.passage_vector = PASSAGE_VECTOR * best.unwrap_or(whole);
        self.parts.window_vector = WINDOW_VECTOR * whole;
    }

    fn window_score(&self, asking: &Asking<'_>, three: &Counts, five: &Counts) -> f64 {
        let three = WINDOW_OF_THREE_SHARE * asking.asked.score(three, WINDOW_OF_THREE);
        let five = WINDOW_OF_FIVE_SHARE * asking.asked.score(five, WINDOW_OF_FIVE);
        self.leaning() * (three + five)
    }

    /// How much it says. What was digested is short because it says no more than it has to.
    fn substance(&self) -> f64 {
        let length = match self.outline.doc.layer() {
            Layer::Event => self.read.whole.length().min(SUBSTANCE_WHOLE),
            Layer::Entry | Layer::Observation => SUBSTANCE_WHOLE,
        };
        SUBSTANCE * (f64::from(length) / SUBSTANCE_SOME).ln_1p()
    }

    /// How much it leans on what is around it.
    fn leaning(&self) -> f64 {
        (LEANING / f64::from(self.read.whole.length().max(1))).min(1.0)
    }

    /// Its own vector, all of it.
    fn whole_vector(&self, dimensions: usize) -> &[i8] {
        self.outline.vectors.get(..dimensions).unwrap_or_default()
    }

    /// What it scores before anything around it is known.
    pub(super) fn alone(&self) -> f64 {
        self.parts.total()
    }

    /// The angle between the question and its nearest passage.
    pub(super) fn angle(&self) -> f64 {
        (self.parts.passage_vector / PASSAGE_VECTOR).max(self.parts.vector / VECTOR)
    }
}

/// Scores candidates, which lie in the order of their numbers, by what stands around them and by what they
/// have in common. `placed` are those whose neighbours, as far as [`REACH`], are among them.
pub(super) fn score(
    asking: &Asking<'_>,
    candidates: &mut [Candidate],
    placed: impl Fn(DocumentNo) -> bool,
) {
    let around: Vec<Around> = (0..candidates.len())
        .map(|at| match placed(candidates[at].outline.doc) {
            true => Around::of(candidates, at),
            false => Around::default(),
        })
        .collect();
    for (at, around) in around.iter().enumerate() {
        if around.sides().next().is_some() {
            around.score(asking, candidates, at);
        }
    }
    let own: Vec<f64> = candidates.iter().map(|c| c.parts.own_words()).collect();
    for (candidate, around) in candidates.iter_mut().zip(&around) {
        let beside = around.sides().map(|(far, at)| NEIGHBOUR[far] * own[at]);
        // Not `sum`: the sum of nothing would be -0.
        let beside = beside.fold(0.0, |sum, score| sum + score);
        candidate.parts.neighbours = candidate.leaning() * beside;
    }
    weigh_sides(candidates);
    favour_speaker(&asking.asked, candidates);
    share_sessions(candidates);
    for candidate in candidates {
        candidate.parts.layer = layer_share(&candidate.outline);
    }
}

/// What stands around a text: the neighbours on both sides, then the next but one.
#[derive(Default)]
struct Around([[Option<usize>; 2]; REACH]);

impl Around {
    fn of(candidates: &[Candidate], at: usize) -> Self {
        let own = candidates[at].outline.doc;
        let beside = |other: usize, far: usize| {
            let other = candidates.get(other)?.outline.doc;
            let is_said = own.is_said() && other.is_said() && other.session() == own.session();
            let apart = usize::try_from(own.0.abs_diff(other.0)).unwrap_or(usize::MAX);
            (is_said && apart <= far * APART).then_some(())
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

    /// Each with its distance, less one.
    fn sides(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.0.iter().enumerate();
        all.flat_map(|(far, sides)| sides.iter().flatten().map(move |at| (far, *at)))
    }

    /// Scores a text by the windows around it.
    fn score(&self, asking: &Asking<'_>, candidates: &mut [Candidate], at: usize) {
        let mut windows = [candidates[at].read.whole; REACH];
        for (far, beside) in self.sides() {
            for window in &mut windows[far..] {
                *window += candidates[beside].read.whole;
            }
        }
        let [three, five] = windows;
        let angle = self.angle(asking.vector, candidates, at);
        let candidate = &mut candidates[at];
        candidate.place = three;
        candidate.parts.window = candidate.window_score(asking, &three, &five);
        candidate.parts.window_vector = WINDOW_VECTOR * angle;
    }

    /// The angle between the question and what stands around a text, mixed.
    fn angle(&self, asked: &[i8], candidates: &[Candidate], at: usize) -> f64 {
        let mut mixed = vec![0.0; asked.len()];
        let mut add = |codes: &[i8], weight: f64| {
            let length = vector::length(codes);
            if length > 0.0 {
                for (sum, &code) in mixed.iter_mut().zip(codes) {
                    *sum += weight / length * f64::from(code);
                }
            }
        };
        add(candidates[at].whole_vector(asked.len()), 1.0);
        for (far, beside) in self.sides() {
            add(
                candidates[beside].whole_vector(asked.len()),
                WINDOW_MIX[far],
            );
        }
        let square: f64 = mixed.iter().map(|part| part * part).sum();
        let dot: f64 = mixed
            .iter()
            .zip(asked)
            .map(|(part, &code)| part * f64::from(code))
            .sum();
        let length = square.sqrt() * vector::length(asked);
        if length > 0.0 { dot / length } else { 0.0 }
    }
}

/// Holds it against the side of the conversations whose messages are much longer that they are.
fn weigh_sides(candidates: &mut [Candidate]) {
    let median = |origin: Origin| {
        let of = candidates
            .iter()
            .filter(|c| c.outline.origin == Some(origin));
        let mut lengths: Vec<u32> = of.map(|c| c.read.whole.length()).collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied()
    };
    let (Some(human), Some(agent)) = (median(Origin::Human), median(Origin::Assistant)) else {
        return;
    };
    let (human, agent) = (f64::from(human.max(1)), f64::from(agent.max(1)));
    let talkative = match agent / human {
        ratio if ratio > TALKATIVE => Origin::Assistant,
        ratio if ratio < 1.0 / TALKATIVE => Origin::Human,
        _ => return,
    };
    for candidate in candidates
        .iter_mut()
        .filter(|c| c.outline.origin == Some(talkative))
    {
        candidate.parts.side = TALKATIVE_SHARE;
    }
}

/// The speakers of the conversations: names that many texts begin with.
pub(super) fn speakers(candidates: &[Candidate]) -> Vec<u32> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for speaker in candidates.iter().filter_map(|c| c.read.speaker) {
        *counts.entry(speaker).or_default() += 1;
    }
    let many = counts
        .into_iter()
        .filter(|(_, count)| *count > 1 && count * SPEAKS >= candidates.len());
    let mut speakers: Vec<u32> = many.map(|(speaker, _)| speaker).collect();
    speakers.sort_unstable();
    speakers
}

/// Favours what a person said, where the question names one and no other.
fn favour_speaker(asked: &Asked<'_>, candidates: &mut [Candidate]) {
    let named: Vec<u32> = speakers(candidates)
        .into_iter()
        .filter(|s| asked.has(*s))
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
        .filter(|c| c.read.speaker == Some(*named))
    {
        candidate.parts.speaker = SPEAKER * best;
    }
}

/// Lets each text share in what the best of its session scored.
fn share_sessions(candidates: &mut [Candidate]) {
    let mut best: HashMap<i64, Vec<f64>> = HashMap::new();
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
        // What stands alone shares with itself: a session lifts nobody above what has none.
        let mean = scores.map_or_else(
            || candidate.parts.all_but_session(),
            |scores| scores.iter().sum::<f64>() / scores.len() as f64,
        );
        candidate.parts.session = SESSION * mean;
    }
}

/// How much a layer is preferred: what was digested before what was merely said, and both before what tools
/// did.
fn layer_share(outline: &Outline) -> f64 {
    match (outline.doc.layer(), outline.origin) {
        (Layer::Entry, _) => 1.0,
        (Layer::Observation, _) => 0.97,
        (Layer::Event, Some(Origin::Human | Origin::Assistant)) => 0.9,
        (Layer::Event, Some(Origin::ToolCall)) => 0.75,
        (Layer::Event, Some(Origin::ToolResult)) => 0.6,
        (Layer::Event, _) => 0.3,
    }
}

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;
