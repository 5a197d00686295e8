use proptest::prelude::*;

use super::Redactor;
use super::fixtures::{BASE62, HEX, check_hidden, check_untouched, drawn};
use super::rules::RULES;

#[test]
fn text_without_secrets_is_borrowed() {
    let text = "A secret that an active rule matches appears nowhere. [REDACTED]";
    let redacted = Redactor::standard().redact(text);
    assert!(matches!(redacted.text, std::borrow::Cow::Borrowed(same) if same == text));
    check_untouched("");
}

#[test]
fn two_secrets_leave_two_findings_in_order() {
    let (first, second) = (drawn(BASE62, 36), drawn(BASE62, 52));
    let text = format!("a ghp_{first} b gsk_{second} c");
    let redacted = Redactor::standard().redact(&text);
    assert_eq!(
        redacted.text,
        "a [REDACTED:github-token] b [REDACTED:groq-key] c"
    );
    let shown: Vec<_> = redacted
        .findings
        .iter()
        .map(|f| &redacted.text[f.range.clone()])
        .collect();
    assert_eq!(shown, ["[REDACTED:github-token]", "[REDACTED:groq-key]"]);
}

#[test]
fn a_secret_inside_an_address_is_named_for_its_issuer() {
    let token = format!("ghp_{}", drawn(BASE62, 36));
    check_hidden(
        "github-token",
        "https://x-access-token:",
        &token,
        "@github.com/o/r.git",
    );
    check_hidden("github-token", "https://", &token, "@github.com/o/r.git");
    check_hidden("github-token", "GITHUB_TOKEN=", &token, " make");
    check_hidden("github-token", "\\\"token\\\": \\\"", &token, "\\\"");
}

#[test]
fn codex_61_the_seed_table_of_redaction_holds() {
    let letters: String = ('a'..='t').collect();
    check_hidden("openai-key", "key ", &format!("sk-{letters}"), " end");
    check_hidden(
        "aws-access-key-id",
        "",
        &format!("AKIA{}ABCDEF", "0123456789"),
        "",
    );
    check_hidden("bearer-token", "bEaReR ", &letters[..16], "");
    check_hidden("secret-key", "api_key=", &letters[..8], "");
    check_hidden("password", "password: \"", &letters[..8], "\"");
    check_hidden("token", "token='", &letters[..8], "'");
    check_hidden("token", "secret=", &letters[..8], "");
    check_untouched("token=abcdefg");
}

#[test]
fn hashes_ids_and_digests_stay() {
    let cases = [
        format!("commit {}", drawn(HEX, 40)),
        format!("merged {} into {}", drawn(HEX, 7), drawn(HEX, 12)),
        format!("sha256:{}", drawn(HEX, 64)),
        format!("key: {}", drawn(HEX, 40)),
        format!("lease token {}", drawn(HEX, 40)),
        "token: 550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "session_token=550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "\"sessionId\":\"0cf3db51-1c73-43bb-8d05-dc02739514a5\"".to_owned(),
        format!("integrity sha512-{}==", drawn(BASE62, 86)),
        format!("\"integrity\": \"sha512-{}==\"", drawn(BASE62, 86)),
        format!("github.com/lib/token v1.2.3 h1:{}=", drawn(BASE62, 43)),
        format!("token.py,sha256={},160", drawn(BASE62, 43)),
        format!("data:image/png;base64,{}", drawn(BASE62, 400)),
        format!("\"signature\":\"{}\"", drawn(BASE62, 300)),
        format!("\"id\":\"toolu_01{}\"", drawn(BASE62, 22)),
        format!("\"private_key_id\": \"{}\"", drawn(HEX, 40)),
        "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=".to_owned(),
    ];
    for text in &cases {
        check_untouched(text);
    }
}

/// Pieces that meet in texts which try the rules' edges.
fn fragment() -> impl Strategy<Value = String> {
    let starts = RULES.iter().flat_map(|rule| rule.starts.iter().copied());
    let known: Vec<String> = starts.chain(PIECES).map(str::to_owned).collect();
    prop_oneof![
        3 => proptest::sample::select(known),
        2 => "[A-Za-z0-9]{1,60}",
        1 => "[A-Za-z0-9_.-]{20,120}",
        1 => "[0-9a-f]{32,64}",
        1 => "\\PC{0,4}",
    ]
}

const PIECES: [&str; 46] = [
    "token",
    "secret",
    "API_KEY",
    "password",
    "pass=",
    "auth\"",
    "jwt",
    "пароль",
    "://",
    "user:",
    "@",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "=",
    ": ",
    " = ",
    "\"",
    "\\\"",
    "'",
    "`",
    "\n",
    "\\n",
    " ",
    "é",
    "…",
    "密码",
    "[REDACTED]",
    "[REDACTED:x]",
    "[redacted",
    "]",
    "--",
    "_",
    "-",
    ".",
    "<",
    ">",
    "(",
    "${",
    "value",
    "is ",
    ",",
    ";",
    "&",
    "%3D",
    "\r\n",
    "x",
];

fn check_properties(text: &str) -> Result<(), TestCaseError> {
    let redactor = Redactor::standard();
    let once = redactor.redact(text);
    let mut from = 0;
    for finding in &once.findings {
        prop_assert!(finding.range.start >= from);
        let marker = format!("[REDACTED:{}]", finding.rule);
        prop_assert_eq!(&once.text[finding.range.clone()], marker);
        from = finding.range.end;
    }
    let twice = redactor.redact(&once.text);
    prop_assert_eq!(&twice.text, &once.text);
    prop_assert!(twice.findings.is_empty());
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_redacted_once_and_for_all(text in any::<String>()) {
        check_properties(&text)?;
    }

    #[test]
    fn text_full_of_keywords_is_redacted_once_and_for_all(
        fragments in proptest::collection::vec(fragment(), 0..24),
    ) {
        check_properties(&fragments.concat())?;
    }

    #[test]
    fn a_token_between_any_words_is_hidden(before in "\\PC{0,20}", after in "\\PC{0,20}") {
        let token = format!("ghp_{}", drawn(BASE62, 36));
        let redacted = Redactor::standard();
        let text = format!("{before} {token} {after}");
        prop_assert!(!redacted.redact(&text).text.contains(&token));
    }
}
