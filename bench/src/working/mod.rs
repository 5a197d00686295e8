//! Measures working memory: the rate of reducing and storing events, the time to open threads, their memory, and whether
//! real conversations stay within their budget.

mod live;
mod opening;
mod pure;
mod replay;
mod soak;

pub(crate) use live::small;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use daybook_domain::Timestamp;
use daybook_domain::time::Clock;
use daybook_domain::working::{EventType, ThreadEvent, ThreadStore};
use daybook_testkit::ManualClock;
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_working::reduce::ReducerRegistry;
use serde_json::json;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// How fast events are reduced and applied.
pub(crate) fn reducing() -> Result<()> {
    fail_on_missed(&[pure::reduce()?])
}

/// How fast events of many threads are stored, and how soon while others compact.
pub(crate) fn dispatching() -> Result<()> {
    fail_on_missed(&[live::dispatch()?, live::beside_compaction()?])
}

/// What idle threads take, and how soon a long one opens.
pub(crate) fn opening() -> Result<()> {
    fail_on_missed(&[opening::memory()?, opening::from_snapshot()?])
}

/// Whether real conversations stay within their budget.
pub(crate) fn replaying() -> Result<()> {
    fail_on_missed(&[replay::transcripts()?])
}

/// A minute of compactions that fail at random.
pub(crate) fn failures() -> Result<()> {
    soak::minute(Duration::from_secs(60))
}

fn fail_on_missed(missed: &[bool]) -> Result<()> {
    match missed.iter().filter(|it| **it).count() {
        0 => Ok(()),
        missed => bail!("{missed} of these numbers are missed"),
    }
}

fn manager(store: Arc<dyn ThreadStore>, config: MemoryManagerConfig) -> MemoryManager {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW));
    MemoryManager::new(store, ReducerRegistry::default(), None, clock, config)
}

/// Events of a turn.
const TURN: u64 = 4;

/// The events of an agent's thread in turn: a person's message, a call, its result, the agent's message.
fn event(number: u64) -> ThreadEvent {
    let words = "and please keep the limit of the cache as it is, for the others rely on it";
    let kind = match number % TURN {
        0 => EventType::UserMessage {
            content: format!("Wish {number}: {words}"),
            attachments: Vec::new(),
        },
        1 => EventType::LlmToolCall {
            tool_name: "read_file".to_owned(),
            call_id: format!("call-{}", number / TURN),
            arguments: json!({"path": format!("src/part{number}.rs")}),
        },
        2 => EventType::ToolResult {
            tool_name: "read_file".to_owned(),
            call_id: format!("call-{}", number / TURN),
            result: json!(format!("fn part{number}() {{}} // {words} {words}")),
            success: true,
        },
        _ => EventType::LlmTextResponse {
            content: format!("I read part {number}; {words}."),
            model: None,
            usage: None,
        },
    };
    ThreadEvent::new(kind, NOW)
}

/// Prints a figure beside its target. Returns whether it misses the target.
fn print_judged(what: &str, found: f64, wanted: f64, unit: &str, at_least: bool) -> bool {
    let missed = if at_least {
        found < wanted
    } else {
        found > wanted
    };
    let bound = if at_least { ">=" } else { "<=" };
    let verdict = if missed { "MISSED" } else { "ok" };
    println!("  {what:56} {found:12.1} {unit:10} (wanted {bound} {wanted}) {verdict}");
    missed
}
