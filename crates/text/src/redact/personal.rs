//! Personal data: addresses, numbers of phones, cards and accounts, and numbers that a government gives.
//!
//! None of it is a secret by itself, and memory is of more use with it. So a kind is hidden only where the settings ask
//! for it. Numbers with check digits count only where these agree; those without need a word before them.
//!
//! Not here: names and addresses of people's homes, which no format tells from other words.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::check_digits::{
    has_dutch_check, has_french_check, has_german_check, has_iban_check, has_italian_check,
    has_luhn_check, has_spanish_check, has_verhoeff_check,
};
use super::finding::FindingReason;
use super::shape::contains;
use super::span::{RuleRank, Span};

/// A kind of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum PersonalData {
    /// Addresses of e-mail.
    Email,
    /// Numbers of phones: those with `+` and a country, of North America, and behind a word such as `phone`.
    Phone,
    /// Numbers of payment cards, by issuer, length and check digit.
    Card,
    /// Numbers of bank accounts, with their check digits.
    Iban,
    /// Numbers of people: US, UK, DE, FR, ES, IT, NL, CA and IN.
    GovernmentId,
}

/// Bytes of a line before a number in which a word announces it.
const CONTEXT: usize = 60;

/// One format.
struct PersonalRule {
    kind: PersonalData,
    pattern: &'static str,
    /// Words in lower case, one of which must stand before it on its line, if there are any.
    words: &'static [&'static str],
    check: fn(&[u8]) -> bool,
}

const fn rule(kind: PersonalData, pattern: &'static str, check: fn(&[u8]) -> bool) -> PersonalRule {
    PersonalRule {
        kind,
        pattern,
        words: &[],
        check,
    }
}

impl PersonalRule {
    const fn after(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }
}

const PHONE_WORDS: &[&str] = &[
    "phone", "tel", "mobil", "handy", "fax", "call", "whatsapp", "sms", "nummer",
];

static RULES: [PersonalRule; 15] = {
    use PersonalData::{Card, Email, GovernmentId, Iban, Phone};
    [
        rule(
            Email,
            r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}",
            is_mailbox,
        ),
        rule(
            Phone,
            r"\+[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}",
            is_phone,
        ),
        rule(Phone, r"(?:\(\d{3}\) ?|\d{3}[.-])\d{3}[.-]\d{4}", is_phone),
        rule(Phone, r"\(?0\d{1,5}\)?(?:[ /-]?\d{2,5}){2,5}", is_phone).after(PHONE_WORDS),
        rule(
            Card,
            r"[2-6]\d{3}(?: \d{4}){3}|[2-6]\d{3}(?:-\d{4}){3}|3[47]\d{2}[ -]\d{6}[ -]\d{5}|[2-6]\d{12,18}",
            is_card,
        ),
        rule(
            Iban,
            r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?",
            has_iban_check,
        ),
        rule(GovernmentId, r"\d{3}-\d{2}-\d{4}", is_us_social_security),
        rule(
            GovernmentId,
            r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]",
            is_uk_insurance,
        ),
        rule(
            GovernmentId,
            r"\d{2} ?\d{3} ?\d{3} ?\d{3}",
            has_german_check,
        )
        .after(&["steuer", "tax", "idnr", "tin"]),
        rule(
            GovernmentId,
            r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]|20) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}",
            has_french_check,
        ),
        rule(
            GovernmentId,
            r"[XYZ0-9]\d{7}-?[A-HJ-NP-TV-Z]",
            has_spanish_check,
        ),
        rule(
            GovernmentId,
            r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]",
            has_italian_check,
        ),
        rule(GovernmentId, r"\d{9}|\d{4}\.\d{2}\.\d{3}", has_dutch_check).after(&[
            "bsn",
            "burgerservice",
            "sofi",
        ]),
        rule(GovernmentId, r"\d{3}[ -]\d{3}[ -]\d{3}", has_luhn_check).after(&[
            "sin",
            "social insurance",
            "assurance sociale",
        ]),
        rule(
            GovernmentId,
            r"\d{4}[ -]?\d{4}[ -]?\d{4}",
            has_verhoeff_check,
        )
        .after(&["aadhaar", "aadhar", "uidai"]),
    ]
};

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compile = |rule: &PersonalRule| {
        Regex::new(&format!("(?-u){}", rule.pattern)).expect("a test compiles every pattern")
    };
    RULES.iter().map(compile).collect()
});

impl PersonalData {
    /// The word for it in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The name that markers show.
    fn rule_name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone-number",
            Self::Card => "card-number",
            Self::Iban => "iban",
            Self::GovernmentId => "government-id",
        }
    }

    /// The spans of this kind.
    pub(super) fn find(self, text: &[u8]) -> Vec<Span> {
        let rules = RULES.iter().zip(PATTERNS.iter());
        let of_kind = rules.filter(|(rule, _)| rule.kind == self);
        let spans = of_kind.flat_map(|(rule, pattern)| {
            let found = pattern.find_iter(text).map(|found| found.range());
            found.filter(|range| is_apart(text, range) && rule.holds_at(text, range))
        });
        spans
            .map(|range| {
                let reason = FindingReason::Personal;
                Span::new(range, self.rule_name(), RuleRank::Personal, reason)
            })
            .collect()
    }
}

impl PersonalRule {
    fn holds_at(&self, text: &[u8], range: &Range<usize>) -> bool {
        let before = &text[range.start.saturating_sub(CONTEXT)..range.start];
        let line = memchr::memrchr(b'\n', before).map_or(before, |end| &before[end + 1..]);
        let line = line.to_ascii_lowercase();
        let is_announced = self
            .words
            .iter()
            .any(|word| contains(&line, word.as_bytes()));
        (self.words.is_empty() || is_announced) && (self.check)(&text[range.clone()])
    }
}

/// Whether no letter or digit joins the range to a longer word or number.
fn is_apart(text: &[u8], range: &Range<usize>) -> bool {
    let joins = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let before = text[..range.start].last().copied();
    let after = text.get(range.end).copied();
    let next = text.get(range.end + 1).copied();
    let goes_on = after.is_some_and(|byte| matches!(byte, b'.' | b'-'))
        && next.is_some_and(|byte| byte.is_ascii_digit());
    let is_decimal = before.is_some_and(|byte| matches!(byte, b'.' | b'-' | b'+'))
        && text[range.start].is_ascii_digit();
    !before.is_some_and(joins) && !after.is_some_and(joins) && !goes_on && !is_decimal
}

/// Not the user of a repository's address, `git@host`, nor a file such as `icon@2x.png`.
fn is_mailbox(address: &[u8]) -> bool {
    const FILES: [&[u8]; 6] = [b".png", b".jpg", b".svg", b".js", b".ts", b".css"];
    let low = address.to_ascii_lowercase();
    !low.starts_with(b"git@") && !FILES.iter().any(|end| low.ends_with(end))
}

fn is_phone(number: &[u8]) -> bool {
    let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    let opened = number.iter().filter(|byte| **byte == b'(').count();
    let closed = number.iter().filter(|byte| **byte == b')').count();
    (8..=15).contains(&digits) && opened == closed
}

/// By the first digits and the length that issuers use.
fn is_card(number: &[u8]) -> bool {
    let digits: Vec<u8> = number.iter().copied().filter(u8::is_ascii_digit).collect();
    let first = |len: usize| {
        let digits = digits.iter().take(len);
        digits.fold(0_u32, |sum, digit| sum * 10 + u32::from(digit - b'0'))
    };
    let is_issued = match digits.len() {
        13 | 19 => first(1) == 4,
        14 => matches!(first(2), 36 | 38) || (300..=305).contains(&first(3)),
        15 => matches!(first(2), 34 | 37),
        16 => {
            first(1) == 4
                || (51..=55).contains(&first(2))
                || (2221..=2720).contains(&first(4))
                || matches!(first(2), 62 | 65)
                || first(4) == 6011
                || (644..=649).contains(&first(3))
                || (3528..=3589).contains(&first(4))
        }
        _ => false,
    };
    is_issued && has_luhn_check(&digits)
}

fn is_us_social_security(number: &[u8]) -> bool {
    let (area, group, serial) = (&number[..3], &number[4..6], &number[7..]);
    area != b"000" && area != b"666" && area[0] != b'9' && group != b"00" && serial != b"0000"
}

fn is_uk_insurance(number: &[u8]) -> bool {
    const NEVER_GIVEN: [&[u8]; 7] = [b"BG", b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ"];
    !NEVER_GIVEN.contains(&&number[..2])
}
