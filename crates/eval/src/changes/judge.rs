//! Judges what a memory shows after a case.

/// What a memory shows: the lines of its `MEMORY.md`, and the first answer to the case's question.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) lines: Vec<String>,
    pub(super) answer: String,
}

/// What holds of a line, and what it names as its past.
fn split_past(line: &str) -> (String, String) {
    let low = line.to_lowercase();
    let low = low.as_str();
    // A value's line ends with what holds, in bold.
    if let Some((past, now)) = low.split_once("**") {
        return (now.to_owned(), past.to_owned());
    }
    match low.split_once(" (before ") {
        Some((now, past)) => (now.to_owned(), past.to_owned()),
        None => (low.to_owned(), String::new()),
    }
}

/// Whether all words of `wanted` occur in a text in lower case.
pub(super) fn holds(text: &str, wanted: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = wanted.split_whitespace().map(str::to_lowercase);
    words.all(|word| text.contains(&word))
}

impl Shown {
    /// Whether the first answer is what holds now.
    pub(super) fn answers(&self, current: &str) -> bool {
        holds(&self.answer, current)
    }

    /// Whether what holds now has a line, and what no longer holds has none but in brackets.
    pub(super) fn shows_alone(&self, current: &str, outdated: &str) -> bool {
        let lines: Vec<(String, String)> = self.lines.iter().map(|it| split_past(it)).collect();
        let is_shown = lines.iter().any(|(now, _)| holds(now, current));
        let is_alone = lines
            .iter()
            .all(|(now, _)| !holds(now, outdated) || holds(now, current));
        is_shown && is_alone
    }

    /// Which way round it shows a change: `Some(true)` when what no longer holds is the past of what does, `None` when
    /// it shows no change.
    pub(super) fn is_right_way_round(&self, current: &str, outdated: &str) -> Option<bool> {
        let lines = self.lines.iter().map(|it| split_past(it));
        let mut changed = lines.filter(|(_, past)| !past.is_empty());
        changed.find_map(|(now, past)| {
            let right = holds(&past, outdated) && holds(&now, current);
            let wrong = holds(&past, current) && holds(&now, outdated);
            (right || wrong).then_some(right)
        })
    }

    /// Whether both statements have lines of their own that hold.
    pub(super) fn keeps(&self, both: &[String; 2]) -> bool {
        let lines: Vec<(String, String)> = self.lines.iter().map(|it| split_past(it)).collect();
        let line_of = |words: &str| lines.iter().position(|(now, _)| holds(now, words));
        both.iter().all(|words| line_of(words).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[&str]) -> Shown {
        Shown {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            answer: String::new(),
        }
    }

    #[test]
    fn the_past_stands_in_brackets_or_before_the_bold_value() {
        let right = shown(&[r#"- "use SQLite" (before 1 Feb: "use Postgres") [a:L1]"#]);
        assert!(right.shows_alone("sqlite", "postgres"));
        assert_eq!(right.is_right_way_round("sqlite", "postgres"), Some(true));
        let wrong = shown(&[r#"- "use Postgres" (before 1 Feb: "use SQLite") [a:L1]"#]);
        assert!(!wrong.shows_alone("sqlite", "postgres"));
        assert_eq!(wrong.is_right_way_round("sqlite", "postgres"), Some(false));
        let both = shown(&["- \"use SQLite\"", "- \"use Postgres\""]);
        assert!(!both.shows_alone("sqlite", "postgres"));
        assert_eq!(both.is_right_way_round("sqlite", "postgres"), None);
        assert!(shown(&["- limit: 20 → **50** [a:L1]"]).shows_alone("50", "20"));
    }
}
