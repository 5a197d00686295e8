//! Random operations on a store. They name things by small numbers, so that they often meet the same ones.

use daybook_domain::FailureClass;
use proptest::prelude::*;
use strum::VariantArray;

/// Most operations in a sequence.
const LONGEST: usize = 100;

/// One operation. Its numbers choose among the things that exist at the time, wrapping around.
#[derive(Debug, Clone)]
#[allow(
    missing_docs,
    reason = "the fields are arguments of the seam that each operation calls"
)]
pub enum StoreOperation {
    Append {
        session: u8,
        file: u8,
        events: Vec<u8>,
        root: Option<u8>,
        dated: bool,
        urgent: bool,
        off: bool,
        /// Its last event brings text from outside.
        pollutes: bool,
        importing: bool,
    },
    PutSource {
        file: u8,
        session: u8,
        importing: bool,
    },
    Mark {
        key: u8,
        input: u8,
        idle: u16,
        by: u16,
        priority: u8,
    },
    Hasten {
        key: u8,
    },
    Cancel {
        key: u8,
        engine: u8,
    },
    Retry {
        key: u8,
    },
    Reprioritize {
        session: u8,
        most: u8,
    },
    Switch {
        session: u8,
        on: bool,
    },
    Claim {
        consolidate: bool,
        holder: u8,
        limit: u8,
        /// Most jobs of each lane in one claim, most live leases in all, and most of each lane.
        caps: [Option<u8>; 3],
        waiting: bool,
    },
    Heartbeat {
        claim: u8,
    },
    Release {
        claim: u8,
    },
    SetAside {
        claim: u8,
    },
    Finish {
        claim: u8,
        short_by: u8,
    },
    Extract {
        claim: u8,
        short_by: u8,
        found: Vec<ObservedItem>,
        retracted: Option<u8>,
        root: Option<u8>,
        concern: Option<u8>,
    },
    Fail {
        claim: u8,
        class: FailureClass,
        engine: u8,
    },
    /// Lets a job fail until its range is given up.
    GiveUp {
        consolidate: bool,
        engine: u8,
    },
    Abandon {
        holder: u8,
    },
    Advance {
        seconds: i16,
    },
    Redo {
        key: u8,
    },
    Revive {
        key: Option<u8>,
        engine: u8,
    },
    Observe {
        session: u8,
        found: ObservedItem,
    },
    Retract {
        scope: u8,
        text_number: u8,
    },
    Touch {
        scope: u8,
    },
    Assign {
        root: u8,
        project: u8,
    },
    BeginImport,
    EndImport,
    UndoImport {
        import: u8,
    },
    PutFile {
        scope: u8,
        file: u8,
        entries: Vec<u8>,
    },
    Rebuild,
    ChooseModel {
        model: u8,
    },
    Embed {
        model: u8,
        turn: u8,
    },
}

/// An observation: its scope, its text, its events and its root, each as a small number.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the line above names the fields in turn")]
pub struct ObservedItem {
    pub scope: u8,
    pub text_number: u8,
    pub events: Vec<u8>,
    pub root: Option<u8>,
}

/// Random sequences.
pub fn sequence() -> impl Strategy<Value = Vec<StoreOperation>> {
    prop::collection::vec(one(), 1..=LONGEST)
}

/// One random operation. Appends and the life of a claim are the most frequent.
fn one() -> impl Strategy<Value = StoreOperation> {
    prop_oneof![
        24 => on_memory(),
        46 => on_jobs(),
    ]
}

/// An operation on logs, imports, observations, roots, memory files or vectors.
pub(crate) fn on_memory() -> impl Strategy<Value = StoreOperation> {
    prop_oneof![
        8 => append(),
        1 => (0..3_u8, 0..3_u8, any::<bool>()).prop_map(|(file, session, importing)| {
            StoreOperation::PutSource { file, session, importing }
        }),
        2 => (0..3_u8, observed_item()).prop_map(|(session, found)| StoreOperation::Observe { session, found }),
        2 => (0..3_u8, 0..4_u8).prop_map(|(scope, text_number)| StoreOperation::Retract { scope, text_number }),
        1 => (0..3_u8).prop_map(|scope| StoreOperation::Touch { scope }),
        2 => (0..2_u8, 0..2_u8).prop_map(|(root, project)| StoreOperation::Assign { root, project }),
        2 => Just(StoreOperation::BeginImport),
        1 => Just(StoreOperation::EndImport),
        2 => any::<u8>().prop_map(|import| StoreOperation::UndoImport { import }),
        1 => Just(StoreOperation::UndoImport { import: 0 }),
        1 => (0..3_u8, 0..2_u8, prop::collection::vec(0..24_u8, 0..4)).prop_map(
            |(scope, file, entries)| StoreOperation::PutFile { scope, file, entries }
        ),
        1 => Just(StoreOperation::Rebuild),
        1 => prop_oneof![4 => Just(0_u8), 1 => Just(1_u8)]
            .prop_map(|model| StoreOperation::ChooseModel { model }),
        3 => (prop_oneof![4 => Just(0_u8), 1 => Just(1_u8)], 0..3_u8)
            .prop_map(|(model, turn)| StoreOperation::Embed { model, turn }),
    ]
}

/// An operation on jobs, or one that ends a claim.
pub(crate) fn on_jobs() -> impl Strategy<Value = StoreOperation> {
    prop_oneof![
        2 => (0..6_u8, 0..12_u8, 0..900_u16, 0..900_u16, 0..4_u8).prop_map(
            |(key, input, idle, by, priority)| StoreOperation::Mark { key, input, idle, by, priority }
        ),
        1 => (0..6_u8).prop_map(|key| StoreOperation::Hasten { key }),
        8 => claim(),
        1 => (prop::bool::weighted(0.2), 0..2_u8)
            .prop_map(|(consolidate, engine)| StoreOperation::GiveUp { consolidate, engine }),
        1 => any::<u8>().prop_map(|claim| StoreOperation::Heartbeat { claim }),
        1 => any::<u8>().prop_map(|claim| StoreOperation::Release { claim }),
        1 => any::<u8>().prop_map(|claim| StoreOperation::SetAside { claim }),
        2 => (any::<u8>(), 0..3_u8)
            .prop_map(|(claim, short_by)| StoreOperation::Finish { claim, short_by }),
        12 => extract(),
        3 => (any::<u8>(), failing(), 0..2_u8)
            .prop_map(|(claim, class, engine)| StoreOperation::Fail { claim, class, engine }),
        1 => (0..2_u8).prop_map(|holder| StoreOperation::Abandon { holder }),
        1 => (0..6_u8, 0..2_u8).prop_map(|(key, engine)| StoreOperation::Cancel { key, engine }),
        1 => (0..6_u8).prop_map(|key| StoreOperation::Retry { key }),
        1 => (0..3_u8, 0..3_u8)
            .prop_map(|(session, most)| StoreOperation::Reprioritize { session, most }),
        1 => (0..3_u8, any::<bool>()).prop_map(|(session, on)| StoreOperation::Switch { session, on }),
        4 => (-60..5000_i16).prop_map(|seconds| StoreOperation::Advance { seconds }),
        4 => prop_oneof![4 => 0..3_u8, 1 => 0..6_u8].prop_map(|key| StoreOperation::Redo { key }),
        1 => (prop::option::of(0..6_u8), 0..2_u8)
            .prop_map(|(key, engine)| StoreOperation::Revive { key, engine }),
    ]
}

fn claim() -> impl Strategy<Value = StoreOperation> {
    let cap = || prop::option::weighted(0.2, 0..4_u8);
    let caps = [cap(), cap(), cap()];
    let kinds = prop::bool::weighted(0.2);
    (kinds, 0..2_u8, 0..4_u8, caps, prop::bool::weighted(0.8)).prop_map(
        |(consolidate, holder, limit, caps, waiting)| StoreOperation::Claim {
            consolidate,
            holder,
            limit,
            caps,
            waiting,
        },
    )
}

fn append() -> impl Strategy<Value = StoreOperation> {
    let events = prop::collection::vec(0..24_u8, 0..6);
    let root = prop::option::of(0..2_u8);
    let flags = (
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.7),
    );
    (0..3_u8, 0..3_u8, events, root, flags).prop_map(
        |(session, file, events, root, (dated, urgent, off, pollutes, importing))| {
            StoreOperation::Append {
                session,
                file,
                events,
                root,
                dated,
                urgent,
                off,
                pollutes,
                importing,
            }
        },
    )
}

fn extract() -> impl Strategy<Value = StoreOperation> {
    let found = prop::collection::vec(observed_item(), 0..5);
    let options = (
        prop::option::weighted(0.3, any::<u8>()),
        prop::option::of(0..2_u8),
        prop::option::weighted(0.3, 0..3_u8),
    );
    (any::<u8>(), 0..3_u8, found, options).prop_map(
        |(claim, short_by, found, (retracted, root, concern))| StoreOperation::Extract {
            claim,
            short_by,
            found,
            retracted,
            root,
            concern,
        },
    )
}

fn observed_item() -> impl Strategy<Value = ObservedItem> {
    let events = prop::collection::btree_set(any::<u8>(), 0..3);
    (0..3_u8, 0..4_u8, events, prop::option::of(0..2_u8)).prop_map(
        |(scope, text_number, events, root)| ObservedItem {
            scope,
            text_number,
            events: events.into_iter().collect(),
            root,
        },
    )
}

fn failing() -> impl Strategy<Value = FailureClass> {
    let by_hand = |class: &FailureClass| *class != FailureClass::Cancelled;
    prop::sample::select(FailureClass::VARIANTS.to_vec())
        .prop_filter("nobody's hand fails a claim", by_hand)
}
