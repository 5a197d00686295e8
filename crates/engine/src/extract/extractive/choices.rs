//! Finds choices among the agent's options: "do B", "the second", "yes, that makes sense".
//!
//! Such words mean nothing alone. What is kept is what they accept, in the agent's words: the option with that
//! label, or a sentence that proposes something; the person's words are its context. So two answers "1" to different
//! questions are two decisions. An option that only tells the agent how to go on decides nothing.
//!
//! Not here: decisions in the person's own words (`speech_acts`).

use std::sync::LazyLock;

use daybook_domain::{Event, ObservationKind as Kind, Origin};
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::classify::refers_elsewhere;
use super::clauses::{remove_requests, shorten};
use super::host_question::question_and_answer;
use super::lexicon::{Cue, english};
use super::outside::is_from_outside;
use super::prose::prefix_of;
use super::scored_draft::{ScoredDraft, quote};
use super::sentences::{MAX_QUOTE, agent_sentences, lowered, one_line};
use super::turns::{HumanTurn, WindowConversation};
use super::words::{content_words, is_concrete};
use crate::extract::ACCEPTED;

/// Most bytes of the agent's message that are searched for options.
const MAX_SEARCHED_BYTES: usize = 32 * 1024;
/// The agent's messages before the last one among which a list is sought of which the last one speaks.
const REPLIES: usize = 3;
const PICKED: i32 = 80;
const AGREED: i32 = 55;

/// The choices and agreements of the window, at most one per message.
pub(super) fn find_choices(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    talk.new_turns()
        .filter_map(|(_, turn)| {
            find_answer(turn)
                .or_else(|| find_picked_option(talk, turn))
                .or_else(|| find_agreement(turn))
                .map(|find| (turn, find))
        })
        .map(|(turn, mut find)| {
            find.from_outside = is_from_outside(talk, turn.at, &find.draft.text);
            find
        })
        .collect()
}

/// The answer to a question that the host put to the person, as importers write it: "Q: …", then "A: …".
fn find_answer(turn: &HumanTurn<'_>) -> Option<ScoredDraft> {
    let (question, answer) = question_and_answer(&turn.message.text)?;
    let answer = answer.trim_end_matches("(Recommended)").trim();
    let decides = !english().has_cue(Cue::Errand, &lowered(answer));
    let text = format!("{} → {answer}", shorten(&one_line(question), MAX_QUOTE));
    let find = ScoredDraft::composed(Kind::Decision, PICKED, &[turn.message], &text);
    (decides && !answer.is_empty()).then_some(find)
}

fn find_picked_option(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> Option<ScoredDraft> {
    turn.lexicon?;
    // "1. … 2. …" is a list of the person's own, or an answer to each of several questions.
    if is_list(turn.words) {
        return None;
    }
    let mut picks = turn
        .prose
        .iter()
        .filter_map(|s| Some((s, picked_label(&s.text, &s.low)?)));
    let (sentence, asked, option) = picks.find_map(|(sentence, label)| {
        let (asked, option) = option_named(talk, turn, &label)?;
        Some((sentence, asked, option))
    })?;
    let words = remove_requests(&sentence.text, 0, turn.lexicon?);
    let accepts = !words.ends_with('?') && !REFUSES.is_match(&sentence.low);
    (accepts && is_decision(&option.text))
        .then(|| accepted((asked, turn), PICKED, &option.text, &words))
}

/// The option with this label in the agent's last message, or in one before it whose option the last one speaks of: "then
/// (b) works, too". With the message that offers it.
fn option_named<'a>(
    talk: &WindowConversation<'a>,
    turn: &HumanTurn<'a>,
    label: &str,
) -> Option<(&'a Event, OfferedOption)> {
    let before = &talk.events[talk.look_back_start(turn.at)..turn.at];
    let spoken =
        |event: &&&Event| event.origin == Origin::Assistant && !event.text.trim().is_empty();
    let mut replies = before.iter().rev().filter(spoken);
    let last = replies.next()?;
    let offered = |event: &&'a Event| {
        let options = offered_options(prefix_of(&event.text, MAX_SEARCHED_BYTES));
        let option = options.into_iter().find(|option| option.label == label)?;
        Some((*event, option))
    };
    let low = last.text.to_lowercase();
    let named = label.to_lowercase();
    let names = [
        format!("({named})"),
        format!("{named})"),
        format!("option {named}"),
    ];
    // Numbers are of steps, too, which are done one after the other.
    let is_named =
        || label.starts_with(char::is_alphabetic) && names.iter().any(|name| low.contains(name));
    offered(last).or_else(|| {
        is_named()
            .then(|| replies.take(REPLIES).find_map(offered))
            .flatten()
    })
}

/// Whether two lines of a text begin with a number.
fn is_list(text: &str) -> bool {
    let is_numbered = |line: &&str| {
        let rest = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.trim_start().len() && rest.starts_with(['.', ')'])
    };
    text.lines().filter(is_numbered).count() > 1
}

/// A decision in the agent's words, which the person's words accepted.
fn accepted(
    (asked, turn): (&Event, &HumanTurn<'_>),
    score: i32,
    option: &str,
    words: &str,
) -> ScoredDraft {
    // The words are the agent's, and the answer makes them a decision: it rests on both.
    ScoredDraft::composed(Kind::Decision, score, &[asked, turn.message], option)
        .with_context(Some(format!("{ACCEPTED}“{}”", quote(words))))
}

/// Words that turn an option down instead of choosing it.
static REFUSES: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(doesn't|don't|do not|does not|not|isn't|won't|can't|cannot|neither|never|wrong|drop|skip|without)\b",
    )
});

/// The sessions in which the agent goes on. Others are of what it works on: "the cart lives in the session".
const SESSIONS: [&str; 8] = [
    "this session",
    "new session",
    "same session",
    "current session",
    "next session",
    "separate session",
    "parallel session",
    "fresh session",
];

/// Whether an option says how something is to be. Others say how the agent goes on: which step is next, who does it.
fn is_decision(option: &str) -> bool {
    let low = lowered(option);
    let speaks_of_itself = low
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .any(|word| matches!(word, "i" | "i'll" | "i'd" | "me" | "subagent"))
        || SESSIONS.iter().any(|session| low.contains(session));
    !speaks_of_itself
        && !english().has_cue(Cue::Errand, &low)
        && content_words(&low, english()).len() >= 2
}

/// One of the agent's options.
#[derive(Debug, PartialEq, Eq)]
struct OfferedOption {
    label: String,
    text: String,
}

static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"^[\s|#>*-]*(?:\*\*|__)?(?i:option|approach|choice|variant|plan)?\s*(?:\*\*)?(\d{1,2}|[A-Ha-h])(?:\*\*)?\s*(?:[.):]|[-–—]\s|\|)(?:\*\*)?\s*(\S.*)$",
    )
});

/// Whether the agent's last message has a list to choose from.
pub(super) fn offers_options(turn: &HumanTurn<'_>) -> bool {
    let reply = turn.previous_reply.map_or("", |reply| reply.text.as_str());
    !offered_options(prefix_of(reply, MAX_SEARCHED_BYTES)).is_empty()
}

/// The options of the last list in the agent's message: labels in order, from 1 or A.
fn offered_options(asked: &str) -> Vec<OfferedOption> {
    let mut list: Vec<OfferedOption> = Vec::new();
    let mut questions = 0;
    for line in asked.lines() {
        let Some(found) = LABELLED.captures(line) else {
            continue;
        };
        let label = found[1].to_uppercase();
        let text = option_text(&found[2]);
        if label == "1" || label == "A" {
            list.clear();
            questions = 0;
        }
        let next = match list.last().and_then(|c| c.label.chars().next()) {
            None => label == "1" || label == "A",
            Some(last) if last.is_ascii_digit() => label.parse::<usize>() == Ok(list.len() + 1),
            Some(last) => label.chars().next() == char::from_u32(last as u32 + 1),
        };
        if next && !text.is_empty() {
            list.push(OfferedOption { label, text });
            questions += usize::from(found[2].trim_end_matches(['*', ' ']).ends_with('?'));
        }
    }
    // Of several questions none is an option, whatever number the person answers with.
    let asks_several = questions * 2 > list.len();
    if list.len() < 2 || asks_several || !asks_for_choice(asked) {
        Vec::new()
    } else {
        list
    }
}

/// Whether the agent asks for a choice. A list alone is none.
fn asks_for_choice(asked: &str) -> bool {
    let tail = agent_sentences(asked);
    let asks = tail.iter().rev().take(8).any(|s| s.is_question());
    let low = asked.to_lowercase();
    asks || ["which ", "prefer", "want to:", "options:", "let me know"]
        .iter()
        .any(|w| low.contains(w))
}

fn option_text(raw: &str) -> String {
    let plain = raw.replace("**", "").replace('|', ": ");
    let plain = one_line(&plain).replace(" : ", ": ");
    shorten(plain.trim_end_matches([':', ' ', '?']), MAX_QUOTE - 4)
}

static PICK: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b(?i:option|approach|choice|variant|plan|number)\s+#?(\d{1,2}|[A-Ha-h])\b",
        r"\b(?i:do|go|go with|go for|take|pick|choose|like|prefer|want|with|for)\s+(\d{1,2}|[A-H])(?:[.,;:!)]|$|\s+(?:for|please|but|and|then|now|here|first|is|as|since|because|instead)\b)",
        r"^(?i:yes,?\s+|yeah,?\s+|ok,?\s+|let's do\s+|then\s+|so\s+)?(\d{1,2}|[A-Ha-h])[.)!,]*$",
        // "No wait, B needs a new part, A".
        r"[,;:]\s+(?:(?:so|then)\s+)?(\d|[A-Ha-h])[.!]*$",
        r"^(\d{1,2}|[A-Ha-h])\s+(?:please|pls|plz)\b",
        r"^(\d{1,2}|[A-H])[,;:.]?\s+(?:please|for now|is fine|sounds|looks|but|and|makes sense|seems|it is)\b",
    ]
    .iter()
    .map(|p| constant_regex(p))
    .collect()
});

/// The label of the option that a sentence picks.
fn picked_label(text: &str, low: &str) -> Option<String> {
    for pattern in PICK.iter() {
        if let Some(found) = pattern.captures(text) {
            return Some(found[1].to_uppercase());
        }
    }
    let ordinals = [
        ("first", "1"),
        ("second", "2"),
        ("third", "3"),
        ("fourth", "4"),
    ];
    ordinals.iter().find_map(|(word, label)| {
        let picks = [
            format!("the {word} one"),
            format!("the {word} option"),
            format!("the {word} approach"),
            format!("{word} option"),
        ];
        // "first." also begins what is to be done first.
        let whole = [format!("the {word}"), format!("the {word} please")];
        let bare = low.trim_end_matches(['.', '!']);
        (picks.iter().any(|p| low.contains(p)) || whole.iter().any(|w| bare == w))
            .then(|| (*label).to_owned())
    })
}

/// An agreement such as "Yes, that makes sense" to the agent's proposal.
fn find_agreement(turn: &HumanTurn<'_>) -> Option<ScoredDraft> {
    let lexicon = turn.lexicon?;
    let first = turn.prose.first()?;
    if !lexicon.has_cue(Cue::Assent, &first.low)
        || turn.refused_call.is_some()
        || first.is_question()
    {
        return None;
    }
    let asked = turn.previous_reply?;
    let reply = &asked.text;
    let plain = proposal(reply).filter(|proposal| !proposal.ends_with('?'));
    let proposal = plain.or_else(|| asked_change(reply))?;
    if !is_decision(&proposal) {
        return None;
    }
    let words: Vec<&str> = turn.prose.iter().map(|s| s.text.as_str()).collect();
    Some(accepted((asked, turn), AGREED, &proposal, &words.join(" ")))
}

/// A question whether to do something lasting, such as "Should I store uploads in S3 instead of local disk?".
static ASKED_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)^(?:so,? )?(?:should|shall) (?:i|we) ((?:use|switch|move|keep|store|default|replace|rename|drop|make|treat)\b.{8,}|.{4,}\b(?:instead of|rather than)\b.{4,})\?$",
    )
});

/// What the last question of the agent's message would change, unless it leaves a choice.
fn asked_change(reply: &str) -> Option<String> {
    let said = agent_sentences(reply);
    let asked = said.iter().rev().find(|sentence| sentence.is_question())?;
    let change = &ASKED_CHANGE.captures(&asked.text)?[1];
    let leaves_choice = lowered(change).contains(" or ");
    (!leaves_choice).then(|| change.to_owned())
}

/// The agent's proposal with the highest weight, if it asks for agreement.
pub(super) fn proposal(asked: &str) -> Option<String> {
    let said = agent_sentences(asked);
    if !said.iter().rev().take(12).any(|s| s.is_question()) {
        return None;
    }
    let worth = |low: &str, text: &str| {
        let bare = is_concrete(text) && content_words(low, english()).len() >= 3;
        let weight = english().weight(Cue::Proposal, &without_asides(low));
        // "This should be removed" names nothing without the sentence before it.
        let stands_alone = !refers_elsewhere(low) && !text.ends_with(':');
        (bare && !english().has_cue(Cue::Offer, low) && weight > 0 && stands_alone)
            .then_some(weight)
    };
    let mut best: Option<(i32, &str)> = None;
    for sentence in &said {
        if let Some(weight) = worth(&sentence.low, &sentence.text)
            && best.is_none_or(|(most, _)| weight > most)
        {
            best = Some((weight, &sentence.text));
        }
    }
    best.map(|(_, text)| text.to_owned())
}

/// A text without what stands in brackets.
fn without_asides(text: &str) -> String {
    let mut depth = 0_u32;
    let is_outside = |c: &char| {
        let was_outside = depth == 0;
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        was_outside && depth == 0
    };
    text.chars().filter(is_outside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, said: &str, expected: Option<&str>) {
        let options = offered_options(asked);
        let label = picked_label(said, &said.to_lowercase());
        let found = label.and_then(|l| options.into_iter().find(|o| o.label == l));
        assert_eq!(found.map(|o| o.text).as_deref(), expected, "{said}");
    }

    const LIST: &str = "1. **Keep it** - as is\n2. Split the crate\n3. Wait\n\nWhich one?";

    #[test]
    fn a_number_picks_from_the_agents_list() {
        check(LIST, "let's do 2 please", Some("Split the crate"));
        check(LIST, "option 1 please", Some("Keep it - as is"));
        check(LIST, "the third one", Some("Wait"));
        check(LIST, "2", Some("Split the crate"));
    }

    #[test]
    fn a_question_for_something_lasting_is_accepted_in_its_words() {
        for (asked, expected) in [
            (
                "I looked.\nShould I store uploads in S3 instead of local disk?",
                Some("store uploads in S3 instead of local disk"),
            ),
            (
                "Should we use Postgres for the ledger?",
                Some("use Postgres for the ledger"),
            ),
            ("Should I use Postgres or SQLite for the ledger?", None),
            ("Should I fix the failing test?", None),
        ] {
            assert_eq!(asked_change(asked).as_deref(), expected, "{asked}");
        }
    }

    #[test]
    fn a_list_of_ones_own_picks_nothing() {
        assert!(is_list("1. the former\n2. just the id"));
        assert!(!is_list("1.\nand add a test"));
    }

    #[test]
    fn an_aside_proposes_nothing() {
        let asked = "The gull server runs on 3000 (it should be reachable now).\nShall I go on?";
        assert_eq!(proposal(asked), None);
        let asked = "`gulls.toml` should be the place of the port.\nShall I go on?";
        let held = "`gulls.toml` should be the place of the port.";
        assert_eq!(proposal(asked).as_deref(), Some(held));
    }

    #[test]
    fn what_names_nothing_is_no_proposal() {
        let asked = "The guide still has a step for `tide export`.\nThis should be removed since `tide export` is gone.\nShall I?";
        assert_eq!(proposal(asked), None);
        let asked = "The step for `tide export` should be removed from the guide.\nShall I?";
        assert!(proposal(asked).is_some());
    }

    #[test]
    fn what_comes_first_picks_nothing() {
        check(LIST, "first.", None);
        check(LIST, "the first", Some("Keep it - as is"));
    }

    #[test]
    fn numbers_that_count_something_pick_nothing() {
        check(LIST, "do 2 commits", None);
        check(LIST, "add 3 tests for it", None);
    }

    #[test]
    fn a_table_offers_options_too() {
        let table = "| Option | What |\n|---|---|\n| **A. Stay** | change nothing |\n| **B. Move** | to a crate |\nWhat do you prefer?";
        check(table, "do B, please", Some("Move: to a crate"));
    }

    #[test]
    fn a_list_of_questions_offers_nothing() {
        let questions = "1. Do you want indicators (`*`) or lines?\n2. Should the newest be on the left?\n\
            3. **Should more than three share a lane, or have none?**";
        check(questions, "i like option 3", None);
        check(LIST, "i like option 3", Some("Wait"));
    }

    #[test]
    fn a_list_of_what_was_done_offers_nothing() {
        check("1. Added a test\n2. Fixed the parser", "do 2", None);
    }
}
