//! Prints threads for people.

use daybook_domain::working::ThreadState;

use super::super::sessions::day;
use crate::terminal::output::{bold, count, dim, grouped, print_line, warn};
use crate::terminal::suggest;
use crate::threads::{PastState, ThreadChange, ThreadListing};
use crate::wiring::Daybook;

/// Most characters of a chunk that are shown.
const SHOWN: usize = 160;

pub(super) fn list(threads: &[ThreadListing]) {
    if threads.is_empty() {
        let create = suggest::command("threads create");
        print_line!("There is no thread yet; `{create}` creates one.");
    }
    for thread in threads {
        let waits = thread.waits.map(|why| format!(" · {}", warn(why)));
        print_line!(
            "{}  {} · {} · {}{}",
            bold(&format!("{:<8}", thread.label)),
            thread.thread,
            count(thread.events, "event"),
            thread.updated.as_deref().unwrap_or("undated"),
            waits.unwrap_or_default(),
        );
    }
}

pub(super) fn state(state: &ThreadState) {
    print_line!(
        "{} {}",
        bold(&state.id.to_string()),
        dim(&count(state.len() as u64, "chunk"))
    );
    for chunk in state.chunks() {
        let part = chunk.sub_type.map(|part| format!("/{}", part.as_str()));
        let kind = format!("{}{}", chunk.kind.as_str(), part.unwrap_or_default());
        print_line!("  {kind:<28} {}", excerpt(&chunk.content.to_text()));
        print_line!("  {:<28} {}", "", dim(&chunk.id.to_string()));
    }
}

pub(super) fn history(daybook: &Daybook, states: &[PastState]) {
    for past in states {
        let from = &past.metadata.provenance;
        let what = from.event_type.as_deref().map_or_else(
            || format!("{:?}", from.source).to_lowercase(),
            str::to_owned,
        );
        print_line!(
            "{}  {:>6}  {what}  {}",
            day(daybook, past.metadata.created_at),
            from.seq.0,
            dim(&past.id.to_string())
        );
    }
}

pub(super) fn compaction(compacted: &ThreadChange) {
    let (added, removed) = compacted.chunks();
    match &compacted.compaction {
        Some(by) => print_line!(
            "{} became {}, {} tokens became {}; by {}.",
            count(removed as u64, "chunk"),
            added,
            grouped(by.tokens_before),
            grouped(by.tokens_after),
            by.by
        ),
        None => print_line!("There is nothing to compact."),
    }
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
