//! Texts of memories and transcripts as markup: escaped, with links to the sources that they cite and no others.

use daybook_domain::citation::Citation;
use daybook_engine::files::entry::without_marker;
use daybook_text::fence::visible;
use maud::{Markup, html};

use super::links;
use crate::service::format_time;
use crate::wiring::Daybook;

/// Longest text of one line on a page, in characters.
const LINE: usize = 2_000;

/// A text in one line. Characters that would hide or turn text around are shown as what they are.
pub(super) fn plain(text: &str) -> Markup {
    html! { bdi { (visible(&cut(text, LINE))) } }
}

/// A text in one line, whose citations lead to the words that they cite.
pub(super) fn cited(text: &str) -> Markup {
    let text = cut(text, LINE);
    html! {
        bdi {
            @for part in parts(&text) {
                @match part {
                    Part::Text(text) => (visible(text)),
                    Part::Citation(text) => {
                        "[" a.source href=(links::words(text)) { (visible(text)) } "]"
                    },
                }
            }
        }
    }
}

/// A citation as a link.
pub(super) fn citation(citation: &str) -> Markup {
    html! { a.source href=(links::words(citation)) { (visible(citation)) } }
}

/// What a line of a list says: without its dash and the marker of its entry.
pub(super) fn own_words(line: &str) -> &str {
    let words = without_marker(line).trim_start();
    words.strip_prefix("- ").unwrap_or(words)
}

/// A time of RFC 3339 as people read it.
pub(super) fn when(daybook: &Daybook, time: &str) -> String {
    let parsed = time.parse::<jiff::Timestamp>();
    let at = parsed.map(|at| daybook_domain::Timestamp(at.as_millisecond()));
    let shown = at
        .ok()
        .and_then(|at| format_time(daybook, at, "%-d %b %Y %H:%M"));
    shown.unwrap_or_else(|| time.to_owned())
}

/// The text, or its first `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

enum Part<'t> {
    Text(&'t str),
    Citation(&'t str),
}

/// Divides a text at the citations in square brackets. `[a:L1; b:L2]` are two.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let Some(length) = rest[open + 1..].find(']') else {
            break;
        };
        let inside = &rest[open + 1..open + 1 + length];
        let all: Vec<&str> = inside.split("; ").collect();
        let is_citation = |one: &&str| one.contains(":L") && Citation::parse(one).is_some();
        if all.iter().all(is_citation) {
            parts.push(Part::Text(&rest[..open]));
            parts.extend(all.into_iter().map(Part::Citation));
            rest = &rest[open + length + 2..];
        } else {
            parts.push(Part::Text(&rest[..=open]));
            rest = &rest[open + 1..];
        }
    }
    parts.push(Part::Text(rest));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_become_links_and_all_else_is_escaped() {
        let shown =
            cited("use <b>tides</b> [7f78:L3,8; ca01:L1] [x](http://a.example) [y").into_string();
        assert_eq!(
            shown,
            "<bdi>use &lt;b&gt;tides&lt;/b&gt; \
             [<a class=\"source\" href=\"/window/words?citation=7f78%3AL3%2C8\">7f78:L3,8</a>]\
             [<a class=\"source\" href=\"/window/words?citation=ca01%3AL1\">ca01:L1</a>] \
             [x](http://a.example) [y</bdi>"
        );
    }

    #[test]
    fn text_that_turns_around_is_shown_as_what_it_is() {
        let shown = plain("safe\u{202e}txt.exe\u{200b}").into_string();
        assert!(
            !shown.contains('\u{202e}') && !shown.contains('\u{200b}'),
            "{shown}"
        );
    }
}
