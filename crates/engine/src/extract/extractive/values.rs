//! Values: a number that the person set, and set again.
//!
//! A number in a sentence says nothing until it is known what it is a number of. That is known
//! when the sentence names it ("limit the list to 20"), or when an edit that follows gives the
//! number to a name. Anything else is left out.
//!
//! Not here: numbers that pick an option (`choices`).

use std::sync::LazyLock;

use daybook_domain::{Event, ObservationKind as Kind};
use regex::{Captures, Regex};

use super::deeds::{Aim, Deed};
use super::finds::Find;
use super::sentences::Sentence;
use super::turns::Talk;

/// Messages before an edit among which it may still carry out one, its own turn's counted.
const TURNS_BACK: usize = 12;
/// Most words of a subject that a sentence names.
const SUBJECT_WORDS: usize = 5;
const EDITED: i32 = 75;
const NAMED: i32 = 60;

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s(~=])(v?\d+(?:[.,]\d+)*)\s?(%|ms|s|secs?|seconds?|minutes?|mins?|h|hours?|days?|weeks?|[kmgt]i?b|px|k)?(?:[\s,.;:!?)]|$)")
        .expect("the pattern is constant")
});

static SETS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(limit|cap|set|bump|raise|increase|lower|reduce|decrease|change|extend|push|go|make it|update|upgrade|downgrade|pin|at most|no more than|max|maximum|minimum|timeout|threshold|should be|must be|to be|use|down to|up to|default)\b")
        .expect("the pattern is constant")
});

static NAMES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b(?:set|bump|raise|increase|lower|reduce|decrease|change|extend|update|upgrade|downgrade|pin|limit|cap)\s+(?:the |our |my )?([\w`./ -]{2,60}?)\s+(?:in all [\w ]+ )?(?:down |up |back )?(?:to|at)\s+(?:about |just |at most |max )?$",
        r"\b(?:the |our |my )?([\w`./ -]{2,40}?)\s+(?:should be|must be|needs to be|has to be)\s+(?:at most |at least |about )?$",
        r"\b(?:a |the |our )?(?:max(?:imum)? |min(?:imum)? )?([\w`-]{3,30} ?(?:limit|timeout|threshold|size|count|depth|interval|port|width|length|retries|version))\s+(?:of|at|to|is)\s+$",
    ]
    .iter()
    .map(|p| Regex::new(p).expect("the patterns are constant"))
    .collect()
});

/// Numbers that were set, one find for each time. A number belongs to the turn in which it is known what
/// it is of: the person's own, or a later one in which an edit gives it a name.
pub(super) fn values(talk: &Talk<'_>) -> Vec<Find> {
    let mut finds = Vec::new();
    for (n, turn) in talk.new_turns() {
        let earliest = (n + 1).saturating_sub(TURNS_BACK);
        let horizon = talk.horizon(turn.at);
        for said in earliest..=n {
            let by = &talk.turns[said];
            if by.lexicon.is_none() || by.at < horizon {
                continue;
            }
            let told = by.prose.iter();
            finds.extend(told.filter_map(|sentence| value(talk, (said, n), sentence)));
        }
    }
    finds
}

/// The value that a sentence of turn `said` sets, if it is turn `n` in which it becomes known.
fn value(talk: &Talk<'_>, (said, n): (usize, usize), sentence: &Sentence) -> Option<Find> {
    let turn = &talk.turns[said];
    let low = sentence.low.as_str();
    if !SETS.is_match(low) {
        return None;
    }
    let numbers: Vec<_> = NUMBER.captures_iter(low).collect();
    let is_told = |number: &&Captures<'_>| {
        number
            .get(1)
            .is_some_and(|digits| named_subject(&low[..digits.start()]).is_some())
    };
    // "Change it to 50, 20 was too few": the number that follows its name is the one that was set.
    let number = numbers.iter().find(is_told).or(numbers.last())?;
    let amount = number[1].trim_end_matches(['.', ',']).to_owned();
    let shown = match number.get(2) {
        Some(unit) => format!("{amount} {}", unit.as_str()),
        None => amount.clone(),
    };
    let named = || {
        let before = &low[..number.get(1)?.start()];
        named_subject(before).filter(|_| !sentence.asks())
    };
    let edited = |turns| edited_name(talk, turns, low, &amount);
    let (subject, score, by) = match edited((said, said)) {
        Some((name, _)) if said == n => (name, EDITED, None),
        Some(_) => return None,
        None => match named() {
            Some(name) if said == n => (name, NAMED, None),
            Some(_) => return None,
            None if said == n || edited((said, n - 1)).is_some() => return None,
            None => {
                let (name, edit) = edited((said, n))?;
                (name, EDITED, Some(edit))
            }
        },
    };
    let on: Vec<&Event> = std::iter::once(turn.said).chain(by).collect();
    let mut find =
        Find::said(Kind::Value, score, &on, &shown).in_context(Some(sentence.text.clone()));
    find.draft.subject = Some(subject);
    Some(find)
}

/// What the sentence itself says that the number is of.
fn named_subject(before: &str) -> Option<String> {
    let found = NAMES.iter().find_map(|p| p.captures(before))?;
    let subject = found[1]
        .split(" from ")
        .next()
        .unwrap_or("")
        .trim()
        .to_owned();
    let words: Vec<&str> = subject.split(' ').collect();
    let points = [
        "it", "that", "this", "them", "these", "those", "one", "we", "i", "you", "just", "all",
    ];
    let sure = words.len() <= SUBJECT_WORDS && !words.iter().any(|w| points.contains(w));
    let verb = before.trim_start().strip_prefix("limit ").is_some();
    sure.then(|| {
        if verb {
            format!("limit of {subject}")
        } else {
            subject
        }
    })
}

/// The name that the first edit within some turns gave the number to, with its file, and that edit. In
/// the person's own turn any name will do; later it must share a word with what was said.
fn edited_name<'a>(
    talk: &Talk<'a>,
    (said, upto): (usize, usize),
    low: &str,
    amount: &str,
) -> Option<(String, &'a Event)> {
    for (ahead, turn) in talk.turns[said..=upto].iter().enumerate() {
        for deed in talk.deeds_in(turn.at, turn.end).filter(|d| d.edited()) {
            let found = assigned(deed, amount, |name| ahead == 0 || shares_word(name, low));
            if let Some(found) = found {
                return Some((found, deed.call));
            }
        }
    }
    None
}

fn assigned(deed: &Deed<'_>, amount: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let Aim::Edit { files, put } = &deed.aim else {
        return None;
    };
    let file = files.first()?;
    if file.to_lowercase().contains("test") || file.to_lowercase().ends_with(".md") {
        return None;
    }
    let names = put.lines().filter_map(|line| name_given(line, amount));
    let name = names.into_iter().find(|name| fits(name))?;
    Some(format!("{name} in {file}"))
}

/// The name that a line of code or configuration gives `amount` to.
fn name_given(line: &str, amount: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with("//") || line.starts_with('*') || line.starts_with("# ") {
        return None;
    }
    let code = line.split("//").next().unwrap_or(line);
    let at = code.match_indices(amount).map(|(at, _)| at).find(|at| {
        let part = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
        !code[..*at].ends_with(part) && !code[at + amount.len()..].starts_with(part)
    })?;
    let left = code[..at].trim_end_matches([' ', '"', '\'', '(', 'v', '^', '~']);
    let left = left
        .strip_suffix(":=")
        .or_else(|| left.strip_suffix(['=', ':']))?;
    let left = left
        .split(':')
        .next()
        .unwrap_or(left)
        .split('{')
        .next()
        .unwrap_or(left);
    let left = left.trim().trim_end_matches(['=', ' ', '"', '\'']);
    let name = left
        .rsplit(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
        .next()?;
    let generic = [
        "want", "got", "expected", "n", "i", "x", "len", "count", "version", "value",
    ];
    (name.len() > 1
        && !generic.contains(&name)
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    .then(|| name.to_owned())
}

fn shares_word(name: &str, low: &str) -> bool {
    let name = name.to_lowercase();
    let words = low
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| w.len() > 3);
    words
        .into_iter()
        .any(|word| name.contains(word.trim_end_matches('s')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_a_number_to_a_name() {
        for (line, name) in [
            ("const MAX_ROWS: usize = 20;", Some("MAX_ROWS")),
            ("rowLimit = 20 // most rows", Some("rowLimit")),
            ("  \"limit\": 20,", Some("limit")),
            ("timeout: 20", Some("timeout")),
            ("// rowLimit = 20", None),
            ("rowLimit = 200", None),
            ("if n == 1.20 {", None),
        ] {
            assert_eq!(name_given(line, "20").as_deref(), name, "{line}");
        }
    }
}
