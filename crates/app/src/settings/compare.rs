//! Profiles side by side, as values, for people, and as docs/profiles.md.

use std::fmt::Write as _;

use daybook_engine::profile::Profile;
use serde_json::{Map, Value};

use super::choices::Choices;
use super::lineage::{ORIGINS, PROFILES};
use super::sources::plain;
use super::table::{ALL, Group, Setting};

/// One setting, or one implementation, with what each profile chooses.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) group: Option<Group>,
    /// In the order of [`Profile::NAMES`].
    pub(crate) values: Vec<Value>,
}

/// Everything that profiles choose.
pub(crate) fn rows() -> Vec<Row> {
    let profiles = Profile::all();
    let value = |setting: &Setting, profile: &Profile| match setting.is_chosen_by(profile) {
        true => setting.kind.value(&Choices::of(profile.clone(), "")),
        false => Value::Null,
    };
    let settings = ALL.iter().filter(|setting| setting.group.is_profiled());
    let mut rows: Vec<Row> = settings
        .map(|setting| Row {
            name: setting.name,
            group: Some(setting.group),
            values: profiles
                .iter()
                .map(|profile| value(setting, profile))
                .collect(),
        })
        .collect();
    rows.push(words("consolidator", |profile| profile.consolidator.word()));
    rows.push(words("layout", |profile| profile.layout.word()));
    rows
}

/// Which implementation each profile chooses for a stage.
fn words(name: &'static str, word: impl Fn(&Profile) -> &'static str) -> Row {
    let values = Profile::all().map(|profile| word(&profile).into());
    Row {
        name,
        group: None,
        values: values.into(),
    }
}

/// By profile, then by setting.
pub(crate) fn as_json() -> Value {
    let by_profile = Profile::NAMES.iter().enumerate().map(|(at, name)| {
        let values = rows()
            .into_iter()
            .map(|mut row| (row.name.to_owned(), row.values[at].take()));
        ((*name).to_owned(), Value::Object(values.collect()))
    });
    Value::Object(by_profile.collect::<Map<_, _>>())
}

/// A value in a cell of a table.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Array(list) if list.is_empty() => "all".to_owned(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => plain(other),
    }
}

const HEAD: &str = "\
# Profiles

`daybook config profiles --markdown` writes this page. A profile is where settings start from: choose one with
`profile = \"codex\"` in daybook.toml, and set anything else beside it. \"–\" has no meaning there, \"none\" is no bound.

Triggers, numbers and the manner in which a model is asked differ. While no `extract_model` is named, every profile
quotes what was plainly said and done; all of them merge without a model and write Daybook's files, and what the seeds
do otherwise comes with those stages. A value that is out of range is refused, with what is allowed; Codex bends it
into range and says nothing.

";

/// docs/profiles.md.
pub(crate) fn markdown() -> String {
    let mut page = HEAD.to_owned();
    let _ = writeln!(page, "| setting | {} |", Profile::NAMES.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(Profile::NAMES.len()));
    for row in rows() {
        let cells: Vec<String> = row.values.iter().map(cell).collect();
        let _ = writeln!(page, "| `{}` | {} |", row.name, cells.join(" | "));
    }
    page.push_str("\n`daybook config` says what each setting does.\n");
    for (at, (profile, about)) in PROFILES.iter().enumerate() {
        let _ = write!(page, "\n## {profile}\n\n{about}\n\n");
        page.push_str("| setting | value | where it comes from |\n|---|---|---|\n");
        for row in rows() {
            let origin = ORIGINS
                .iter()
                .find(|origin| origin.profile == *profile && origin.setting == row.name);
            if let Some(origin) = origin {
                let value = cell(&row.values[at]);
                let _ = writeln!(page, "| `{}` | {value} | {} |", row.name, origin.says);
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(profile: &str, name: &str) -> bool {
        ORIGINS
            .iter()
            .any(|origin| origin.profile == profile && origin.setting == name)
    }

    #[test]
    fn the_committed_page_is_the_published_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/profiles.md");
        crate::settings::tests::compare_with_committed(path, &markdown());
    }

    #[test]
    fn every_number_that_is_not_our_own_says_where_it_comes_from() {
        for row in rows() {
            for (at, profile) in Profile::NAMES.iter().enumerate() {
                let own = row.values[at] == row.values[0] || row.values[at].is_null();
                assert!(own || says(profile, row.name), "{profile}: {}", row.name);
            }
        }
    }

    /// A seed's own name for a number means that the seed has that number.
    #[test]
    fn every_number_that_a_seed_names_says_where_it_comes_from() {
        let systems = [("memory.", "mindroom"), ("memories.", "codex")];
        for setting in ALL.iter().filter(|setting| setting.group.is_profiled()) {
            for (name, _) in setting.also {
                let system = systems.iter().find(|(table, _)| name.starts_with(table));
                let profile = system.map_or("", |(_, profile)| profile);
                assert!(says(profile, setting.name), "{profile}: {}", setting.name);
            }
        }
    }

    #[test]
    fn every_origin_belongs_to_one_number() {
        for origin in ORIGINS {
            assert!(
                Profile::named(origin.profile).is_some(),
                "{}",
                origin.profile
            );
            let known = rows().iter().any(|row| row.name == origin.setting);
            assert!(known, "{}: {}", origin.profile, origin.setting);
        }
        let all: std::collections::BTreeSet<_> = ORIGINS
            .iter()
            .map(|origin| (origin.profile, origin.setting))
            .collect();
        assert_eq!(all.len(), ORIGINS.len(), "each once");
    }
}
