//! What was hidden, and why.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// One secret that was hidden: its position and its kind, never its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactionFinding {
    /// The rule's name, as the marker shows it: lower case, digits and dashes; the id of a rule of the user's own.
    pub rule: Cow<'static, str>,
    /// Bytes of the marker within [`Redacted::text`](super::Redacted::text).
    pub range: Range<usize>,
    /// What gave the secret away.
    pub reason: FindingReason,
    /// The form of the text in which it was found.
    pub view: FindingView,
}

/// What gives a secret away. Shown by `daybook redact --explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingReason {
    /// It has the format of an issuer's keys.
    Format,
    /// A command, a query or a header has its password there.
    Command,
    /// The name, or the word, before it.
    Name,
    /// It stands between user and host of an address.
    Address,
    /// The lines around a private key.
    PrivateKey,
    /// The manifest of a Kubernetes secret.
    Manifest,
    /// The words of a wallet's recovery phrase.
    Mnemonic,
    /// It is drawn at random, and its line announces a secret.
    Announced,
    /// A rule of the user's own matches.
    OwnRule,
    /// It is personal data of a kind that is to be hidden.
    Personal,
}

/// The form of a text in which a secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingView {
    /// The text as it stands.
    Plain,
    /// Without escapes, colors and invisible characters.
    Unescaped,
    /// With its pieces put together, where line breaks or strings separate them.
    Joined,
    /// Decoded from base 64 or hexadecimal digits.
    Decoded,
}

/// `stands where a command takes a password`
impl fmt::Display for FindingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => "has the format of such a key",
            Self::Command => "stands where a command, a query or a header has a password",
            Self::Name => "the name or the word before it announces a secret",
            Self::Address => "stands between the user and the host of an address",
            Self::PrivateKey => "stands between the lines that begin and end a private key",
            Self::Manifest => "is a value in the manifest of a Kubernetes secret",
            Self::Mnemonic => "is the recovery phrase of a wallet",
            Self::Announced => "was drawn at random, and its line announces a secret",
            Self::OwnRule => "a rule of your own matches",
            Self::Personal => "is personal data, and your settings hide this kind",
        })
    }
}

/// `, once decoded`; empty for a plain text.
impl fmt::Display for FindingView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "",
            Self::Unescaped => ", once escapes and colors are undone",
            Self::Joined => ", once its pieces are put together",
            Self::Decoded => ", once decoded",
        })
    }
}
