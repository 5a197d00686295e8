//! Why a model's proposals are dropped.
//!
//! Not here: the rules (`checks`, `rewording`, `answer`).

use strum::IntoStaticStr;

/// Why a proposal was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ProposalDropReason {
    /// It cannot be understood, or its words are none for a line of memory.
    Unreadable,
    /// It names a statement that was not shown, or none that is new.
    NotInWindow,
    /// The statements are of kinds that do not go together.
    OtherKind,
    /// The statements differ in a number, a name, a condition or a negation, or exclude each other.
    Different,
    /// A statement would gain or end what its origin is not trusted for.
    Untrusted,
    /// What would end the other is not the later one.
    OutOfOrder,
    /// The statements have no word in common, so that one cannot end the other.
    Unrelated,
    /// The words add something, or leave something out.
    NotGrounded,
    /// Another proposal about the statement was accepted.
    Conflicting,
}

impl ProposalDropReason {
    /// The variant's name in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
