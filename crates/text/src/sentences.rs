//! Splits text into sentences, each fit for one line of a list.
//!
//! A sentence keeps its writer's words, without fillers, emoji, and marks
//! that would break a list line.
//!
//! Not here: separating a person's own sentences from pasted text (`prose`), shortening them (`clauses`).

use crate::german_months::begins_with_month;
use crate::han::word_count;
use crate::lexicon::{Cue, Lexicon};
use crate::prose::{prefix_of, prose_lines};

/// Most characters of a quote.
pub const MAX_QUOTE: usize = 160;
/// Most sentences of one message.
const SENTENCES: usize = 60;
/// Fewest words of a statement before a question in the same sentence.
const STATEMENT_WORDS: usize = 2;
/// Bytes of a sentence's opening.
const OPENING: usize = 60;

/// Abbreviations after whose full stop a sentence goes on.
const ABBREVIATIONS: [&str; 30] = [
    "e.g.", "i.e.", "vs.", "etc.", "approx.", "incl.", "dr.", "prof.", "mr.", "mrs.", "st.",
    "z.b.", "d.h.", "u.a.", "z.t.", "ca.", "bzw.", "inkl.", "exkl.", "evtl.", "ggf.", "vgl.",
    "nr.", "str.", "p.ej.", "sr.", "sra.", "dra.", "mme.", "mlle.",
];

/// One sentence of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its words, on one line, without fillers and emoji.
    pub text: String,
    /// The same in lower case with straight apostrophes, for matching cues.
    pub low: String,
    /// How it opened, fillers and all, in lower case: "no wait, so …".
    pub opening: String,
    /// It contains a redacted secret, so that it is not extracted.
    pub redacted: bool,
}

impl Sentence {
    /// Whether it ends with a question mark.
    pub fn is_question(&self) -> bool {
        self.text.ends_with(['?', '？', '吗', '呢'])
    }
}

/// The sentences of a message that are its writer's own.
pub fn sentences(message: &str, lexicon: Option<&Lexicon>) -> Vec<Sentence> {
    let lines = prose_lines(message);
    let split = lines.iter().flat_map(|line| split(line));
    split
        .flat_map(|whole| part_from_question(whole, lexicon))
        .filter_map(|s| sentence(&s, lexicon))
        .take(SENTENCES)
        .collect()
}

/// `raw` as a sentence; `None` if nothing remains of it.
pub fn sentence(raw: &str, lexicon: Option<&Lexicon>) -> Option<Sentence> {
    let line = one_line(raw);
    let text = lexicon.map_or_else(|| line.clone(), |lexicon| remove_fillers(&line, lexicon));
    let low = lowered(&text);
    low.chars().any(char::is_alphanumeric).then(|| Sentence {
        text,
        low,
        opening: lowered(prefix_of(&line, OPENING)),
        redacted: raw.contains("[REDACTED"),
    })
}

/// Lower case, straight apostrophes, no emphasis.
pub fn lowered(text: &str) -> String {
    text.to_lowercase()
        .replace(['\u{2019}', '\u{2018}'], "'")
        .replace("**", "")
}

/// Splits a line into sentences. A full stop inside a name or a number ends none.
pub fn split(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = String::new();
    for (at, c) in line.char_indices() {
        open.push(c);
        let rest = &line[at + c.len_utf8()..];
        let ends = matches!(c, '。' | '？' | '！' | '；')
            || matches!(c, '.' | '!' | '?')
                && (rest.is_empty() || rest.starts_with(char::is_whitespace))
                && !abbreviates(&open, rest);
        if ends {
            found.push(std::mem::take(&mut open));
        }
    }
    found.push(open);
    found.retain(|s| !s.trim().is_empty());
    found
}

/// A statement, and the question or request that follows it after a comma: "we drop the old parser, what can go then?"
/// Between Chinese clauses that is a comma of full width, and the question needs no mark.
fn part_from_question(whole: String, lexicon: Option<&Lexicon>) -> Vec<String> {
    let Some(lexicon) = lexicon else {
        return vec![whole];
    };
    let asks = |part: &str| lexicon.has_cue(Cue::Asks, &lowered(part.trim_start()));
    let is_question = whole.trim_end().ends_with(['?', '？']);
    let borders = [", ", "; ", " - "].iter().filter(|_| is_question);
    let borders = borders.chain(["，"].iter());
    let found = borders.flat_map(|border| whole.match_indices(border));
    let mut found: Vec<(usize, usize)> = found.map(|(at, mark)| (at, at + mark.len())).collect();
    found.sort_unstable();
    let parts = found.into_iter().find(|(at, next)| {
        let (statement, question) = (&whole[..*at], &whole[*next..]);
        let stands_alone = word_count(statement) >= STATEMENT_WORDS && !asks(statement);
        asks(question) && !points_back(question) && stands_alone
    });
    match parts {
        Some((at, next)) => vec![whole[..at].to_owned(), whole[next..].to_owned()],
        None => vec![whole],
    }
}

/// Whether a question speaks of what the statement before it names, and is understood only with it.
fn points_back(question: &str) -> bool {
    let low = lowered(question);
    let mut words = low.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        matches!(
            word,
            "it" | "that" | "this" | "them" | "they" | "those" | "these" | "so"
        )
    })
}

/// Whether the full stop at the end of `open` ends an abbreviation or a number in an order, and no sentence.
fn abbreviates(open: &str, rest: &str) -> bool {
    let last = open.rsplit([' ', '(']).next().unwrap_or("").to_lowercase();
    if ABBREVIATIONS.contains(&&*last) {
        return true;
    }
    let next = rest.trim_start();
    let number = last.strip_suffix('.').unwrap_or_default();
    let is_day = |text: &str| {
        (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match number.split_once('.') {
        // "ab 15.8. ist zu"
        Some((day, month)) => is_day(day) && is_day(month) && next.starts_with(char::is_lowercase),
        // "am 22. Oktober"
        None => is_day(number) && begins_with_month(next),
    }
}

/// One line without control characters, list marks, comment marks, emoji and doubled blanks.
pub fn one_line(raw: &str) -> String {
    let raw = raw
        .replace("<!--", "")
        .replace("-->", "→")
        .replace("__", "_");
    let kept: String = raw
        .chars()
        .map(|c| {
            if c.is_control() || c.is_whitespace() {
                ' '
            } else {
                c
            }
        })
        .filter(|c| !is_emoji(*c))
        .collect();
    let mut text = kept
        .split(' ')
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let start = text.len()
        - text
            .trim_start_matches(['-', '*', '#', '>', '+', '|', '•', ' ', ',', ':'])
            .len();
    text.drain(..start);
    if text.matches('`').count() % 2 == 1 {
        text = text.replace('`', "");
    }
    text.trim_end_matches([' ', ',', ';', '-', '–', '，', '；'])
        .to_owned()
}

fn is_emoji(c: char) -> bool {
    matches!(c as u32,
        0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0x2B50..=0x2B55 | 0xFE00..=0xFE0F | 0x200B..=0x200F
        | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF)
}

/// Drops "okay, so" and its like from the front, as long as something is left.
fn remove_fillers(text: &str, lexicon: &Lexicon) -> String {
    let mut rest = text;
    for _ in 0..4 {
        let low = lowered(rest);
        // Lower-casing may change lengths beyond ASCII; fillers are removed only where it did not.
        let Some((0, end)) = lexicon.find(Cue::Filler, &low) else {
            break;
        };
        if low.len() != rest.len() || !rest.is_char_boundary(end) || end >= rest.len() {
            break;
        }
        // "No wait" and "so" are fillers before a clause, not before a single word.
        if rest[end..].trim().is_empty() {
            break;
        }
        rest = &rest[end..];
    }
    rest.trim().to_owned()
}

/// The sentences of an agent's prose, for context: no fences, tables or headings.
pub fn agent_sentences(text: &str) -> Vec<Sentence> {
    let lines = remove_code(prefix_of(text, 16 * 1024));
    lines
        .iter()
        .flat_map(|line| split(line))
        .filter_map(|s| sentence(&s.replace("**", ""), None))
        .take(SENTENCES)
        .collect()
}

fn remove_code(text: &str) -> Vec<String> {
    let parts = text.split("```").step_by(2);
    parts
        .flat_map(str::lines)
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with(['|', '#', '<', '>']))
        .map(|l| crate::prose::list_item(l).unwrap_or(l).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let sentences = split(line);
        let trimmed: Vec<&str> = sentences.iter().map(|one| one.trim()).collect();
        assert_eq!(trimmed, expected);
    }

    #[test]
    fn days_and_abbreviations_end_no_sentence() {
        check(
            "Ich habe am 22. Oktober einen Termin. Danach nicht.",
            &["Ich habe am 22. Oktober einen Termin.", "Danach nicht."],
        );
        check("ab 15.8. ist zu. ok", &["ab 15.8. ist zu.", "ok"]);
        check("ask mme. arnal there. ok", &["ask mme. arnal there.", "ok"]);
        check(
            "480 inkl. Strom bei Dr. Reuter",
            &["480 inkl. Strom bei Dr. Reuter"],
        );
        check(
            "we set it to 22. Then 30.",
            &["we set it to 22.", "Then 30."],
        );
        check(
            "it takes 30 ms. then it ends",
            &["it takes 30 ms.", "then it ends"],
        );
        check(
            "Umzug am 31.8. Danach Graz.",
            &["Umzug am 31.8.", "Danach Graz."],
        );
    }
}
