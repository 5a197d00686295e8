//! How sure it is that a sentence corrects, wishes, decides or states a fact.
//!
//! A sentence is judged by its cue words and by its place: said in refusing a call or stopping the
//! agent, conceded by the agent afterwards, about the moment alone. What cannot be understood
//! without the talk around it gets nothing.
//!
//! Not here: which sentences of a message are kept, and in which words (`acts`).

use daybook_domain::ObservationKind as Kind;

use super::acts::LEAST;
use super::clauses::without_requests;
use super::lexicon::{Cue, Lexicon};
use super::sentences::{Sentence, lowered};
use super::words::{content_words, is_concrete};

/// Content words without which a sentence says nothing by itself.
const CONTENT: usize = 3;
/// Content words that make up for a missing name.
const RICH: usize = 5;
const REFUSING: i32 = 40;
const STOPPING: i32 = 20;
const CONCEDED: i32 = 25;
const CLEAR: i32 = 10;
const MOMENTARY: i32 = -40;
const ONLY_ASKED: i32 = -25;
const POINTS_ELSEWHERE: i32 = -20;
/// Weight below which a wish needs a name or a habit, not only words.
const STRONG: i32 = 45;
/// Weight of a cue that needs hardly a word beside it.
const FIRM: i32 = 55;
/// Weight that a wish for everywhere has for that alone.
const GENERAL: i32 = 30;
/// Weight from which a fact needs no name in it.
const PLAIN: i32 = 50;

/// Where a sentence stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// It refused a call.
    pub(super) refused: bool,
    /// The agent was stopped to say it.
    pub(super) stopped: bool,
    /// The agent admitted it right.
    pub(super) conceded: bool,
}

/// What a sentence does, and how sure that is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    pub(super) kind: Kind,
    pub(super) score: i32,
    /// A wish for everywhere.
    pub(super) general: bool,
}

/// What can be seen of a sentence before asking what it does.
struct Seen<'a> {
    /// Without orders of the moment, in lower case.
    low: String,
    opening: &'a str,
    content: usize,
    /// It names something.
    concrete: bool,
    /// It is about something that people make a habit of.
    habit: bool,
}

impl Seen<'_> {
    fn of<'a>(sentence: &'a Sentence, place: Place, lexicon: &Lexicon) -> Seen<'a> {
        let low = if place.refused {
            sentence.low.clone()
        } else {
            lowered(&without_requests(&sentence.text, LEAST, lexicon))
        };
        Seen {
            opening: &sentence.opening,
            content: content_words(&low, lexicon).len(),
            concrete: is_concrete(&sentence.text),
            habit: lexicon.shows(Cue::Practice, &low),
            low,
        }
    }

    /// What makes it surer: a name, a habit, or enough words where words suffice.
    fn clear(&self, words_suffice: bool) -> i32 {
        let rich = words_suffice && self.content >= RICH;
        if self.concrete || self.habit || rich {
            CLEAR
        } else {
            0
        }
    }

    /// What makes it less sure, whatever it does.
    fn doubts(&self, lexicon: &Lexicon) -> i32 {
        let mut doubts = 0;
        if lexicon.shows(Cue::Momentary, &self.low) {
            doubts += MOMENTARY;
        }
        if points_elsewhere(&self.low) && !self.concrete && self.content < RICH {
            doubts += POINTS_ELSEWHERE;
        }
        doubts
    }

    /// Whether it says enough: the surer the cue, the fewer words it needs beside it.
    fn says_enough(&self, weight: i32) -> bool {
        self.content
            >= match weight {
                ..STRONG => CONTENT,
                STRONG..FIRM => 2,
                FIRM.. => 1,
            }
    }
}

/// What the sentence does, whether it is sure enough or not; `None` when it does nothing.
pub(super) fn judge(sentence: &Sentence, place: Place, lexicon: &Lexicon) -> Option<Verdict> {
    let seen = Seen::of(sentence, place, lexicon);
    let doubts = seen.doubts(lexicon);
    let general = lexicon.shows(Cue::General, &seen.low) && !seen.low.ends_with('?');
    let corrects = lexicon.weight(Cue::Correction, &seen.low);
    let wishes = wish(&seen, general, lexicon);
    let decides = decision(&seen, place, lexicon);
    let states = fact(&seen, lexicon);
    let refused = place.refused && seen.concrete;
    let scored = [
        (
            Kind::Correction,
            correction(&seen, place, lexicon),
            seen.clear(true),
            refused || seen.says_enough(corrects),
        ),
        (
            Kind::Preference,
            wishes,
            seen.clear(wishes >= STRONG),
            seen.says_enough(wishes),
        ),
        (
            Kind::Decision,
            decides,
            seen.clear(true),
            seen.says_enough(decides),
        ),
        (Kind::Fact, states, 0, seen.says_enough(states)),
    ];
    let scored = scored
        .into_iter()
        .filter(|(_, weight, _, enough)| *weight > 0 && *enough);
    let verdicts = scored.map(|(kind, weight, clear, _)| Verdict {
        kind,
        score: weight + clear + doubts,
        general: general && kind == Kind::Preference,
    });
    // Of equals the first stays: what corrects is told as a correction.
    verdicts.reduce(|best, next| if next.score > best.score { next } else { best })
}

fn correction(seen: &Seen<'_>, place: Place, lexicon: &Lexicon) -> i32 {
    let opened = lexicon.weight(Cue::Correction, seen.opening);
    let mut score = lexicon.weight(Cue::Correction, &seen.low).max(opened);
    if place.refused {
        score += REFUSING;
    }
    if place.stopped && score > 0 {
        score += STOPPING;
    }
    if place.conceded && score > 0 {
        score += CONCEDED;
    }
    if lexicon.shows(Cue::Request, &seen.low) && !place.refused {
        score += ONLY_ASKED;
    }
    score
}

fn wish(seen: &Seen<'_>, general: bool, lexicon: &Lexicon) -> i32 {
    let asked = seen.low.ends_with('?') && !opens_with_request(&seen.low, lexicon);
    if asked || lexicon.shows(Cue::NotStanding, &seen.low) {
        return 0;
    }
    let weight = lexicon.weight(Cue::Preference, &seen.low);
    if general {
        weight.max(GENERAL) + GENERAL
    } else {
        weight
    }
}

fn decision(seen: &Seen<'_>, place: Place, lexicon: &Lexicon) -> i32 {
    let low = seen.low.as_str();
    let only_tags = ["right?", "yes?", "ok?", "no?"];
    let open = low.ends_with('?') && !only_tags.iter().any(|end| low.ends_with(end));
    let weight = lexicon.weight(Cue::Decision, low);
    let asked = opens_with_request(low, lexicon);
    if open || asked || weight == 0 || lexicon.shows(Cue::NotDecision, low) {
        return 0;
    }
    weight + if place.conceded { CLEAR } else { 0 }
}

/// A fact is a plain statement about something named: no question, no hedge, no news of the day.
fn fact(seen: &Seen<'_>, lexicon: &Lexicon) -> i32 {
    let weight = lexicon.weight(Cue::Fact, &seen.low);
    let plain = !lexicon.shows(Cue::NotFact, &seen.low);
    // An end of life is worth keeping whatever else the sentence says.
    let sure = (seen.concrete && weight >= FIRM) || (plain && (seen.concrete || weight >= PLAIN));
    if sure && weight > 0 && !seen.low.ends_with('?') {
        weight + CLEAR
    } else {
        0
    }
}

fn opens_with_request(low: &str, lexicon: &Lexicon) -> bool {
    lexicon
        .find(Cue::Request, low)
        .is_some_and(|(at, _)| at == 0)
}

/// Whether the sentence is about "this" or "that", which only the talk explains.
pub(super) fn points_elsewhere(low: &str) -> bool {
    let first = low.split([' ', '\'', ',']).next().unwrap_or("");
    matches!(
        first,
        "this" | "that" | "it" | "they" | "these" | "those" | "there" | "he" | "she"
    )
}
