//! A provider's key, which is never shown or logged.
//!
//! The application decides where a key comes from (a text, a file, the output of a command); this module
//! requests it for each request to the provider, so that a changed key is used from then on.
//!
//! Not here: files, processes, the environment.

use std::fmt;
use std::sync::Arc;

use daybook_domain::BoxError;
use reqwest::header::HeaderValue;

/// Replaces a key in text.
const MASK: &str = "[key]";

/// Anything shorter is no secret, and is found in every other word.
const SHORTEST_SECRET: usize = 4;

/// A secret that shows itself only on the wire.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key from text; blanks and line ends around it, which files have, are not part of it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// `text` with every appearance of the key covered up.
    pub(crate) fn hide(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET {
            return text.to_owned();
        }
        text.replace(&self.0, MASK)
    }

    /// As a header that is never logged; nothing if a header cannot carry it.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// What gives a key when it is needed. It is called before each request and must not wait for long.
pub type AskForKey = dyn Fn() -> Result<Key, BoxError> + Send + Sync;

/// Where a provider's key comes from.
#[derive(Clone, Default)]
pub enum KeySource {
    /// The provider wants none.
    #[default]
    None,
    /// It was given.
    Given(Key),
    /// It is asked for before each request.
    Asked(Arc<AskForKey>),
}

impl KeySource {
    pub(crate) fn key(&self) -> Result<Option<Key>, BoxError> {
        match self {
            Self::None => Ok(None),
            Self::Given(key) => Ok(Some(key.clone())),
            Self::Asked(ask) => ask().map(Some),
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Given(_) => "Given([key])",
            Self::Asked(_) => "Asked",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_covered_up_wherever_it_appears() {
        let key = Key::new(" sk-ada-1815\n");
        assert_eq!(key.hide("sk-ada-1815 is wrong"), "[key] is wrong");
        assert_eq!(format!("{key} {key:?}"), "[key] [key]");
        let source = KeySource::Given(key);
        assert_eq!(format!("{source:?}"), "Given([key])");
    }

    #[test]
    fn a_header_refuses_a_key_of_two_lines() {
        assert_eq!(Key::new("one\ntwo").header("Bearer "), None);
    }
}
