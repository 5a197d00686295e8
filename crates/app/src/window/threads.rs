//! *Threads*: an agent's live context, its chunks and budget, and its compactions over time.

use anyhow::Result;
use maud::{Markup, html};

use super::chart::bars;
use super::frame::{Page, more, table};
use super::links;
use super::text::{cut, plain, when};
use crate::service::format_time;
use crate::threads::{find, history, list, state};
use crate::wiring::Daybook;

/// Threads and chunks on one page, and states of the time line.
const THREADS: usize = 100;
const CHUNKS: usize = 200;
const STATES: usize = 60;
/// Characters of a chunk that are shown.
const EXCERPT: usize = 400;

/// All threads, newest activity first.
pub(crate) async fn page(daybook: &Daybook) -> Result<Page> {
    let threads = list(daybook, THREADS).await?;
    let rows: Vec<Vec<Markup>> = threads
        .iter()
        .map(|thread| {
            vec![
                html! { a href=(links::page("thread", &[("name", &thread.thread)])) { (plain(&thread.thread)) } },
                html! { (thread.events) },
                html! { (when(daybook, thread.updated.as_deref().unwrap_or_default())) },
                html! { @if let Some(waits) = thread.waits { span.warn { (waits) } } },
            ]
        })
        .collect();
    let body = html! {
        @if rows.is_empty() { p { "No agent keeps a thread here." } }
        @else { (table("Threads", &["Thread", "Events", "Last", "Waits for"], &rows)) }
    };
    Ok(Page::new("threads", "Threads", body).live())
}

/// One thread.
pub(crate) async fn thread_page(daybook: &Daybook, name: &str, from: usize) -> Result<Page> {
    let thread = find(daybook, name).await?;
    let now = state(daybook, &thread, None).await?;
    let past = history(daybook, &thread).await?;
    let mut sizes = Vec::new();
    for state_then in past.iter().rev().take(STATES).rev() {
        let then = state(daybook, &thread, Some(&state_then.id)).await?;
        let at = format_time(daybook, state_then.metadata.created_at, "%-d %b %H:%M");
        sizes.push((at.unwrap_or_default(), then.len() as f64));
    }
    let id = thread.to_string();
    let chunks: Vec<Vec<Markup>> = now
        .chunks()
        .skip(from)
        .take(CHUNKS)
        .map(|chunk| {
            let content = serde_json::to_string(&chunk.content).unwrap_or_default();
            vec![
                html! { (chunk.kind.as_str()) @if let Some(part) = chunk.sub_type { " · " (part.as_str()) } },
                html! { (plain(&cut(&content, EXCERPT))) },
                html! { (content.len()) },
            ]
        })
        .collect();
    let upto = from.saturating_add(CHUNKS);
    let rest = (upto < now.len())
        .then(|| links::page("thread", &[("name", &id), ("from", &upto.to_string())]));
    let body = html! {
        p.quiet { (plain(&id)) " · " (now.len()) " chunks · " (past.len()) " states" }
        (bars("Chunks over time; a fall is a compaction", &sizes, "chunks"))
        (table("What it holds now", &["Chunk", "Text", "Bytes"], &chunks))
        (more(rest))
    };
    Ok(Page::new("threads", format!("Thread {id}"), body))
}
