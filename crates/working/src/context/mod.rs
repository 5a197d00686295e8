//! Builds the messages that an agent sends to its model, from a thread's state and recalled memory, within one
//! budget (W74 to W78).
//!
//! The order is: the host's system prompt; chunks of the system, the agent and its workflow;
//! the conversation. So the parts that change least come first, and a provider's cache of the beginning holds.
//! **Recalled memory comes right before the newest request to the agent.** It changes with each
//! question: in the system's part it would make every provider read the whole conversation anew each turn.
//! There, only the last turn is read anew, and the agent's work within a turn does not move it.
//!
//! Where room is short, whole units are left out (`unit.rs`), in a fixed order (`fit.rs`); of the
//! conversation its end is kept, and what is pinned. A call and its outcome are left out together. The agent and
//! the caller can see what is not shown.
//!
//! Not here: how providers write messages (`daybook_llm`), which memory is recalled.

mod cut;
mod fit;
mod rendering;
mod tags;
mod unit;
mod wishes;

#[cfg(test)]
mod context_test_support;
#[cfg(test)]
mod promises_tests;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use daybook_domain::model::Message;
use daybook_domain::working::{ChunkId, ChunkType, ThreadState};

use fit::ContextFitter;

/// The format of a conversation.
///
/// ```
/// use daybook_working::context::{ContextOptions, ContextStyle};
/// let tagged = ContextOptions { style: ContextStyle::Tagged, ..ContextOptions::new(8_192, 1_024) };
/// assert_ne!(tagged.style, ContextStyle::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContextStyle {
    /// Calls and their outcomes are written as the tool use of providers. A provider may require that such a
    /// request offers the tools.
    #[default]
    Native,
    /// Everything is text in elements, as Team9 has it; nothing needs tools.
    Tagged,
}

/// The content of a context, and its budget.
///
/// ```
/// use daybook_working::context::ContextOptions;
/// let options = ContextOptions {
///     system: Some("You help Ada with her notes."),
///     recalled: Some("Ada deploys on Tuesdays."),
///     tools_tokens: 300,
///     ..ContextOptions::new(32_768, 2_048)
/// };
/// assert_eq!(options.max_tokens, 32_768);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ContextOptions<'a> {
    /// The host's system prompt. It is never left out.
    pub system: Option<&'a str>,
    /// Recalled memory, as text, with or without Daybook's element; it is shown in one.
    pub recalled: Option<&'a str>,
    /// Most tokens of request and answer together: the model's whole window.
    pub max_tokens: u32,
    /// Tokens of the window that are kept free for the answer.
    pub answer_tokens: u32,
    /// Tokens of the window that the schemas of tools take, as the host counts them.
    pub tools_tokens: u32,
    /// Chunks of these types are not shown.
    pub exclude_types: &'a [ChunkType],
    /// Only these chunks are shown.
    pub include_only: Option<&'a [ChunkId]>,
    /// The format of the conversation.
    pub style: ContextStyle,
}

impl ContextOptions<'_> {
    /// Options without filters for a window of `max_tokens`, of which `answer_tokens` are for the answer.
    #[must_use]
    pub fn new(max_tokens: u32, answer_tokens: u32) -> Self {
        Self {
            system: None,
            recalled: None,
            max_tokens,
            answer_tokens,
            tools_tokens: 0,
            exclude_types: &[],
            include_only: None,
            style: ContextStyle::Native,
        }
    }

    fn budget(&self) -> u32 {
        let taken = self.answer_tokens.saturating_add(self.tools_tokens);
        self.max_tokens.saturating_sub(taken)
    }
}

/// The messages for a model. Each chunk of the state is in one of `included` and `left_out`.
///
/// ```
/// use daybook_working::context::ThreadContext;
/// let describe = |context: &ThreadContext| {
///     format!("{} messages of {} tokens, {} chunks left out", context.messages.len(), context.tokens, context.left_out.len())
/// };
/// # let _ = describe;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadContext {
    /// The messages: at most one of the system, then a user's first. Users and the assistant alternate;
    /// outcomes come right behind the message that called, in the order of its calls.
    pub messages: Vec<Message>,
    /// Their tokens, by the given count, with an estimate of those that providers add around each message.
    /// Never more than the budget.
    pub tokens: u32,
    /// Chunks that are shown, in the order of the messages.
    pub included: Vec<ChunkId>,
    /// Included chunks whose middle is cut out.
    pub shortened: Vec<ChunkId>,
    /// Chunks that are not shown, in the order of the state.
    pub left_out: Vec<OmittedChunk>,
    /// Whether recalled memory is shown.
    pub recalled: bool,
}

/// A chunk that is not shown.
///
/// ```
/// use daybook_working::context::{OmittedChunk, OmissionReason};
/// let left = OmittedChunk { chunk: "chunk_1".into(), why: OmissionReason::NoRoom };
/// assert_eq!(left.why, OmissionReason::NoRoom);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedChunk {
    /// The chunk's id.
    pub chunk: ChunkId,
    /// The reason.
    pub why: OmissionReason,
}

/// The reason why a chunk is not shown.
///
/// ```
/// use daybook_working::context::OmissionReason;
/// assert_ne!(OmissionReason::NoRoom, OmissionReason::Filtered);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OmissionReason {
    /// The options exclude it.
    Filtered,
    /// The budget had no room for it.
    NoRoom,
}

/// The budget is too small even for the messages that must be sent.
///
/// ```
/// use daybook_working::context::ContextError;
/// let error = ContextError { needed: 900, available: 512 };
/// assert!(error.to_string().contains("take 900 tokens, and there is room for 512"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system prompt and the newest message take {needed} tokens, and there is room for {available}: \
     shorten the system prompt, offer fewer tools, or keep less free for the answer"
)]
pub struct ContextError {
    /// Tokens of the messages that must be sent, with the newest one cut as far as it may be.
    pub needed: u32,
    /// Tokens of the budget.
    pub available: u32,
}

/// Builds the context of `state`. `count` returns the tokens of a text, or a higher number.
///
/// The same arguments give the same context.
///
/// # Errors
/// [`ContextError`] when the system prompt and the newest message, as short as it can be cut, exceed the budget.
///
/// ```
/// use daybook_working::context::{ContextOptions, build};
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::{
/// #     Chunk, ChunkType, ChunkContent, Provenance, ThreadState, StateMetadata, StateSource, WorkingFlowSubType,
/// # };
/// # let hello = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance,
/// #     custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello.part(WorkingFlowSubType::User).into()]);
/// let options = ContextOptions {
///     system: Some("Be brief."),
///     ..ContextOptions::new(8_192, 1_024)
/// };
/// let context = build(&state, &options, &|text| text.len() as u32)?;
/// assert_eq!(context.messages[0].text, "Be brief.");
/// assert_eq!(context.messages[1].text, "Hello!");
/// # Ok::<(), daybook_working::context::ContextError>(())
/// ```
pub fn build(
    state: &ThreadState,
    options: &ContextOptions<'_>,
    count: &dyn Fn(&str) -> u32,
) -> Result<ThreadContext, ContextError> {
    let only: Option<HashSet<&ChunkId>> = options.include_only.map(|ids| ids.iter().collect());
    let (shown, filtered): (Vec<_>, Vec<_>) = state.chunks().partition(|chunk| {
        let wanted = only.as_ref().is_none_or(|ids| ids.contains(&chunk.id));
        wanted && !options.exclude_types.contains(&chunk.kind)
    });
    let units = unit::units(&shown, options);
    let draft = ContextFitter::new(units, options.budget(), count);
    let mut context = draft.fit()?;
    let filtered = filtered.iter().map(|chunk| OmittedChunk {
        chunk: chunk.id.clone(),
        why: OmissionReason::Filtered,
    });
    context.left_out.extend(filtered);
    context
        .left_out
        .sort_by_cached_key(|left| state.position(&left.chunk));
    Ok(context)
}
