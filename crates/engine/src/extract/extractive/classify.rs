//! Scores whether a sentence corrects, wishes, decides or states a fact.
//!
//! The score depends on cue words and on the context: whether the sentence refused a call or interrupted the
//! agent, whether the agent conceded it afterwards, whether it is about the moment alone. A sentence that cannot be
//! understood without the conversation around it is no speech act.
//!
//! Not here: which sentences of a message are kept, and in which words (`speech_acts`).

use std::sync::LazyLock;

use daybook_domain::ObservationKind as Kind;
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::clauses::judged_words;
use super::lexicon::{Cue, Lexicon};
use super::scored_draft::MIN_SCORE;
use super::sentences::Sentence;
use super::standing::weigh_standing;
use super::words::{content_words, is_concrete};
use super::worth::{ConversationKind, after_introduction};

/// Fewest content words of a sentence that can stand alone.
const CONTENT: usize = 3;
/// Number of content words that compensates for a missing name.
const RICH: usize = 5;
const REFUSING: i32 = 40;
const STOPPING: i32 = 20;
const CONCEDED: i32 = 25;
const CLEAR: i32 = 10;
const MOMENTARY: i32 = -40;
const ONLY_ASKED: i32 = -25;
const REFERS_ELSEWHERE: i32 = -20;
/// Weight below which a wish needs a name or a habit, not only words.
const STRONG: i32 = 45;
/// Weight of a cue that needs only one content word.
const FIRM: i32 = 55;
/// Weight added to a wish that holds everywhere, and the least weight of one.
const GENERAL: i32 = 30;
/// Weight of a cue from which a fact is sure in spite of any hedge: it says where something is now, or what it is called.
const SURE: i32 = 60;
/// Weight from which a fact needs no name.
const PLAIN: i32 = 50;
/// Score of a sentence that is worth keeping by its form, without any cue.
const FORM: i32 = 60;
/// Least worth of such a sentence.
const LEAST_WORTH: f32 = 1.5;
/// Least worth of a sentence with a cue: of an order, of a statement of fact, of a correction, with a strong cue, and
/// with a weak one that wishes or decides.
const LIKELY_ORDER: f32 = 0.5;
const LIKELY_FACT: f32 = -2.0;
const LIKELY_CORRECTION: f32 = -0.6;
const LIKELY_BY_CUE: f32 = -3.0;
const LIKELY_WISH: f32 = 0.5;
const LIKELY_DECISION: f32 = -3.0;
/// The same of one that says that it lasts.
const LIKELY_LASTING: f32 = -1.5;
/// Least worth of a sentence in which people talk of themselves: of their turns one in three says something worth keeping.
const LIKELY_OF_SELF: f32 = 0.0;
/// Weight of a strong cue.
const STRONG_CUE: i32 = 50;
/// What a sentence of a long message needs more: people paste into these.
const LONG_MESSAGE: f32 = 2.1;
/// Least weight of a cue by which a question objects: "why don't you …?".
const OBJECTION: i32 = 40;
/// What a sentence needs less that the agent conceded.
const CONCEDED_WORTH: f32 = 2.0;
/// Fewest content words of it.
const FORM_CONTENT: usize = 2;
/// Fewest content words beside an option's label of a decision that stands alone.
const OPTION_CONTENT: usize = 2;

/// The context of a sentence that bears on its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentenceContext {
    /// Its message refused a call.
    pub(super) refused: bool,
    /// Its message interrupted the agent.
    pub(super) stopped: bool,
    /// The agent conceded it.
    pub(super) conceded: bool,
    /// It reports what the agent is to look into: "the list now shows nothing, can you check?"
    pub(super) reports: bool,
    /// Its message is short: a person states something in passing, and explains nothing.
    pub(super) brief: bool,
    /// What its conversation is for.
    pub(super) conversation: ConversationKind,
}

/// The speech act of a sentence, with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpeechAct {
    pub(super) kind: Kind,
    pub(super) score: i32,
    /// A wish that holds everywhere.
    pub(super) general: bool,
}

/// Features of a sentence that scores are computed from.
struct SentenceFeatures<'a> {
    /// Its text without one-time requests, in lower case.
    low: String,
    opening: &'a str,
    content: usize,
    /// It names something concrete.
    concrete: bool,
    /// It is about a habitual practice, such as writing tests.
    habit: bool,
}

impl SentenceFeatures<'_> {
    fn of<'a>(
        sentence: &'a Sentence,
        context: SentenceContext,
        lexicon: &Lexicon,
    ) -> SentenceFeatures<'a> {
        let low = if context.refused {
            sentence.low.clone()
        } else {
            judged_words(&sentence.text, lexicon)
        };
        SentenceFeatures {
            opening: &sentence.opening,
            content: content_words(&low, lexicon).len(),
            concrete: is_concrete(&sentence.text),
            habit: lexicon.has_cue(Cue::Practice, &low),
            low,
        }
    }

    /// The bonus for clarity: a name, a practice, or enough content words where these suffice.
    fn clarity_bonus(&self, words_suffice: bool) -> i32 {
        let rich = words_suffice && self.content >= RICH;
        if self.concrete || self.habit || rich {
            CLEAR
        } else {
            0
        }
    }

    /// The penalties that apply to every kind.
    fn penalties(&self, lexicon: &Lexicon) -> i32 {
        let mut penalties = 0;
        if lexicon.has_cue(Cue::Momentary, &self.low) {
            penalties += MOMENTARY;
        }
        if refers_elsewhere(&self.low) && !self.concrete && self.content < RICH {
            penalties += REFERS_ELSEWHERE;
        }
        penalties
    }

    /// Whether it has enough content words: the stronger the cue, the fewer it needs.
    fn has_enough_words(&self, weight: i32) -> bool {
        self.content
            >= match weight {
                ..STRONG => CONTENT,
                STRONG..FIRM => 2,
                FIRM.. => 1,
            }
    }
}

/// The speech act with the highest score, however low; `None` if the sentence is none.
pub(super) fn classify(
    sentence: &Sentence,
    context: SentenceContext,
    lexicon: &Lexicon,
) -> Option<SpeechAct> {
    let lacks_mark = !sentence.is_question() && lexicon.has_cue(Cue::AsksPlainly, &sentence.low);
    if announces(&sentence.text) || lacks_mark {
        return None;
    }
    let features = SentenceFeatures::of(sentence, context, lexicon);
    let penalties = features.penalties(lexicon);
    let is_general =
        lexicon.has_cue(Cue::General, &features.low) && !features.low.ends_with(['?', '？']);
    let corrects = lexicon.weight(Cue::Correction, &features.low);
    let wishes = score_wish(&features, is_general, lexicon);
    let decides = score_decision(&features, context, lexicon);
    let states = score_fact(&features, lexicon);
    let refused = context.refused && features.concrete;
    let scored = [
        (
            Kind::Correction,
            score_correction(&features, context, lexicon),
            features.clarity_bonus(true),
            refused || features.has_enough_words(corrects),
        ),
        (
            Kind::Preference,
            wishes,
            features.clarity_bonus(wishes >= STRONG),
            features.has_enough_words(wishes),
        ),
        (
            Kind::Decision,
            decides,
            features.clarity_bonus(true),
            features.has_enough_words(decides),
        ),
        (Kind::Fact, states, 0, features.has_enough_words(states)),
    ];
    let scored = scored
        .into_iter()
        .filter(|(_, weight, _, enough)| *weight > 0 && *enough);
    let acts = scored.map(|(kind, weight, bonus, _)| SpeechAct {
        kind,
        score: weight + bonus + penalties,
        general: is_general && kind == Kind::Preference,
    });
    // Of equal scores the first wins, so that corrections come first.
    let best = acts.reduce(|best, next| if next.score > best.score { next } else { best });
    let is_chat = context.conversation == ConversationKind::Chat;
    let tells = is_chat && is_about_self(&features.low);
    let best = best.map(|act| match act.kind {
        Kind::Preference | Kind::Correction if tells => SpeechAct {
            kind: Kind::Fact,
            general: false,
            ..act
        },
        _ => act,
    });
    let best = best.filter(|act| is_likely(act.kind, &features, context, lexicon));
    let is_sure = best.is_some_and(|act| act.score >= MIN_SCORE);
    let by_form = || classify_by_form(&features, best, context, penalties, lexicon);
    if is_sure { best } else { by_form().or(best) }
}

/// Whether a sentence with a cue is one worth keeping, rather than an order or a remark of the moment, of which people
/// write twenty for one that lasts. What refuses a call or stops the agent is, unless it only asks.
fn is_likely(
    kind: Kind,
    features: &SentenceFeatures<'_>,
    context: SentenceContext,
    lexicon: &Lexicon,
) -> bool {
    let low = features.low.as_str();
    let asks = low.ends_with(['?', '？']);
    let reacts = context.refused || context.stopped;
    if kind != Kind::Fact && reacts && !asks && !is_order(low, lexicon) {
        return true;
    }
    // A wish to an assistant is worded as one to an agent that works.
    let weights = match kind {
        Kind::Fact => context.conversation,
        _ => ConversationKind::Work,
    };
    let lasts = lexicon.has_cue(Cue::Lasting, low);
    let has = |cue, least| {
        let strongest = lexicon.strongest(cue, low);
        strongest.is_some_and(|(weight, _)| weight >= least)
    };
    let has_strong = |cue| has(cue, STRONG_CUE);
    let least = match kind {
        // "Rename A to B", "replace A with B": an order that settles something.
        Kind::Decision if context.brief && has_strong(Cue::Decision) => return true,
        _ if is_order(low, lexicon) => LIKELY_ORDER,
        Kind::Preference if context.brief && has_strong(Cue::Preference) => return true,
        Kind::Fact if weights == ConversationKind::Chat => least_in_chat(low),
        Kind::Fact => LIKELY_FACT,
        Kind::Preference | Kind::Correction if has_strong(Cue::Preference) => LIKELY_BY_CUE,
        Kind::Decision | Kind::Correction if has_strong(Cue::Decision) => LIKELY_BY_CUE,
        Kind::Correction if features.habit => LIKELY_BY_CUE,
        _ if lasts => LIKELY_LASTING,
        Kind::Preference => LIKELY_WISH,
        Kind::Decision => LIKELY_DECISION,
        _ => LIKELY_CORRECTION,
    };
    // A fact that a sure phrase announces is the person's own, however long the message.
    let is_sure = kind == Kind::Fact && has(Cue::Fact, SURE);
    let is_own_words = context.brief || is_sure;
    let more = if is_own_words { 0.0 } else { LONG_MESSAGE };
    // A mere question is answered, whatever the agent says first.
    let is_point = context.conceded && (has(Cue::Correction, OBJECTION) || !asks);
    let less = if is_point { CONCEDED_WORTH } else { 0.0 };
    let is_own = kind != Kind::Fact || !is_quotation(low);
    let parts = [
        Some(low),
        after_introduction(low).filter(|_| kind != Kind::Fact),
    ];
    let judged = parts.into_iter().flatten();
    let judged = judged.map(|part| weights.worth(part, lexicon));
    is_own && judged.fold(f32::MIN, f32::max) >= least + more - less
}

/// Least worth of a sentence of a chat: one that speaks of no one is most often wisdom or advice.
fn least_in_chat(low: &str) -> f32 {
    match speaks_of_self(low) {
        true => LIKELY_OF_SELF,
        false => LEAST_WORTH,
    }
}

/// Words by which people speak of themselves. Spanish does with its verbs, which most often also have the worth of any other
/// sentence.
const OF_SELF: [&str; 27] = [
    "i", "i'm", "i've", "i'd", "i'll", "im", "ive", "my", "me", "mine", "myself", "we", "we've",
    "we're", "our", "us", "ich", "mein", "meine", "meinen", "meinem", "meiner", "mir", "mich",
    "wir", "uns", "unsere",
];

/// Whether a sentence of a chat is about its speaker and asks nothing of the other: "I hate not being on the court".
fn is_about_self(low: &str) -> bool {
    let first = low.split([' ', ',']).next().unwrap_or_default();
    let wishes = [
        "prefer",
        "please",
        "never",
        "always",
        "bitte",
        "por favor",
        "请",
    ];
    !addresses(low) && !wishes.iter().any(|word| low.contains(word)) && speaks_of_self(first)
}

/// Whether a sentence speaks to the other.
fn addresses(low: &str) -> bool {
    let others = [
        "you", "your", "yourself", "you're", "du", "dir", "dich", "dein", "tu", "ti",
    ];
    let mut words = low.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    low.contains('你') || words.any(|word| others.contains(&word))
}

/// Whether a sentence speaks of the person who says it.
fn speaks_of_self(low: &str) -> bool {
    let mut words = low.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    low.contains('我') || words.any(|word| OF_SELF.contains(&word.replace('’', "'").as_str()))
}

/// A sentence without a sure cue that looks like one worth keeping: of the kind that a weak cue names, or a fact.
fn classify_by_form(
    features: &SentenceFeatures<'_>,
    weak: Option<SpeechAct>,
    context: SentenceContext,
    penalties: i32,
    lexicon: &Lexicon,
) -> Option<SpeechAct> {
    let low = features.low.as_str();
    let is_chat = context.conversation == ConversationKind::Chat;
    let least = if is_chat {
        least_in_chat(low)
    } else {
        LEAST_WORTH
    };
    let reacts = context.refused || context.stopped;
    let least = if context.brief {
        least
    } else {
        least + LONG_MESSAGE
    };
    let is_open = low.ends_with(['?', '？']) || lexicon.has_cue(Cue::Later, low) || context.reports;
    // What speaks of the other alone is advice.
    let advises = is_chat && addresses(low) && !speaks_of_self(low);
    let stands = features.content >= FORM_CONTENT
        && !advises
        && !is_quotation(low)
        && !is_order(low, lexicon)
        && context.conversation.worth(low, lexicon) >= least;
    (!reacts && !is_open && stands).then(|| SpeechAct {
        kind: weak.map_or(Kind::Fact, |act| match act.kind {
            kind @ (Kind::Preference | Kind::Decision) if !is_chat => kind,
            _ => Kind::Fact,
        }),
        score: FORM + penalties,
        general: weak.is_some_and(|act| act.general),
    })
}

fn score_correction(
    features: &SentenceFeatures<'_>,
    context: SentenceContext,
    lexicon: &Lexicon,
) -> i32 {
    let by_opening = lexicon.weight(Cue::Correction, features.opening);
    let mut score = lexicon
        .weight(Cue::Correction, &features.low)
        .max(by_opening);
    if context.refused {
        score += REFUSING;
    }
    if context.stopped && score > 0 {
        score += STOPPING;
    }
    if context.conceded && score > 0 {
        score += CONCEDED;
    }
    if lexicon.has_cue(Cue::Request, &features.low) && !context.refused {
        score += ONLY_ASKED;
    }
    score
}

fn score_wish(features: &SentenceFeatures<'_>, is_general: bool, lexicon: &Lexicon) -> i32 {
    let is_asked =
        features.low.ends_with(['?', '？']) && !begins_with_request(&features.low, lexicon);
    if is_asked || lexicon.has_cue(Cue::NotStanding, &features.low) {
        return 0;
    }
    let weight = lexicon.weight(Cue::Preference, &features.low);
    if features.low.ends_with(['?', '？']) && weight < STRONG {
        return 0;
    }
    if is_general {
        weight.max(GENERAL) + GENERAL
    } else {
        weight
    }
}

fn score_decision(
    features: &SentenceFeatures<'_>,
    context: SentenceContext,
    lexicon: &Lexicon,
) -> i32 {
    let low = features.low.as_str();
    let is_open = low.ends_with(['?', '？']);
    let weight = lexicon.weight(Cue::Decision, low);
    let is_asked = begins_with_request(low, lexicon);
    let is_none = is_open || is_asked || lexicon.has_cue(Cue::NotDecision, low);
    if is_none || weight == 0 || only_names_option(low, lexicon) {
        return 0;
    }
    weight + if context.conceded { CLEAR } else { 0 }
}

/// The label of an option in an agent's list.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"\b(?:option|approach|choice|variant|plan|number) #?(?:\d{1,2}|[a-h])\b")
});

/// Whether a sentence says little beside the label of an option ("let's go with option 1"), which the agent's list explains.
fn only_names_option(low: &str, lexicon: &Lexicon) -> bool {
    OPTION.is_match(low)
        && content_words(&OPTION.replace_all(low, ""), lexicon).len() < OPTION_CONTENT
}

/// Scores a statement of fact: plain, about something named, no question, no hedge, no news of the day.
fn score_fact(features: &SentenceFeatures<'_>, lexicon: &Lexicon) -> i32 {
    let low = features.low.as_str();
    if is_order(low, lexicon) {
        return 0;
    }
    let announced = lexicon.weight(Cue::Fact, low);
    let standing = weigh_standing(low, lexicon);
    let plain = !lexicon.has_cue(Cue::NotFact, low);
    // An end of life is worth keeping in spite of any hedge.
    let strongest = lexicon.strongest(Cue::Fact, low);
    let strongest = strongest.map_or(0, |(weight, _)| weight);
    let sure = strongest >= SURE
        || (features.concrete && strongest >= FIRM)
        || (plain && (features.concrete || announced >= PLAIN))
        || (standing > 0 && (features.concrete || standing >= PLAIN));
    let weight = announced.max(standing);
    if sure && weight > 0 && !low.ends_with(['?', '？']) {
        weight + CLEAR
    } else {
        0
    }
}

/// Whether a sentence only announces what follows it, or is an item of a list of tasks.
fn announces(text: &str) -> bool {
    text.ends_with([':', '：']) || text.starts_with("[ ]") || text.starts_with("[x]")
}

/// Whether a sentence orders a piece of work that is done once.
fn is_order(low: &str, lexicon: &Lexicon) -> bool {
    lexicon.has_cue(Cue::Order, low) && !lexicon.has_cue(Cue::Lasting, low)
}

/// Whether a sentence is another's words as a whole: in marks that no word of the person's own follows.
fn is_quotation(low: &str) -> bool {
    let marks = ['"', '“', '”', '„', '«', '»', '「', '」'];
    let inner = low.trim_end_matches(['.', ',', '!', '"', '”', '“', '»', '」']);
    inner
        .strip_prefix(marks)
        .is_some_and(|inner| !inner.contains(marks))
}

fn begins_with_request(low: &str, lexicon: &Lexicon) -> bool {
    lexicon
        .find(Cue::Request, low)
        .is_some_and(|(at, _)| at == 0)
}

/// Whether the sentence begins with "this" or "that", which only the conversation explains.
pub(super) fn refers_elsewhere(low: &str) -> bool {
    let first = low.split([' ', '\'', ',']).next().unwrap_or("");
    matches!(
        first,
        "this" | "that" | "it" | "they" | "these" | "those" | "there" | "he" | "she"
    )
}
