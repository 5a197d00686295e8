//! Picking: "do B", "the second", "yes, that makes sense".
//!
//! Such words mean nothing alone. They are kept only when the agent's last message holds what they
//! point at: the option with that label, or a sentence that says how something should be.
//!
//! Not here: decisions in the person's own words (`acts`).

use std::sync::LazyLock;

use daybook_domain::ObservationKind as Kind;
use regex::Regex;

use super::clauses::{shortened, without_requests};
use super::finds::Find;
use super::lexicon::{Cue, english};
use super::prose::floor_str;
use super::sentences::{QUOTE, agent_sentences, one_line};
use super::turns::{Talk, Turn};
use super::words::{content_words, is_concrete};

/// Most bytes of the agent's message that are searched for options.
const ASKED: usize = 32 * 1024;
const PICKED: i32 = 80;
const AGREED: i32 = 55;

/// What was picked or agreed to, at most one thing per message.
pub(super) fn choices(talk: &Talk<'_>) -> Vec<Find> {
    talk.new_turns()
        .filter_map(|(_, turn)| picked(turn).or_else(|| agreed(turn)))
        .collect()
}

fn picked(turn: &Turn<'_>) -> Option<Find> {
    let asked = floor_str(&turn.before?.text, ASKED);
    turn.lexicon?;
    let options = options(asked);
    let found = turn.prose.iter().find_map(|s| {
        let label = pick(&s.text, &s.low)?;
        let option = options.iter().find(|o| o.label == label)?;
        Some((s, option))
    });
    let (sentence, option) = found?;
    let words = without_requests(&sentence.text, 0, turn.lexicon?);
    let context = format!("{}: {}", option.label, option.text);
    Some(Find::said(Kind::Decision, PICKED, &[turn.said], &words).in_context(Some(context)))
}

/// One of the agent's options.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    label: String,
    text: String,
}

static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\s|#>*-]*(?:\*\*|__)?(?i:option|approach|choice|variant|plan)?\s*(?:\*\*)?(\d{1,2}|[A-Ha-h])(?:\*\*)?\s*(?:[.):]|[-–—]\s|\|)(?:\*\*)?\s*(\S.*)$")
        .expect("the pattern is constant")
});

/// The options of the last list in `asked`: labels in order, from 1 or A.
fn options(asked: &str) -> Vec<Choice> {
    let mut list: Vec<Choice> = Vec::new();
    for line in asked.lines() {
        let Some(found) = LABELLED.captures(line) else {
            continue;
        };
        let label = found[1].to_uppercase();
        let text = option_text(&found[2]);
        if label == "1" || label == "A" {
            list.clear();
        }
        let next = match list.last().and_then(|c| c.label.chars().next()) {
            None => label == "1" || label == "A",
            Some(last) if last.is_ascii_digit() => label.parse::<usize>() == Ok(list.len() + 1),
            Some(last) => label.chars().next() == char::from_u32(last as u32 + 1),
        };
        if next && !text.is_empty() {
            list.push(Choice { label, text });
        }
    }
    if list.len() < 2 || !asks_for_choice(asked) {
        Vec::new()
    } else {
        list
    }
}

/// A numbered list is a choice only when the agent asks.
fn asks_for_choice(asked: &str) -> bool {
    let tail = agent_sentences(asked);
    let asks = tail.iter().rev().take(8).any(|s| s.asks());
    let low = asked.to_lowercase();
    asks || ["which ", "prefer", "want to:", "options:", "let me know"]
        .iter()
        .any(|w| low.contains(w))
}

fn option_text(raw: &str) -> String {
    let plain = raw.replace("**", "").replace('|', ": ");
    let plain = one_line(&plain).replace(" : ", ": ");
    shortened(plain.trim_end_matches([':', ' ', '?']), QUOTE - 4)
}

static PICK: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b(?i:option|approach|choice|variant|plan|number)\s+#?(\d{1,2}|[A-Ha-h])\b",
        r"\b(?i:do|go|go with|go for|take|pick|choose|like|prefer|want|with|for)\s+(\d{1,2}|[A-H])(?:[.,;:!)]|$|\s+(?:for|please|but|and|then|now|here|first|is|as|since|because|instead)\b)",
        r"^(?i:yes,?\s+|yeah,?\s+|ok,?\s+|let's do\s+)?(\d{1,2}|[A-Ha-h])[.)!,]*$",
        r"^(\d{1,2}|[A-H])[,;:.]?\s+(?:please|for now|is fine|sounds|looks|but|and|makes|seems|it is)\b",
    ]
    .iter()
    .map(|p| Regex::new(p).expect("the patterns are constant"))
    .collect()
});

/// The label that a sentence picks.
fn pick(text: &str, low: &str) -> Option<String> {
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
        let whole = [
            format!("the {word}"),
            (*word).to_owned(),
            format!("the {word} please"),
        ];
        let bare = low.trim_end_matches(['.', '!']);
        (picks.iter().any(|p| low.contains(p)) || whole.iter().any(|w| bare == w))
            .then(|| (*label).to_owned())
    })
}

/// "Yes, that makes sense", to a sentence that says how something should be.
fn agreed(turn: &Turn<'_>) -> Option<Find> {
    let lexicon = turn.lexicon?;
    let first = turn.prose.first()?;
    if !lexicon.shows(Cue::Assent, &first.low) || turn.refused.is_some() || first.asks() {
        return None;
    }
    let proposal = proposal(&turn.before?.text)?;
    let words = turn
        .prose
        .iter()
        .find(|s| !s.asks())
        .map_or(&first.text, |s| &s.text);
    Some(Find::said(Kind::Decision, AGREED, &[turn.said], words).in_context(Some(proposal)))
}

/// The agent's surest sentence on how something should be, when it asked for agreement.
pub(super) fn proposal(asked: &str) -> Option<String> {
    let said = agent_sentences(asked);
    if !said.iter().rev().take(12).any(|s| s.asks()) {
        return None;
    }
    let worth = |low: &str, text: &str| {
        let bare = is_concrete(text) && content_words(low, english()).len() >= 3;
        let weight = english().weight(Cue::Proposal, low);
        (bare && !english().shows(Cue::Offer, low) && weight > 0 && !text.ends_with(':'))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, said: &str, expected: Option<&str>) {
        let options = options(asked);
        let label = pick(said, &said.to_lowercase());
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
    fn a_list_of_what_was_done_offers_nothing() {
        check("1. Added a test\n2. Fixed the parser", "do 2", None);
    }
}
