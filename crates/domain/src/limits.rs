//! Bounds that hold everywhere, each with its name. Bounds of a single stage are in its config.

use std::time::Duration;

/// Most bytes of text that one event keeps; longer text keeps its head and its tail.
pub const EVENT_TEXT: usize = 256 * 1024;
/// Most events that one append may carry, so that no write transaction lasts 20 ms.
pub const APPEND_EVENTS: usize = 512;
/// Most bytes of text that one append may carry (a single event may exceed it on its own).
pub const APPEND_BYTES: usize = 512 * 1024;
/// Most events that one append may retract. Identities of stored retractions depend on it: while texts listed
/// the positions, each with 20 digits and a blank at most, one text had room for so many.
pub const RETRACTED_AT_ONCE: usize = EVENT_TEXT / 21;
/// Most bytes that a thread keeps beside one event.
pub const THREAD_ENTRY: usize = 1024 * 1024;
/// Tries that a window has before it is narrowed.
pub const TRIES: u32 = 3;
/// Claims of one window in a row whose worker vanished, before the window is halved.
pub const VANISHED: u32 = 20;
/// Shortest wait after a failure.
pub const BACKOFF_FIRST: Duration = Duration::from_secs(30);
/// Longest wait after a failure.
pub const BACKOFF_MOST: Duration = Duration::from_secs(3600);
/// Longest that a provider's own request to wait is honoured, unless a setting changes it.
pub const RETRY_AFTER_MOST: Duration = Duration::from_secs(3600);
/// Longest that a cap may have its job wait: a month, which caps are counted by, and a day.
pub const WAIT_MOST: Duration = Duration::from_secs(32 * 24 * 3600);
/// Most characters of a failure's message that are kept.
pub const FAILURE_TEXT: usize = 500;
/// Documents that hold a token are counted up to this many; a commoner token counts as this common.
/// Telling very common words apart is worth less than the milliseconds that counting them takes.
pub const COUNTED: u64 = 10_000;
/// Most objects of a history that are stored at once.
pub const TREE_OBJECTS: usize = 1_000;
/// Most names of a history's objects that are listed at once.
pub const TREE_NAMES: usize = 10_000;
/// Most tokens that one call of a model is counted to have read, or written; a larger report is cut to this.
pub const CALL_TOKENS: u64 = 1_000_000_000_000;
/// Most money that one call of a model is counted to cost, in millionths of a currency's unit.
pub const CALL_MONEY: u64 = 1_000_000_000_000_000;
/// Most pieces of evidence that are counted to show how much was learned when.
pub const LEARNED_EVIDENCE: usize = 20_000;
/// Most sums that one question about spending is answered with.
pub const SPEND_SUMS: usize = 1_000;
/// Most uses of one kind that are kept of one session, or of one interface on one day.
pub const USES: usize = 1_000;
/// Most uses that are noted at once, so that no write transaction lasts 20 ms.
pub const USES_AT_ONCE: usize = 512;
/// Most items in one page of a listing.
pub const PAGE: usize = 1_000;

/// Most sessions that one consolidation selects.
pub const SELECTED_SESSIONS: usize = 4_096;

/// Most accepted proposals of a model that hold in one scope. Beyond, the model is not asked about it.
pub const ACCEPTED_PROPOSALS: usize = 4_096;
