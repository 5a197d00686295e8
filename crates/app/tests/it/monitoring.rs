//! The dashboard and the alert rules name metrics, labels and values that exist, and read as what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::serve::DaybookServer;

/// Labels whose values are fixed, and these values; a rule that names another one never fires.
const VALUES: [(&str, &[&str]); 4] = [
    (
        "outcome",
        &[
            "finished",
            "partly",
            "nothing",
            "gave_up",
            "cancelled",
            "lost",
        ],
    ),
    (
        "class",
        &["outage", "content", "vanished", "cancelled", "at_cap"],
    ),
    ("state", &["covered", "pending", "failing", "never"]),
    ("status", &["2xx", "3xx", "4xx", "5xx"]),
];

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../packaging/monitoring")
        .join(name);
    std::fs::read_to_string(path).expect("a file")
}

/// The labels of each metric that is documented.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let rows = text.lines().filter(|line| line.starts_with("| `daybook_"));
    let quoted = |cell: &str| -> BTreeSet<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let name = quoted(cells[1]).pop_first().expect("a name");
        (name, quoted(cells[3]))
    });
    rows.collect()
}

/// Checks an expression: its metrics and their labels exist, its values are among the known ones, its brackets close.
fn check(expression: &str, known: &BTreeMap<String, BTreeSet<String>>) {
    for (open, close) in [('(', ')'), ('{', '}'), ('[', ']')] {
        assert_eq!(
            expression.matches(open).count(),
            expression.matches(close).count(),
            "{expression}"
        );
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = expression
        .split(|c| !is_word(c))
        .filter(|word| word.starts_with("daybook_"));
    let names: Vec<&str> = names.collect();
    assert!(!names.is_empty(), "{expression}");
    let mut labels: BTreeSet<&str> = BTreeSet::from(["le"]);
    for name in names {
        let family = name.strip_suffix("_bucket").unwrap_or(name);
        let of_family = known
            .get(family)
            .unwrap_or_else(|| panic!("there is no metric {family}"));
        labels.extend(of_family.iter().map(String::as_str));
    }
    let by = expression
        .split("by (")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let selected = expression
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next());
    for label in by.flat_map(|list| list.split(',')).map(str::trim) {
        assert!(labels.contains(label), "{label} is no label: {expression}");
    }
    for selector in selected.flat_map(|list| list.split(',')) {
        let (label, value) = selector.split_once('=').expect("a label and a value");
        let label = label.trim_end_matches('!');
        assert!(labels.contains(label), "{label} is no label: {expression}");
        let values = VALUES.iter().find(|(known, _)| *known == label);
        let (_, values) = values.unwrap_or_else(|| panic!("{label} has no fixed values"));
        assert!(
            values.contains(&value.trim_matches('"')),
            "{selector}: {expression}"
        );
    }
}

#[test]
fn every_metric_is_documented() {
    let server = DaybookServer::start();
    let (_, exposed) = server.text("/metrics");
    let exposed = exposed
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let exposed: BTreeSet<&str> = exposed.collect();
    let known = documented();
    let known: BTreeSet<&str> = known.keys().map(String::as_str).collect();
    assert!(
        exposed.len() > 8 && exposed.is_subset(&known),
        "{exposed:?} {known:?}"
    );
}

#[test]
fn the_dashboard_shows_metrics_that_exist() {
    let dashboard: Value = serde_json::from_str(&file("grafana.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let (known, mut ids) = (documented(), BTreeSet::new());
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64()), "{panel}");
        assert!(
            panel["title"]
                .as_str()
                .is_some_and(|title| !title.is_empty())
        );
        assert_eq!(panel["datasource"]["uid"], "${datasource}");
        let at = &panel["gridPos"];
        assert!(
            at["x"].as_u64() < Some(24) && at["w"].as_u64() <= Some(24),
            "{at}"
        );
        for target in panel["targets"].as_array().expect("targets") {
            check(target["expr"].as_str().expect("an expression"), &known);
        }
    }
    assert!(panels.len() > 10);
}

#[test]
fn the_alert_rules_can_fire_and_say_what_to_do() {
    let rules: Value = serde_saphyr::from_str(&file("alerts.yml")).expect("YAML");
    let rules = rules["groups"][0]["rules"].as_array().expect("rules");
    let (known, mut names) = (documented(), BTreeSet::new());
    for rule in rules {
        check(rule["expr"].as_str().expect("an expression"), &known);
        assert!(
            names.insert(rule["alert"].as_str().expect("a name")),
            "{rule}"
        );
        for part in ["summary", "description"] {
            let text = rule["annotations"][part].as_str();
            assert!(text.is_some_and(|text| text.len() > 10), "{rule}");
        }
        let severity = rule["labels"]["severity"].as_str();
        assert!(
            matches!(severity, Some("info" | "warning" | "critical")),
            "{rule}"
        );
    }
    assert!(rules.len() > 5);
}
