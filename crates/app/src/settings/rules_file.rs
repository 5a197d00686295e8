//! Reads rules for secrets in the format of gitleaks: `redaction.toml` in the data folder.
//!
//! A rule's `id`, `regex`, `secretGroup`, `entropy`, `keywords` and allow-lists are used. Paths and commits mean nothing
//! for a conversation, and the standard rules are always applied, whatever `extend` says.
//!
//! Not here: what the rules find (`text::redact`).

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use daybook_text::redact::{AllowList, AllowTarget, OwnRule, OwnRules};
use serde::Deserialize;

use crate::folders::data_folder::display_path;
use crate::toml_text::parse_table;

/// Name of the file in the data folder.
pub(crate) const FILE: &str = "redaction.toml";
/// Longest file that is read, in bytes.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Most rules of a file.
const MOST_RULES: usize = 2_000;

/// The rules of one file.
#[derive(Debug, Default)]
pub(crate) struct RulesFile {
    pub(crate) rules: OwnRules,
    /// Parts of the file that are not used, and why.
    pub(crate) notes: Vec<String>,
}

#[derive(Deserialize)]
struct FileTables {
    #[serde(default)]
    rules: Vec<RuleTable>,
    allowlist: Option<AllowTable>,
    #[serde(default)]
    allowlists: Vec<AllowTable>,
    extend: Option<toml::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleTable {
    id: String,
    regex: Option<String>,
    secret_group: Option<usize>,
    entropy: Option<f64>,
    #[serde(default)]
    keywords: Vec<String>,
    allowlist: Option<AllowTable>,
    #[serde(default)]
    allowlists: Vec<AllowTable>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllowTable {
    condition: Option<String>,
    regex_target: Option<String>,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    commits: Vec<String>,
    #[serde(default)]
    target_rules: Vec<String>,
}

impl RulesFile {
    /// The rules of the data folder at `folder`; none where it has no such file.
    pub(crate) fn of_folder(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Ok(_) | Err(_) => Self::read(&path),
        }
    }

    /// Reads a file of rules.
    ///
    /// # Errors
    /// When it cannot be read, or a rule cannot be used. A rule is never left out: what it should hide would be stored.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let failed = || {
            let path = display_path(path);
            format!("the rules for secrets in {path} cannot be used; mend them, or remove the file")
        };
        let length = fs::metadata(path).with_context(failed)?.len();
        if length > FILE_BYTES {
            return Err(anyhow!("it has {length} bytes, and may have {FILE_BYTES}"))
                .with_context(failed);
        }
        let text = fs::read_to_string(path).with_context(failed)?;
        Self::parse(&text).with_context(failed)
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let tables: FileTables = parse_table(text)?.try_into()?;
        if tables.rules.len() > MOST_RULES {
            bail!("it has more than {MOST_RULES} rules");
        }
        let mut notes = Vec::new();
        if tables.extend.is_some() {
            notes.push(
                "extend: the standard rules are always applied, and no other file".to_owned(),
            );
        }
        let lists: Vec<AllowTable> = tables
            .allowlist
            .into_iter()
            .chain(tables.allowlists)
            .collect();
        let for_all = lists.iter().filter(|list| list.target_rules.is_empty());
        let allowed = for_all.filter_map(|list| list.allow_list("allowlist", &mut notes));
        let allowed = allowed.collect::<Result<Vec<_>>>()?;
        let mut rules = Vec::new();
        for table in tables.rules {
            let Some(pattern) = table.regex else {
                notes.push(format!("rule {}: it has no regex, only a path", table.id));
                continue;
            };
            let own = table.allowlist.iter().chain(&table.allowlists);
            let targeted = lists
                .iter()
                .filter(|list| list.target_rules.contains(&table.id));
            let place = format!("rule {}", table.id);
            let lists = own.chain(targeted);
            let lists = lists.filter_map(|list| list.allow_list(&place, &mut notes));
            rules.push(OwnRule {
                allowed: lists.collect::<Result<_>>()?,
                id: table.id,
                pattern,
                secret_group: table.secret_group,
                least_entropy: table.entropy,
                keywords: table.keywords,
            });
        }
        let rules = OwnRules::compile(&rules, &allowed).map_err(|why| anyhow!(why))?;
        Ok(Self { rules, notes })
    }
}

impl AllowTable {
    /// The list as it applies to a conversation; `None` where it never does.
    fn allow_list(&self, place: &str, notes: &mut Vec<String>) -> Option<Result<AllowList>> {
        let needs_all = match self.condition.as_deref().map(str::to_uppercase).as_deref() {
            None | Some("OR") => false,
            Some("AND") => true,
            Some(other) => {
                return Some(Err(anyhow!(
                    "{place}: condition = \"{other}\": write AND or OR"
                )));
            }
        };
        let target = match self.regex_target.as_deref() {
            None | Some("" | "secret") => AllowTarget::Secret,
            Some("match") => AllowTarget::Match,
            Some("line") => AllowTarget::Line,
            Some(other) => {
                let allowed = "write secret, match or line";
                return Some(Err(anyhow!(
                    "{place}: regexTarget = \"{other}\": {allowed}"
                )));
            }
        };
        let has_place = !self.paths.is_empty() || !self.commits.is_empty();
        if has_place {
            notes.push(format!(
                "{place}: paths and commits of its allow-list are not used"
            ));
        }
        let is_empty = self.regexes.is_empty() && self.stopwords.is_empty();
        let never_applies = is_empty || (needs_all && has_place);
        (!never_applies).then(|| {
            Ok(AllowList {
                patterns: self.regexes.clone(),
                target,
                stopwords: self.stopwords.clone(),
                needs_all,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use daybook_text::redact::{RedactionConfig, Redactor};

    use super::*;

    const RULES: &str = r#"
        title = "ada's rules"
        [extend]
        useDefault = true
        [[rules]]
        id = "door-code"
        description = "Codes of doors"
        regex = '''\b(DC)-([0-9]{6})\b'''
        secretGroup = 2
        keywords = ["dc-"]
        [[rules.allowlists]]
        regexTarget = "line"
        regexes = ["for example"]
        [[rules]]
        id = "old-file"
        path = '''\.bak$'''
        [allowlist]
        paths = ["vendor"]
        stopwords = ["000000"]
    "#;

    fn redact(rules: &str, text: &str) -> String {
        let own = RulesFile::parse(rules).expect("they can be used").rules;
        let redactor = Redactor::new(RedactionConfig {
            own,
            ..RedactionConfig::default()
        });
        redactor.redact(text).text.into_owned()
    }

    #[test]
    fn a_file_of_gitleaks_is_read_and_what_it_says_of_files_is_noted() {
        let file = RulesFile::parse(RULES).expect("they can be used");
        assert_eq!(file.rules.len(), 1);
        assert_eq!(file.notes.len(), 3, "{:?}", file.notes);
        assert_eq!(redact(RULES, "DC-481516"), "DC-[REDACTED:door-code]");
        assert_eq!(
            redact(RULES, "for example DC-481516"),
            "for example DC-481516"
        );
        assert_eq!(redact(RULES, "DC-000000"), "DC-000000");
    }

    #[test]
    fn a_rule_that_cannot_be_used_is_an_error_that_names_it() {
        let refused = |text: &str| format!("{:#}", RulesFile::parse(text).expect_err("refused"));
        let bad_pattern = "[[rules]]\nid = \"a\"\nregex = \"(\"";
        assert!(refused(bad_pattern).contains("rule a: the pattern ("));
        assert!(refused("[[rules]]\nregex = \"x\"").contains("id"));
        let list = "[[rules]]\nid = \"a\"\nregex = \"x\"\n[rules.allowlist]\nstopwords = [\"x\"]\n";
        assert!(refused(&format!("{list}condition = \"XOR\"")).contains("AND or OR"));
        assert!(refused(&format!("{list}regexTarget = \"page\"")).contains("line"));
    }
}
