//! The sessions that a consolidation can select, with their uses.
//!
//! A use counts for its session as a whole: another session that cited two of its events counts once.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    ExtractionRecord, ExtractionSnapshot, SessionCandidate, SessionId, Timestamp, Use, UseKind,
    UsedBy,
};

/// The sessions of these extractions, with the uses of their events. From those in `ineligible` no memory may be made.
#[must_use]
pub fn selection_candidates(
    extractions: &[ExtractionRecord],
    uses: &[Use],
    ineligible: &BTreeSet<SessionId>,
) -> Vec<SessionCandidate> {
    let mut by_session: BTreeMap<&SessionId, Vec<&ExtractionRecord>> = BTreeMap::new();
    for record in extractions {
        by_session.entry(&record.session).or_default().push(record);
    }
    let used = SessionUses::by_session(uses);
    let none = SessionUses::default();
    let candidates = by_session.into_iter().map(|(session, records)| {
        let used = used.get(session).unwrap_or(&none);
        SessionCandidate {
            session: session.clone(),
            snapshot: snapshot_of(&records),
            cited: used.citing.len(),
            cited_at: used.cited_at,
            shown_at: used.shown_at,
            has_content: records.iter().any(|record| record.digest.is_some()),
            is_eligible: !ineligible.contains(session),
        }
    });
    candidates.collect()
}

fn snapshot_of(records: &[&ExtractionRecord]) -> ExtractionSnapshot {
    let upto = records.iter().map(|record| record.to).max();
    let generated_at = records.iter().map(|record| record.at).max();
    ExtractionSnapshot {
        upto: upto.unwrap_or_default(),
        generated_at: generated_at.unwrap_or_default(),
    }
}

/// The uses of one session's events.
#[derive(Default)]
struct SessionUses<'u> {
    /// The other sessions, and interfaces on a day, that cited one.
    citing: BTreeSet<UsageSource<'u>>,
    cited_at: Option<Timestamp>,
    shown_at: Option<Timestamp>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum UsageSource<'u> {
    Session(&'u SessionId),
    Interface(&'u str),
}

impl<'u> SessionUses<'u> {
    fn by_session(uses: &'u [Use]) -> BTreeMap<&'u SessionId, Self> {
        let mut by_session: BTreeMap<_, Self> = BTreeMap::new();
        for one in uses {
            by_session.entry(&one.session).or_default().add(one);
        }
        by_session
    }

    fn add(&mut self, one: &'u Use) {
        match one.kind {
            UseKind::Shown => self.shown_at = self.shown_at.max(Some(one.at)),
            UseKind::Cited => {
                self.cited_at = self.cited_at.max(Some(one.at));
                self.citing.insert(match &one.by {
                    UsedBy::Session { session, .. } => UsageSource::Session(session),
                    UsedBy::Interface(interface) => UsageSource::Interface(interface),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{Digest, EventId, EventSeq, Provenance};
    use daybook_testkit::fixtures::{at, session};

    use super::*;

    fn window(id: &str, to: u64, made: u64, digest: Option<Digest>) -> ExtractionRecord {
        ExtractionRecord {
            session: session(id),
            label: id.to_owned(),
            from: EventSeq(1),
            to: EventSeq(to),
            digest,
            provenance: Provenance::of("extractive/1"),
            at: at(made),
        }
    }

    fn use_of(id: &str, event: u64, kind: UseKind, by: UsedBy, seconds: u64) -> Use {
        Use {
            session: session(id),
            event: EventSeq(event),
            kind,
            by,
            at: at(seconds),
        }
    }

    fn by(id: &str) -> UsedBy {
        UsedBy::Session {
            session: session(id),
            event: EventId(1),
        }
    }

    /// Codex counts each citation, doubles included. Here uses are a set, so that reading a transcript again
    /// changes no count, and a session that cites two events of another counts once.
    #[test]
    fn c40_a_session_is_counted_once_however_often_it_cites_another() {
        let extractions = [
            window("a", 9, 5, Some(Digest::default())),
            window("a", 20, 7, None),
            window("b", 3, 6, None),
        ];
        let day = UsedBy::Interface("cli/2026-11-22".to_owned());
        let uses = [
            use_of("a", 1, UseKind::Cited, by("x"), 10),
            use_of("a", 2, UseKind::Cited, by("x"), 12),
            use_of("a", 2, UseKind::Cited, day, 11),
            use_of("a", 2, UseKind::Shown, by("y"), 40),
            use_of("unknown", 1, UseKind::Cited, by("x"), 10),
        ];
        let ineligible = BTreeSet::from([session("b")]);
        let candidates = selection_candidates(&extractions, &uses, &ineligible);
        let a = SessionCandidate {
            session: session("a"),
            snapshot: ExtractionSnapshot {
                upto: EventSeq(20),
                generated_at: at(7),
            },
            cited: 2,
            cited_at: Some(at(12)),
            shown_at: Some(at(40)),
            has_content: true,
            is_eligible: true,
        };
        let b = SessionCandidate {
            session: session("b"),
            snapshot: ExtractionSnapshot {
                upto: EventSeq(3),
                generated_at: at(6),
            },
            cited: 0,
            cited_at: None,
            shown_at: None,
            has_content: false,
            is_eligible: false,
        };
        assert_eq!(candidates, [a, b]);
    }
}
