//! `daybook redact`: what is hidden in a text, by which rule, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_text::redact::{FindingReason, Redacted, RedactionFinding, Redactor};
use serde::Serialize;
use serde_json::{Value, json};

use super::CommonArgs;
use crate::folders::data_folder;
use crate::settings::Settings;
use crate::settings::rules_file::RulesFile;
use crate::terminal::messages::{print_error, print_notice};
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::wiring::redaction;

/// Longest file that is read, in bytes.
const FILE_BYTES: u64 = 1 << 30;
/// Bytes of a file in which a zero byte makes it no text.
const HEAD: usize = 8 * 1024;
/// Bytes shown on either side of a marker.
const SHOWN: usize = 60;

/// Print text without its secrets, as memory would store it.
///
/// Nothing is stored. Files of JSON lines, such as transcripts, are explained string by string.
#[derive(Args)]
pub(crate) struct RedactCommand {
    /// Files, or folders of them; standard input without any
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// List what is hidden, by which rule, and why
    #[arg(long)]
    explain: bool,
    /// List what the rules in this file find, which has the format of gitleaks. It is used in place of redaction.toml of
    /// the data folder
    #[arg(long, value_name = "RULES")]
    test: Option<PathBuf>,
}

/// One line of the explanation.
#[derive(Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct ExplainedFinding {
    file: String,
    /// Counted from 1.
    line: usize,
    rule: String,
    reason: String,
    /// The marker, and what stands around it.
    shown: String,
}

impl RedactCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let folder = data_folder::locate(common.root.as_deref())?;
        let settings = Settings::load(&folder, &common.set)?;
        let rules = match &self.test {
            Some(path) => RulesFile::read(path)?,
            None => RulesFile::of_folder(&folder)?,
        };
        for note in &rules.notes {
            print_notice(note);
        }
        let redactor = redaction::redactor(rules, &settings, redaction::read_key(&folder)?);
        match self.explain || self.test.is_some() || common.json {
            true => self.explain(common, &redactor),
            false => self.print_redacted(&redactor),
        }
    }

    fn print_redacted(&self, redactor: &Redactor) -> Result<ExitCode> {
        self.for_each_text(|_, text| {
            let redacted = redactor.redact(text);
            Ok(io::stdout().write_all(redacted.text.as_bytes())?)
        })
    }

    fn explain(&self, common: &CommonArgs, redactor: &Redactor) -> Result<ExitCode> {
        let mut findings = BTreeSet::new();
        let mut texts = 0;
        let code = self.for_each_text(|name, text| {
            texts += 1;
            findings.extend(explain_text(redactor, name, text, self.test.is_some()));
            Ok(())
        })?;
        let mut of_rule: BTreeMap<&str, u64> = BTreeMap::new();
        for finding in &findings {
            *of_rule.entry(&finding.rule).or_default() += 1;
        }
        if common.json {
            print_json(&json!({"texts": texts, "rules": of_rule, "findings": findings}))?;
            return Ok(code);
        }
        for finding in &findings {
            let place = format!("{}:{}", finding.file, finding.line);
            print_line!("{}  {}: {}", bold(&place), finding.rule, finding.reason);
            print_line!("   {}", dim(&finding.shown));
        }
        let of_rule = of_rule
            .iter()
            .map(|(rule, count)| format!("{rule} {count}"));
        let summary: Vec<String> = of_rule.collect();
        print_line!(
            "{} in {}{}{}",
            count(findings.len() as u64, "secret"),
            count(texts, "text"),
            if summary.is_empty() { "" } else { ": " },
            summary.join(" · ")
        );
        Ok(code)
    }

    /// Calls `work` with the name and the text of each file, or of standard input. A file that cannot be read is
    /// reported, and the others are read nevertheless.
    fn for_each_text(&self, mut work: impl FnMut(&str, &str) -> Result<()>) -> Result<ExitCode> {
        if self.paths.is_empty() {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            work("stdin", &String::from_utf8_lossy(&bytes))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut code = ExitCode::SUCCESS;
        let mut failed = |error: anyhow::Error| {
            print_error(&format!("{error:#}"));
            code = ExitCode::FAILURE;
        };
        for path in &self.paths {
            let mut files = Vec::new();
            if let Err(error) = list_files(path, &mut files) {
                failed(error);
            }
            for file in files {
                match read_text(&file) {
                    Ok(Some(text)) => work(&data_folder::display_path(&file), &text)?,
                    Ok(None) => {}
                    Err(error) => failed(error),
                }
            }
        }
        Ok(code)
    }
}

/// The files at and below `path`, in the order of their names. Links below it are not followed.
fn list_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let failed = || format!("cannot read {}", data_folder::display_path(path));
    if !fs::metadata(path).with_context(failed)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(failed)?;
    let mut entries = entries
        .collect::<io::Result<Vec<_>>>()
        .with_context(failed)?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let kind = entry.file_type().with_context(failed)?;
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => list_files(&entry.path(), files)?,
            (_, true) => files.push(entry.path()),
            (false, false) => {}
        }
    }
    Ok(())
}

/// The text of a file; `None` when it is no text.
fn read_text(path: &Path) -> Result<Option<String>> {
    let failed = || format!("cannot read {}", data_folder::display_path(path));
    let length = fs::metadata(path).with_context(failed)?.len();
    if length > FILE_BYTES {
        bail!(
            "{} is longer than 1 GiB; pipe parts of it into this command",
            data_folder::display_path(path)
        );
    }
    let bytes = fs::read(path).with_context(failed)?;
    let is_text = !bytes.iter().take(HEAD).any(|byte| *byte == 0);
    Ok(is_text.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The findings in a text; in JSON lines those in each line's strings.
fn explain_text(
    redactor: &Redactor,
    file: &str,
    text: &str,
    own_only: bool,
) -> Vec<ExplainedFinding> {
    let mut explained = Vec::new();
    let mut explain = |line: Option<usize>, text: &str| {
        let redacted = redactor.redact(text);
        let findings = redacted.findings.iter();
        let findings = findings.filter(|it| !own_only || it.reason == FindingReason::OwnRule);
        explained.extend(findings.map(|finding| {
            let own_line = || 1 + newlines(&redacted.text[..finding.range.start]);
            ExplainedFinding {
                file: file.to_owned(),
                line: line.unwrap_or_else(own_line),
                rule: finding.rule.to_string(),
                reason: format!("{}{}", finding.reason, finding.view),
                shown: surroundings(&redacted, finding),
            }
        }));
    };
    if !is_json_lines(text) {
        explain(None, text);
        return explained;
    }
    for (line, text) in (1..).zip(text.lines()) {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => for_each_string(&value, &mut |string| explain(Some(line), string)),
            Err(_) => explain(Some(line), text),
        }
    }
    explained
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn is_json_lines(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        matches!(
            serde_json::from_str(line),
            Ok(Value::Object(_) | Value::Array(_))
        )
    })
}

fn for_each_string(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| for_each_string(value, each)),
        Value::Object(fields) => fields
            .values()
            .for_each(|value| for_each_string(value, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The marker on its line, cut to a width that a terminal shows.
fn surroundings(redacted: &Redacted<'_>, finding: &RedactionFinding) -> String {
    let text = &redacted.text;
    let from = text.floor_char_boundary(finding.range.start.saturating_sub(SHOWN));
    let to = text.ceil_char_boundary((finding.range.end + SHOWN).min(text.len()));
    let before = text[from..finding.range.start]
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    let after = text[finding.range.end..to]
        .split('\n')
        .next()
        .unwrap_or_default();
    let shown = format!("{before}{}{after}", &text[finding.range.clone()]);
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    shown.trim().chars().map(visible).collect()
}
