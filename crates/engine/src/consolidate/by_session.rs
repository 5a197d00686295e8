//! Merged observations by the sessions of their evidence, so that a page of one session reads its own alone.

use daybook_domain::SessionId;

use super::content::WordMap;
use super::merge::MergedObservation;

/// The observations with evidence in each session, in their order.
pub(super) struct ObservationsBySession<'a>(WordMap<&'a SessionId, Vec<&'a MergedObservation>>);

impl<'a> ObservationsBySession<'a> {
    pub(super) fn new(observations: &'a [MergedObservation]) -> Self {
        let mut by_session: WordMap<&SessionId, Vec<&MergedObservation>> = WordMap::default();
        for merged in observations {
            for (n, evidence) in merged.evidence.iter().enumerate() {
                let mut before = merged.evidence[..n].iter();
                if before.all(|other| other.session != evidence.session) {
                    by_session
                        .entry(&evidence.session)
                        .or_default()
                        .push(merged);
                }
            }
        }
        Self(by_session)
    }

    /// The observations with evidence in `session`.
    pub(super) fn of(&self, session: &SessionId) -> &[&'a MergedObservation] {
        self.0.get(session).map_or(&[], Vec::as_slice)
    }
}
