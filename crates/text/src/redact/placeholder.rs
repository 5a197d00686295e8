//! Recognises placeholders in the place of a secret: `xxxx`, `<token>`, `${TOKEN}`, `changeme`.
//!
//! Not here: words and code that merely are no secret. `value` recognises those.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::shape::{contains, is_identifier, is_random, parts, starts_with, words};

/// Words that mark a placeholder. So does any word that starts with `your`.
const WORDS: [&str; 14] = [
    "changeme",
    "changeit",
    "placeholder",
    "dummy",
    "fake",
    "mock",
    "mocked",
    "sample",
    "todo",
    "tbd",
    "insert",
    "replace",
    "undefined",
    "example",
];

/// Words of placeholders, and parts of the examples of AWS, Stripe, Google Maps, Azure's storage emulator, jwt.io and
/// the standard for HTTP logins.
const DOCUMENTED: [&str; 14] = [
    "yourtoken",
    "yourkey",
    "yourapi",
    "yoursecret",
    "yourpass",
    "keyhere",
    "tokenhere",
    "goeshere",
    "4eC39HqLyjWDarj",
    "BQokikJOvBiI2Hl",
    "SyDaGmWKa4JsXZ",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDX",
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l",
    "QWxhZGRpbjpvcGVu",
];

/// Whether the value is a placeholder that was written to be replaced.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    is_masked(value) || is_template(value) || has_placeholder_word(value) || is_documented(value)
}

/// Whether the value is an example from documentation, which many texts quote, or says that a key goes there.
pub(super) fn is_documented(value: &[u8]) -> bool {
    static EXAMPLES: OnceLock<AhoCorasick> = OnceLock::new();
    let examples = EXAMPLES.get_or_init(|| {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(DOCUMENTED)
            .expect("a few short words fit the automaton")
    });
    // In small letters it is a host, which may stand beside a real key.
    examples.is_match(value) || memmem::find(value, b"EXAMPLE").is_some()
}

/// Whether the value is masked: a run of one filler, or a marker of any redactor.
pub(super) fn is_masked(value: &[u8]) -> bool {
    const FILLERS: &[u8] = b"xX*.#_-0";
    const LONGEST_CHANCE_RUN: usize = 5;
    let mut run = 0;
    let mut before = 0;
    for &byte in value {
        run = if byte == before { run + 1 } else { 1 };
        before = byte;
        if run > LONGEST_CHANCE_RUN && FILLERS.contains(&byte) {
            return true;
        }
    }
    let unlike = |filler: u8| value.iter().any(|byte| *byte != filler);
    FILLERS.iter().any(|&filler| !unlike(filler))
        || contains(value, b"redacted")
        || contains(value, "…".as_bytes())
        || contains(value, "•".as_bytes())
        || contains(value, b"***")
        || value.ends_with(b"...")
}

/// Whether the value is filled in later: a variable, a format directive, something in brackets.
fn is_template(value: &[u8]) -> bool {
    const PARTS: [&[u8]; 9] = [
        b"${", b"$(", b"{{", b"#{", b"%(", b"{}", b"<%", b"$env:", b"{0}",
    ];
    if PARTS.iter().any(|part| contains(value, part)) || matches!(value, b"%s" | b"%v" | b"%q") {
        return true;
    }
    let (Some(first), Some(last)) = (value.first(), value.last()) else {
        return true;
    };
    match (first, last) {
        (b'<', b'>') | (b'{', b'}') | (b'[', b']') | (b'(', b')') => true,
        (b'%', b'%') | (b'@', b'@') if value.len() > 2 => is_identifier(&value[1..value.len() - 1]),
        (b'$', _) => is_identifier(&value[1..]),
        _ => false,
    }
}

/// Whether the value is made of words for a password and who has it: `my-secret-pw`, `mysecretpassword`, `root`.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    const PARTS: [&[u8]; 20] = [
        b"password",
        b"passwort",
        b"passwd",
        b"pass",
        b"pwd",
        b"pw",
        b"secret",
        b"token",
        b"key",
        b"my",
        b"the",
        b"some",
        b"new",
        b"old",
        b"user",
        b"name",
        b"admin",
        b"root",
        b"db",
        b"test",
    ];
    let mut rest = value;
    while !rest.is_empty() {
        let joiner = b"-_ ".contains(&rest[0]).then_some(1);
        let word = PARTS
            .iter()
            .find(|part| starts_with(rest, part))
            .map(|part| part.len());
        let Some(len) = joiner.or(word) else {
            return false;
        };
        rest = &rest[len..];
    }
    true
}

fn has_placeholder_word(value: &[u8]) -> bool {
    // In a longer value such words occur by chance, or beside a real secret.
    const LONGEST_PLACEHOLDER: usize = 48;
    const LONGEST_CHANCE_WORD: usize = 4;
    let is_known = |word: &[u8]| {
        let mut known = WORDS.iter();
        known.any(|known| word.eq_ignore_ascii_case(known.as_bytes())) || starts_with(word, b"your")
    };
    // Chance writes the shorter ones into any random run.
    let has_known = |part: &[u8]| {
        let mut known = words(part).filter(|word| is_known(word));
        known.any(|word| word.len() > LONGEST_CHANCE_WORD || !is_random(part))
    };
    value.len() <= LONGEST_PLACEHOLDER && parts(value).any(has_known)
}
