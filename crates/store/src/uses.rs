//! Which noted uses are kept: rules that hold in every store.

use std::collections::BTreeSet;

use daybook_domain::UseKind;
use daybook_domain::limits::USES;

/// The result of admitting a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdmitOutcome {
    /// It is kept from now on.
    New,
    /// It was kept before.
    Known,
    /// It exceeds the most that a store keeps of one user.
    TooMany,
}

/// The uses kept of one session, or of one interface on one day, by kind and event.
#[derive(Debug)]
pub(crate) struct KeptUses<E> {
    shown: BTreeSet<E>,
    cited: BTreeSet<E>,
}

impl<E: Ord> KeptUses<E> {
    /// The uses that are already stored.
    pub(crate) fn new(known: impl IntoIterator<Item = (UseKind, E)>) -> Self {
        let mut uses = Self {
            shown: BTreeSet::new(),
            cited: BTreeSet::new(),
        };
        for (kind, event) in known {
            uses.of_kind(kind).insert(event);
        }
        uses
    }

    /// Adds a use of an event, if there is room for it.
    pub(crate) fn admit(&mut self, kind: UseKind, event: E) -> AdmitOutcome {
        let known = self.of_kind(kind);
        if known.contains(&event) {
            return AdmitOutcome::Known;
        }
        if known.len() >= USES {
            return AdmitOutcome::TooMany;
        }
        known.insert(event);
        AdmitOutcome::New
    }

    fn of_kind(&mut self, kind: UseKind) -> &mut BTreeSet<E> {
        match kind {
            UseKind::Shown => &mut self.shown,
            UseKind::Cited => &mut self.cited,
        }
    }
}
