//! Finds keys that no format and no name beside them reveals: drawn at random, on a line that speaks of a secret.
//!
//! Randomness alone proves nothing, since identifiers, digests and signatures are as random. So a run counts only
//! where a word such as `key` or `login` stands before it on its line, or where it is the whole text, as a person
//! pastes a key; and not where a word such as `cache`, `commit` or `id` says what else it is.
//!
//! The tokens of bots on Discord, whose format has no start that could be searched for, are found among the runs too.
//!
//! Not here: runs directly behind a name. `assign` judges those, by their name.

use std::ops::Range;

use super::character_counts::{CharacterCounts, entropy};
use super::cursor::Cursor;
use super::finding::FindingReason;
use super::placeholder::is_placeholder;
use super::shape::{is_one_of, is_random, words};
use super::span::{RuleRank, Span};

/// The rule's name.
pub const HIGH_ENTROPY: &str = "high-entropy";
/// Bytes of a run; longer ones are signatures and files.
const LENGTHS: Range<usize> = 24..129;
/// Bytes of a run that is the whole text.
const SHORTEST_ALONE: usize = 32;
/// Characters of each kind.
const FEWEST_OF_A_KIND: usize = 3;
/// Bits per byte; of runs this long that are drawn at random, nearly all have more.
const LEAST_ENTROPY: f32 = 3.9;
/// Bytes before the run in which words count.
const CONTEXT: usize = 80;

/// Words that announce a secret.
const TELLING: &str = "key keys apikey token tokens secret secrets password passwort passphrase credential \
    credentials login auth bearer zugangsdaten zugang kennwort";

/// Words that say what else a random run is.
const HARMLESS: &str = "cache id ids uuid guid hash hashes sha sha1 sha256 sha384 sha512 md5 digest checksum integrity \
    signature sig fingerprint commit public primary foreign sort partition idempotency etag nonce cursor page next \
    session request trace span test tests func fn class struct type version build image layer address https http url";

/// The run at `run`, if it is a key.
pub(super) fn find(text: &[u8], run: &Range<usize>) -> Option<Span> {
    if let Some(token) = find_bot_token(text, run) {
        return Some(token);
    }
    let value = &text[run.clone()];
    let is_secret = LENGTHS.contains(&value.len())
        && stands_apart(text, run)
        && is_drawn(value)
        && (is_whole_text(text, run) || is_announced(text, run.start));
    let reason = FindingReason::Announced;
    is_secret.then(|| Span::new(run.clone(), HIGH_ENTROPY, RuleRank::Named, reason))
}

/// The token of a bot on Discord that begins in the run at `run`.
pub(super) fn find_bot_token(text: &[u8], run: &Range<usize>) -> Option<Span> {
    let reason = FindingReason::Format;
    let token = |range| Span::new(range, "discord-token", RuleRank::Issuer, reason);
    bot_token(text, run).map(token)
}

/// The token of a bot on Discord whose first part ends the run: the bot's number in base 64, six characters for a
/// time, and a signature, joined by dots.
fn bot_token(text: &[u8], run: &Range<usize>) -> Option<Range<usize>> {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let path = text[run.clone()].iter().rposition(|byte| *byte == b'/');
    let start = path.map_or(run.start, |slash| run.start + slash + 1);
    // In `--MTE…` the dashes belong to a flag.
    let dashes = text[start..run.end]
        .iter()
        .take_while(|byte| **byte == b'-');
    let start = start + dashes.count();
    // In `\nMTE…` the letter belongs to the escape of a line break.
    let is_escaped = start > 0 && text[start - 1] == b'\\' && b"nrt".contains(&text[start]);
    let start = start + usize::from(is_escaped);
    let is_number = (24..=28).contains(&(run.end - start)) && b"MNO".contains(&text[start]);
    let mut cursor = Cursor::new(text, run.end);
    let has_time = is_number && cursor.eat(b".") && cursor.eat_while(7, is_digit).len() == 6;
    let signature = (has_time && cursor.eat(b".")).then(|| cursor.eat_while(41, is_digit))?;
    let is_signature = (27..=40).contains(&signature.len())
        && (encodes_digits(&text[start..run.end])
            || (run.end - start >= 24 && is_random(signature)));
    is_signature.then_some(start..cursor.at)
}

/// Whether each whole group of a text in base 64 stands for three digits. What does so by chance is rarer than a
/// signature that does not look random.
fn encodes_digits(encoded: &[u8]) -> bool {
    encoded.chunks_exact(4).all(|group| {
        b"MNO".contains(&group[0])
            && b"DTjz".contains(&group[1])
            && b"AEIMQUYcgk".contains(&group[2])
            && b"wxyz012345".contains(&group[3])
    })
}

/// Whether nothing joins the run to a path, an address or a longer encoding.
fn stands_apart(text: &[u8], run: &Range<usize>) -> bool {
    let before = run.start.checked_sub(1).map(|at| text[at]);
    let after = text.get(run.end).copied();
    before.is_none_or(|byte| b" \t\n\r\"'`(:=>,|*".contains(&byte))
        && after.is_none_or(|byte| b" \t\n\r\"'`),;.<|*\\".contains(&byte))
}

fn is_drawn(value: &[u8]) -> bool {
    let counts = CharacterCounts::of(value);
    let kinds = [counts.lower, counts.upper, counts.digits];
    let has_joint = value.iter().any(|byte| matches!(byte, b'+' | b'/'));
    !has_joint
        && kinds.iter().all(|kind| *kind >= FEWEST_OF_A_KIND)
        && counts.seams * 5 >= counts.len
        && entropy(value) >= LEAST_ENTROPY
        && is_random(value)
        && !is_named(value)
        && !is_placeholder(value)
}

/// `toolu_01…`, `req_…`, `chatcmpl-…`: a small word before the first joiner, as identifiers have it.
fn is_named(value: &[u8]) -> bool {
    let start = value
        .split(|byte| matches!(byte, b'_' | b'-'))
        .next()
        .unwrap_or_default();
    start.len() < value.len() && start.iter().all(u8::is_ascii_lowercase)
}

fn is_whole_text(text: &[u8], run: &Range<usize>) -> bool {
    run.len() >= SHORTEST_ALONE && text.trim_ascii().len() == run.len()
}

/// Whether the line before `at` announces a secret, and nothing harmless.
fn is_announced(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(CONTEXT)..at];
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |place| place + 1);
    let line = &before[start..];
    words(line).any(|word| is_one_of(word, TELLING))
        && !words(line).any(|word| is_one_of(word, HARMLESS))
}
