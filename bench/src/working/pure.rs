//! Reducing and applying, in memory, on one core.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::working::ThreadEntry;
use daybook_domain::{EventSeq, SessionId, Tenant};
use daybook_working::fold::Fold;
use daybook_working::reduce::ReducerRegistry;
use rustix::time::{ClockId, clock_gettime};

use super::{NOW, event, print_judged};

/// Events of one round: the state has up to so many chunks.
const ROUND: u64 = 20;
const EVENTS: u64 = 400_000;

/// States of up to 20 chunks, as between two compactions.
pub(super) fn reduce() -> Result<bool> {
    let thread = SessionId {
        tenant: Tenant::local(),
        agent: "bench".to_owned(),
        host_id: "thread".to_owned(),
    };
    let fold = Fold::new(&thread, Arc::new(ReducerRegistry::default()));
    let entries: Vec<_> = (0..EVENTS)
        .map(|number| ThreadEntry::Event {
            event: event(number),
        })
        .collect();
    let mut best: f64 = 0.0;
    for _ in 0..3 {
        let began = thread_time();
        let mut made = 0;
        let mut state = fold.beginning(NOW);
        for (number, entry) in (1..).zip(&entries) {
            if number % ROUND == 0 {
                state = fold.beginning(NOW);
            }
            made += fold
                .entry(&mut state, EventSeq(number), NOW, entry)
                .applied
                .added
                .len();
        }
        assert_eq!(made as u64, EVENTS, "each event makes a chunk");
        best = best.max(EVENTS as f64 / thread_time().saturating_sub(began).as_secs_f64());
    }
    Ok(print_judged(
        "events reduced and applied a second, one core",
        best,
        500_000.0,
        "events/s",
        true,
    ))
}

/// The processor time of this thread, which other programs do not lengthen, unlike wall time.
fn thread_time() -> Duration {
    let ran = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(ran).unwrap_or_default()
}
