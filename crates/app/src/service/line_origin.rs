//! Explains where a line of memory comes from: its observations, the original texts, and its past.

use std::collections::BTreeSet;

use anyhow::Result;
use daybook_domain::citation::Citation;
use daybook_domain::{Origin, Reach};
use daybook_engine::files::line_history::LineHistory;
use daybook_engine::jobs::memories::Memory;
use serde::Serialize;
use utoipa::ToSchema;

use super::RequestError;
use super::history::{HistoryCommit, hidden};
use super::memories::{ListedMemory, place};
use super::scope_choice::open_folder;
use super::show::{byline, load_cited};
use crate::wiring::Daybook;

/// Most characters of an original text in an explanation.
const WORDS: usize = 600;
/// Most original texts in an explanation.
const SOURCES: usize = 20;

/// Where a line of a memory file comes from.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LineOrigin {
    /// Whose memory it is in.
    pub(crate) scope: String,
    /// The line.
    pub(crate) line: String,
    /// Where it stands, as `MEMORY.md:12`; `MEMORY.md` first.
    pub(crate) shown_in: Vec<String>,
    /// Whether a person changed the line.
    pub(crate) changed_by_person: bool,
    /// Whether a person pinned it.
    pub(crate) pinned: bool,
    /// The change since which it stands there in these words.
    pub(crate) since: Option<HistoryCommit>,
    /// What stood there before.
    pub(crate) before: Option<String>,
    /// What it was made from.
    pub(crate) observations: Vec<ListedMemory>,
    /// The original texts behind its citations.
    pub(crate) sources: Vec<OriginalText>,
    /// How many more there are.
    pub(crate) more_sources: usize,
}

/// The original text behind a citation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OriginalText {
    /// The citation, for `show`.
    #[schema(example = "7f78:L382")]
    pub(crate) citation: String,
    /// The speaker, place and time.
    pub(crate) by: String,
    /// The text, cut if it is long; `null` when the source has expired, or is not for the caller to read.
    pub(crate) text: Option<String>,
}

/// Explains where a memory comes from, with the original texts that are in reach.
pub(crate) async fn why(daybook: &Daybook, memory: &Memory, reach: &Reach) -> Result<LineOrigin> {
    let line = memory.lines.first();
    let history = match line {
        None => LineHistory::default(),
        Some(line) => {
            let folder = open_folder(daybook, &memory.scope).await?;
            folder.line_history(&line.file, line.entry.as_ref(), &line.text)?
        }
    };
    let cited = cited_lines(memory);
    let mut sources = Vec::new();
    for (label, line) in cited.iter().take(SOURCES) {
        sources.push(original(daybook, label, *line, reach).await?);
    }
    let observations = memory.observations.iter();
    Ok(LineOrigin {
        scope: memory.scope.to_string(),
        line: hidden(line.map_or(&memory.words, |line| &line.text)),
        shown_in: memory.lines.iter().map(place).collect(),
        changed_by_person: line.is_some_and(|line| line.is_altered),
        pinned: memory.lines.iter().any(|line| line.is_pinned),
        since: history.since.as_ref().map(HistoryCommit::from),
        before: history.before.as_deref().map(hidden),
        observations: observations
            .map(|one| {
                let alone = Memory {
                    observations: vec![one.clone()],
                    words: one.text.clone(),
                    ..memory.clone()
                };
                ListedMemory::of(&alone, one)
            })
            .collect(),
        more_sources: cited.len().saturating_sub(sources.len()),
        sources,
    })
}

/// The cited lines: of the observations, or of a line that rests on none.
fn cited_lines(memory: &Memory) -> BTreeSet<(String, u32)> {
    let evidence = memory.observations.iter().flat_map(|one| &one.evidence);
    let mut cited: BTreeSet<(String, u32)> = evidence
        .flat_map(|one| one.lines.iter().map(|line| (one.label.clone(), *line)))
        .collect();
    if cited.is_empty() {
        let texts = memory
            .lines
            .iter()
            .flat_map(|line| line.text.split(['[', ']']));
        for citation in texts.filter_map(Citation::parse) {
            let lines = citation.lines.iter().flat_map(|(from, to)| *from..=*to);
            let lines = lines
                .take(SOURCES)
                .map(|line| (citation.session.clone(), line));
            cited.extend(lines);
        }
    }
    cited
}

async fn original(
    daybook: &Daybook,
    label: &str,
    line: u32,
    reach: &Reach,
) -> Result<OriginalText> {
    let citation = format!("{label}:L{line}");
    let events = match load_cited(daybook, &citation, 0, reach).await {
        Ok((_, events)) => events,
        // A source that is gone is part of the explanation.
        Err(error) if error.downcast_ref::<RequestError>().is_some() => Vec::new(),
        Err(error) => return Err(error),
    };
    // A refusal is a tool's result and a person's words in one line; what was learned from it are the words.
    let humans = events.iter().find(|event| event.origin == Origin::Human);
    let Some(event) = humans.or(events.first()) else {
        return Ok(OriginalText {
            citation,
            by: match reach {
                Reach::Everything => "source expired",
                Reach::Scopes(_) | Reach::Unnamed { .. } => {
                    "source expired, or not for this caller to read"
                }
            }
            .to_owned(),
            text: None,
        });
    };
    let mut text: String = event.text.chars().take(WORDS).collect();
    if text.len() < event.text.len() {
        text.push('…');
    }
    Ok(OriginalText {
        citation,
        by: byline(daybook, event),
        text: Some(text),
    })
}
