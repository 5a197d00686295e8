use super::{PersonalData, RedactionConfig, Redactor};
use strum::VariantArray;

fn redactor(personal: &[PersonalData]) -> Redactor {
    Redactor::new(RedactionConfig {
        personal: personal.to_vec(),
        ..RedactionConfig::default()
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let redacted = redactor(PersonalData::VARIANTS)
        .redact(text)
        .text
        .into_owned();
    assert_eq!(redacted, expected);
    let again = redactor(PersonalData::VARIANTS)
        .redact(&redacted)
        .text
        .into_owned();
    assert_eq!(again, redacted);
    assert_eq!(
        Redactor::standard().redact(text).text,
        text,
        "it is off by default"
    );
}

#[test]
fn each_kind_is_hidden_where_it_is_asked_for() {
    check(
        "write to ada@example.com, please",
        "write to [REDACTED:email], please",
    );
    check(
        "call +49 (30) 1234567 today",
        "call [REDACTED:phone-number] today",
    );
    check(
        "her number: 415-555-0132.",
        "her number: [REDACTED:phone-number].",
    );
    check("Tel. 030/1234 5678", "Tel. [REDACTED:phone-number]");
    check(
        "paid with 4111 1111 1111 1111",
        "paid with [REDACTED:card-number]",
    );
    check("amex 378282246310005", "amex [REDACTED:card-number]");
    check(
        "IBAN DE89 3704 0044 0532 0130 00 at the bank",
        "IBAN [REDACTED:iban] at the bank",
    );
    check("SSN 536-22-8765", "SSN [REDACTED:government-id]");
    check(
        "NI number QQ123456C, and AB 12 34 56 C",
        "NI number QQ123456C, and [REDACTED:government-id]",
    );
    check(
        "Steuer-IdNr. 86 095 742 719",
        "Steuer-IdNr. [REDACTED:government-id]",
    );
    check("DNI 12345678Z", "DNI [REDACTED:government-id]");
    check("BSN: 111222333", "BSN: [REDACTED:government-id]");
    check("Aadhaar 2341 2341 2346", "Aadhaar [REDACTED:government-id]");
}

#[test]
fn other_numbers_and_names_stay() {
    for text in [
        "git clone git@github.com:ada/tidepool.git",
        "icon@2x.png beside icon.png",
        "order 4111 1111 1111 1112",
        "commit 536228765, 1234567890123456 rows",
        "86095742719 without a word before it",
        "version 12.345.678, 2026-11-23, 10.0.0.1:5432",
        "+12 -34 lines changed",
        "took 1700000000.123 s at 1732345678901",
        "3c9d52aa-0000-4000-8000-00000000feed",
    ] {
        check(text, text);
    }
}

#[test]
fn only_the_kinds_that_were_asked_for_are_hidden() {
    let text = "ada@example.com, 4111111111111111";
    let redacted = redactor(&[PersonalData::Card])
        .redact(text)
        .text
        .into_owned();
    assert_eq!(redacted, "ada@example.com, [REDACTED:card-number]");
}
