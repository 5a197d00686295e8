//! Merged observations by the sessions of their evidence, so that a page of one session reads its own alone.

use daybook_domain::SessionId;

use super::content::WordMap;
use super::merge::MergedObservation;

/// The places of the observations with evidence in each session, in their order.
pub(super) struct PlacesBySession<'a>(WordMap<&'a SessionId, Vec<u32>>);

impl<'a> PlacesBySession<'a> {
    pub(super) fn new(observations: &'a [MergedObservation]) -> Self {
        let mut by_session: WordMap<&SessionId, Vec<u32>> = WordMap::default();
        for (place, merged) in (0..).zip(observations) {
            for (n, evidence) in merged.evidence.iter().enumerate() {
                let mut before = merged.evidence[..n].iter();
                if before.all(|other| other.session != evidence.session) {
                    by_session.entry(&evidence.session).or_default().push(place);
                }
            }
        }
        Self(by_session)
    }

    /// The places of the observations with evidence in `session`.
    pub(super) fn take(&mut self, session: &SessionId) -> Vec<u32> {
        self.0.remove(session).unwrap_or_default()
    }
}
