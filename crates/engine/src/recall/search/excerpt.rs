//! Cuts a long answer to the part that answers.

use std::borrow::Cow;

use daybook_text::tokens::passages::passage_starts;

use super::RankedAnswer;

/// Stands for what was left out.
const LEFT_OUT: &str = "… ";

/// The answer's text from the passage that answers on. Where the rest from there is shorter than `most` bytes, it
/// begins with an earlier passage; whole where it is no longer than that. Its end is not cut.
#[must_use]
pub fn from_best_passage(answer: &RankedAnswer, most: usize) -> Cow<'_, str> {
    let (text, begins) = (&answer.text, answer.begins);
    if begins == 0 || text.len() <= most {
        return Cow::Borrowed(text);
    }
    let fits = |start: &usize| *start > 0 && text.len() - start <= most;
    let earlier = passage_starts(text).into_iter().find(fits);
    let start = earlier.map_or(begins, |earlier| earlier.min(begins));
    match text.get(start..) {
        Some(rest) => Cow::Owned(format!("{LEFT_OUT}{}", rest.trim_start())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::index::MemoryLayer;

    use super::*;

    #[test]
    fn a_long_text_is_shown_from_where_it_answers() {
        let first = "The review has six remarks on style, and each of them was answered in turn. "
            .repeat(5);
        let answers = "The tides are read from Oban because the pier in Fort William has no gauge.";
        let mut answer = RankedAnswer::of_text(format!("{first}{answers}"), MemoryLayer::Event);
        answer.begins = first.len();
        assert_eq!(from_best_passage(&answer, 100), format!("… {answers}"));
        // What fits besides is shown, too.
        assert!(from_best_passage(&answer, 300).len() > 200);
        assert_eq!(from_best_passage(&answer, 10_000), answer.text);
        answer.begins = 0;
        assert_eq!(from_best_passage(&answer, 100), answer.text);
    }
}
