use proptest::prelude::*;

use super::{AllowList, AllowTarget, FindingReason, FingerprintKey, OwnRule, OwnRules};
use super::{RedactionConfig, Redactor};

fn own(id: &str, pattern: &str) -> OwnRule {
    OwnRule {
        id: id.to_owned(),
        pattern: pattern.to_owned(),
        ..OwnRule::default()
    }
}

fn redactor(rules: &[OwnRule], allowed: &[AllowList]) -> Redactor {
    Redactor::new(RedactionConfig {
        own: OwnRules::compile(rules, allowed).expect("they compile"),
        ..RedactionConfig::default()
    })
}

#[track_caller]
fn check(rule: OwnRule, text: &str, expected: &str) {
    let redactor = redactor(&[rule], &[]);
    let redacted = redactor.redact(text);
    assert_eq!(redacted.text, expected);
    assert!(
        redacted
            .findings
            .iter()
            .all(|it| it.reason == FindingReason::OwnRule)
    );
    assert_eq!(
        redactor.redact(&redacted.text).text,
        expected,
        "once more changes nothing"
    );
}

#[test]
fn the_named_group_or_the_first_or_the_whole_match_is_hidden() {
    check(
        own("code", r"DC-\d{6}"),
        "door DC-481516!",
        "door [REDACTED:code]!",
    );
    check(
        own("code", r"DC-(?:x(\d+)|y(\d+))"),
        "DC-y481516",
        "DC-y[REDACTED:code]",
    );
    let second = OwnRule {
        secret_group: Some(2),
        ..own("code", r"(DC)-(\d{6})")
    };
    check(second, "DC-481516", "DC-[REDACTED:code]");
}

#[test]
fn a_rule_with_keywords_is_applied_only_beside_one() {
    let rule = || OwnRule {
        keywords: vec!["Front Door".to_owned()],
        ..own("code", r"\d{6}")
    };
    check(
        rule(),
        "the front DOOR: 481516",
        "the front DOOR: [REDACTED:code]",
    );
    check(rule(), "the number 481516", "the number 481516");
}

#[test]
fn what_is_not_random_enough_or_allowed_stays() {
    let rule = || own("code", r"DC-(\d{6})");
    let random = OwnRule {
        least_entropy: Some(2.0),
        ..rule()
    };
    check(
        random,
        "DC-111111 DC-481516",
        "DC-111111 DC-[REDACTED:code]",
    );
    let allow = |list: AllowList| OwnRule {
        allowed: vec![list],
        ..rule()
    };
    let patterns = AllowList {
        patterns: vec!["^0+$".to_owned()],
        ..AllowList::default()
    };
    check(
        allow(patterns.clone()),
        "DC-000000 DC-481516",
        "DC-000000 DC-[REDACTED:code]",
    );
    let line = AllowList {
        patterns: vec!["example".to_owned()],
        target: AllowTarget::Line,
        ..AllowList::default()
    };
    check(
        allow(line),
        "example DC-481516\nDC-481516",
        "example DC-481516\nDC-[REDACTED:code]",
    );
    let both = AllowList {
        stopwords: vec!["99".to_owned()],
        needs_all: true,
        ..patterns
    };
    check(allow(both), "DC-000000", "DC-[REDACTED:code]");
}

#[test]
fn an_allow_list_for_all_rules_is_one_for_the_standard_rules_too() {
    let allowed = AllowList {
        stopwords: vec!["TR0UB4DOR".to_owned()],
        ..AllowList::default()
    };
    let redactor = redactor(&[], &[allowed]);
    let text = "DB_PASSWORD=Tr0ub4dor&3";
    assert_eq!(redactor.redact(text).text, text);
}

#[test]
fn a_rule_that_cannot_be_used_is_named() {
    let error = |rule: OwnRule| OwnRules::compile(&[rule], &[]).expect_err("it cannot be used");
    assert!(error(own("code", "(")).starts_with("rule code: the pattern ( cannot be used"));
    assert!(error(own("a b", "x")).contains("\"a b\""));
    let group = OwnRule {
        secret_group: Some(2),
        ..own("code", "(x)")
    };
    assert!(error(group).contains("1 groups"));
}

#[test]
fn the_same_secret_has_the_same_fingerprint_in_one_folder_alone() {
    let redact = |key: u8, text: &str| {
        let key = Some(FingerprintKey([key; 32]));
        let redactor = Redactor::new(RedactionConfig {
            key,
            ..RedactionConfig::default()
        });
        let redacted = redactor.redact(text).text.into_owned();
        assert_eq!(
            redactor.redact(&redacted).text,
            redacted,
            "once more changes nothing"
        );
        redacted
    };
    let one = redact(1, "DB_PASSWORD=Tr0ub4dor&3");
    assert_eq!(one.len(), "DB_PASSWORD=[REDACTED:password:k3x9]".len());
    assert_eq!(redact(1, "PGPASSWORD=Tr0ub4dor&3")[11..], one[12..]);
    assert_ne!(redact(1, "DB_PASSWORD=Tr0ub4dor&4"), one);
    assert_ne!(redact(2, "DB_PASSWORD=Tr0ub4dor&3"), one);
}

proptest! {
    #[test]
    fn no_rule_makes_redaction_fail_or_go_on_for_ever(
        // Without `\b`: one that matches at every boundary hides a word more at each pass, up to the most passes.
        pattern in r"(\(|\)|\[|\]|\{2\}|\*|\+|\?|\||[a-zR:é]|\\w|.){0,12}",
        text in r"([a-zR:é ]|\[REDACTED:code\]|password=\w{9}){0,20}",
    ) {
        let Ok(own) = OwnRules::compile(&[own("code", &pattern)], &[]) else {
            return Ok(());
        };
        let redactor = Redactor::new(RedactionConfig { own, ..RedactionConfig::default() });
        let once = redactor.redact(&text).text.into_owned();
        prop_assert_eq!(redactor.redact(&once).text, once.clone());
    }
}
