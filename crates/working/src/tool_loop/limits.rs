//! The bounds of a loop, and which of them ended it.

use std::time::Duration;

use strum::IntoStaticStr;

/// Bounds of one loop.
///
/// ```
/// use std::time::Duration;
/// use daybook_working::tool_loop::ToolLoopLimits;
/// let limits = ToolLoopLimits { time: Duration::from_secs(60), ..ToolLoopLimits::default() };
/// assert_eq!((limits.turns, limits.corrections), (16, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLoopLimits {
    /// Most replies with calls. After the last one its calls are carried out, and the loop ends. More lets the model look
    /// up more, and each is billed with what is kept of the conversation.
    pub turns: usize,
    /// Most calls of one reply that are carried out, at least 1; the last outcome names the number of those beyond.
    pub calls_per_turn: usize,
    /// How often a rejected answer is asked for again.
    pub corrections: usize,
    /// Most tokens of calls and outcomes that are sent again; of longer conversations the oldest turns are left out, but
    /// never the newest. Lower costs less; the model must then note at once what it learns.
    pub kept_tokens: u32,
    /// Most tokens of all calls and outcomes together.
    pub call_tokens: u64,
    /// Most tokens of all requests together, by the model's own count, with everything that is sent again.
    pub sent_tokens: u64,
    /// Most bytes of one outcome; longer ones are cut.
    pub outcome_bytes: usize,
    /// Most bytes of all outcomes together.
    pub bytes: usize,
    /// Longest time of the whole, also of a model that does not reply.
    pub time: Duration,
}

impl Default for ToolLoopLimits {
    fn default() -> Self {
        Self {
            turns: 16,
            calls_per_turn: 8,
            corrections: 1,
            kept_tokens: 16_000,
            call_tokens: 200_000,
            sent_tokens: 400_000,
            outcome_bytes: 16 * 1024,
            bytes: 1024 * 1024,
            time: Duration::from_secs(600),
        }
    }
}

/// Which bound a loop reached.
///
/// ```
/// use daybook_working::tool_loop::LoopBound;
/// assert_eq!(LoopBound::SentTokens.as_str(), "sent_tokens");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum LoopBound {
    /// [`ToolLoopLimits::turns`].
    Turns,
    /// [`ToolLoopLimits::call_tokens`].
    CallTokens,
    /// [`ToolLoopLimits::sent_tokens`].
    SentTokens,
    /// [`ToolLoopLimits::bytes`].
    Bytes,
    /// [`ToolLoopLimits::time`].
    Time,
    /// What the model can read: the question and the newest turn exceed it.
    Context,
}

impl LoopBound {
    /// The variant's name in logs and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An outcome of at most about `most` bytes: the beginning of a longer one, with a line that says so.
pub(super) fn shortened(mut outcome: String, most: usize) -> String {
    if outcome.len() <= most {
        return outcome;
    }
    let mut end = most;
    while !outcome.is_char_boundary(end) {
        end -= 1;
    }
    let left_out = outcome.len() - end;
    outcome.truncate(end);
    outcome.push_str(&format!("\n[{left_out} bytes more are left out]"));
    outcome
}
