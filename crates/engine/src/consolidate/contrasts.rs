//! What the order of a statement's words tells: "before", "instead", "replace … with …", and who does something to whom.
//!
//! Not here: which words have content (`content`).

use std::sync::LazyLock;

use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::content_words::ContentWord;

/// Words between which the order matters, and that turn a statement which they are added to.
static CONTRASTS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:prefer\w* [^,.;]{2,40}? (?P<over>over)|(?:replac|swap|substitut|exchang|renam|convert|chang|migrat|mapp?|translat|forward|redirect)\w* [^,.;]{2,40}? (?P<with>with|by|for|to)|(?:ersetz|tausch)\w* [^,.;]{2,40}? (?P<durch>durch|gegen)|(?:reemplaz|cambi|sustitu)\w* [^,.;]{2,40}? (?P<por>por)|before|after|then|instead|rather|from|into|until|than|not|vor|nach|statt|bevor|nachdem|antes|después|avant|après)\b",
    )
});

/// The words of a text in lower case that contrast, in their order.
pub(super) fn contrasts(low: &str) -> Vec<ContentWord> {
    let found = CONTRASTS.captures_iter(low).map(|found| {
        // The word itself, where a verb before it makes it one that contrasts.
        let word = found
            .iter()
            .flatten()
            .last()
            .map_or("", |part| part.as_str());
        ContentWord::of(word)
    });
    found.collect()
}

/// Whether two words stand in each other's place, on both sides of others: what does something, and what it is done to.
pub(super) fn are_exchanged(ours: &[ContentWord], theirs: &[ContentWord]) -> bool {
    let mut places = (0..ours.len().min(theirs.len())).filter(|at| ours[*at] != theirs[*at]);
    let (Some(one), Some(other), None) = (places.next(), places.next(), places.next()) else {
        return false;
    };
    let are_two = ours[one] == theirs[other] && ours[other] == theirs[one];
    ours.len() == theirs.len() && are_two && other - one > 1
}
