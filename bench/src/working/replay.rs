//! Replays real conversations event by event, with the compactor that calls no model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use daybook_domain::seams::SessionLog;
use daybook_domain::working::selection::unanswered;
use daybook_domain::working::{ThreadState, WorkingFlowSubType};
use daybook_domain::{Event, EventSeq, Origin, Tenant, ToolStatus};
use daybook_engine::append::IngestContext;
use daybook_engine::import::{import, scan};
use daybook_engine::stop::Stop;
use daybook_llm::{TokenVocabulary, Tokenizer as _};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use daybook_text::redact::Redactor;
use daybook_working::context::{ContextOptions, build};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use serde_json::json;
use tokio::runtime::Builder;

use super::{NOW, manager};
use crate::transcripts::DiscardProgress;

/// The window of a small model, and what is kept free for its answer.
const WINDOW: u32 = 32_000;
const ANSWER: u32 = 4_000;
/// Compaction begins here.
const TOKENS: u64 = 20_000;

#[derive(Default)]
struct ReplayTotals {
    threads: u64,
    events: u64,
    compactions: u64,
    over_budget: u64,
    parted: u64,
    stuck: u64,
    most_state: u64,
    most_context: u32,
    without_words: u64,
}

/// Replays every session of the transcripts, if they exist.
pub(super) fn transcripts() -> Result<bool> {
    let folder = Path::new("../shared/data/transcripts");
    if !folder.is_dir() {
        println!(
            "  no transcripts at {}: nothing is replayed",
            folder.display()
        );
        return Ok(false);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let totals = runtime.block_on(replay(folder.to_owned()))?;
    println!(
        "    {} threads, {} events, {} compactions; largest state {} tokens, largest context {} of {}",
        totals.threads,
        totals.events,
        totals.compactions,
        totals.most_state,
        totals.most_context,
        WINDOW - ANSWER
    );
    let counts = [
        ("contexts over their budget", totals.over_budget),
        ("calls parted from their outcomes", totals.parted),
        ("threads that got stuck", totals.stuck),
        (
            "contexts without the person's newest words",
            totals.without_words,
        ),
    ];
    let mut missed = false;
    for (what, count) in counts {
        missed |= super::print_judged(what, count as f64, 0.0, "", false);
    }
    Ok(missed)
}

async fn replay(folder: PathBuf) -> Result<ReplayTotals> {
    let store = Arc::new(MemoryStore::new());
    let intake = IngestContext {
        store: Arc::clone(&store) as _,
        clock: Arc::new(ManualClock::at(NOW)),
        tenant: Tenant::local(),
        patience: Default::default(),
        switches: Default::default(),
        teams: Default::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let report = import(
        &intake,
        "working",
        scan(&[folder]),
        &Stop::default(),
        &DiscardProgress,
    )
    .await?;
    let config = MemoryManagerConfig {
        auto_compact_tokens: Some(TOKENS),
        count: Arc::new(|text| TokenVocabulary::Other.count(text)),
        ..MemoryManagerConfig::default()
    };
    let manager = manager(Arc::new(MemoryStore::new()), config);
    let mut totals = ReplayTotals::default();
    for session in &report.sessions {
        let events = store
            .events(
                session,
                EventSeq(0),
                EventSeq(u64::MAX >> 1),
                usize::MAX >> 1,
                usize::MAX >> 1,
            )
            .await?;
        thread(&manager, &events, &mut totals).await?;
    }
    ensure!(totals.events > 0, "the transcripts hold no events");
    Ok(totals)
}

async fn thread(
    manager: &MemoryManager,
    events: &[Event],
    totals: &mut ReplayTotals,
) -> Result<()> {
    let (thread, _) = manager.create_thread().await?;
    totals.threads += 1;
    let mut summary = None;
    for event in events.iter().filter_map(dispatchable) {
        let event = serde_json::from_value(event)?;
        manager.dispatch(&thread.id, &event).await?;
        manager.wait_until_unblocked(&thread.id).await?;
        let state = manager.current_state(&thread.id).await?;
        totals.events += 1;
        let newest = state
            .chunks()
            .find(|it| it.is(WorkingFlowSubType::Compacted));
        let newest = newest.map(|chunk| chunk.id.clone());
        if newest != summary {
            totals.compactions += 1;
            summary = newest;
        }
        check_state(&state, totals)?;
    }
    let state = manager.current_state(&thread.id).await?;
    // Compactable chunks must not pile up.
    let pending = daybook_domain::working::selection::compactable_flow(&state);
    if pending > 60 && unanswered(&state).len() < pending / 2 {
        totals.stuck += 1;
    }
    Ok(())
}

/// Checks the context that an agent would send now.
fn check_state(state: &ThreadState, totals: &mut ReplayTotals) -> Result<()> {
    let count = |text: &str| TokenVocabulary::Other.count(text);
    let tokens: u64 = state
        .chunks()
        .map(|it| u64::from(count(&it.content.to_text())))
        .sum();
    totals.most_state = totals.most_state.max(tokens);
    let context = build(state, &ContextOptions::new(WINDOW, ANSWER), &count)?;
    totals.most_context = totals.most_context.max(context.tokens);
    totals.over_budget += u64::from(context.tokens > WINDOW - ANSWER);
    let calls: Vec<_> = context
        .messages
        .iter()
        .flat_map(|it| &it.calls)
        .map(|it| &it.id)
        .collect();
    let answers: Vec<_> = context
        .messages
        .iter()
        .filter_map(|it| it.answers.as_ref())
        .collect();
    totals.parted += u64::from(calls != answers);
    let words = state
        .chunks()
        .rev()
        .find(|it| it.is(WorkingFlowSubType::User));
    let is_there = |id| context.included.contains(id);
    totals.without_words += u64::from(words.is_some_and(|words| !is_there(&words.id)));
    Ok(())
}

/// An event of a transcript, as an agent's host would dispatch it.
fn dispatchable(event: &Event) -> Option<serde_json::Value> {
    if event.sidechain {
        return None;
    }
    let call = event
        .call
        .clone()
        .unwrap_or_else(|| format!("call-{}", event.seq.0));
    let tool = event.tool.clone().unwrap_or_else(|| "tool".to_owned());
    let (text, at) = (&event.text, event.at);
    Some(match event.origin {
        Origin::Human => json!({"type": "USER_MESSAGE", "timestamp": at, "content": text}),
        Origin::Assistant => json!({"type": "LLM_TEXT_RESPONSE", "timestamp": at, "content": text}),
        Origin::ToolCall => {
            json!({"type": "LLM_TOOL_CALL", "timestamp": at, "toolName": tool, "callId": call,
            "arguments": {"text": text}})
        }
        Origin::ToolResult => {
            json!({"type": "TOOL_RESULT", "timestamp": at, "toolName": tool, "callId": call,
            "result": text, "success": event.status.is_none_or(|it| it == ToolStatus::Succeeded)})
        }
        Origin::Harness | Origin::Synthetic => json!({"type": "EXTERNAL_INJECT", "timestamp": at,
            "source": event.origin.as_str(), "content": text}),
        Origin::Recalled | Origin::Retraction => return None,
    })
}
