//! Cuts the middle out of a text that is too long.

/// The longest beginning and end of `text` that take at most `limit` tokens together with a note about the
/// missing middle; the note alone where even that is longer. `seq` is the event with the whole text.
pub(super) fn middle(
    text: &str,
    limit: u32,
    seq: Option<u64>,
    count: &dyn Fn(&str) -> u32,
) -> String {
    let (mut fits, mut over) = (0, text.len());
    while over - fits > 1 {
        let bytes = fits + (over - fits) / 2;
        match count(&without_middle(text, bytes, seq)) <= limit {
            true => fits = bytes,
            false => over = bytes,
        }
    }
    without_middle(text, fits, seq)
}

/// The first two thirds of `bytes`, the note, and the last third.
fn without_middle(text: &str, bytes: usize, seq: Option<u64>) -> String {
    let tail = bytes / 3;
    let head = text.floor_char_boundary(bytes - tail);
    let tail = text.ceil_char_boundary(text.len() - tail);
    let missing = text[head..tail].chars().count();
    let kept = match seq {
        Some(seq) => format!("; event {seq} has them"),
        None => String::new(),
    };
    format!(
        "{}\n[{missing} characters are not shown{kept}]\n{}",
        &text[..head],
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> u32 {
        u32::try_from(text.len()).expect("a short text")
    }

    #[test]
    fn beginning_and_end_stay() {
        let text = "a".repeat(100) + &"z".repeat(100);
        assert_eq!(
            middle(&text, 70, Some(7), &bytes),
            format!(
                "{}\n[180 characters are not shown; event 7 has them]\n{}",
                "a".repeat(14),
                "z".repeat(6)
            )
        );
    }

    #[test]
    fn characters_stay_whole() {
        let text = "\u{1F980}é".repeat(100);
        for limit in 0..200 {
            let cut = middle(&text, limit, None, &bytes);
            assert!(bytes(&cut) <= limit.max(60), "{limit}: {cut}");
            assert!(cut.contains("characters are not shown]"), "{cut}");
        }
    }
}
