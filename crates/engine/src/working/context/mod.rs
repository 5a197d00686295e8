//! A thread's state and recalled memory as the messages that its agent sends to a model, within one
//! budget (spec/working-memory.md 7, "Context" of 15).
//!
//! What is sent, in this order: the host's system prompt; chunks of the system, the agent and its workflow;
//! the conversation. So what changes least stands first, and a provider's cache of the beginning holds.
//! **Recalled memory stands right before the newest message that asks for something.** It changes with each
//! question: in the system's part it would make every provider read the whole conversation anew each turn.
//! There, only the last turn is read anew, and what the agent does within a turn leaves it where it is.
//!
//! Where room is short, whole units go (`unit.rs`), in a fixed order (`fit.rs`); what is kept of the
//! conversation is its end, plus what must stay. A call and its outcome go together or not at all. What is
//! not shown is said, to the agent and to the caller.
//!
//! Not here: how providers write messages (`daybook_llm`), what is recalled.

mod cut;
mod fit;
mod spoken;
mod tags;
mod unit;

#[cfg(test)]
mod promises_tests;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use daybook_domain::model::Message;
use daybook_domain::working::{ChunkId, ChunkType, State};

use fit::Draft;

/// How a conversation is written.
///
/// ```
/// use daybook_engine::working::context::{ContextOptions, Style};
/// let tagged = ContextOptions { style: Style::Tagged, ..ContextOptions::new(8_192, 1_024) };
/// assert_ne!(tagged.style, Style::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Style {
    /// Calls and their outcomes are what providers call tool use. A provider may want the tools to be
    /// offered in such a request.
    #[default]
    Native,
    /// Everything is text in elements, as the seed's own system has it; nothing needs tools.
    Tagged,
}

/// What goes into a context, and how much room there is.
///
/// ```
/// use daybook_engine::working::context::ContextOptions;
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
    /// What is recalled, as text, with or without Daybook's element; it is shown in one.
    pub recalled: Option<&'a str>,
    /// Most tokens of question and answer together: the model's whole window.
    pub max_tokens: u32,
    /// Of these, kept free for the answer.
    pub answer_tokens: u32,
    /// Of these, taken by the schemas of tools, as the host counts them.
    pub tools_tokens: u32,
    /// Chunks of these types are not shown.
    pub exclude_types: &'a [ChunkType],
    /// Only these chunks are shown.
    pub include_only: Option<&'a [ChunkId]>,
    /// How it is written.
    pub style: Style,
}

impl ContextOptions<'_> {
    /// Everything within a window of `max_tokens`, of which `answer_tokens` are for the answer.
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
            style: Style::Native,
        }
    }

    fn budget(&self) -> u32 {
        let taken = self.answer_tokens.saturating_add(self.tools_tokens);
        self.max_tokens.saturating_sub(taken)
    }
}

/// What a model is sent. Each chunk of the state is in one of `included` and `left_out`.
///
/// ```
/// use daybook_engine::working::context::Context;
/// let told = |context: &Context| {
///     format!("{} messages of {} tokens, {} chunks left out", context.messages.len(), context.tokens, context.left_out.len())
/// };
/// # let _ = told;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The messages: one of the system at most, then a user's first. Users and the assistant alternate;
    /// outcomes stand right behind the message that called, in the order of its calls.
    pub messages: Vec<Message>,
    /// What they take, by the count that was given and what providers add around each message, estimated.
    /// Never more than the budget.
    pub tokens: u32,
    /// Chunks that are shown, in the order of the messages.
    pub included: Vec<ChunkId>,
    /// Of these, those whose middle is missing.
    pub shortened: Vec<ChunkId>,
    /// Chunks that are not shown, in the order of the state.
    pub left_out: Vec<LeftOut>,
    /// Whether what was recalled is shown.
    pub recalled: bool,
}

/// A chunk that is not shown.
///
/// ```
/// use daybook_engine::working::context::{LeftOut, Why};
/// let left = LeftOut { chunk: "chunk_1".into(), why: Why::NoRoom };
/// assert_eq!(left.why, Why::NoRoom);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub chunk: ChunkId,
    /// Why.
    pub why: Why,
}

/// Why a chunk is not shown.
///
/// ```
/// use daybook_engine::working::context::Why;
/// assert_ne!(Why::NoRoom, Why::Filtered);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// The options say so.
    Filtered,
    /// There was no room.
    NoRoom,
}

/// There is no room even for what must be sent.
///
/// ```
/// use daybook_engine::working::context::ContextError;
/// let error = ContextError { needed: 900, available: 512 };
/// assert!(error.to_string().contains("take 900 tokens, and there is room for 512"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system prompt and the newest message take {needed} tokens, and there is room for {available}: \
     shorten the system prompt, offer fewer tools, or keep less free for the answer"
)]
pub struct ContextError {
    /// Tokens of what must be sent, the newest message cut as far as it may be.
    pub needed: u32,
    /// Tokens that there are.
    pub available: u32,
}

/// Builds the context of `state`. `count` says how many tokens a text is, or more.
///
/// The same arguments give the same context.
///
/// # Errors
/// [`ContextError`] when the system prompt and the newest message, cut, have no room.
///
/// ```
/// use daybook_engine::working::context::{ContextOptions, build};
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::{
/// #     Chunk, ChunkType, Content, Provenance, State, StateMetadata, StateSource, WorkingFlowSubType,
/// # };
/// # let hello = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, Content::text("Hello!"), Timestamp(0));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance,
/// #     custom: Default::default(),
/// # };
/// # let state = State::new("state_1".into(), metadata, vec![hello.part(WorkingFlowSubType::User).into()]);
/// let options = ContextOptions {
///     system: Some("Be brief."),
///     ..ContextOptions::new(8_192, 1_024)
/// };
/// let context = build(&state, &options, &|text| text.len() as u32)?;
/// assert_eq!(context.messages[0].text, "Be brief.");
/// assert_eq!(context.messages[1].text, "Hello!");
/// # Ok::<(), daybook_engine::working::context::ContextError>(())
/// ```
pub fn build(
    state: &State,
    options: &ContextOptions<'_>,
    count: &dyn Fn(&str) -> u32,
) -> Result<Context, ContextError> {
    let only: Option<HashSet<&ChunkId>> = options.include_only.map(|ids| ids.iter().collect());
    let (shown, filtered): (Vec<_>, Vec<_>) = state.chunks().partition(|chunk| {
        let wanted = only.as_ref().is_none_or(|ids| ids.contains(&chunk.id));
        wanted && !options.exclude_types.contains(&chunk.kind)
    });
    let units = unit::units(&shown, options);
    let draft = Draft::new(units, options.budget(), count);
    let mut context = draft.fitted()?;
    let filtered = filtered.iter().map(|chunk| LeftOut {
        chunk: chunk.id.clone(),
        why: Why::Filtered,
    });
    context.left_out.extend(filtered);
    context
        .left_out
        .sort_by_cached_key(|left| state.position(&left.chunk));
    Ok(context)
}
