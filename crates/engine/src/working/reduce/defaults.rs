//! The reducers that are there without being asked for: one for each event type of the seed.

use daybook_domain::BoxError;
use daybook_domain::working::{EventType, State, ThreadEvent};

use super::{ReduceContext, Reduced, Reducer, conversation, memory, todos};

/// What the seed's events do (spec/working-memory.md 3), one reducer for each type.
///
/// The words of the person, the agent's words, its calls and their outcomes are `WORKING_FLOW`, so that all
/// of them can be compacted; other agents that the agent calls are calls like others. The things to do are
/// one critical chunk that is kept up to date. Of what the seed leaves without an effect, news from outside
/// is `ENVIRONMENT`, where the newest of a kind takes the place of the one before; a wish to compact, to
/// pause and to resume is what the manager acts upon.
///
/// ```
/// use daybook_engine::working::reduce::{DefaultReducer, Reducer};
/// let mut all = DefaultReducer::all();
/// assert!(all.any(|reducer| reducer.takes("USER_MESSAGE")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultReducer {
    takes: &'static str,
}

/// Types that the manager acts upon, and which leave no chunk.
const COMMANDS: [&str; 4] = [
    "MEMORY_COMPACT_MANUAL",
    "MEMORY_COMPACT_AUTO",
    "EXECUTION_PAUSE",
    "EXECUTION_RESUME",
];

impl DefaultReducer {
    /// One for each type that does something.
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
        state: &State,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError> {
        use EventType as E;
        Ok(match &event.kind {
            E::UserMessage { .. }
            | E::ParentAgentMessage { .. }
            | E::LlmTextResponse { .. }
            | E::LlmToolCall { .. }
            | E::LlmSkillCall { .. }
            | E::LlmSubagentSpawn { .. }
            | E::LlmSubagentMessage { .. }
            | E::LlmClarification { .. }
            | E::ToolResult { .. }
            | E::SkillResult { .. }
            | E::SubagentResult { .. }
            | E::ToolError { .. }
            | E::SkillError { .. }
            | E::SubagentError { .. }
            | E::SystemError { .. }
            | E::TaskCompleted { .. }
            | E::TaskAbandoned { .. }
            | E::TaskTerminated { .. } => conversation::reduce(event, at),
            E::TodoSet { .. }
            | E::TodoCompleted { .. }
            | E::TodoExpanded { .. }
            | E::TodoUpdated { .. }
            | E::TodoDeleted { .. } => todos::reduce(state, event, at),
            E::MemoryMarkCritical { chunk_ids } => memory::mark_critical(state, chunk_ids, at),
            E::MemoryForget { chunk_ids } => memory::forget(state, chunk_ids, at),
            E::ExternalInject { .. }
            | E::ExternalTimer { .. }
            | E::EnvironmentChange { .. }
            | E::ExecutionRetry { .. } => memory::news(state, event, at),
            E::MemoryCompactManual { .. }
            | E::MemoryCompactAuto { .. }
            | E::ExecutionPause { .. }
            | E::ExecutionResume { .. }
            | E::Custom { .. } => Reduced::default(),
        })
    }
}
