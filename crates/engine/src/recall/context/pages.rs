//! A context that shows a page of each scope as it is, line by line, for profiles whose systems do (M41, M42).
//!
//! Markers are left out, and nothing is selected: a page that is too long is cut, and says how much of it is shown.
//!
//! Not here: a context of selected entries (the parent module).

use super::{CurrentWork, MemoryContext, ON_THE_PROMPT, PROMPT_LINES, framed, tokens};
use crate::files::entry::without_marker;
use daybook_text::fence::escape;

/// A page of one scope that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopePage {
    /// What it is, in square brackets above its lines.
    pub title: String,
    /// Its path, for a person or an agent who reads on.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Shows the first `most` lines of each page, as far as they fit into `budget` tokens, and the lines for the prompt.
/// `program` is the command that the text names.
#[must_use]
pub fn assemble_pages(
    pages: &[ScopePage],
    most: usize,
    work: &CurrentWork<'_>,
    program: &str,
    budget: usize,
) -> MemoryContext {
    let mut left = budget.saturating_sub(tokens(&framed(program, "", 99)));
    let (mut body, mut lines, mut left_out) = (String::new(), Vec::new(), 0);
    for page in pages.iter().filter(|page| !page.text.trim().is_empty()) {
        let all: Vec<&str> = page.text.lines().map(without_marker).collect();
        let title = format!("[{}]\n", escape(&page.title));
        // The notice is reserved with the title, so that a cut never goes unsaid.
        left =
            left.saturating_sub(tokens(&title) + tokens(&notice(page, all.len(), all.len(), most)));
        let mut shown = 0;
        for line in all.iter().take(most) {
            let cost = tokens(line) + 1;
            if cost > left {
                break;
            }
            left -= cost;
            shown += 1;
        }
        body.push_str(&title);
        let head = all[..shown].join("\n");
        if !head.trim().is_empty() {
            body.push_str(&format!("{}\n", escape(head.trim())));
        }
        if shown < all.len() {
            body.push_str(&notice(page, shown, all.len(), most));
        }
        let said = all[..shown].iter().filter(|line| !line.trim().is_empty());
        lines.extend(said.map(|line| (*line).to_owned()));
        left_out += all[shown..]
            .iter()
            .filter(|line| !line.trim().is_empty())
            .count();
    }
    let known = |text: &str| lines.iter().any(|line: &String| line.contains(text));
    let prompt = work.prompt.iter().filter(|line| !known(&line.text));
    let prompt: Vec<String> = prompt
        .take(PROMPT_LINES)
        .map(|line| line.text.clone())
        .collect();
    let cost: usize = prompt.iter().map(|line| tokens(line) + 1).sum();
    if !prompt.is_empty() && cost + tokens(ON_THE_PROMPT) + 2 <= left {
        body.push_str(&format!(
            "# {ON_THE_PROMPT}\n{}\n",
            escape(&prompt.join("\n"))
        ));
        lines.extend(prompt);
    }
    let text = match body.is_empty() {
        true => String::new(),
        false => framed(program, &body, 0),
    };
    MemoryContext {
        tokens: tokens(&text),
        lines,
        left_out,
        text,
    }
}

/// How much of a page is shown, and where the rest is.
fn notice(page: &ScopePage, shown: usize, all: usize, most: usize) -> String {
    let bound = match most {
        usize::MAX => String::new(),
        most => format!(", at most {most}"),
    };
    let path = escape(&page.path);
    format!("(truncated: showing the first {shown} of {all} lines{bound}; the rest is in {path})\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::prompt::{LineFingerprints, MemoryLine};

    fn page(text: &str) -> ScopePage {
        ScopePage {
            title: "File memory entrypoint (project/tidepool)".to_owned(),
            path: "/home/ada/tidepool/MEMORY.md".to_owned(),
            text: text.to_owned(),
        }
    }

    fn shown(text: &str, most: usize, budget: usize) -> MemoryContext {
        assemble_pages(
            &[page(text)],
            most,
            &CurrentWork::default(),
            "daybook",
            budget,
        )
    }

    #[test]
    fn m41_a_page_stands_above_what_is_shown_for_the_prompt() {
        let line = MemoryLine {
            text: "the tide table is cached [7f78:L3]".to_owned(),
            fingerprints: LineFingerprints::of("the tide table is cached [7f78:L3]"),
        };
        let work = CurrentWork {
            prompt: std::slice::from_ref(&line),
            ..CurrentWork::default()
        };
        let pages = [page(
            "# tidepool ^abcdefghij\n- charts are printed ^bcdefghijk\n",
        )];
        let context = assemble_pages(&pages, 200, &work, "daybook", 1_000);
        let body = "[File memory entrypoint (project/tidepool)]\n# tidepool\n- charts are printed\n\
            # On what was asked\nthe tide table is cached [7f78:L3]\n</daybook-memory>\n";
        assert!(context.text.ends_with(body), "{}", context.text);
        let without = shown("# tidepool\n- charts are printed\n", 200, 1_000);
        let stable = without
            .text
            .strip_suffix("</daybook-memory>\n")
            .expect("it is enclosed");
        assert!(context.text.starts_with(stable));
    }

    #[test]
    fn m42_a_page_that_is_cut_says_how_much_of_it_is_shown() {
        let cut = shown("one\ntwo\nthree\nfour\n", 2, 1_000).text;
        assert!(
            cut.contains(
                "one\ntwo\n(truncated: showing the first 2 of 4 lines, at most 2; the rest is in \
            /home/ada/tidepool/MEMORY.md)\n"
            ),
            "{cut}"
        );
        assert!(!cut.contains("three"));
        let whole = shown("one\ntwo\n", 2, 1_000).text;
        assert!(!whole.contains("truncated"), "{whole}");
        let small = shown(
            &"a line of seven words to be counted\n".repeat(99),
            200,
            200,
        );
        assert!(
            small.tokens <= 200 && small.text.contains("of 99 lines"),
            "{}",
            small.text
        );
        assert_eq!(small.left_out, 99 - small.lines.len());
    }

    #[test]
    fn a_page_without_words_shows_nothing() {
        assert_eq!(shown(" \n\n", 200, 1_000).text, "");
        // A blank head is cut all the same.
        let blank = shown("\n\nthree\nfour\nfive\n", 2, 1_000).text;
        assert!(blank.contains("showing the first 2 of 5 lines"), "{blank}");
    }
}
