//! Random operations against a store and a small model of it, compared after every one.
//!
//! The [`spec`] says what a store should have become, as plainly as possible: lists that are searched
//! from the front, and answers that are derived whenever they are asked for. It shares the rules of a
//! job with every store, since those are values of the domain; everything else it says on its own.
//!
//! ```ignore
//! daybook_testkit::model::check(|| Box::new(MyStore::new()));
//! ```

pub mod operations;
pub mod spec;
pub mod view;

pub(crate) mod cast;
pub(crate) mod drive;

use std::ops::Deref;

use daybook_domain::seams::Store;
use proptest::test_runner::{Config, TestRunner};

/// Sequences that one check tries.
const SEQUENCES: u32 = 64;

/// Drives stores that `make` makes, each empty, with random sequences of operations.
///
/// # Panics
/// When a store and the model differ: with the shortest sequence found that shows it.
pub fn check<S>(make: impl Fn() -> S)
where
    S: Deref,
    S::Target: Store + Sized,
{
    let config = Config {
        cases: SEQUENCES,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&operations::sequence(), |sequence| {
        let store = make();
        crate::run(drive::drive(&*store, &sequence))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
