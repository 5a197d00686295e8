//! Lists of words by which statements are compared, in the languages of the extraction without a model.
//!
//! Not here: what is made of them (`plain`, `content`).

/// All lists: sections that begin with `[name]`.
pub(super) const WORD_LISTS: &str = include_str!("word_lists.txt");

/// The lines of a section.
pub(super) fn lines_of(section: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{section}]");
    let lines = WORD_LISTS.lines();
    let lines = lines.skip_while(move |line| *line != heading).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The words of a section.
pub(super) fn words_of(section: &str) -> impl Iterator<Item = &'static str> {
    lines_of(section).flat_map(str::split_whitespace)
}
