//! Removes thoughts from a model's text.
//!
//! Models that think aloud put it between tags at the beginning, some again before later parts; some
//! templates open the tag in the question, so that only its end is in the answer. Tags within a line are
//! left alone: they are quoted by the text, and a JSON answer holds no line end in its strings.

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// `text` without thoughts and without blanks around it. A thought that never ends takes the rest with it.
pub(crate) fn without(text: &str) -> String {
    let mut kept = text.to_owned();
    for (open, close) in TAGS {
        kept = without_tag(&kept, open, close);
    }
    kept.trim().to_owned()
}

fn without_tag(text: &str, open: &str, close: &str) -> String {
    let mut rest = after_orphan(text, open, close);
    let mut kept = String::with_capacity(rest.len());
    while let Some(start) = begins_line(rest, open) {
        kept.push_str(&rest[..start]);
        rest = match rest[start..].find(close) {
            Some(end) => &rest[start + end + close.len()..],
            None => "",
        };
    }
    kept.push_str(rest);
    kept
}

/// What follows the end of a thought whose beginning was in the question.
fn after_orphan<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let Some(end) = text.find(close) else {
        return text;
    };
    let (before, after) = (&text[..end], &text[end + close.len()..]);
    let ends_line = after.lines().next().unwrap_or_default().trim().is_empty();
    let has_line = before
        .rsplit('\n')
        .next()
        .unwrap_or(before)
        .trim()
        .is_empty();
    if before.contains(open) || !(ends_line || has_line) {
        return text;
    }
    after
}

/// Where `tag` is the first thing in a line.
fn begins_line(text: &str, tag: &str) -> Option<usize> {
    text.match_indices(tag).map(|(at, _)| at).find(|at| {
        text[..*at]
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .trim()
            .is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kept: &str) {
        assert_eq!(without(text), kept);
    }

    #[test]
    fn thoughts_are_taken_out() {
        check("<think>hm</think>yes", "yes");
        check("<think>\nhm\n</think>\n\nyes", "yes");
        check("<thinking>hm</thinking> yes", "yes");
        check("<think>a</think><think>b</think>yes", "yes");
        check("yes\n<think>or no</think>\nyes", "yes\n\nyes");
    }

    #[test]
    fn a_thought_that_never_ends_leaves_nothing() {
        check("<think>hm, {\"a\":1}", "");
        check("  <think>", "");
    }

    #[test]
    fn a_thought_that_began_in_the_question_is_taken_out() {
        check("hm\n</think>\n\nyes", "yes");
        check("hm</think>\nyes", "yes");
    }

    #[test]
    fn tags_that_are_talked_about_stay() {
        check(
            r#"{"a":"use <think> and </think> here"}"#,
            r#"{"a":"use <think> and </think> here"}"#,
        );
        check("write <think> first", "write <think> first");
    }
}
