//! Extracts each message as the one request of a session.

use std::collections::BTreeMap;

use daybook_domain::{
    Event, EventSeq, Origin, Place, Session, SessionId, SessionKind, Tenant, Timestamp, ToolStatus,
};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::extract::{KnownMemory, ObservationDraft, Window};
use serde::Serialize;

use super::cases::{StatementCase, StatementCases};
use crate::dataset::Split;

/// Result of one message.
#[derive(Debug, Clone, Serialize)]
pub struct StatementRecord {
    /// The message.
    pub text: String,
    /// Its language.
    pub language: String,
    /// What was worth keeping and is in no line.
    pub missed: Vec<String>,
    /// The lines that hold nothing worth keeping.
    pub noise: Vec<String>,
}

/// The score of one language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LanguageScore {
    /// Things worth keeping that are in a line.
    pub kept: usize,
    /// Things worth keeping.
    pub worth_keeping: usize,
    /// Lines that hold something worth keeping.
    pub right_lines: usize,
    /// Lines.
    pub lines: usize,
    /// Messages with nothing to keep of which nothing was kept.
    pub left_out: usize,
    /// Messages with nothing to keep.
    pub passing: usize,
}

/// The scores by language, and the record of each message that was not right.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StatementsReport {
    /// Scores by language.
    pub languages: BTreeMap<String, LanguageScore>,
    /// Messages of which too little or too much was kept.
    pub wrong: Vec<StatementRecord>,
}

/// Extracts the messages of `split`, or all.
#[must_use]
pub fn run_statements(cases: &StatementCases, split: Option<Split>) -> StatementsReport {
    let mut report = StatementsReport::default();
    let is_wanted = |of: Split| split.is_none_or(|split| split == of);
    let wanted = cases.statements.iter().filter(|case| is_wanted(case.split));
    for case in wanted {
        let drafts = match cases.in_chat {
            true => drafts_in_chat(&case.text),
            false => drafts(&case.text),
        };
        let lines: Vec<String> = drafts.iter().map(line).collect();
        let score = report.languages.entry(case.language.clone()).or_default();
        let record = judge(case, &lines, score);
        if !record.missed.is_empty() || !record.noise.is_empty() {
            report.wrong.push(record);
        }
    }
    report
}

fn judge(case: &StatementCase, lines: &[String], score: &mut LanguageScore) -> StatementRecord {
    let holds = |line: &String, words: &String| line.to_lowercase().contains(&words.to_lowercase());
    let is_kept = |words: &&String| !lines.iter().any(|line| holds(line, words));
    let is_noise = |line: &&String| !case.keep.iter().any(|words| holds(line, words));
    let missed: Vec<String> = case.keep.iter().filter(is_kept).cloned().collect();
    let noise: Vec<String> = lines.iter().filter(is_noise).cloned().collect();
    score.worth_keeping += case.keep.len();
    score.kept += case.keep.len() - missed.len();
    score.lines += lines.len();
    score.right_lines += lines.len() - noise.len();
    score.passing += usize::from(case.keep.is_empty());
    score.left_out += usize::from(case.keep.is_empty() && lines.is_empty());
    StatementRecord {
        text: case.text.clone(),
        language: case.language.clone(),
        missed,
        noise,
    }
}

fn line(draft: &ObservationDraft) -> String {
    let parts = [
        draft.subject.as_ref(),
        Some(&draft.text),
        draft.context.as_ref(),
    ];
    parts
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" | ")
}

/// What is kept of a message after which the agent works, as agents do.
fn drafts(message: &str) -> Vec<ObservationDraft> {
    let call = Event {
        tool: Some("Bash".to_owned()),
        ..event(2, Origin::ToolCall, "git status --short")
    };
    let result = Event {
        status: Some(ToolStatus::Succeeded),
        ..event(3, Origin::ToolResult, "")
    };
    let mut events = [event(1, Origin::Human, message), call, result];
    for event in &mut events {
        event.place = Some(Place {
            root: "/home/ada/ledger".to_owned(),
            branch: Some("main".to_owned()),
        });
    }
    drafts_of(&events)
}

/// What is kept of a message in a chat, where the other answers.
pub(super) fn drafts_in_chat(message: &str) -> Vec<ObservationDraft> {
    let answer = event(2, Origin::Assistant, "Thank you.");
    drafts_of(&[event(1, Origin::Human, message), answer])
}

fn drafts_of(events: &[Event]) -> Vec<ObservationDraft> {
    let output = Extractive.extract_window(Window {
        session: &session(),
        before: &[],
        events,
        known: KnownMemory::default(),
        is_redone: false,
    });
    output.drafts
}

fn event(seq: u64, origin: Origin, text: &str) -> Event {
    Event {
        seq: EventSeq(seq),
        line: seq as u32,
        origin,
        at: Timestamp::ZERO,
        text: text.to_owned(),
        tool: None,
        call: None,
        status: None,
        sidechain: false,
        place: None,
    }
}

fn session() -> Session {
    Session {
        id: SessionId {
            tenant: Tenant::local(),
            agent: "eval".to_owned(),
            host_id: "statement".to_owned(),
        },
        label: "statement".to_owned(),
        kind: SessionKind::Root,
        memory_off: false,
        switched_off: false,
        kept_on: false,
        pollution: None,
        passed: Vec::new(),
        forked_from: None,
        user: None,
        surface: None,
        venue: daybook_domain::Venue::default(),
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(3),
    }
}
