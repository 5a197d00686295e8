//! Applies the rules to real transcripts, where these are available.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Redactor;
use super::shape::{is_hex, is_uuid};

/// Most findings in all of them together. Their owners hid secrets before publishing them, so
/// nearly every finding is a mistake.
const MAX_FINDINGS: usize = 5;

#[test]
fn real_transcripts_lose_next_to_nothing() {
    let Some(folder) = transcripts() else {
        #[expect(clippy::print_stderr, reason = "tells why nothing was checked")]
        {
            eprintln!("skipped: no transcripts beside the workspace");
        }
        return;
    };
    let mut found = Vec::new();
    for_each_file(&folder, &mut |text| {
        for line in text.lines() {
            hidden_in(line, &mut found);
            if let Ok(value) = serde_json::from_str(line) {
                for_each_string(&value, &mut |string| hidden_in(string, &mut found));
            }
        }
    });
    let ids = found
        .iter()
        .filter(|secret| is_hex(secret.as_bytes()) || is_uuid(secret.as_bytes()));
    assert_eq!(ids.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(
        found.len() <= MAX_FINDINGS,
        "{} findings: {found:?}",
        found.len()
    );
}

/// Prints every finding with its surroundings, for a reader to judge.
#[test]
#[ignore = "prints a list to be read"]
#[expect(clippy::print_stdout, reason = "the list is the result")]
fn list_findings() {
    let Some(folder) = transcripts() else { return };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for_each_file(&folder, &mut |text| {
        for line in text.lines() {
            note_findings(line, &mut seen);
            if let Ok(value) = serde_json::from_str(line) {
                for_each_string(&value, &mut |string| note_findings(string, &mut seen));
            }
        }
    });
    for (finding, times) in &seen {
        println!("{times} x {finding}");
    }
    println!("{} different findings", seen.len());
}

fn note_findings(text: &str, seen: &mut BTreeMap<String, usize>) {
    const SHOWN: usize = 60;
    for finding in Redactor::standard().find_spans(text) {
        let range = finding.range;
        let start = text.floor_char_boundary(range.start.saturating_sub(SHOWN));
        let end = text.ceil_char_boundary((range.end + SHOWN).min(text.len()));
        let shown = format!(
            "{}: {:?} >>{:?}<< {:?}",
            finding.rule,
            &text[start..range.start],
            &text[range.clone()],
            &text[range.end..end],
        );
        *seen.entry(shown).or_default() += 1;
    }
}

/// Measures redaction over the strings of all transcripts. For a release build.
#[test]
#[ignore = "measures speed, in release"]
#[expect(clippy::print_stdout, reason = "the figure is the result")]
fn measure_speed() {
    let Some(folder) = transcripts() else { return };
    let mut strings = Vec::new();
    let mut lines = Vec::new();
    for_each_file(&folder, &mut |text| {
        for line in text.lines() {
            lines.push(line.to_owned());
            if let Ok(value) = serde_json::from_str(line) {
                for_each_string(&value, &mut |string| strings.push(string.to_owned()));
            }
        }
    });
    for (name, texts) in [("strings", &strings), ("lines", &lines)] {
        let bytes: usize = texts.iter().map(String::len).sum();
        let start = Instant::now();
        let found: usize = texts
            .iter()
            .map(|text| Redactor::standard().redact(text).findings.len())
            .sum();
        let seconds = start.elapsed().as_secs_f64();
        let speed = bytes as f64 / 1e6 / seconds;
        println!("{name}: {bytes} bytes, {seconds:.2} s, {speed:.0} MB/s, {found} findings");
    }
}

/// `shared/data/transcripts` beside this workspace or one that holds it.
fn transcripts() -> Option<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/data/transcripts"))
        .find(|folder| folder.is_dir())
}

fn for_each_file(path: &Path, visit: &mut impl FnMut(&str)) {
    if let Ok(entries) = fs::read_dir(path) {
        for entry in entries.flatten() {
            for_each_file(&entry.path(), visit);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        visit(&text);
    }
}

fn for_each_string(value: &serde_json::Value, visit: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(string) => visit(string),
        serde_json::Value::Array(values) => values
            .iter()
            .for_each(|value| for_each_string(value, visit)),
        serde_json::Value::Object(fields) => fields
            .values()
            .for_each(|value| for_each_string(value, visit)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// Collects the texts that the first scan would hide.
fn hidden_in(text: &str, found: &mut Vec<String>) {
    let spans = Redactor::standard().find_spans(text);
    found.extend(spans.into_iter().map(|span| text[span.range].to_owned()));
}
