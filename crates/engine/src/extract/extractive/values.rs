//! Finds values: numbers that a person set, and set again.
//!
//! A number is kept only with its subject. Either the sentence names the subject
//! ("limit the list to 20"), or a following edit assigns the
//! number to a name. Other numbers are left out.
//!
//! Not here: numbers that pick an option (`choices`).

use std::sync::LazyLock;

use daybook_domain::{Event, ObservationKind as Kind};
use daybook_text::lazy_pattern::constant_regex;
use regex::{Captures, Regex};

use super::actions::{ActionKind, AgentAction};
use super::scored_draft::ScoredDraft;
use super::sentences::Sentence;
use super::shell::substitutions;
use super::turns::{HumanTurn, WindowConversation};

/// Number of turns, the edit's own included, whose messages an edit may carry out.
const TURNS_BACK: usize = 12;
/// Most words of a subject named in a sentence.
const SUBJECT_WORDS: usize = 5;
/// Most words of a sentence that sets a number without a verb, and of one that is little more than a number.
const PLAIN_WORDS: usize = 12;
const BARE_WORDS: usize = 3;
const EDITED: i32 = 75;
const NAMED: i32 = 60;

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?:^|[\s(~=])(v?\d+(?:[.,]\d+)*)\s?(%|ms|s|secs?|seconds?|minutes?|mins?|h|hours?|days?|weeks?|[kmgt]i?b|px|k)?(?:[\s,.;:!?)]|$)",
    )
});

static SETS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(limit|cap|set|bump|raise|increase|lower|reduce|decrease|change|extend|push|go|make it|update|upgrade|downgrade|pin|at most|no more than|max|maximum|minimum|timeout|threshold|should be|must be|to be|use|down to|up to|default)\b",
    )
});

static NAMES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b(?:set|bump|raise|increase|lower|reduce|decrease|change|extend|update|upgrade|downgrade|pin|limit|cap)\s+(?:the |our |my )?([\w`./ -]{2,60}?)\s+(?:in all [\w ]+ )?(?:down |up |back )?(?:to|at)\s+(?:about |just |at most |max )?$",
        r"\b(?:the |our |my )?([\w`./ -]{2,40}?)\s+(?:should be|must be|needs to be|has to be)\s+(?:at most |at least |about )?$",
        r"\b(?:a |the |our )?(?:max(?:imum)? |min(?:imum)? )?([\w`-]{3,30} ?(?:limit|timeout|threshold|size|count|depth|interval|port|width|length|retries|version))\s+(?:of|at|to|is)\s+$",
    ]
    .iter()
    .map(|p| constant_regex(p))
    .collect()
});

/// The values of the window, one draft for each time that a number was set. A value belongs to the turn in which
/// its subject becomes known: the person's own, or a later one in which an edit assigns it to a name.
pub(super) fn find_values(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    let mut finds = Vec::new();
    for (n, turn) in talk.new_turns() {
        let earliest = (n + 1).saturating_sub(TURNS_BACK);
        let horizon = talk.look_back_start(turn.at);
        for stated_in in earliest..=n {
            let by = &talk.turns[stated_in];
            if by.lexicon.is_none() || by.at < horizon {
                continue;
            }
            let sentences = by.prose.iter();
            finds.extend(
                sentences.filter_map(|sentence| find_value(talk, (stated_in, n), sentence)),
            );
        }
    }
    finds
}

/// The value that a sentence of turn `stated_in` sets, if its subject becomes known in turn `n`.
fn find_value(
    talk: &WindowConversation<'_>,
    (stated_in, n): (usize, usize),
    sentence: &Sentence,
) -> Option<ScoredDraft> {
    let turn = &talk.turns[stated_in];
    let low = sentence.low.as_str();
    let sets = SETS.is_match(low);
    let numbers: Vec<_> = NUMBER.captures_iter(low).collect();
    let has_subject = |number: &&Captures<'_>| {
        number
            .get(1)
            .is_some_and(|digits| named_subject(&low[..digits.start()]).is_some())
    };
    // "Change it to 50, 20 was too few": the number that follows its subject is the one that was set.
    let number = numbers.iter().find(has_subject).or(numbers.last())?;
    let amount = number[1].trim_end_matches(['.', ',']).to_owned();
    let shown = match number.get(2) {
        Some(unit) => format!("{amount} {}", unit.as_str()),
        None => amount.clone(),
    };
    let named = || {
        let before = &low[..number.get(1)?.start()];
        named_subject(before).filter(|_| !sentence.is_question())
    };
    let edited = |turns| edited_name(talk, turns, low, &amount);
    if !sets && !is_set_by_edit(talk, (stated_in, n), low, &amount) {
        return None;
    }
    let (subject, score, by) = match edited((stated_in, stated_in)) {
        Some((name, _)) if stated_in == n => (name, EDITED, None),
        Some(_) => return None,
        None => match named() {
            Some(name) if stated_in == n => (name, NAMED, None),
            Some(_) => return None,
            None if stated_in == n || edited((stated_in, n - 1)).is_some() => return None,
            None => {
                let (name, edit) = edited((stated_in, n))?;
                (name, EDITED, Some(edit))
            }
        },
    };
    let on: Vec<&Event> = std::iter::once(turn.message).chain(by).collect();
    let mut find = ScoredDraft::from_quote(Kind::Value, score, &on, &shown)
        .with_context(said_of_value(turn, sentence));
    find.draft.subject = Some(with_version(&subject, &amount));
    Some(find)
}

/// The words that set a value: of "so 30" the whole message, of "30" alone nothing.
fn said_of_value(turn: &HumanTurn<'_>, sentence: &Sentence) -> Option<String> {
    let is_bare = sentence.text.split_whitespace().count() <= BARE_WORDS;
    let said = if is_bare { turn.words } else { &sentence.text };
    said.contains(char::is_alphabetic).then(|| said.to_owned())
}

/// Whether an edit assigns a number that no verb sets: "so 30", "hold 45", "24 per page".
fn is_set_by_edit(
    talk: &WindowConversation<'_>,
    turns: (usize, usize),
    low: &str,
    amount: &str,
) -> bool {
    let words = low.split_whitespace().count();
    if amount.len() < 2 || words > PLAIN_WORDS {
        return false;
    }
    let edited = edited_name(talk, turns, low, amount);
    edited.is_some_and(|(name, _)| words <= BARE_WORDS || shares_word(&name, low))
}

/// The subject of a version, by the word that people ask with: `go version in mise.toml`.
fn with_version(subject: &str, amount: &str) -> String {
    let is_version = amount.starts_with('v') || amount.matches('.').count() >= 2;
    if !is_version || subject.to_lowercase().contains("version") {
        return subject.to_owned();
    }
    match subject.split_once(" in ") {
        Some((name, file)) => format!("{name} version in {file}"),
        None => format!("{subject} version"),
    }
}

/// The subject that the sentence itself names before the number.
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
        "their", "his", "her", "its", "your",
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

/// The name to which the first edit within these turns assigned the number, with its file, and that edit. In
/// the person's own turn any name counts; later it must share a word with the sentence, and so it must for a number of one
/// digit, since many lines assign such a one.
fn edited_name<'a>(
    talk: &WindowConversation<'a>,
    (stated_in, upto): (usize, usize),
    low: &str,
    amount: &str,
) -> Option<(String, &'a Event)> {
    let any_name = amount.len() > 1;
    for (ahead, turn) in talk.turns[stated_in..=upto].iter().enumerate() {
        for action in talk
            .actions_in(turn.at, turn.end)
            .filter(|d| d.has_succeeded())
        {
            let found = assigned(action, amount, |name| {
                (any_name && ahead == 0) || shares_word(name, low)
            });
            if let Some(found) = found {
                return Some((found, action.call));
            }
        }
    }
    None
}

/// The name to which an action assigned `amount`, with its file.
fn assigned(action: &AgentAction<'_>, amount: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let changes = match &action.kind {
        ActionKind::Edit { files, put } => vec![(files.first()?.clone(), put.clone())],
        ActionKind::Run(_) => substitutions(&action.call_text()),
        ActionKind::Issue(_) | ActionKind::Plan(_) | ActionKind::Other => Vec::new(),
    };
    let is_code = |file: &str| {
        let low = file.to_lowercase();
        !low.contains("test") && !low.ends_with(".md")
    };
    let of_code = changes.iter().filter(|(file, _)| is_code(file));
    let mut named = of_code.flat_map(|(file, put)| {
        let names = put.lines().filter_map(|line| name_given(line, amount));
        names.map(move |name| (name, file))
    });
    let (name, file) = named.find(|(name, _)| fits(name))?;
    Some(format!("{name} in {file}"))
}

/// The name to which a line of code or configuration assigns `amount`.
fn name_given(line: &str, amount: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with("//") || line.starts_with('*') || line.starts_with("# ") {
        return None;
    }
    let code = line.split("//").next().unwrap_or(line);
    let at = code.match_indices(amount).map(|(at, _)| at).find(|at| {
        let part = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
        let behind = &code[at + amount.len()..];
        // 25 is set by 25.0.
        let behind = behind.strip_prefix(".0").unwrap_or(behind);
        !code[..*at].ends_with(part) && !behind.starts_with(part)
    })?;
    let left = code[..at].trim_end_matches([' ', '"', '\'', '(', 'v', '^', '~']);
    // `Duration::from_millis(80)`, `timedelta(minutes=80)`.
    let called = code[..at]
        .ends_with('(')
        .then(|| left.trim_end_matches(|c: char| c.is_alphanumeric() || "_:.".contains(c)));
    let left = called.unwrap_or(left).trim_end();
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
    fn a_version_is_called_one() {
        for (subject, amount, expected) in [
            ("go in mise.toml", "1.25.6", "go version in mise.toml"),
            ("node", "v22", "node version"),
            ("minVersion in app.toml", "1.4.0", "minVersion in app.toml"),
            ("rate in tides.toml", "0.5", "rate in tides.toml"),
        ] {
            assert_eq!(with_version(subject, amount), expected);
        }
    }

    #[test]
    fn a_line_gives_a_number_to_a_name() {
        for (line, name) in [
            ("const MAX_ROWS: usize = 20;", Some("MAX_ROWS")),
            ("rowLimit = 20 // most rows", Some("rowLimit")),
            ("  \"limit\": 20,", Some("limit")),
            ("timeout: 20", Some("timeout")),
            (
                "const WAIT: Duration = Duration::from_millis(20);",
                Some("WAIT"),
            ),
            ("HOLD = 20.0", Some("HOLD")),
            ("wait(20)", None),
            ("// rowLimit = 20", None),
            ("rowLimit = 200", None),
            ("if n == 1.20 {", None),
        ] {
            assert_eq!(name_given(line, "20").as_deref(), name, "{line}");
        }
    }
}
