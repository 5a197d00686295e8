//! What a column may hold, beyond its type: words of ours, lists of numbers, and JSON, which the store decodes
//! when it reads a row.

use daybook_domain::working::BlockingReason;
use daybook_domain::{
    Digest, FailureClass, JobKind, ObservationKind, Origin, Priority, ScopeKind, SessionKind,
    TallyKind, ToolStatus, UseKind,
};

use super::super::raw_values::Raw;
use super::table::{ColumnInfo, ColumnKind, TableInfo};
use crate::quarantine::quarantined_of;
use crate::ranges;
use crate::staged::staged_of;
use crate::transfer::{Kind, TABLES};

/// The invalid columns of a row, each with a reason.
pub(in crate::sqlite) fn check_row<'t>(
    table: &'t TableInfo,
    row: &[Raw],
) -> Vec<(&'t str, String)> {
    let columns = table.columns.iter().zip(row);
    columns
        .filter_map(|(column, value)| {
            let why = check_value(&table.name, column, value)?;
            Some((column.name.as_str(), why))
        })
        .collect()
}

fn check_value(table: &str, column: &ColumnInfo, value: &Raw) -> Option<String> {
    match (value, column.kind) {
        (Raw::Null, _) => column.is_required.then(|| "has no value".to_owned()),
        (Raw::Integer(number), ColumnKind::Integer) => {
            check_number(table, &column.name, *number).map(str::to_owned)
        }
        (Raw::Text(bytes), ColumnKind::Text) => match std::str::from_utf8(bytes) {
            Ok(text) => check_text(table, &column.name, text),
            Err(error) => Some(format!(
                "is not valid UTF-8 (byte {} of {})",
                error.valid_up_to() + 1,
                bytes.len()
            )),
        },
        (Raw::Blob(bytes), ColumnKind::Blob) => {
            let is_short = table == "events" && column.name == "id" && bytes.len() != 16;
            is_short.then(|| format!("is {} bytes long instead of 16", bytes.len()))
        }
        (Raw::Integer(_) | Raw::Real(_) | Raw::Text(_) | Raw::Blob(_), kind) => {
            Some(format!("is not {}", noun(kind)))
        }
    }
}

fn noun(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Integer => "a whole number",
        ColumnKind::Text => "text",
        ColumnKind::Blob => "bytes",
    }
}

fn check_number(table: &str, column: &str, number: i64) -> Option<&'static str> {
    if is_truth(table, column) {
        return (!matches!(number, 0 | 1)).then_some("is neither 0 nor 1");
    }
    match (table, column) {
        // Identities and fingerprints use all bits; evidence of what a person asked for has generation -1;
        // roots own documents with numbers below zero, and documents that are no events have the origin -1.
        (_, "id" | "fingerprint_head" | "fingerprint_tail" | "observation" | "generation") => None,
        (_, "owner" | "origin" | "later") => None,
        ("jobs", "priority") => Priority::from_rank(number)
            .is_none()
            .then_some("is no priority"),
        (_, "line" | "last_line" | "bad_lines" | "turns" | "tries" | "secrets") => {
            u32::try_from(number).is_err().then_some("is out of range")
        }
        _ => (number < 0).then_some("is negative"),
    }
}

fn is_truth(table: &str, column: &str) -> bool {
    let columns = TABLES
        .iter()
        .filter(|known| known.name == table)
        .flat_map(|known| known.columns);
    columns
        .into_iter()
        .any(|known| known.name == column && known.kind == Kind::Truth)
}

fn check_text(table: &str, column: &str, text: &str) -> Option<String> {
    let is_sound = match (table, column) {
        ("events", "origin") => text.parse::<Origin>().is_ok(),
        ("events", "status") => text.parse::<ToolStatus>().is_ok(),
        ("sessions", "kind") => text.parse::<SessionKind>().is_ok(),
        ("sessions", "passed") => ranges::to_text(&ranges::parse(text)) == text,
        ("jobs" | "gaps" | "lanes" | "tallies", "kind") => text.parse::<JobKind>().is_ok(),
        ("tallies", "what") => text.parse::<TallyKind>().is_ok(),
        ("jobs" | "gaps", "failure_class") => text.parse::<FailureClass>().is_ok(),
        ("scopes", "kind") => text.parse::<ScopeKind>().is_ok(),
        ("uses", "kind") => text.parse::<UseKind>().is_ok(),
        ("observations" | "retractions", "kind") => text.parse::<ObservationKind>().is_ok(),
        ("evidence", "events" | "lines") => are_numbers(text),
        ("extractions", "digest") => serde_json::from_str::<Digest>(text).is_ok(),
        ("extractions", "writes") => staged_of(text).is_ok(),
        ("extractions", "quarantined") => quarantined_of(text).is_ok(),
        ("events", "entry") | ("threads", "custom") => {
            serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
        }
        ("threads", "block_reason") => text.parse::<BlockingReason>().is_ok(),
        _ => true,
    };
    (!is_sound).then(|| {
        let head: String = text.chars().take(40).collect();
        format!("holds {head:?}, which is not a valid value")
    })
}

/// Ascending numbers between commas, or nothing.
fn are_numbers(text: &str) -> bool {
    text.is_empty() || text.split(',').all(|part| part.parse::<u64>().is_ok())
}
