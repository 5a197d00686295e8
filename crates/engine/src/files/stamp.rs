//! The author and the time of a commit.
//!
//! The caller passes both; nothing here reads a clock or the user's git identity.

use gix::actor::Signature;
use gix::date::Time;

/// The engine's name as an author.
pub(super) const ENGINE: &str = "Daybook";
/// Longest name of a person, in characters; the rest is cut off.
const MAX_NAME_CHARS: usize = 100;

/// The author of committed edits, and the time of all commits of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStamp {
    /// Milliseconds since 1970 in UTC. git keeps whole seconds.
    pub time_ms: i64,
    /// The person who edits this folder by hand.
    pub person: Person,
}

/// Whose change a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitAuthor {
    /// The engine's.
    Engine,
    /// The person's, who requested it.
    Person,
}

/// The author of edits made by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    name: String,
}

impl Person {
    /// A person by name. Characters that git cannot store in a name are dropped; an empty name becomes
    /// "you".
    pub fn named(name: &str) -> Self {
        let fit = |c: char| !c.is_control() && !matches!(c, '<' | '>');
        let name: String = name
            .chars()
            .filter(|c| fit(*c))
            .take(MAX_NAME_CHARS)
            .collect();
        match name.trim() {
            "" => Self::default(),
            name => Self {
                name: name.to_owned(),
            },
        }
    }
}

impl Default for Person {
    fn default() -> Self {
        Self {
            name: "you".to_owned(),
        }
    }
}

impl CommitStamp {
    fn time(&self) -> Time {
        Time {
            seconds: self.time_ms.max(0) / 1000,
            offset: 0,
        }
    }

    pub(super) fn person_signature(&self) -> Signature {
        let name = self.person.name.as_str().into();
        Signature {
            name,
            email: "you@localhost".into(),
            time: self.time(),
        }
    }

    pub(super) fn signature(&self, author: CommitAuthor) -> Signature {
        match author {
            CommitAuthor::Engine => self.engine_signature(),
            CommitAuthor::Person => self.person_signature(),
        }
    }

    pub(super) fn engine_signature(&self) -> Signature {
        engine_signature_at(self.time())
    }
}

/// The engine's signature at a given time.
pub(super) fn engine_signature_at(time: Time) -> Signature {
    Signature {
        name: ENGINE.into(),
        email: "daybook@localhost".into(),
        time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_name_is_made_fit_for_git() {
        let named = |name: &str| Person {
            name: name.to_owned(),
        };
        assert_eq!(Person::named(" A <b>\n "), named("A b"));
        assert_eq!(Person::named("<>"), Person::default());
        assert_eq!(
            Person::named(&"ä".repeat(200)),
            named(&"ä".repeat(MAX_NAME_CHARS))
        );
    }
}
