//! Searches files for texts, line by line.

use serde::{Deserialize, Serialize};

use super::{FolderToolError, ListPage, page};

/// Which texts a place must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MatchMode {
    /// A line with any of them.
    #[default]
    Any,
    /// A line with all of them.
    AllOnSameLine,
    /// All of them within so many lines.
    AllWithinLines {
        /// How many.
        line_count: usize,
    },
}

/// What to search for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// The texts.
    pub queries: Vec<String>,
    /// Which of them a place must have.
    pub mode: MatchMode,
    /// Lines that are shown before and behind.
    pub context: usize,
    /// Whether small and large letters differ.
    pub case_sensitive: bool,
    /// Whether only letters and digits count.
    pub normalized: bool,
}

/// A place that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundText {
    path: String,
    match_line_number: usize,
    content_start_line_number: usize,
    content: String,
    matched_queries: Vec<String>,
}

impl SearchQuery {
    /// A text in the form in which it is compared.
    fn form(&self, text: &str) -> String {
        let text = match self.case_sensitive {
            true => text.to_owned(),
            false => text.to_lowercase(),
        };
        match self.normalized {
            true => text
                .chars()
                .filter(|letter| letter.is_alphanumeric())
                .collect(),
            false => text,
        }
    }

    /// The texts in the form in which they are compared.
    fn forms(&self) -> Result<Vec<String>, FolderToolError> {
        if self.mode == (MatchMode::AllWithinLines { line_count: 0 }) {
            return Err(FolderToolError::InvalidLineCount);
        }
        let forms: Vec<String> = self.queries.iter().map(|query| self.form(query)).collect();
        let is_blank = |form: &String| form.trim().is_empty();
        match forms.is_empty() || forms.iter().any(is_blank) {
            true => Err(FolderToolError::EmptyQuery),
            false => Ok(forms),
        }
    }
}

/// Searches files, given with their texts by path, and returns a page of the places by path and line.
///
/// # Errors
/// When there is nothing to search for, or the cursor is none of this search.
pub fn search(
    files: &[(&str, String)],
    query: &SearchQuery,
    (cursor, most): (Option<&str>, usize),
) -> Result<ListPage<FoundText>, FolderToolError> {
    let forms = query.forms()?;
    let found = files
        .iter()
        .flat_map(|(path, text)| search_file((path, text), query, &forms));
    page(found.collect(), cursor, most)
}

fn search_file(
    (path, text): (&str, &str),
    query: &SearchQuery,
    forms: &[String],
) -> Vec<FoundText> {
    let lines: Vec<&str> = text.lines().collect();
    // The numbers of the queries that each line has.
    let held: Vec<Vec<usize>> = lines
        .iter()
        .map(|line| {
            let line = query.form(line);
            let numbers = (0..forms.len()).filter(|number| line.contains(&forms[*number]));
            numbers.collect()
        })
        .collect();
    let windows = windows(&held, forms.len(), query.mode);
    let shown = windows.into_iter().map(|(from, to)| {
        let (first, last) = (from.saturating_sub(query.context), to + query.context + 1);
        let content = lines[first..last.min(lines.len())].join("\n");
        let is_held = |number: &usize| held[from..=to].iter().any(|line| line.contains(number));
        let matched = (0..forms.len()).filter(is_held);
        FoundText {
            path: path.to_owned(),
            match_line_number: from + 1,
            content_start_line_number: first + 1,
            content,
            matched_queries: matched
                .map(|number| query.queries[number].clone())
                .collect(),
        }
    });
    shown.collect()
}

/// The first and last lines of the places that have what the mode demands.
fn windows(held: &[Vec<usize>], queries: usize, mode: MatchMode) -> Vec<(usize, usize)> {
    let lines = 0..held.len();
    match mode {
        MatchMode::Any => lines
            .filter(|at| !held[*at].is_empty())
            .map(|at| (at, at))
            .collect(),
        MatchMode::AllOnSameLine => lines
            .filter(|at| held[*at].len() == queries)
            .map(|at| (at, at))
            .collect(),
        MatchMode::AllWithinLines { line_count } => {
            let mut windows: Vec<(usize, usize)> = Vec::new();
            for from in lines {
                let Some(to) = end_of_window(held, queries, (from, line_count)) else {
                    continue;
                };
                // A window that begins earlier and ends at the same line holds more than it must.
                windows.retain(|(_, end)| *end < to);
                windows.push((from, to));
            }
            windows
        }
    }
}

/// The first line by which all queries have occurred, from a line on that has one itself.
fn end_of_window(
    held: &[Vec<usize>],
    queries: usize,
    (from, line_count): (usize, usize),
) -> Option<usize> {
    let mut seen = vec![false; queries];
    if held[from].is_empty() {
        return None;
    }
    for (to, line) in held.iter().enumerate().skip(from).take(line_count) {
        for number in line {
            seen[*number] = true;
        }
        if seen.iter().all(|it| *it) {
            return Some(to);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "tide table\nThe Tide turns\nfoo-bar\nharbour\ntide and harbour\nend";

    fn found(query: &SearchQuery) -> Vec<(usize, usize, String, usize)> {
        let files = [("a.md", TEXT.to_owned()), ("b.md", "no match".to_owned())];
        let page = search(&files, query, (None, 100)).unwrap();
        let places = page.items.into_iter();
        places
            .map(|it| {
                assert_eq!(it.path, "a.md");
                (
                    it.match_line_number,
                    it.content_start_line_number,
                    it.content,
                    it.matched_queries.len(),
                )
            })
            .collect()
    }

    fn query(queries: &[&str], mode: MatchMode) -> SearchQuery {
        SearchQuery {
            queries: queries.iter().map(|it| (*it).to_owned()).collect(),
            mode,
            case_sensitive: true,
            ..SearchQuery::default()
        }
    }

    fn lines(query: &SearchQuery) -> Vec<usize> {
        found(query).into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn c120_texts_are_found_with_the_lines_around_them() {
        let mut tide = query(&["tide"], MatchMode::Any);
        assert_eq!(lines(&tide), [1, 5]);
        tide.case_sensitive = false;
        assert_eq!(lines(&tide), [1, 2, 5]);
        tide.context = 1;
        let second = &found(&tide)[1];
        assert_eq!(
            (second.1, second.2.as_str()),
            (1, "tide table\nThe Tide turns\nfoo-bar")
        );
        let mut spaced = query(&["foo bar"], MatchMode::Any);
        assert_eq!(lines(&spaced), [0; 0]);
        spaced.normalized = true;
        assert_eq!(lines(&spaced), [3]);
    }

    #[test]
    fn c121_several_texts_are_demanded_on_a_line_or_within_some() {
        let both = ["tide", "harbour"];
        let any: Vec<usize> = found(&query(&both, MatchMode::Any))
            .iter()
            .map(|it| it.3)
            .collect();
        assert_eq!(any, [1, 1, 2]);
        assert_eq!(lines(&query(&both, MatchMode::AllOnSameLine)), [5]);
        let within = |line_count| {
            query(
                &["table", "harbour"],
                MatchMode::AllWithinLines { line_count },
            )
        };
        assert_eq!(lines(&within(3)), [0; 0]);
        let four = found(&within(4));
        assert_eq!((four[0].0, four[0].2.lines().count()), (1, 4));
        // Of two windows that end at one line, the shorter one.
        let close = query(&both, MatchMode::AllWithinLines { line_count: 4 });
        assert_eq!(lines(&close), [1, 5]);
        let none = search(
            &[],
            &query(&["x"], MatchMode::AllWithinLines { line_count: 0 }),
            (None, 1),
        );
        assert_eq!(none, Err(FolderToolError::InvalidLineCount));
    }

    #[test]
    fn c122_nothing_is_not_searched_for() {
        for nothing in [vec![], vec![""], vec!["tide", " "]] {
            let refused = search(&[], &query(&nothing, MatchMode::Any), (None, 1));
            assert_eq!(refused, Err(FolderToolError::EmptyQuery));
        }
    }
}
