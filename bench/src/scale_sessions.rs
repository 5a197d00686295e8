//! Generates sessions of one project in which people state what is worth remembering.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::transcripts::SeededNumbers;

/// Sessions on one day.
const PER_DAY: usize = 24;
/// First second of the first session: 2 January 2022. None of 40,000 is of a day to come, which is learned from later.
const BEGIN: i64 = 1_641_114_000;
const SUBJECTS: [&str; 24] = [
    "harbour",
    "tide table",
    "pilot boat",
    "ledger",
    "buoy map",
    "pier camera",
    "lock gate",
    "station page",
    "chart import",
    "mail queue",
    "night report",
    "crew list",
    "fuel meter",
    "weather feed",
    "radio log",
    "invoice export",
    "login form",
    "search index",
    "photo store",
    "alarm bell",
    "cargo scan",
    "berth plan",
    "wind gauge",
    "ticket desk",
];
const THINGS: [&str; 20] = [
    "postgres", "sqlite", "redis", "kafka", "parquet", "protobuf", "avro", "nginx", "caddy",
    "systemd", "nomad", "vite", "webpack", "pytest", "ruff", "mypy", "tokio", "axum", "serde",
    "polars",
];
const UNITS: [&str; 5] = ["entries", "MB", "seconds", "rows", "retries"];

/// Writes one transcript for each number, a file each.
pub(crate) fn write_sessions(folder: &Path, numbers: Range<usize>) -> Result<()> {
    fs::create_dir_all(folder)?;
    for number in numbers {
        fs::write(folder.join(format!("{number:06}.jsonl")), session(number)?)?;
    }
    Ok(())
}

fn session(number: usize) -> Result<String> {
    let mut numbers = SeededNumbers(number as u64);
    let id = format!("5ca1{:04x}-0000-4000-8000-{number:012x}", number & 0xffff);
    let mut text = String::new();
    let mut at = BEGIN + (number / PER_DAY) as i64 * 86_400 + (number % PER_DAY) as i64 * 3_000;
    let task = format!(
        "look into the {} and fix the {}",
        one_of(&mut numbers, &SUBJECTS),
        numbers.sentence(4)
    );
    let statements = 2 + numbers.below(3);
    let mut said = vec![task];
    said.extend((0..statements).map(|_| statement(&mut numbers)));
    for (n, words) in said.iter().enumerate() {
        let answer = format!("Done: {}.", numbers.sentence(8));
        let lines = [
            json!({"type": "user", "message": {"role": "user", "content": words}}),
            json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": answer}]}}),
        ];
        for (part, mut line) in lines.into_iter().enumerate() {
            at += 20;
            line["uuid"] = json!(format!("{id}-{n}-{part}"));
            line["sessionId"] = json!(id);
            line["cwd"] = json!("/home/ada/tidepool");
            line["gitBranch"] = json!(format!("work-{}", number / 40));
            line["timestamp"] = json!(jiff::Timestamp::from_second(at)?.to_string());
            writeln!(text, "{line}")?;
        }
    }
    Ok(text)
}

/// Something that a person states, of one of the kinds that are remembered.
fn statement(numbers: &mut SeededNumbers) -> String {
    let (subject, thing) = (one_of(numbers, &SUBJECTS), one_of(numbers, &THINGS));
    let other = one_of(numbers, &THINGS);
    let (detail, more) = (numbers.sentence(2), numbers.sentence(2));
    let count = 2 + numbers.below(900);
    match numbers.below(8) {
        0 => format!(
            "please always run the {subject} checks with {thing} before you touch {detail} {more}"
        ),
        1 => format!("let's use {thing} for the {subject} {detail} instead of {other}"),
        2 => format!("the {subject} server for {detail} runs on port {count}"),
        3 => format!(
            "set the {subject} {detail} limit to {count} {}",
            one_of(numbers, &UNITS)
        ),
        4 => format!("never commit {detail} files of the {subject} to {more}"),
        5 => format!("we're changing the {subject} {detail} from {other} to {thing}"),
        6 => format!("I prefer {thing} when the {subject} needs {detail} or {more}"),
        _ => format!(
            "we decided to keep the {detail} of the {subject} in {thing} and not in {other}"
        ),
    }
}

/// A question about such sessions, as an agent asks it.
pub(crate) fn question(numbers: &mut SeededNumbers) -> String {
    let (subject, thing) = (one_of(numbers, &SUBJECTS), one_of(numbers, &THINGS));
    let detail = numbers.sentence(2);
    match numbers.below(3) {
        0 => format!("what is the {subject} {detail} limit"),
        1 => format!("do we use {thing} for the {subject} {detail}"),
        _ => format!("which port does the {subject} server for {detail} run on"),
    }
}

fn one_of<'w>(numbers: &mut SeededNumbers, words: &[&'w str]) -> &'w str {
    words[numbers.below(words.len() as u64) as usize]
}
