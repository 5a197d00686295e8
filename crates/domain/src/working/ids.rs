//! Names of chunks, states and operations.
//!
//! Names derive from the thread and the place in its log that created the thing, not from random bits:
//! folding the log again gives the same names.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{EventSeq, SessionId};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub Arc<str>);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(name.into())
            }
        }
    };
}

name! {
    /// A chunk's name, `chunk_…`.
    ///
    /// ```
    /// use daybook_domain::working::ChunkId;
    /// assert_eq!(ChunkId::from("chunk_4fzz").to_string(), "chunk_4fzz");
    /// ```
    ChunkId
}
name! {
    /// A state's name, `state_…`.
    ///
    /// ```
    /// use daybook_domain::working::StateId;
    /// assert_eq!(StateId::from("state_4fzz").to_string(), "state_4fzz");
    /// ```
    StateId
}
name! {
    /// An operation's name, `op_…`.
    ///
    /// ```
    /// use daybook_domain::working::OperationId;
    /// assert_eq!(OperationId::from("op_4fzz").to_string(), "op_4fzz");
    /// ```
    OperationId
}

/// The prefix of a name of working memory, if it has one.
///
/// ```
/// use daybook_domain::working::ids::prefix;
/// assert_eq!(prefix("chunk_4fzz"), Some("chunk"));
/// assert_eq!(prefix("lump_4fzz"), None);
/// assert_eq!(prefix("chunk"), None);
/// ```
#[must_use]
pub fn prefix(name: &str) -> Option<&'static str> {
    let (prefix, _) = name.split_once('_')?;
    ["chunk", "state", "thread", "op"]
        .into_iter()
        .find(|known| *known == prefix)
}

/// Makes the names of what one entry of a thread's log brings about: a tag of the thread, the entry's
/// place, and a number.
///
/// ```
/// use daybook_domain::working::IdSource;
/// use daybook_domain::{EventSeq, SessionId, Tenant};
/// let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// let mut ids = IdSource::new(&thread, EventSeq(1));
/// // Folding the log again gives the same names, and all names differ.
/// let mut again = IdSource::new(&thread, EventSeq(1));
/// assert_eq!(ids.chunk(), again.chunk());
/// assert_eq!(ids.operation(), again.operation());
/// assert_eq!(ids.state(), again.state());
/// assert_ne!(ids.at(EventSeq(2)).state(), again.state());
/// assert_ne!(ids.part(0).chunk(), again.chunk());
/// ```
#[derive(Debug, Clone)]
pub struct IdSource {
    tag: [u8; TAG],
    seq: u64,
    made: u64,
}

/// A name of 24 digits, made from unpredictable bits.
///
/// ```
/// use daybook_domain::working::ids;
/// assert_eq!(ids::name("thread_", 36), "thread_010000000000000000000000");
/// ```
#[must_use]
pub fn name(prefix: &str, bits: u128) -> String {
    let mut rest = bits;
    let digits = std::iter::repeat_with(|| {
        let digit = usize::try_from(rest % 36).unwrap_or_default();
        rest /= 36;
        char::from(DIGITS[digit])
    });
    prefix.chars().chain(digits.take(24)).collect()
}

/// Characters of a thread's tag: as many threads as there may ever be have different ones.
const TAG: usize = 14;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

impl IdSource {
    /// Names for what happens at `seq` of a thread.
    #[must_use]
    pub fn new(thread: &SessionId, seq: EventSeq) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [&thread.tenant.0, &thread.agent, &thread.host_id] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let hash = hasher.finalize();
        let mut tag = [0; TAG];
        for (digit, byte) in tag.iter_mut().zip(hash.as_bytes()) {
            *digit = DIGITS[usize::from(*byte) % DIGITS.len()];
        }
        Self {
            tag,
            seq: seq.0,
            made: 0,
        }
    }

    /// Names for what happens at another place of the same thread.
    #[must_use]
    pub fn at(&self, seq: EventSeq) -> Self {
        Self {
            seq: seq.0,
            made: 0,
            ..*self
        }
    }

    /// Names that no other part of this source makes.
    #[must_use]
    pub fn part(&self, number: u64) -> Self {
        Self {
            made: self.made + ((number + 1) << 32),
            ..*self
        }
    }

    /// The next chunk's name.
    pub fn chunk(&mut self) -> ChunkId {
        self.made += 1;
        ChunkId(self.spelled("chunk_", Some(self.made)))
    }

    /// The next operation's name.
    pub fn operation(&mut self) -> OperationId {
        self.made += 1;
        OperationId(self.spelled("op_", Some(self.made)))
    }

    /// The state's name: one entry makes at most one state, whatever else it makes.
    #[must_use]
    pub fn state(&self) -> StateId {
        StateId(self.spelled("state_", None))
    }

    fn spelled(&self, prefix: &str, number: Option<u64>) -> Arc<str> {
        // Prefix, tag, and two numbers of at most 13 digits: written from the end.
        let mut name = [0; 6 + TAG + 2 * 14];
        let mut at = name.len();
        let mut write = |byte: u8| {
            at -= 1;
            name[at] = byte;
        };
        for mut rest in number.into_iter().chain([self.seq]) {
            loop {
                write(DIGITS[usize::try_from(rest % 36).unwrap_or_default()]);
                rest /= 36;
                if rest == 0 {
                    break;
                }
            }
            write(b'-');
        }
        self.tag.iter().rev().for_each(|digit| write(*digit));
        prefix.bytes().rev().for_each(write);
        Arc::from(str::from_utf8(&name[at..]).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ids::Tenant;

    fn thread(host_id: &str) -> SessionId {
        SessionId {
            tenant: Tenant::local(),
            agent: "agent".to_owned(),
            host_id: host_id.to_owned(),
        }
    }

    #[test]
    fn the_same_place_gives_the_same_names_and_no_other_does() {
        let names = |host: &str, seq| {
            let mut ids = IdSource::new(&thread(host), EventSeq(seq));
            (0..10).map(|_| ids.chunk()).collect::<Vec<_>>()
        };
        assert_eq!(names("a", 1), names("a", 1));
        let all: BTreeSet<_> = [("a", 1), ("a", 2), ("b", 1)]
            .into_iter()
            .flat_map(|(host, seq)| names(host, seq))
            .collect();
        assert_eq!(all.len(), 30);
    }

    #[test]
    fn names_carry_their_prefix() {
        let mut ids = IdSource::new(&thread("a"), EventSeq(1));
        assert_eq!(prefix(&ids.chunk().0), Some("chunk"));
        assert_eq!(prefix(&ids.operation().0), Some("op"));
        assert_eq!(prefix(&ids.state().0), Some("state"));
        assert_eq!(prefix(""), None);
        let mut last = IdSource::new(&thread("a"), EventSeq(u64::MAX)).part(u32::MAX.into());
        assert!(last.chunk().0.starts_with("chunk_"));
    }
}
