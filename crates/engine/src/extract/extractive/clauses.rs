//! Shortens sentences, at clause borders only.
//!
//! A quote that is too long loses its parentheses first, then whole clauses; an ellipsis marks each
//! gap. The clause that made the sentence worth keeping stays.
//!
//! Not here: finding that clause (`speech_acts`).

use super::lexicon::{Cue, Lexicon};
use super::sentences::lowered;
use super::words::content_words;

/// Fewest characters of a clause that may replace its sentence.
const CLAUSE: usize = 24;
/// Fewest content words that remain when a one-time request is removed.
pub(super) const MIN_CONTENT_WORDS: usize = 2;
/// Marks after which a clause begins.
const MARKS: [&str; 8] = [", ", "; ", " - ", " – ", " — ", ": ", ". ", "? "];
/// Words with which a clause begins.
const JOINTS: [&str; 13] = [
    " because ",
    " but ",
    " and ",
    " which ",
    " or ",
    " that ",
    " if ",
    " when ",
    " where ",
    " while ",
    " unless ",
    " since ",
    " (",
];

/// Where the clauses of `text` begin, in bytes, ascending; the first begins at 0.
fn clause_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    for mark in MARKS {
        starts.extend(text.match_indices(mark).map(|(at, _)| at + mark.len()));
    }
    for joint in JOINTS {
        starts.extend(text.match_indices(joint).map(|(at, _)| at + 1));
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// At most `most` characters of `text`: all of it if it fits, else its leading clauses.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let bare = remove_parentheses(text);
    if length(&bare) <= most {
        return bare;
    }
    let room: String = bare.chars().take(most - 2).collect();
    let ends = clause_starts(&room).into_iter();
    let clause = ends
        .filter(|at| length(&room[..*at]) >= CLAUSE.min(most / 2))
        .max();
    let cut = clause
        .or_else(|| room.rfind(' '))
        .map_or(room.as_str(), |at| &room[..at]);
    format!("{} …", trim_cut(cut))
}

/// At most `most` characters of `text`, including the clause at the position that `telling` returns.
pub(super) fn shorten_around(
    text: &str,
    most: usize,
    telling: impl Fn(&str) -> Option<usize>,
) -> String {
    let bare = if length(text) <= most {
        text.to_owned()
    } else {
        remove_parentheses(text)
    };
    let Some(at) = telling(&bare).filter(|_| length(&bare) > most) else {
        return shorten(&bare, most);
    };
    let mut borders = clause_starts(&bare);
    borders.push(bare.len());
    let first = borders
        .iter()
        .rposition(|start| *start <= at)
        .unwrap_or(0)
        .min(borders.len() - 2);
    let fits = |from: usize, to: usize| length(bare[borders[from]..borders[to]].trim()) + 4 <= most;
    let (mut from, mut to) = (first, first + 1);
    if !fits(from, to) {
        return shorten(&bare[borders[from]..], most);
    }
    while to + 1 < borders.len() && fits(from, to + 1) {
        to += 1;
    }
    while from > 0 && fits(from - 1, to) {
        from -= 1;
    }
    while to - from > 1 && to + 1 < borders.len() && is_dependent(&bare, borders[to]) {
        to -= 1;
    }
    let kept = trim_cut(&bare[borders[from]..borders[to]]);
    let kept = if from > 0 {
        remove_conjunction(&kept)
    } else {
        kept
    };
    let (before, after) = (
        if from > 0 { "… " } else { "" },
        if to + 1 < borders.len() { " …" } else { "" },
    );
    format!("{before}{kept}{after}")
}

/// Whether the clause that ends at `end` depends on the next: "if …", "when …".
fn is_dependent(text: &str, end: usize) -> bool {
    let starts = clause_starts(&text[..end]);
    let last = starts.into_iter().rfind(|at| *at < end).unwrap_or(0);
    let word = text[last..end].split(' ').next().unwrap_or("");
    matches!(
        word,
        "if" | "when" | "while" | "unless" | "since" | "where" | "If" | "When"
    )
}

/// Removes a leading conjunction, whose other clause is gone.
fn remove_conjunction(kept: &str) -> String {
    let joints = ["that ", "and ", "but ", "or ", "which "];
    let rest = joints.iter().find_map(|joint| kept.strip_prefix(joint));
    rest.unwrap_or(kept).to_owned()
}

/// Removes punctuation and an unpaired backtick that a cut leaves at the ends.
fn trim_cut(cut: &str) -> String {
    let cut = cut
        .trim_matches([',', ';', ':', '-', '–', '—', '(', ' '])
        .trim_end_matches('.');
    if cut.matches('`').count() % 2 == 1 {
        cut.replace('`', "")
    } else {
        cut.to_owned()
    }
}

/// Removes parentheses, except those of calls: `f(x)` keeps them.
fn remove_parentheses(text: &str) -> String {
    let (mut kept, mut depth) = (String::new(), 0_u32);
    for c in text.chars() {
        match c {
            '(' if kept.ends_with(' ') || depth > 0 => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = kept.split_whitespace().collect();
    words
        .join(" ")
        .replace(" ,", ",")
        .replace(" .", ".")
        .replace(" ?", "?")
}

/// Words with which a clause begins that says nothing without another.
const DEPENDENT: [&str; 9] = [
    "while", "although", "though", "since", "if", "when", "because", "unless", "as",
];
/// Verbs that no clause begins with but one that has lost its subject.
const FINITE: [&str; 12] = [
    "is", "isn't", "are", "aren't", "was", "wasn't", "were", "weren't", "has", "hasn't", "doesn't",
    "didn't",
];

/// Whether of a shortened sentence only a clause is left that needs the next one, or its subject.
pub(super) fn lacks_its_clause(words: &str) -> bool {
    let first = |text: &str| lowered(text.split(' ').next().unwrap_or_default());
    let opens = words.strip_suffix(" …").is_some_and(|clause| {
        !clause.contains(", ") && DEPENDENT.contains(&first(clause).as_str())
    });
    let rest = words.strip_prefix("… ");
    opens || rest.is_some_and(|rest| FINITE.contains(&first(rest).as_str()))
}

/// The words by which a sentence is judged: without one-time requests, in lower case.
pub(super) fn judged_words(text: &str, lexicon: &Lexicon) -> String {
    lowered(&remove_requests(text, MIN_CONTENT_WORDS, lexicon))
}

/// Removes "can you …" before or after a statement: a one-time request joined to something
/// lasting. The rest has at least `least` content words.
pub(super) fn remove_requests(text: &str, least: usize, lexicon: &Lexicon) -> String {
    let marks: Vec<usize> = MARKS
        .iter()
        .flat_map(|mark| text.match_indices(mark).map(|(at, m)| at + m.len()))
        .collect();
    let says = |part: &str| content_words(&part.to_lowercase(), lexicon).len() >= least;
    let asks = |part: &str| {
        lexicon
            .find(Cue::Request, &part.to_lowercase())
            .is_some_and(|(at, _)| at == 0)
    };
    let mut kept = text;
    if let Some(at) = marks.iter().copied().filter(|at| asks(&text[*at..])).min()
        && says(&text[..at])
        && !asks(text)
    {
        kept = text[..at].trim_end_matches([' ', ',', ';', '-', '–', '—', ':']);
    } else if asks(text)
        && let Some(at) = marks.iter().copied().min()
        && states(&text[at..].to_lowercase(), lexicon)
    {
        kept = &text[at..];
    }
    kept.trim().to_owned()
}

fn states(low: &str, lexicon: &Lexicon) -> bool {
    [Cue::Decision, Cue::Preference, Cue::Correction]
        .iter()
        .any(|cue| lexicon.find(*cue, low).is_some_and(|(at, _)| at < 4))
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::english;
    use super::*;

    #[test]
    fn a_long_quote_ends_at_a_clause() {
        let long = "the importer reads every file twice, which nobody noticed until the folder grew to ten thousand files";
        assert_eq!(shorten(long, 80), "the importer reads every file twice …");
        assert_eq!(shorten("short enough", 80), "short enough");
    }

    #[test]
    fn asides_go_first() {
        let aside = "keep the ledger (the old one, from before the split) in one file";
        assert_eq!(shorten(aside, 40), "keep the ledger in one file");
    }

    #[test]
    fn the_telling_clause_stays() {
        let long = "the report prints a total per month, and so far only in euros, but exports should have it too";
        let kept = shorten_around(long, 64, |t| t.find("should"));
        assert_eq!(
            kept,
            "… so far only in euros, but exports should have it too"
        );
    }

    #[test]
    fn orders_around_a_statement_go() {
        let said = |text| remove_requests(text, 2, english());
        assert_eq!(
            said("we should start from main, can you switch"),
            "we should start from main"
        );
        assert_eq!(
            said("Can you read the plan, I'd like to drop the branch"),
            "I'd like to drop the branch"
        );
        assert_eq!(said("can you add a test?"), "can you add a test?");
    }
}
