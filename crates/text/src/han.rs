//! Chinese text, which sets no blanks between words.
//!
//! Not here: cue words (`lexicon`).

/// Whether a character is Han.
pub fn is_han(c: char) -> bool {
    matches!(c as u32, 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0x2_0000..=0x2_FA1F)
}

/// Number of words of a text; two Han characters count as one.
pub fn word_count(text: &str) -> usize {
    let han = text.chars().filter(|c| is_han(*c)).count();
    let words = text.split_whitespace();
    han / 2 + words.filter(|word| !word.contains(is_han)).count()
}

/// Whether a text is Chinese: it has Han characters and none of the letters that Japanese and Korean write between them.
pub fn is_chinese(text: &str) -> bool {
    let is_kana_or_hangul =
        |c: char| matches!(c as u32, 0x3040..=0x30FF | 0x1100..=0x11FF | 0xAC00..=0xD7AF);
    text.chars().filter(|c| is_han(*c)).count() > 1 && !text.contains(is_kana_or_hangul)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn han_without_kana_or_hangul_is_chinese() {
        assert!(is_chinese("周五不发版"));
        assert!(!is_chinese("テストを先に書いてください"));
        assert!(!is_chinese("we deploy on fridays"));
    }

    #[test]
    fn two_han_characters_count_as_a_word_beside_words_in_other_letters() {
        assert_eq!(word_count("支付走的是 stripe"), 3);
        assert_eq!(word_count("payments go through stripe"), 4);
    }
}
