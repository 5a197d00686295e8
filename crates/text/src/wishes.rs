//! Finds the sentences of a message that must outlive the message: what its writer forbids, demands, decides or puts off.
//!
//! An agent acts wrongly without these sentences, whatever else of the conversation it forgets. So a rule is recognised
//! by few words and rather once too often. Only what the person typed counts, never what they pasted.
//!
//! Not here: what is worth remembering beyond the session, which needs more evidence (the extraction without a model).

use std::sync::LazyLock;

use regex::RegexSet;

use crate::lexicon::{Cue, Lexicon, english, lexicon_of};
use crate::prose::prose_lines;
use crate::sentences::{lowered, split};

/// Weight of a cue from which a sentence is what the cue says, without regard to its context.
const SURE: i32 = 40;

/// What a sentence of a person is to the agent's further work: the last outlives the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WishKind {
    /// Asks for a piece of work.
    Request,
    /// Leaves something for later.
    PutOff,
    /// Decides how something is to be, or answers a choice.
    Decision,
    /// Forbids, demands or insists.
    Rule,
}

/// A sentence with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// What it is.
    pub kind: WishKind,
    /// The sentence, in its writer's words.
    pub text: String,
}

/// Words that forbid or demand, in whatever sentence.
static RULES: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\b(never|always|must|mustn't|cannot|don't|dont|do not|shouldn't|should not|may not|not allowed|no longer|no more)\b",
        r"\b(ensure|make sure|be sure|be careful|important|crucial|insist\w*|requir\w+|forbid\w*|forbidden|avoid|refuse|off[- ]limits|hands off)\b",
        r"\b(only|exactly|at (least|most)|nothing (else|but)|except|unless|without|instead( of)?|rather than|prefer\w*|independent(ly)? of)\b",
        r"^\W*(no|nope|stop|wait|not|keep|leave|remember|note)\b",
        r"\b(should (still|stay|remain|be|not)|needs? to|has to|have to|from now on|going forward)\b",
        r"\b(nie|niemals|immer|nicht|kein\w*|nur|muss|müssen|darf|dürfen|bitte keine?|ohne|statt|stattdessen|ab jetzt|unbedingt)\b",
        r"\b(jamais|toujours|ne .{1,30} pas|aucun\w*|seulement|il faut|sans|au lieu|désormais)\b",
        r"\b(nunca|siempre|no (uses?|hagas?|toques?|cambies?|borres?)|solo|sólo|hay que|sin|en lugar|debe\w*)\b",
        r"不要|别|不能|不准|禁止|必须|永远|总是|务必|只能|以后",
    ])
});

/// Words that decide, and answers to a choice.
static DECISIONS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\b(let's|lets|let us|go (with|for|ahead)|going (with|for)|we'll|we will|i'll (take|go)|decided?|decision|settled|agreed|approved|pick|choose|chose)\b",
        r"^\W*(option|variant|version|choice|number|alternative)? ?#?([0-9]{1,2}|[a-h])[).]?( and #?([0-9]{1,2}|[a-h])[).]?)*( please| it is)?\W*$",
        r"\b(option|variant|choice|alternative) #?([0-9]{1,2}|[a-h])\b",
        r"^\W*(the )?(all|both|first|second|third|last|former|latter)\b.{0,24}$",
        r"\b(lass uns|wir nehmen|wir machen|entschieden|beschlossen|abgemacht|on prend|décidé|vamos con|decidido)\b|决定|就用|选",
    ])
});

/// Words with which people ask for work.
static REQUESTS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\b(please|pls|can (you|we)|could (you|we)|would (you|be)|i('d| would) like|i want|we want|i need|we need|should|use|add|make|change|rename|remove)\b",
        r"\b(bitte|kannst du|können wir|ich will|ich möchte|s'il te plaît|peux-tu|je veux|por favor|puedes|quiero)\b|请|帮我",
    ])
});

fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).expect("the patterns are constant")
}

/// The sentences of `message` that outlive it, in their order.
///
/// ```
/// use daybook_text::wishes::{WishKind, wishes};
///
/// let found = wishes("Thanks, that works. Please never deploy on Fridays.");
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].kind, found[0].text.as_str()), (WishKind::Rule, "Please never deploy on Fridays."));
/// ```
#[must_use]
pub fn wishes(message: &str) -> Vec<Wish> {
    let lexicon = lexicon_of(&lowered(message)).unwrap_or_else(english);
    let lines = prose_lines(message);
    let sentences = lines.iter().flat_map(|line| split(line));
    let wishes = sentences.filter_map(|sentence| {
        let text = sentence.trim().to_owned();
        let kind = wish_kind(&lowered(&text), lexicon)?;
        Some(Wish { kind, text })
    });
    wishes.collect()
}

/// The kind of a sentence in lower case; `None` for one that may be forgotten with its message.
fn wish_kind(low: &str, lexicon: &Lexicon) -> Option<WishKind> {
    let has = |cue| lexicon.weight(cue, low) >= SURE;
    let is_question = low.ends_with(['?', '？']);
    if has(Cue::Correction) || has(Cue::Preference) || (!is_question && RULES.is_match(low)) {
        return Some(WishKind::Rule);
    }
    if has(Cue::Decision) || (!is_question && DECISIONS.is_match(low)) {
        return Some(WishKind::Decision);
    }
    if lexicon.has_cue(Cue::Later, low) && !lexicon.has_cue(Cue::NotLater, low) {
        return Some(WishKind::PutOff);
    }
    let asks = lexicon.has_cue(Cue::Request, low) || REQUESTS.is_match(low);
    asks.then_some(WishKind::Request)
}

#[cfg(test)]
mod tests {
    use super::{WishKind, wishes};

    #[track_caller]
    fn check(message: &str, expected: &[WishKind]) {
        let found = wishes(message);
        let kinds: Vec<_> = found.iter().map(|wish| wish.kind).collect();
        assert_eq!(kinds, expected, "{message}: {found:?}");
    }

    #[test]
    fn prohibitions_and_demands_are_rules_in_every_language_of_the_lexicon() {
        for message in [
            "Please never deploy on Fridays",
            "oh, please don't amend commits",
            "the old files should still be read",
            "no mocks in these tests",
            "bitte niemals direkt auf main pushen",
            "ne touche jamais au fichier principal",
            "nunca toques la rama principal",
            "周五不要发版",
        ] {
            check(message, &[WishKind::Rule]);
        }
    }

    #[test]
    fn choices_and_decisions_are_decisions() {
        for message in [
            "let's go with the second table",
            "option 3",
            "2",
            "all four",
            "we'll store it in the header",
        ] {
            check(message, &[WishKind::Decision]);
        }
    }

    #[test]
    fn what_is_put_off_and_what_is_asked_for_is_told_apart() {
        check("the search can wait, we do it later", &[WishKind::PutOff]);
        check("can you rename the column?", &[WishKind::Request]);
    }

    #[test]
    fn small_talk_and_pasted_text_hold_no_wish() {
        check("thanks, that works", &[]);
        check("it fails\n```\nnever call this twice\n```\nhm", &[]);
    }
}
