//! Compares profiles: as JSON, as a table for people, and as docs/profiles.md.

use std::fmt::Write as _;

use daybook_engine::profile::Profile;
use serde_json::{Map, Value};

use super::choices::SettingChoices;
use super::lineage::{ORIGINS, PROFILES};
use super::sources::plain;
use super::table::{ALL, Setting, SettingGroup};

/// One setting, or one stage with a single implementation, with its value in each profile.
pub(crate) struct ProfileRow {
    pub(crate) name: &'static str,
    pub(crate) group: Option<SettingGroup>,
    /// In the order of [`Profile::NAMES`].
    pub(crate) values: Vec<Value>,
}

/// Rows for all settings and stages that profiles choose.
pub(crate) fn rows() -> Vec<ProfileRow> {
    let profiles = Profile::all();
    let value = |setting: &Setting, profile: &Profile| match setting.is_chosen_by(profile) {
        true => setting.kind.value(&SettingChoices::of(profile.clone(), "")),
        false => Value::Null,
    };
    let settings = ALL.iter().filter(|setting| setting.group.is_profiled());
    let mut rows: Vec<ProfileRow> = settings
        .map(|setting| ProfileRow {
            name: setting.name,
            group: Some(setting.group),
            values: profiles
                .iter()
                .map(|profile| value(setting, profile))
                .collect(),
        })
        .collect();
    rows.extend(SHARED.map(|(name, implementation)| ProfileRow {
        name,
        group: None,
        values: vec![implementation.into(); Profile::NAMES.len()],
    }));
    rows
}

/// Stages with one implementation, which every profile uses: name of the stage and of the implementation.
const SHARED: [(&str, &str); 1] = [("consolidator", "merge")];

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

`daybook config profiles --markdown` writes this page. A profile gives the default of each setting: choose one with
`profile = \"codex\"` in daybook.toml, and set any other value beside it. \"–\" means that the setting has no effect
in that profile, \"none\" means no bound.

Profiles differ in triggers, numbers, the prompt and form of requests to a model, and the files of memory. Without an
`extract_model`, every profile quotes what a person plainly stated and what plainly happened. All profiles merge by the
same rules; a `consolidation_model` may propose more. A value that is out of range is refused, and the error names the
allowed range; Codex clamps it without a message. \"A promise wins\" marks a number where one of
Daybook's promises (DESIGN.md) overrides the other system.

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

    /// Another system's own name for a number means that the system has that number.
    #[test]
    fn every_number_that_another_system_names_says_where_it_comes_from() {
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
                Profile::from_name(origin.profile).is_some(),
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
