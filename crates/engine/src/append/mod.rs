//! Appending events to sessions' logs.
//!
//! [`batch`] appends the events that a program reports of its own session; `split` keeps every append within
//! the store's bounds, for imports too.
//!
//! Not here: transcripts (`transcripts`, `import`).

pub mod batch;
pub(crate) mod split;

use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{Teams, Tenant, Venue};
use daybook_text::redact::Redactor;

/// What appending and importing events need.
#[derive(Clone)]
pub struct IngestContext {
    /// The store that events are appended to.
    pub store: Arc<dyn Store>,
    /// The present time.
    pub clock: Arc<dyn Clock>,
    /// The tenant whose sessions they are.
    pub tenant: Tenant,
    /// How long their sessions may rest.
    pub patience: DueLimits,
    /// Where memory is switched off: events of such a time are logged, and never extracted.
    pub switches: Switches,
    /// The teams that transcripts and hooks may name.
    pub teams: Teams,
    /// Hides secrets.
    pub redactor: Arc<Redactor>,
    /// Threads that read files; more than cores gains nothing.
    pub readers: usize,
}

impl IngestContext {
    /// The venue with the id of the team that it names.
    #[must_use]
    pub fn with_team_id(&self, venue: Venue) -> Venue {
        Venue {
            team: venue.team.map(|team| self.teams.id_of(&team)),
            ..venue
        }
    }
}
