//! Names of chunks, states and operations.
//!
//! They are made from the thread and the place in its log where the thing came to be, not drawn by lot:
//! whoever folds the log again names everything alike.

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
    ChunkId
}
name! {
    /// A state's name, `state_…`.
    StateId
}
name! {
    /// An operation's name, `op_…`.
    OperationId
}

/// The prefix of a name of working memory, if it has one (spec/working-memory.md 1.1).
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

/// Makes the names of what one entry of a thread's log brings about.
#[derive(Debug, Clone)]
pub struct IdSource {
    thread: u128,
    seq: u64,
    made: u64,
}

/// Characters of a name after its prefix.
const LENGTH: usize = 24;

impl IdSource {
    /// Names for what happens at `seq` of a thread.
    #[must_use]
    pub fn new(thread: &SessionId, seq: EventSeq) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [&thread.tenant.0, &thread.agent, &thread.host_id] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self {
            thread: u128::from_le_bytes(half),
            seq: seq.0,
            made: 0,
        }
    }

    /// Names for what happens at another place of the same thread.
    #[must_use]
    pub fn at(&self, seq: EventSeq) -> Self {
        Self {
            thread: self.thread,
            seq: seq.0,
            made: 0,
        }
    }

    /// Names that no other part of this source makes.
    #[must_use]
    pub fn part(&self, number: u64) -> Self {
        Self {
            made: self.made + ((number + 1) << 32),
            ..self.clone()
        }
    }

    /// The next chunk's name.
    pub fn chunk(&mut self) -> ChunkId {
        ChunkId(self.next("chunk_").as_str().into())
    }

    /// The next operation's name.
    pub fn operation(&mut self) -> OperationId {
        OperationId(self.next("op_").as_str().into())
    }

    /// The state's name: one entry makes at most one state, whatever else it made before.
    #[must_use]
    pub fn state(&self) -> StateId {
        StateId(self.spelled("state_", u64::MAX).as_str().into())
    }

    fn next(&mut self, prefix: &str) -> String {
        self.made += 1;
        self.spelled(prefix, self.made)
    }

    fn spelled(&self, prefix: &str, number: u64) -> String {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let mut hasher = blake3::Hasher::new();
        let mut place = [0; 32];
        place[..16].copy_from_slice(&self.thread.to_le_bytes());
        place[16..24].copy_from_slice(&self.seq.to_le_bytes());
        place[24..].copy_from_slice(&number.to_le_bytes());
        hasher.update(&place);
        let hash = hasher.finalize();
        let mut name = String::with_capacity(prefix.len() + LENGTH);
        name.push_str(prefix);
        for byte in &hash.as_bytes()[..LENGTH] {
            name.push(char::from(DIGITS[usize::from(*byte) % DIGITS.len()]));
        }
        name
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
    }
}
