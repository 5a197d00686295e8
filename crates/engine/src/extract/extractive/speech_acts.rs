//! Finds the speech acts of a person's messages: corrections, wishes, decisions, statements of fact.
//!
//! Of each message the sentences with the highest scores are kept, in words that can stand alone. Other orders and
//! questions are left out.
//!
//! Not here: the score of a sentence (`classify`), choices among the agent's options (`choices`),
//! repeated reminders (`insistence`), context from the agent's messages (`context`).

use daybook_domain::{ObservationKind as Kind, Origin};

use super::classify::{SentenceContext, SpeechAct, classify};
use super::clauses::{
    MIN_CONTENT_WORDS, judged_words, lacks_its_clause, remove_requests, shorten_around,
};
use super::context::find_context;
use super::fiction::{plays, tells_of_joke};
use super::lexicon::{Cue, Lexicon};
use super::open_ends::is_carried_out;
use super::prose::prefix_of;
use super::scored_draft::{MIN_SCORE, ScoredDraft};
use super::sentences::{MAX_QUOTE, Sentence, lowered};
use super::turns::{HumanTurn, WindowConversation};
use super::words::content_words;
use super::worth::ConversationKind;

/// Most drafts of a message of few sentences. A longer one may have one more for so many sentences: people who dictate say several
/// things at once.
const MAX_PER_MESSAGE: usize = 2;
const SENTENCES_FOR_ONE_MORE: usize = 3;
/// Least score of a correction or decision in a conversation without tool calls.
const MIN_SCORE_WITHOUT_WORK: i32 = 60;
/// Most characters of a message in which people state something in passing.
const BRIEF: usize = 280;
/// The same where people talk, who write more; texts that they want changed are longer.
const BRIEF_IN_CHAT: usize = 600;
/// Least weight of a clause that acts by itself.
const SURE_CLAUSE: i32 = 40;
/// Least weight of one cue of a correction that neither refused a call nor was conceded.
const SURE_CORRECTION: i32 = 45;

/// Bytes at the beginning of a reply that say how the agent took the message.
const REPLY_BEGINS: usize = 200;

/// Most words of a request that names nothing of its own: "can you check?"
const SHORT_REQUEST: usize = 6;

/// Least worth of a sentence that is kept beside another where people talk: as a fact, and as a wish.
const FACT_BESIDE: f32 = -1.0;
const WISH_BESIDE: f32 = -0.5;

/// The speech acts of the window's messages, in order.
pub(super) fn find_speech_acts(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    talk.new_turns()
        .flat_map(|(_, turn)| find_in_turn(talk, turn))
        .collect()
}

fn find_in_turn(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> Vec<ScoredDraft> {
    let Some(lexicon) = turn.lexicon.filter(|_| !turn.is_closing()) else {
        return Vec::new();
    };
    let working = talk.has_actions_in(talk.look_back_start(turn.at), turn.end);
    let conversation = talk.kind_at(turn);
    let mut classified = classify_sentences(turn, lexicon, (working, conversation));
    classified.retain(|(i, _)| !is_carried_out(&turn.prose[*i], talk, turn));
    let joke = turn.prose.iter().rposition(|s| tells_of_joke(&s.low));
    classified.retain(|(i, _)| joke.is_none_or(|joke| *i > joke));
    if !classified.is_empty() && tells_of_joke(&first_reply(talk, turn)) {
        classified.clear();
    }
    if conversation == ConversationKind::Chat && plays(&turn.low()) {
        classified.retain(|(_, verdict)| verdict.kind != Kind::Fact);
    }
    let alone = classified.len() == 1;
    let finds = classified.into_iter().filter_map(|(i, verdict)| {
        let words = quote_words(turn, (i, alone), (verdict.kind, conversation), lexicon);
        if lacks_its_clause(&words) {
            return None;
        }
        let context = find_context(talk, turn, verdict.kind, (i, &words));
        let before = quoted_before(turn, i, &words).filter(|_| verdict.kind == Kind::Fact);
        let mut quoted = before.into_iter().chain([&turn.prose[i]]);
        if context.is_none() && !quoted.any(|it| stands_alone(it, verdict.kind, lexicon)) {
            return None;
        }
        let find = ScoredDraft::from_quote(verdict.kind, verdict.score, &[turn.message], &words);
        let mut find = find.with_context(turn.said_by(context));
        find.draft.general = verdict.general;
        Some(find)
    });
    without_repeated(finds.collect())
}

/// The beginning of the agent's reply to a message, in lower case.
fn first_reply(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> String {
    let mut events = talk.events[turn.at..turn.end].iter();
    let reply = events.find(|event| event.origin == Origin::Assistant);
    lowered(reply.map_or("", |reply| prefix_of(&reply.text, REPLY_BEGINS)))
}

/// Without what another draft of the same message says, too: two sentences of which one is quoted with the other.
fn without_repeated(mut finds: Vec<ScoredDraft>) -> Vec<ScoredDraft> {
    let texts: Vec<String> = finds.iter().map(|find| find.draft.text.clone()).collect();
    let is_repeated = |own: &str| {
        texts
            .iter()
            .any(|other| other.len() > own.len() && other.contains(own))
    };
    finds.retain(|find| !is_repeated(&find.draft.text));
    finds
}

/// The sentence before the one at `at`, where a quote begins with it: it says what "it" is.
fn quoted_before<'t>(turn: &'t HumanTurn<'_>, at: usize, words: &str) -> Option<&'t Sentence> {
    let before = &turn.prose[at.checked_sub(1)?];
    words.starts_with(&before.text).then_some(before)
}

/// Whether a sentence without context is understood next month: it points at nothing in the conversation, and a
/// correction is no mere question and has a cue that suffices without an answer of the agent.
fn stands_alone(sentence: &Sentence, kind: Kind, lexicon: &Lexicon) -> bool {
    let judged = match kind {
        Kind::Fact => stating_clause(&sentence.low, lexicon),
        _ => acting_clause(&sentence.low, kind, lexicon),
    };
    let points = lexicon.has_cue(Cue::Pointer, judged.unwrap_or(&sentence.low));
    let corrects = || {
        let strongest = |text| lexicon.strongest(Cue::Correction, text);
        let cue = strongest(&sentence.low).max(strongest(&sentence.opening));
        !sentence.is_question() && cue.is_some_and(|(weight, _)| weight >= SURE_CORRECTION)
    };
    !points && (kind != Kind::Correction || corrects())
}

/// The sentences of a message with the highest scores: one of each kind, but any number of wishes and facts.
fn classify_sentences(
    turn: &HumanTurn<'_>,
    lexicon: &Lexicon,
    (working, conversation): (bool, ConversationKind),
) -> Vec<(usize, SpeechAct)> {
    let most = match conversation {
        ConversationKind::Work => BRIEF,
        ConversationKind::Chat => BRIEF_IN_CHAT,
    };
    let surroundings = SentenceContext {
        refused: turn.refused_call.is_some(),
        stopped: turn.interrupting,
        conceded: turn.concession.is_some(),
        conversation,
        reports: false,
        brief: turn.words.chars().count() <= most,
    };
    let sentences = turn.prose.iter().enumerate().filter(|(_, s)| !s.redacted);
    let mut classified: Vec<(usize, SpeechAct)> = sentences
        .filter_map(|(i, s)| {
            let context = SentenceContext {
                reports: reports(&turn.prose[i..], lexicon),
                ..surroundings
            };
            Some((i, classify(s, context, lexicon)?))
        })
        .filter(|(_, verdict)| {
            verdict.score >= MIN_SCORE
                && (working
                    || verdict.score >= MIN_SCORE_WITHOUT_WORK
                    || !requires_work(verdict.kind))
        })
        .collect();
    classified.sort_by_key(|(i, verdict)| (-verdict.score, *i));
    let mut kinds = Vec::new();
    classified.retain(|(_, v)| {
        let first = !kinds.contains(&v.kind);
        kinds.push(v.kind);
        first || matches!(v.kind, Kind::Preference | Kind::Fact)
    });
    classified.truncate(MAX_PER_MESSAGE + turn.prose.len() / SENTENCES_FOR_ONE_MORE);
    classified
}

/// Whether the first of these sentences, or the next one in a few words, asks to look into what the first reports.
fn reports(prose: &[Sentence], lexicon: &Lexicon) -> bool {
    let asks = |s: &Sentence| lexicon.has_cue(Cue::Report, &s.low);
    let is_short = |s: &&Sentence| s.low.split_whitespace().count() <= SHORT_REQUEST;
    prose.first().is_some_and(asks) || prose.get(1).filter(is_short).is_some_and(asks)
}

/// The clause that corrects, wishes or decides, of "that's wrong, the key must …" and "drop the wizard, it breaks":
/// the first that points at nothing, if one does not. Verdicts and reasons may point.
fn acting_clause<'s>(low: &'s str, kind: Kind, lexicon: &Lexicon) -> Option<&'s str> {
    let cues: &[Cue] = match kind {
        Kind::Preference => &[Cue::Preference, Cue::General],
        Kind::Correction | Kind::Decision => &[Cue::Correction, Cue::Decision],
        Kind::Fact | Kind::Value | Kind::Fix | Kind::OpenEnd | Kind::Note => &[],
    };
    let acts = |clause: &&str| {
        cues.iter()
            .any(|cue| lexicon.weight(*cue, clause) >= SURE_CLAUSE)
    };
    let mut clauses = low.split(", ").filter(acts);
    clauses.find(|clause| !lexicon.has_cue(Cue::Pointer, clause))
}

/// The first clause of a fact where it says enough by itself: "my rent is 940 a month, put that in the budget".
fn stating_clause<'s>(low: &'s str, lexicon: &Lexicon) -> Option<&'s str> {
    let (first, _) = low.split_once(", ")?;
    (content_words(first, lexicon).len() >= MIN_CONTENT_WORDS).then_some(first)
}

/// Kinds about work: without work in the conversation they need a higher score.
fn requires_work(kind: Kind) -> bool {
    matches!(kind, Kind::Correction | Kind::Decision)
}

/// The sentence to quote: with its neighbours if the whole message fits, or with a reason that follows it.
fn quote_words(
    turn: &HumanTurn<'_>,
    (at, alone): (usize, bool),
    (kind, conversation): (Kind, ConversationKind),
    lexicon: &Lexicon,
) -> String {
    let prose = &turn.prose;
    let whole: Vec<&str> = prose.iter().map(|s| s.text.as_str()).collect();
    let whole = whole.join(" ");
    let fits = whole.chars().count() <= MAX_QUOTE && !prose.iter().any(|s| s.redacted);
    if turn.refused_call.is_some() && fits {
        return whole;
    }
    let plain = |s: &Sentence| remove_requests(&s.text, MIN_CONTENT_WORDS, lexicon);
    let own = plain(&prose[at]);
    // "make sure it's in project Troy": the order before says what "it" is.
    let before = at.checked_sub(1).map(|before| &prose[before]);
    if let Some(before) = before.filter(|it| refers_back(&own) && !it.redacted) {
        let both = format!("{} {own}", before.text);
        if both.chars().count() <= MAX_QUOTE {
            return both;
        }
    }
    if alone && fits {
        // Questions beside it are about the moment; so are greetings and thanks where people talk.
        let is_worth = |s: &Sentence, of: ConversationKind, least: f32| {
            of.worth(&judged_words(&s.text, lexicon), lexicon) >= least
        };
        let says_something = |s: &Sentence| {
            let is_said = conversation == ConversationKind::Work
                || is_worth(s, ConversationKind::Chat, FACT_BESIDE)
                || is_worth(s, ConversationKind::Work, WISH_BESIDE);
            is_said && !tells_of_joke(&s.low)
        };
        let kept = prose.iter().enumerate();
        let kept = kept.filter(|(i, s)| *i == at || !s.is_question() && says_something(s));
        return kept.map(|(_, s)| plain(s)).collect::<Vec<_>>().join(" ");
    }
    let reason = prose
        .get(at + 1)
        .filter(|next| gives_reason(&next.low) && !next.redacted);
    match reason.map(|next| format!("{own} {}", next.text)) {
        Some(both) if both.chars().count() <= MAX_QUOTE => both,
        _ => shorten_around(&own, MAX_QUOTE, |text| cue_position(text, kind, lexicon)),
    }
}

/// Whether a text speaks of something that the sentence before it names.
fn refers_back(text: &str) -> bool {
    let low = lowered(text);
    let mut words = low.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    words.any(|word| matches!(word, "it's" | "they're"))
}

/// The position of the strongest cue for this kind.
fn cue_position(text: &str, kind: Kind, lexicon: &Lexicon) -> Option<usize> {
    let low = lowered(text);
    let cues: &[Cue] = match kind {
        Kind::Preference => &[Cue::Preference, Cue::General],
        Kind::Fact => &[Cue::Fact],
        Kind::OpenEnd => &[Cue::Later],
        Kind::Correction | Kind::Decision | Kind::Value | Kind::Fix | Kind::Note => {
            &[Cue::Correction, Cue::Decision]
        }
    };
    cues.iter()
        .filter_map(|cue| lexicon.strongest(*cue, &low))
        .max()
        .map(|(_, at)| at)
}

fn gives_reason(low: &str) -> bool {
    let starts = [
        "because",
        "otherwise",
        "that'll",
        "that will",
        "that way",
        "it makes",
        "so that",
        "since",
    ];
    starts.iter().any(|start| low.starts_with(start))
}
