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

/// Sequences that one check tries where a call takes microseconds.
pub const SEQUENCES: u32 = 64;

/// Makes one test of whatever random operations lead to; the argument is that of
/// [`store_suite!`](crate::store_suite).
#[macro_export]
macro_rules! model_suite {
    (maybe $make:expr, $sequences:expr) => {
        #[test]
        fn random_operations_leave_it_as_the_model_says() {
            $crate::model::check($make, $sequences);
        }
    };
    ($make:expr) => {
        $crate::model_suite!(maybe || Some(($make)()), $crate::model::SEQUENCES);
    };
}

/// Drives stores that `make` makes, each empty, with random sequences of operations. Where it makes
/// none, nothing is checked.
///
/// # Panics
/// When a store and the model differ: with the shortest sequence found that shows it.
pub fn check<S>(make: impl Fn() -> Option<S>, sequences: u32)
where
    S: Deref,
    S::Target: Store + Sized,
{
    let config = Config {
        cases: sequences,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&operations::sequence(), |sequence| {
        make().map_or(Ok(()), |store| crate::run(drive::drive(&*store, &sequence)))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
