//! Shortens texts that are too long, and replaces data that is no text by placeholders.
//!
//! Cuts fall between words where possible, so that no half of a secret stays behind, which no rule would
//! recognise.
//!
//! Not here: redaction.

use std::borrow::Cow;

use daybook_domain::limits::EVENT_TEXT;

/// How far a cut moves to fall between words, so that no half of a secret stays behind.
pub const WORD: usize = 512;
/// Bytes reserved for a marker.
const MARKER: usize = 64;

/// The text that an event keeps.
pub fn event_text(text: Cow<'_, str>) -> String {
    if text.len() <= EVENT_TEXT {
        text.into_owned()
    } else {
        shorten(&text, EVENT_TEXT).into_owned()
    }
}

/// At most `most` bytes (at least 256): the first three quarters and the last one, with a marker
/// in between.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let room = most.saturating_sub(MARKER).max(4);
    let head = head(text, room - room / 4);
    let tail = tail(text, room / 4);
    let cut = &text[head.len()..text.len() - tail.len()];
    let marker = marker(cut.len() as u64, &blake3::hash(cut.as_bytes()));
    Cow::Owned(format!("{head}{marker}{tail}"))
}

fn head(text: &str, most: usize) -> &str {
    let head = &text[..text.floor_char_boundary(most)];
    let word = head.floor_char_boundary(head.len().saturating_sub(WORD.min(most / 4)));
    match head[word..].rfind(char::is_whitespace) {
        Some(blank) => &head[..head.ceil_char_boundary(word + blank + 1)],
        None => head,
    }
}

fn tail(text: &str, most: usize) -> &str {
    let tail = &text[text.ceil_char_boundary(text.len() - most)..];
    let word = tail.ceil_char_boundary(WORD.min(most / 4));
    match tail[..word].find(char::is_whitespace) {
        Some(blank) => &tail[blank..],
        None => tail,
    }
}

/// The marker in the place of removed text.
pub fn marker(bytes: u64, hash: &blake3::Hash) -> String {
    format!(
        "…[{bytes} bytes cut, fingerprint {}]…",
        &hash.to_hex()[..16]
    )
}

/// The number of removed bytes that the marker in `text` gives; 0 without a marker.
pub fn bytes_cut(text: &str) -> u64 {
    let Some((_, after)) = text.split_once("…[") else {
        return 0;
    };
    after
        .split_once(" bytes cut, fingerprint ")
        .and_then(|(number, _)| number.parse().ok())
        .unwrap_or(0)
}

/// The placeholder for an image or another blob: its type, its size and its fingerprint.
pub fn blob(what: &str, media_type: &str, base64: &str) -> String {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'=')
        .count();
    let encoded = base64.len() as u64 + bytes_cut(base64);
    let bytes = (encoded - padding as u64) * 3 / 4;
    let hash = blake3::hash(base64.as_bytes()).to_hex();
    format!("[{what}: {media_type}, {bytes} bytes, {}]", &hash[..16])
}

/// The same for a `data:` address; any other address is shown.
pub fn image_at(address: &str) -> String {
    let inline = address
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, base64)) => blob("image", media_type, base64),
        None => format!("[image: {}]", shorten(address, 2048)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_kept_as_it_is() {
        assert_eq!(shorten("as it is", 256), "as it is");
    }

    #[test]
    fn a_long_text_keeps_its_head_and_its_tail() {
        let text = format!("begin {} end", "word ".repeat(200));
        let kept = shorten(&text, 400);
        assert!(kept.len() <= 400, "{}", kept.len());
        assert!(
            kept.starts_with("begin word ") && kept.ends_with(" word  end"),
            "{kept}"
        );
        assert!(kept.contains(" …[679 bytes cut, fingerprint "), "{kept}");
    }

    #[test]
    fn no_half_of_a_word_stays_behind() {
        let text = format!(
            "{} {} {}",
            "a".repeat(200),
            "secret".repeat(12),
            "b".repeat(500)
        );
        let kept = shorten(&text, 400);
        assert!(!kept.contains("secret"), "{kept}");
    }

    #[test]
    fn an_image_becomes_its_type_size_and_fingerprint() {
        assert_eq!(
            image_at("data:image/png;base64,aGVsbG8="),
            "[image: image/png, 5 bytes, 324ea05bea4d7f75]"
        );
        assert_eq!(
            image_at("https://example.org/a.png"),
            "[image: https://example.org/a.png]"
        );
    }

    proptest! {
        #[test]
        fn any_text_fits_and_keeps_its_ends(text in "\\PC{0,900}", most in 256_usize..600) {
            let kept = shorten(&text, most);
            prop_assert!(kept.len() <= most);
            prop_assert!(text.len() > most || kept == text);
            prop_assert_eq!(kept.chars().next(), text.chars().next());
            prop_assert_eq!(kept.chars().next_back(), text.chars().next_back());
        }
    }
}
