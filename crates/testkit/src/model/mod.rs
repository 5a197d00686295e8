//! Random operations against a store and a small model of it, compared after every one.
//!
//! The [`spec`] holds what a store should contain, as simply as possible: lists that are searched
//! from the front, and answers that are derived on each query. It shares the transitions of a
//! job with every store, since those belong to the domain; it implements everything else itself.
//!
//! ```ignore
//! daybook_testkit::model::check(|| Box::new(MyStore::new()));
//! ```

pub mod operations;
pub mod spec;
pub mod view;

pub(crate) mod driver;
pub(crate) mod subjects;
pub(crate) mod values;

use std::ops::Deref;

use daybook_domain::seams::Store;
use proptest::test_runner::{Config, TestRunner};

/// Number of sequences that one check tries where a call takes microseconds.
pub const SEQUENCES: u32 = 64;

/// Makes one test that drives a store with random operations; the argument is that of
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

/// Drives stores that `make` makes, each empty, with random sequences of operations. Where `make` returns
/// `None`, nothing is checked.
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
        make().map_or(Ok(()), |store| {
            crate::run(driver::drive(&*store, &sequence))
        })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
