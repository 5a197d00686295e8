use proptest::prelude::*;

use super::super::json::parse_settings;
use super::*;

fn group(event: &'static str, program: &str) -> HookGroup {
    let handler = |command: String, in_background| HookHandler {
        command,
        timeout: ("timeout", 10),
        in_background,
    };
    HookGroup {
        event,
        layout: HookLayout::Groups,
        handlers: vec![
            handler(format!("{program} hook claude-code"), false),
            handler(format!("{program} update --for 20s"), true),
        ],
    }
}

/// The settings without our entries, parsed.
fn others(text: &str) -> Result<serde_json::Value> {
    let mut root = parse_settings(text)?;
    strip(&mut root);
    Ok(root)
}

fn our_groups() -> Vec<HookGroup> {
    let program = "/home/ada/.cargo/bin/daybook";
    vec![group("SessionStart", program), group("Stop", program)]
}

fn check_there_and_back(before: &str) -> String {
    let after = settle(before, &our_groups()).expect("settles");
    assert_eq!(
        settle(&after, &our_groups()).expect("settles"),
        after,
        "twice is once"
    );
    assert_eq!(others(before).expect("JSON"), others(&after).expect("JSON"));
    assert_eq!(
        settle(&after, &[]).expect("settles"),
        before,
        "through {after}"
    );
    after
}

#[test]
fn hooks_of_others_stay_in_their_order_and_ours_come_last() {
    let after = check_there_and_back(
        r#"{
    "model": "opus",   // the good one
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] },
            { "matcher": "", "hooks": [] }, /* later */
        ],
        "Unheard": "of",
        "SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}]
    },
    "model": "twice",
}
"#,
    );
    insta::assert_snapshot!(after);
}

#[test]
fn odd_layouts_come_back_byte_for_byte() {
    for text in [
        "{\"a\":1}",
        "{\"a\": {}}",
        "{\n\t\"a\": null\n}",
        "{\r\n  \"a\": 1\r\n}\r\n",
        "// first\n{ \"a\": 1 } // last\n",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"x\"}]}]}}",
        "{\n \"a\": \"\\u00e9 \\\" // no comment\",\n\n\n   \"hooks\": {\n \"Stop\": [ 1, ]}}",
    ] {
        check_there_and_back(text);
    }
}

#[test]
fn an_older_entry_is_replaced_in_its_place() {
    let before = r#"{"hooks": {"Stop": [{"hooks": [{"command": "first"}]}, {"hooks": [{"command": "/opt/old/daybook hook claude-code"}]}, {"hooks": [{"command": "last"}]}], "PreToolUse": [{"hooks": [{"command": "'/opt/o d/daybook' hook claude-code"}]}]}}"#;
    let after = settle(before, &our_groups()).expect("settles");
    assert!(
        !after.contains("/opt") && !after.contains("PreToolUse"),
        "{after}"
    );
    let order = ["first", "hook claude-code", "last", "SessionStart"];
    let places: Vec<_> = order.iter().map(|words| after.find(words)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{after}");
    assert_eq!(after.matches("hook claude-code").count(), 2, "{after}");
    check_others(before, &after);
}

/// Entries of Cursor and Copilot CLI: one handler each.
fn our_handlers() -> Vec<HookGroup> {
    let entry = |event| HookGroup {
        layout: HookLayout::Handlers,
        handlers: group(event, "/home/ada/.cargo/bin/daybook").handlers[..1].to_vec(),
        event,
    };
    vec![entry("sessionStart"), entry("stop")]
}

#[test]
fn handlers_without_groups_come_last_and_go_again() {
    for before in [
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"say done\" } // mine\n    ]\n  }\n}\n",
        "{\"version\":1,\"hooks\":{\"afterFileEdit\":[{\"command\":\"fmt\"}]}}",
    ] {
        let after = settle(before, &our_handlers()).expect("settles");
        assert_eq!(settle(&after, &our_handlers()).expect("settles"), after);
        check_others(before, &after);
        let old = after.replace("/home/ada/.cargo/bin", "/opt/old");
        assert_eq!(settle(&old, &our_handlers()).expect("settles"), after);
        assert_eq!(settle(&after, &[]).expect("settles"), before, "{after}");
    }
}

#[test]
fn a_new_file_of_handlers_names_its_version() {
    let after = settle("", &our_handlers()).expect("settles");
    insta::assert_snapshot!(after);
}

fn check_others(before: &str, after: &str) {
    assert_eq!(others(before).expect("JSON"), others(after).expect("JSON"));
}

#[test]
fn a_handler_that_shares_our_group_stays() {
    let text = settle("{}", &our_groups()).expect("settles");
    let mine = "[\n          {\"command\": \"mine\"},\n          {";
    let shared = text.replacen("[\n          {", mine, 1);
    assert_ne!(shared, text);
    let gone = settle(&shared, &[]).expect("settles");
    assert!(gone.contains("mine") && !gone.contains("daybook"), "{gone}");
    let again = settle(&shared, &our_groups()).expect("settles");
    assert_eq!(settle(&again, &our_groups()).expect("settles"), again);
    check_others(&shared, &again);
}

#[test]
fn a_timeout_that_a_person_changed_stays() {
    let text = settle("{}", &our_groups()).expect("settles");
    let patient = text.replace("\"timeout\": 10", "\"timeout\": 30");
    assert_eq!(settle(&patient, &our_groups()).expect("settles"), patient);
}

#[test]
fn places_of_the_wrong_kind_are_refused() {
    for (text, says) in [
        ("[]", "it holds something other than an object"),
        ("{\"hooks\": null}", "its \"hooks\" is null, not an object"),
        ("{\"hooks\": []}", "its \"hooks\" is a list, not an object"),
        (
            "{\"hooks\": {\"Stop\": {}}}",
            "its \"Stop\" is an object, not a list",
        ),
        ("// only words\n", "it holds comments alone"),
    ] {
        let error = settle(text, &our_groups()).expect_err("refused");
        assert_eq!(error.to_string(), says);
    }
}

/// A space that JSON with comments allows.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // ] } remark\n".to_owned()),
        1 => Just(" /* , \" */ ".to_owned()),
    ]
}

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.50e+3".to_owned()),
        "[ -~é]{0,8}".prop_map(|text| serde_json::Value::from(text).to_string()),
    ]
}

fn list(entries: impl Strategy<Value = String>, least: usize) -> impl Strategy<Value = String> {
    let entry = (space(), entries, space()).prop_map(|(a, entry, b)| format!("{a}{entry}{b}"));
    (proptest::collection::vec(entry, least..4), any::<bool>()).prop_map(|(entries, trailing)| {
        let end = if trailing && !entries.is_empty() {
            ","
        } else {
            ""
        };
        entries.join(",") + end
    })
}

fn value() -> impl Strategy<Value = String> {
    leaf().prop_recursive(3, 16, 3, |inner| {
        let named =
            ("[a-d]", inner.clone()).prop_map(|(name, value)| format!("\"{name}\": {value}"));
        prop_oneof![
            list(inner, 0).prop_map(|entries| format!("[{entries}]")),
            list(named, 0).prop_map(|entries| format!("{{{entries}}}")),
        ]
    })
}

/// Lists of groups that are not ours, and not empty: an empty one counts as left behind by us.
fn document() -> impl Strategy<Value = String> {
    let group = prop_oneof![
        value(),
        value()
            .prop_map(|other| format!("{{\"hooks\": [{{\"command\": \"x\", \"y\": {other}}}]}}")),
    ];
    let event = ("(Stop|SessionStart|Other)", list(group, 1))
        .prop_map(|(event, groups)| format!("\"{event}\": [{groups}]"));
    let hooks = list(event, 1).prop_map(|events| format!("\"hooks\": {{{events}}}"));
    let other = ("[a-d]", value()).prop_map(|(name, value)| format!("\"{name}\":{value}"));
    let member = prop_oneof![2 => other, 1 => hooks];
    (space(), list(member, 1), space()).prop_map(|(a, members, b)| format!("{a}{{{members}}}{b}"))
}

proptest! {
    #[test]
    fn whatever_a_person_keeps_there_stays_and_comes_back_byte_for_byte(text in document()) {
        check_there_and_back(&text);
    }
}

#[test]
fn fuzz_settings_of_a_host() {
    let seeds = [
        "{\n  // mine\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]},\n  \"model\": \"x\",\n}\n",
        "{\"hooks\":{}}",
        "",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        daybook_testkit::mutation::parse_mutated_text(&seeds, script, |before| {
            let Ok(after) = settle(before, &our_groups()) else {
                return;
            };
            assert_eq!(others(before).ok(), others(&after).ok(), "{after}");
            assert_eq!(settle(&after, &our_groups()).ok().as_deref(), Some(&*after));
        });
    });
}
