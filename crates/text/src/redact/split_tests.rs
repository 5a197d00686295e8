//! Keys that are escaped, wrapped, colored, encoded or written in pieces.

use super::Redactor;
use super::fixtures::{BASE62, HEX, Random, check_hidden, check_untouched};

const SEEDS: u64 = 6;

/// Asserts that nothing of the key in `text` stays readable, whose pieces are given.
#[track_caller]
fn check_gone(text: &str, pieces: &[&str]) {
    let redacted = Redactor::standard().redact(text);
    assert!(!redacted.findings.is_empty(), "{text}");
    for piece in pieces.iter().filter(|piece| piece.len() > 3) {
        assert!(
            !redacted.text.contains(piece),
            "{piece} of {text} in {}",
            redacted.text
        );
    }
    let again = Redactor::standard().redact(&redacted.text);
    assert_eq!(again.text, redacted.text);
}

/// Every way to cut `key` in two.
fn cuts(key: &str) -> impl Iterator<Item = (&str, &str)> {
    (1..key.len()).map(|at| key.split_at(at))
}

#[test]
fn a_key_in_two_pieces_is_hidden_wherever_it_is_cut() {
    let joints = [
        "\u{200b}",
        "\u{200c}",
        "\u{200d}",
        "\u{2060}",
        "\u{feff}",
        "\u{ad}",
        "\\u200b",
        "\u{1b}[31m",
        "\u{1b}[0m",
        "\\u001b[1;31m",
        "\\x1b[0m",
        "\\033[0m",
        "\n",
        "\n    ",
        "\r\n",
        "\\\n",
        "\\\n  ",
        "\\n",
        "\\\\n",
        "\" + \"",
        "' + '",
        "\" +\n    \"",
        "' '",
        "\" \"",
        "\"\n  \"",
        "\\\" + \\\"",
        "\" . \"",
    ];
    for seed in 0..SEEDS {
        let key = format!("ghp_{}", Random::new(seed).chars(BASE62, 36));
        for joint in joints {
            for (first, second) in cuts(&key) {
                check_gone(
                    &format!("key = \"{first}{joint}{second}\" and more"),
                    &[first, second],
                );
            }
        }
    }
}

#[test]
fn escapes_in_a_key_are_read() {
    for seed in 0..SEEDS {
        let body = Random::new(seed).chars(BASE62, 40);
        let (a, b) = body.split_at(18);
        for dash in [
            "\\u002d",
            "\\u002D",
            "\\\\u002d",
            "%2D",
            "%2d",
            "%252D",
            "\\x2d",
        ] {
            check_gone(
                &format!("key {dash} sk{dash}proj{dash}{a}{dash}{b}."),
                &[a, b],
            );
        }
        let slash =
            format!("https:\\/\\/hooks.slack.com\\/services\\/T0123ABCD\\/B0123ABCD\\/{body}");
        check_gone(&slash, &[&body]);
        check_gone(&slash.replace("\\/", "%2F"), &[&body]);
        let url = format!("https%3A%2F%2Fada%3A{body}%40example.com%2Fx");
        check_gone(&url, &[&body]);
    }
    check_gone(
        "DB_PASSWORD=\u{1b}[32mhunter2secret!\u{1b}[0m",
        &["hunter2"],
    );
}

#[test]
fn a_long_key_on_many_lines_is_hidden() {
    for seed in 0..SEEDS {
        let key = format!("sk-proj-{}", Random::new(seed).chars(BASE62, 140));
        for width in [20, 40, 76, 80] {
            let lines: Vec<&str> = (0..key.len())
                .step_by(width)
                .map(|at| &key[at..key.len().min(at + width)])
                .collect();
            for joint in ["\n", "\n  ", "\\\n", "\\n"] {
                check_gone(
                    &format!("the key:\n{}\nThat was it.", lines.join(joint)),
                    &lines[..lines.len() - 1],
                );
            }
        }
    }
}

#[test]
fn encoded_keys_are_hidden() {
    for seed in 0..SEEDS {
        let token = format!("ghp_{}", Random::new(seed).chars(BASE62, 36));
        for text in [
            token.clone(),
            format!("{{\"auth\": \"{token}\"}}"),
            format!("TOKEN={token}\n"),
        ] {
            let encoded = base64(text.as_bytes());
            check_gone(&format!("data: {encoded} end"), &[&encoded[8..]]);
            check_gone(&format!("{{\"blob\":\"{encoded}\"}}"), &[&encoded[8..]]);
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            check_gone(&format!("hex {hex}"), &[&hex[8..]]);
            check_gone(
                &format!("hex {}", hex.to_uppercase()),
                &[&hex.to_uppercase()[8..]],
            );
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, place| {
            bits << 8 | group.get(place).map_or(0, |byte| u32::from(*byte))
        });
        for place in 0..=group.len() {
            encoded.push(char::from(DIGITS[(bits >> (18 - 6 * place) & 63) as usize]));
        }
    }
    while !encoded.len().is_multiple_of(4) {
        encoded.push('=');
    }
    encoded
}

#[test]
fn what_stands_beside_a_key_is_not_taken_for_a_piece_of_it() {
    let token = format!("ghp_{}", Random::new(1).chars(BASE62, 36));
    for after in [
        "\nnext line",
        "\nnext-line-with-words",
        "\n2026-01-31T12:00:00Z next",
        "\\nnext",
        "\u{1b}[0m",
        "\u{200b}",
        "\" + \"",
        "%20and",
        "\n    indented",
        "\\\nfoo",
        "\nconfigurationOfTheServer = 1",
        "\nsrc/redact/mod.rs:12",
    ] {
        check_hidden("github-token", "", &token, after);
        check_hidden("github-token", "we have ", &token, after);
    }
}

#[test]
fn keys_below_each_other_are_found_one_by_one() {
    let key = |seed| format!("ghp_{}", Random::new(seed).chars(BASE62, 36));
    let list = format!("{}\n{}\n{}\n", key(1), key(2), key(3));
    let redacted = Redactor::standard().redact(&list);
    assert_eq!(redacted.text, "[REDACTED:github-token]\n".repeat(3));
}

#[test]
fn text_in_pieces_without_a_key_stays() {
    let hex = Random::new(1).chars(HEX, 64);
    for text in [
        "\"some\" + \"words\" + \"and-more\"".to_owned(),
        "a-long-word-at-the-end-of-a-line\nand-another-one-on-the-next\n".to_owned(),
        "https://example.com/a%2Fb%2Fc?x=%22y%22".to_owned(),
        "\u{1b}[32mok\u{1b}[0m \u{1b}[31mfailed\u{1b}[0m".to_owned(),
        format!("sha256:{hex}\n{hex}"),
        base64(b"plain text that is merely encoded, with nothing in it"),
        "risk-\nassessment-of-a-long-name-without-any-key".to_owned(),
    ] {
        check_untouched(&text);
    }
}

#[test]
fn values_in_html_are_hidden_within_their_entities() {
    for seed in 0..SEEDS {
        let password = Random::new(seed).chars(BASE62, 14);
        for (before, after) in [
            ("password=&quot;", "&quot;"),
            ("password = &#39;", "&#39;"),
            ("db_password&#x3d;&apos;", "&apos;"),
            ("&lt;password&gt;", "&lt;/password&gt;"),
        ] {
            let text = format!("{before}{password}{after} end");
            let redacted = Redactor::standard().redact(&text);
            assert!(!redacted.text.contains(&password), "{}", redacted.text);
            assert!(redacted.text.starts_with(before), "{}", redacted.text);
            assert!(redacted.text.ends_with(" end"), "{}", redacted.text);
        }
    }
    for text in [
        "a &amp;&amp; b &lt; c",
        "if (token &gt; 0) return &quot;none&quot;",
        "&#8212; and &#; &#x; &unknown;",
        "&lt;password&gt;…&lt;/password&gt;",
    ] {
        assert_eq!(Redactor::standard().redact(text).text, text);
    }
}
