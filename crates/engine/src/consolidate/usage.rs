//! Uses of observations, by sessions and through interfaces.
//!
//! A use counts for a merged observation as a whole: a session that cited two of its events counts once.

use std::collections::{BTreeSet, HashMap};

use daybook_domain::{EventSeq, Evidence, SessionId, Use, UseKind, UsedBy};

/// The sources of an observation's uses, by kind of use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UsageSources {
    cited: BTreeSet<UsageSource>,
    shown: BTreeSet<UsageSource>,
}

/// The source of a use: a session, or an interface on one day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum UsageSource {
    Session(SessionId),
    Interface(String),
}

impl UsageSources {
    /// Number of sessions in which it mattered: those `with_evidence`, and others that cited it. A day on
    /// which it was opened through an interface counts as one more.
    pub(super) fn relevant_sessions(&self, with_evidence: &BTreeSet<&SessionId>) -> usize {
        let is_further = |user: &&UsageSource| match user {
            UsageSource::Session(session) => !with_evidence.contains(session),
            UsageSource::Interface(_) => true,
        };
        with_evidence.len() + self.cited.iter().filter(is_further).count()
    }

    /// Number of sources to which it was shown.
    pub(super) fn times_shown(&self) -> usize {
        self.shown.len()
    }
}

/// Uses, by the used event.
pub(super) struct UsesByEvent<'u>(HashMap<(&'u SessionId, EventSeq), Vec<&'u Use>>);

impl<'u> UsesByEvent<'u> {
    pub(super) fn new(uses: &'u [Use]) -> Self {
        let mut by_event: HashMap<_, Vec<&Use>> = HashMap::new();
        for one in uses {
            let of = by_event.entry((&one.session, one.event)).or_default();
            of.push(one);
        }
        Self(by_event)
    }

    /// The sources that used an event of this evidence.
    pub(super) fn of(&self, evidence: &[Evidence]) -> UsageSources {
        let mut users = UsageSources::default();
        if self.0.is_empty() {
            return users;
        }
        for one in evidence {
            let uses = one.events.iter().filter_map(|event| {
                let uses = self.0.get(&(&one.session, *event))?;
                Some(uses.iter())
            });
            for used in uses.flatten() {
                let user = match &used.by {
                    UsedBy::Session { session, .. } => UsageSource::Session(session.clone()),
                    UsedBy::Interface(interface) => UsageSource::Interface(interface.clone()),
                };
                match used.kind {
                    UseKind::Cited => users.cited.insert(user),
                    UseKind::Shown => users.shown.insert(user),
                };
            }
        }
        users
    }
}
