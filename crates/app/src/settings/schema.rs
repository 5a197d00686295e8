//! Builds the JSON Schema of daybook.toml, for editors, from the table of settings and
//! other systems' names with their units.

use daybook_engine::profile::Profile;
use serde_json::{Map, Value, json};

use super::choices::SettingChoices;
use super::kind::NameUnit;
use super::names::{self, NameMeaning};

/// The published document.
pub(crate) fn text() -> String {
    // It is made of strings and numbers, which are always JSON.
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn document() -> Value {
    let mut root = table("Settings of a Daybook data folder: daybook.toml");
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "daybook.toml".into();
    for (name, meaning) in names::all() {
        if let Some(described) = describe(name, meaning) {
            place(&mut root, name, described);
        }
    }
    root
}

fn describe(name: &str, meaning: NameMeaning) -> Option<Value> {
    match meaning {
        NameMeaning::Setting(setting, unit) => {
            let mut described = setting.kind.schema(unit);
            if name == setting.name {
                described["description"] = setting.about.into();
                // The default of `person` is the login name, which differs on each machine.
                if name != "person" {
                    let choices = SettingChoices::of(Profile::default(), "");
                    described["default"] = setting.kind.value(&choices);
                }
            } else {
                let counted = match unit {
                    NameUnit::Seconds => ", in seconds",
                    NameUnit::Hours => ", in hours",
                    NameUnit::Days => ", in days",
                    NameUnit::Own | NameUnit::Backend | NameUnit::SearchMode => "",
                };
                described["description"] =
                    format!("the same as `{}`{counted}", setting.name).into();
            }
            Some(described)
        }
        // An editor marks what is refused, with the reason.
        NameMeaning::Refused(why) => Some(json!({"description": why, "not": {}})),
        NameMeaning::Unknown => None,
    }
}

/// Inserts `described` at `name`, and creates the tables on the path.
fn place(table_at: &mut Value, name: &str, described: Value) {
    let Some((first, rest)) = name.split_once('.') else {
        table_at["properties"][name] = described;
        return;
    };
    let here = &mut table_at["properties"][first];
    // `memory` is both a setting and a table of other systems.
    if here.is_null() {
        *here = table("another system's own names");
    } else if here.get("enum").is_some() {
        let own = here.take();
        *here = json!({"anyOf": [own, table("another system's own names")]});
    }
    let inner = match here.get("anyOf") {
        Some(_) => &mut here["anyOf"][1],
        None => here,
    };
    place(inner, rest, described);
}

fn table(about: &str) -> Value {
    json!({
        "description": about,
        "type": "object",
        "properties": Map::new(),
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schema_is_the_published_one() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/daybook.schema.json"
        );
        crate::settings::tests::compare_with_committed(path, &text());
    }

    #[test]
    fn a_name_stands_in_its_table() {
        let schema = document();
        let memory = &schema["properties"]["memory"]["anyOf"];
        assert_eq!(memory[0]["enum"], json!(["on", "off", true, false]));
        let flush = &memory[1]["properties"]["auto_flush"]["properties"];
        assert_eq!(flush["idle_seconds"]["type"], "integer");
        assert_eq!(flush["stale_ttl_seconds"]["minimum"], 60);
        let age = &schema["properties"]["memories"]["properties"]["max_rollout_age_days"];
        assert_eq!((&age["minimum"], &age["maximum"]), (&json!(0), &json!(90)));
    }
}
