//! Real conversations, replayed event by event with the compactor that asks no model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use daybook_domain::seams::SessionStore;
use daybook_domain::working::selection::unanswered;
use daybook_domain::working::{State, WorkingFlowSubType};
use daybook_domain::{Event, EventSeq, Origin, Tenant, ToolStatus};
use daybook_engine::ingest::import::{FileReport, ImportProgress, Intake, import, scan};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::stop::Stop;
use daybook_engine::working::context::{ContextOptions, build};
use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_llm::{Tokenizer as _, Vocabulary};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use serde_json::json;
use tokio::runtime::Builder;

use super::{NOW, manager};

/// The window of a small model, and what is kept free for its answer.
const WINDOW: u32 = 32_000;
const ANSWER: u32 = 4_000;
/// Compaction begins here.
const TOKENS: u64 = 20_000;

struct Quiet;

impl ImportProgress for Quiet {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

#[derive(Default)]
struct Seen {
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

/// Every session of the transcripts, if they are there.
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
    let seen = runtime.block_on(replay(folder.to_owned()))?;
    println!(
        "    {} threads, {} events, {} compactions; largest state {} tokens, largest context {} of {}",
        seen.threads,
        seen.events,
        seen.compactions,
        seen.most_state,
        seen.most_context,
        WINDOW - ANSWER
    );
    let counts = [
        ("contexts over their budget", seen.over_budget),
        ("calls parted from their outcomes", seen.parted),
        ("threads that got stuck", seen.stuck),
        (
            "contexts without the person's newest words",
            seen.without_words,
        ),
    ];
    let mut missed = false;
    for (what, count) in counts {
        missed |= super::judged(what, count as f64, 0.0, "", false);
    }
    Ok(missed)
}

async fn replay(folder: PathBuf) -> Result<Seen> {
    let store = Arc::new(MemoryStore::new());
    let intake = Intake {
        store: Arc::clone(&store) as _,
        clock: Arc::new(ManualClock::at(NOW)),
        tenant: Tenant::local(),
        patience: Default::default(),
        switches: Default::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let report = import(
        &intake,
        "working",
        scan(&[folder]),
        &Stop::default(),
        &Quiet,
    )
    .await?;
    let config = MemoryManagerConfig {
        auto_compact_tokens: Some(TOKENS),
        count: Arc::new(|text| Vocabulary::Other.count(text)),
        ..MemoryManagerConfig::default()
    };
    let manager = manager(Arc::new(MemoryStore::new()), config);
    let mut seen = Seen::default();
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
        thread(&manager, &events, &mut seen).await?;
    }
    ensure!(seen.events > 0, "the transcripts hold no events");
    Ok(seen)
}

async fn thread(manager: &MemoryManager, events: &[Event], seen: &mut Seen) -> Result<()> {
    let (thread, _) = manager.create_thread().await?;
    seen.threads += 1;
    let mut summary = None;
    for event in events.iter().filter_map(spoken) {
        let event = serde_json::from_value(event)?;
        manager.dispatch(&thread.id, &event).await?;
        manager.wait_until_unblocked(&thread.id).await?;
        let state = manager.current_state(&thread.id).await?;
        seen.events += 1;
        let newest = state
            .chunks()
            .find(|it| it.is(WorkingFlowSubType::Compacted));
        let newest = newest.map(|chunk| chunk.id.clone());
        if newest != summary {
            seen.compactions += 1;
            summary = newest;
        }
        look(&state, seen)?;
    }
    let state = manager.current_state(&thread.id).await?;
    // What can be compacted never piles up.
    let pending = daybook_domain::working::selection::compactable_flow(&state);
    if pending > 60 && unanswered(&state).len() < pending / 2 {
        seen.stuck += 1;
    }
    Ok(())
}

/// The state as an agent would send it now.
fn look(state: &State, seen: &mut Seen) -> Result<()> {
    let count = |text: &str| Vocabulary::Other.count(text);
    let tokens: u64 = state
        .chunks()
        .map(|it| u64::from(count(&it.content.told())))
        .sum();
    seen.most_state = seen.most_state.max(tokens);
    let context = build(state, &ContextOptions::new(WINDOW, ANSWER), &count)?;
    seen.most_context = seen.most_context.max(context.tokens);
    seen.over_budget += u64::from(context.tokens > WINDOW - ANSWER);
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
    seen.parted += u64::from(calls != answers);
    let words = state
        .chunks()
        .rev()
        .find(|it| it.is(WorkingFlowSubType::User));
    let is_there = |id| context.included.contains(id);
    seen.without_words += u64::from(words.is_some_and(|words| !is_there(&words.id)));
    Ok(())
}

/// An event of a transcript, as an agent's host would dispatch it.
fn spoken(event: &Event) -> Option<serde_json::Value> {
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
            "source": event.origin.word(), "content": text}),
        Origin::Recalled | Origin::Retraction => return None,
    })
}
