use proptest::prelude::*;

use super::Redactor;
use super::fixtures::{BASE62, HEX, check_hidden, check_untouched, random_chars};
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
    let (first, second) = (random_chars(BASE62, 36), random_chars(BASE62, 52));
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
    let token = format!("ghp_{}", random_chars(BASE62, 36));
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
fn c61_the_table_of_redaction_holds() {
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
fn a_drawn_key_is_hidden_where_its_line_announces_one() {
    let key = random_chars(BASE62, 40);
    for (before, after) in [
        ("", ""),
        ("\n", "\n"),
        ("Here are my login details for the service, use ", " please"),
        ("the key you asked for, as of today: ", ""),
        ("credentials -- ", "\nthanks"),
        ("Der Token von gestern war `", "`."),
    ] {
        check_hidden("high-entropy", before, &key, after);
    }
    for text in [
        format!("the object {key} was stored"),
        format!("the cache key you asked for: {key}"),
        format!("public key of the host, as of today: {key}"),
        format!("key of the commit with id {key}"),
        format!("login at https://example.com/d/{key}/edit"),
        format!("authored by the keyboard team: {key}"),
        format!("login made request req_{key}"),
        format!("a secret test TestOf{key}"),
    ] {
        check_untouched(&text);
    }
}

#[test]
fn a_token_of_a_bot_is_hidden_though_it_has_no_start() {
    let part = |len| random_chars(BASE62, len);
    // The first part is the base 64 of a number of 18 to 20 digits.
    for number in [
        "MTE5ODYyMjQ4MzQ3MTkyNTI0",
        "MTE5ODYyMjQ4MzQ3MTkyNTI0OA",
        "MTE5ODYyMjQ4MzQ3MTkyNTI0ODE",
    ] {
        let token = format!("{number}.{}.{}", part(6), part(38));
        check_hidden("discord-token", "", &token, "");
        check_hidden("discord-token", "client.login('", &token, "')");
        check_hidden("discord-token", "/srv/", &token, "/app");
        check_hidden("discord-token", "run --", &token, " 9");
        check_hidden("discord-token", "{\"a\\n", &token, "\\nb\": 9}");
        check_hidden("discord-token", "{\"", &token, "\": 1}");
    }
    check_untouched(&format!("com.example.Main.{}.Name", part(6)));
}

#[test]
fn hashes_ids_and_digests_stay() {
    let cases = [
        format!("commit {}", random_chars(HEX, 40)),
        format!(
            "merged {} into {}",
            random_chars(HEX, 7),
            random_chars(HEX, 12)
        ),
        format!("sha256:{}", random_chars(HEX, 64)),
        format!("key: {}", random_chars(HEX, 40)),
        format!("lease token {}", random_chars(HEX, 40)),
        "token: 550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "session_token=550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "\"sessionId\":\"0cf3db51-1c73-43bb-8d05-dc02739514a5\"".to_owned(),
        format!("integrity sha512-{}==", random_chars(BASE62, 86)),
        format!("\"integrity\": \"sha512-{}==\"", random_chars(BASE62, 86)),
        format!(
            "github.com/lib/token v1.2.3 h1:{}=",
            random_chars(BASE62, 43)
        ),
        format!("token.py,sha256={},160", random_chars(BASE62, 43)),
        format!("data:image/png;base64,{}", random_chars(BASE62, 400)),
        format!("\"signature\":\"{}\"", random_chars(BASE62, 300)),
        format!("\"id\":\"toolu_01{}\"", random_chars(BASE62, 22)),
        format!("\"private_key_id\": \"{}\"", random_chars(HEX, 40)),
        "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=".to_owned(),
        ["AWS_ACCESS_KEY_ID=AKIAIOSFO", "DNN7EXAMPLE"].concat(),
        [
            "aws_secret_access_key = wJalrXUtnFEMI/K7MD",
            "ENG/bPxRfiCYEXAMPLEKEY",
        ]
        .concat(),
        format!("cache hit for key_{}", random_chars(HEX, 64)),
        "use preadv64 as preadv, pwritev64 as pwritev".to_owned(),
        "only a portion of the secret is employed".to_owned(),
        format!(
            "restored from key: setup-go-Linux-x64-go-{}",
            random_chars(HEX, 64)
        ),
        format!("cache-key: Linux-X64-npm-{}", random_chars(HEX, 64)),
        format!(
            "session_key: build-macOS-arm64-v2-{}-main",
            random_chars(HEX, 12)
        ),
        "--- PASS: TestPath/#00 (0.00s)\n--- PASS: TestPath2/a1B!_x (0.00s)".to_owned(),
    ];
    for text in &cases {
        check_untouched(text);
    }
}

/// Pieces of texts that test the edges of the rules.
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
        let token = format!("ghp_{}", random_chars(BASE62, 36));
        let redacted = Redactor::standard();
        let text = format!("{before} {token} {after}");
        prop_assert!(!redacted.redact(&text).text.contains(&token));
    }
}
