//! Events that are commands to the manager, besides what they do to the state.

use daybook_domain::working::{ChunkId, EventType, StateId};

use crate::compact::CompactionReason;

/// What an applied event asks the manager to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ThreadCommand {
    Pause,
    Resume {
        /// The state to put back.
        restore: Option<StateId>,
    },
    Compact {
        /// `None` for all that can be compacted.
        chunks: Option<Vec<ChunkId>>,
        why: CompactionReason,
    },
}

impl ThreadCommand {
    pub(super) fn of(event: &EventType) -> Option<Self> {
        use EventType as E;
        match event {
            E::ExecutionPause { .. } => Some(Self::Pause),
            E::ExecutionResume {
                resume_from_state_id,
            } => Some(Self::Resume {
                restore: resume_from_state_id.clone(),
            }),
            E::MemoryCompactManual { chunk_ids } => Some(Self::Compact {
                chunks: chunk_ids.clone(),
                why: CompactionReason::Asked,
            }),
            E::MemoryCompactAuto {
                threshold,
                current_size,
            } => (current_size >= threshold).then_some(Self::Compact {
                chunks: None,
                why: CompactionReason::Chunks,
            }),
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
            | E::TaskTerminated { .. }
            | E::TodoSet { .. }
            | E::TodoCompleted { .. }
            | E::TodoExpanded { .. }
            | E::TodoUpdated { .. }
            | E::TodoDeleted { .. }
            | E::MemoryMarkCritical { .. }
            | E::MemoryForget { .. }
            | E::ExternalInject { .. }
            | E::ExternalTimer { .. }
            | E::EnvironmentChange { .. }
            | E::ExecutionRetry { .. }
            | E::Custom { .. } => None,
        }
    }
}
