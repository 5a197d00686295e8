//! What the rules do to real transcripts, where these are at hand.

use std::fs;
use std::path::{Path, PathBuf};

use super::Redactor;
use super::shape::{is_hex, is_uuid};

/// Findings in all of them together. Their owners hid what was secret before publishing them, so
/// nearly everything that is found is a mistake.
const MAX_FINDINGS: usize = 10;

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

/// What the first look would hide.
fn hidden_in(text: &str, found: &mut Vec<String>) {
    let spans = Redactor::standard().scanner.scan(text);
    found.extend(spans.into_iter().map(|span| text[span.range].to_owned()));
}
