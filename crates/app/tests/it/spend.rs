//! What `daybook spend` shows of calls that were made.

use std::fs;

use daybook_domain::model::Usage;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{Charge, ReserveOutcome, SettleOutcome};
use daybook_domain::{Money, SessionId, Tenant, Timestamp};
use daybook_store::{SqliteOptions, SqliteStore};
use serde_json::json;

use crate::fixture::TestPlace;

/// 2026-03-02, noon.
const THEN: Timestamp = Timestamp(1_772_452_800_000);

fn charge(model: &str, money: Option<u64>) -> Charge {
    Charge {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        run: "1".to_owned(),
        session: Some(SessionId {
            tenant: Tenant::local(),
            agent: "codex".to_owned(),
            host_id: "aaaa".to_owned(),
        }),
        stage: "extract".to_owned(),
        scope: None,
        model: model.to_owned(),
        tokens: 40_000,
        money: money.map(Money),
    }
}

/// Two settled calls, of which one has no price, and one that was cut off.
fn place_with_calls() -> TestPlace {
    let place = TestPlace::new();
    fs::create_dir_all(place.root()).unwrap();
    let store = SqliteStore::open(&place.root().join("daybook.db"), SqliteOptions::default());
    let store = store.unwrap();
    daybook_testkit::run(async {
        for (model, money, cost) in [
            ("ada/large", Some(250_000), Some(120_000)),
            ("ada/large", Some(250_000), None),
            ("bob/free", None, None),
        ] {
            let reserved = store.reserve(&charge(model, money), &[], THEN).await;
            let ReserveOutcome::Reserved(id) = reserved.unwrap() else {
                panic!("there is no cap");
            };
            if money.is_some() && cost.is_none() {
                continue;
            }
            let usage = Usage {
                input: 12_345,
                cached: 10_000,
                output: 678,
            };
            let settled = store.settle(&id, usage, cost.map(Money), THEN);
            assert_eq!(settled.await.unwrap(), SettleOutcome::Settled);
        }
    });
    place
}

fn write_caps(place: &TestPlace) {
    let caps = "[caps]\nrun = { tokens = 500_000 }\nmonth = { tokens = 2_000_000, money = 30 }\n\
                user_day = { money = 1.5 }\n";
    fs::write(place.root().join("daybook.toml"), caps).unwrap();
}

#[test]
fn a_bill_says_what_was_asked_for_and_what_is_open() {
    let place = place_with_calls();
    let said = place.stdout(&["spend", "--since", "2026-03-01"]);
    assert_eq!(
        said,
        "\
Spent since 2026-03-01, by model
             calls      in  cached    out   USD
  ada/large      2  12,345  10,000    678  0.12  1 open
  bob/free       1  12,345  10,000    678  0.00  1 without a price; add one to [prices]
  in all         3  24,690  20,000  1,356  0.12

1 call open: under way, or cut off before its cost was known. A call that is cut off counts for good with the most that \
it can have cost; now that is 40,000 tokens and 0.25 USD.
"
    );
    let by_session = place.stdout(&["spend", "--since", "2026-03-02", "--by", "session"]);
    assert!(
        by_session.contains("  codex:aaaa      3  24,690"),
        "{by_session}"
    );
    let nothing = place.stdout(&["spend"]);
    assert!(
        nothing.starts_with("No model was called since 20"),
        "{nothing}"
    );
}

#[test]
fn caps_are_shown_with_what_is_left() {
    let place = place_with_calls();
    write_caps(&place);
    let said = place.stdout(&["spend"]);
    let caps: Vec<&str> = said.lines().skip_while(|line| *line != "Caps").collect();
    let expected = [
        "Caps",
        "  each run: 500,000 tokens",
        "  each month: 0 of 2,000,000 tokens, 2,000,000 left, until 20",
        "  each month: 0.00 of 30.00 USD, 30.00 left, until 20",
        "  each day, each user: 0.00 of 1.50 USD, 1.50 left, until 20",
    ];
    assert_eq!(caps.len(), expected.len(), "{said}");
    let mut both = caps.iter().zip(expected);
    assert!(
        both.all(|(line, expected)| line.starts_with(expected)),
        "{said}"
    );
}

#[test]
fn programs_get_the_same() {
    let place = place_with_calls();
    write_caps(&place);
    let bill = place.json(&["spend", "--since", "2026-03-01", "--by", "day"]);
    let expected = json!({
        "name": "2026-03-02", "calls": 3, "input": 24_690, "cached": 20_000, "output": 1_356,
        "money": "0.12", "open": 1, "reserved": {"tokens": 40_000, "money": "0.25"},
        "exceeded": 0, "unpriced": 1,
    });
    assert_eq!(bill["spent"], json!([expected]));
    assert_eq!(bill["since"], "2026-03-01T00:00:00Z");
    assert_eq!(
        (&bill["by"], &bill["currency"]),
        (&json!("day"), &json!("USD"))
    );
    let run = json!({"cap": 500_000, "used": null, "left": null});
    let runs = bill["caps"].as_array().expect("a list").iter();
    let run_caps: Vec<_> = runs.filter(|cap| cap["period"] == "run").collect();
    assert_eq!((run_caps.len(), &run_caps[0]["tokens"]), (1, &run));
}
