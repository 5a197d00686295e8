//! The default reducers: one for each of Team9's event types.

use daybook_domain::BoxError;
use daybook_domain::working::{EventType, ThreadEvent, ThreadState};

use crate::event_groups::{calls, chunkless, messages, news, outcomes, task_ends, todo_changes};

use super::{ReduceContext, Reduced, Reducer, conversation, memory, todos};

/// Reduces Team9's events, one reducer for each type.
///
/// Messages of the person and the agent, the agent's calls and their outcomes are `WORKING_FLOW`, so that all
/// of them can be compacted; calls of other agents are calls like others. The todo list is
/// one critical chunk that is kept up to date. Of the events without an effect in Team9, news from outside
/// become `ENVIRONMENT`, where the newest of a kind replaces the one before; requests to compact, to
/// pause and to resume are commands to the manager.
///
/// ```
/// use daybook_working::reduce::{DefaultReducer, Reducer};
/// let mut all = DefaultReducer::all();
/// assert!(all.any(|reducer| reducer.takes("USER_MESSAGE")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultReducer {
    takes: &'static str,
}

/// Types of commands to the manager, which leave no chunk.
const COMMANDS: [&str; 4] = [
    "MEMORY_COMPACT_MANUAL",
    "MEMORY_COMPACT_AUTO",
    "EXECUTION_PAUSE",
    "EXECUTION_RESUME",
];

impl DefaultReducer {
    /// One reducer for each type that has an effect.
    pub fn all() -> impl Iterator<Item = Self> {
        let does = |word: &&&str| !COMMANDS.contains(*word);
        let words = EventType::WORDS.iter().filter(does);
        words.map(|takes| Self { takes })
    }
}

impl Reducer for DefaultReducer {
    fn name(&self) -> &str {
        self.takes
    }

    fn takes(&self, event_type: &str) -> bool {
        self.takes == event_type
    }

    fn reduce(
        &self,
        state: &ThreadState,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError> {
        use EventType as E;
        Ok(match &event.kind {
            messages!() | calls!() | outcomes!() | task_ends!() => conversation::reduce(event, at),
            todo_changes!() => todos::reduce(state, event, at),
            E::MemoryMarkCritical { chunk_ids } => memory::mark_critical(state, chunk_ids, at),
            E::MemoryForget { chunk_ids } => memory::forget(state, chunk_ids, at),
            news!() => memory::news(state, event, at),
            chunkless!() => Reduced::default(),
        })
    }
}
