//! Patterns of event types that are handled alike.
//!
//! A match that names every group needs no `_` arm, so a new event type does not compile until someone has decided
//! which group it belongs to.

macro_rules! event_groups {
    ($($(#[$doc:meta])* $group:ident: $($name:ident)|+;)*) => {
        $(
            $(#[$doc])*
            macro_rules! $group {
                () => {
                    $(daybook_domain::working::EventType::$name { .. })|+
                };
            }
            pub(crate) use $group;
        )*
    };
}

event_groups! {
    /// A message of a person or of an agent.
    messages: UserMessage | ParentAgentMessage | LlmTextResponse | LlmClarification;
    /// A call of a tool, a skill or another agent.
    calls: LlmToolCall | LlmSkillCall | LlmSubagentSpawn | LlmSubagentMessage;
    /// The outcome of a call.
    outcomes: ToolResult | SkillResult | SubagentResult | ToolError | SkillError | SubagentError;
    /// The end of a task, or an error of the system.
    task_ends: SystemError | TaskCompleted | TaskAbandoned | TaskTerminated;
    /// A change of the todo list.
    todo_changes: TodoSet | TodoCompleted | TodoExpanded | TodoUpdated | TodoDeleted;
    /// A choice of chunks to keep or to forget.
    chunk_choices: MemoryMarkCritical | MemoryForget;
    /// News from outside.
    news: ExternalInject | ExternalTimer | EnvironmentChange | ExecutionRetry;
    /// A command to the manager, or a type of the host's own: neither leaves a chunk.
    chunkless: MemoryCompactManual | MemoryCompactAuto | ExecutionPause | ExecutionResume | Custom;
}
