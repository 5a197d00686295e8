use super::*;

#[test]
fn a_sound_line_needs_no_repair() {
    for line in ["", r#"{"a":"\ud83d\ude00 \u00e9 \\ud83d"}"#, "\\"] {
        assert_eq!(repaired(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn known_mistakes_are_repaired() {
    let check = |line: &[u8], expected: &str| {
        assert_eq!(
            repaired(line)
                .map(|line| String::from_utf8(line).unwrap())
                .as_deref(),
            Some(expected)
        );
    };
    check(br#""\ud83d""#, r#""\ufffd""#);
    check(br#""\ude00\ud83dx""#, r#""\ufffd\ufffdx""#);
    check(b"\"a\xFFb\"", "\"a\u{fffd}b\"");
    check(b"\0\0{}\0", "{}");
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_repair_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..100)) {
        let _ = repaired(&bytes);
    }
}
