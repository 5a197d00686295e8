//! How the form of an answer is demanded of a provider.

/// How the form of an answer is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The provider holds the model to the schema.
    Schema,
    /// The provider holds the model to JSON; the messages hold the schema as text.
    Json,
    /// The messages hold the schema as text; the provider enforces nothing.
    Prompted,
}

impl Form {
    /// The next rung.
    pub(crate) fn looser(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Json),
            Self::Json => Some(Self::Prompted),
            Self::Prompted => None,
        }
    }
}
