//! Isolates failures: an error or panic on one file, hook event or session does not stop the work on
//! others.
//!
//! A refusal, a corrupt row and a panic concern one item: the caller records the reason with it and
//! continues. An outage of the store concerns all items and ends the work.
//!
//! A panic message with formatted values is not kept: it may hold transcript text that was not redacted.
//!
//! Not here: where a reason is recorded, when the work is retried.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use daybook_domain::StoreError;
use futures_util::FutureExt;

/// Why the work on one item failed.
#[derive(Debug)]
pub(crate) enum ItemFailure {
    /// The item itself is at fault, for this reason.
    Item(String),
    /// The store is unavailable, for other items too.
    Store(StoreError),
}

impl From<StoreError> for ItemFailure {
    fn from(error: StoreError) -> Self {
        match error.is_outage() {
            true => Self::Store(error),
            false => Self::Item(error.to_string()),
        }
    }
}

/// Runs the work on one item, and catches its panic. The changes made so far must be consistent without the
/// rest, as transactions are.
pub(crate) async fn run_isolated<T>(
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, ItemFailure> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => Ok(done?),
        Err(panic) => Err(ItemFailure::Item(panic_reason(&*panic))),
    }
}

/// The reason to show for a caught panic.
pub(crate) fn panic_reason(panic: &(dyn Any + Send)) -> String {
    let reason = "a defect of Daybook, please report it";
    match panic.downcast_ref::<&'static str>() {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use daybook_testkit::run;

    use super::*;

    #[test]
    fn only_an_outage_concerns_more_than_one_thing() {
        let broken = |error| match ItemFailure::from(error) {
            ItemFailure::Item(reason) => Some(reason),
            ItemFailure::Store(_) => None,
        };
        let refused = StoreError::Refused("too long".to_owned());
        assert_eq!(broken(refused).as_deref(), Some("refused: too long"));
        assert_eq!(broken(StoreError::Busy("locked".into())), None);
        let full = StoreError::Unavailable {
            what: "daybook.db".to_owned(),
            source: "disk full".into(),
        };
        assert_eq!(broken(full), None);
    }

    #[test]
    fn a_panic_is_a_reason_without_the_values_that_it_was_about() {
        let reason = |work: fn()| {
            let work = async move {
                work();
                Ok(())
            };
            match run(run_isolated(work)) {
                Err(ItemFailure::Item(reason)) => reason,
                other => panic!("{other:?}"),
            }
        };
        let plain = reason(|| panic!("out of reach"));
        assert_eq!(plain, "a defect of Daybook, please report it: out of reach");
        let formatted = reason(|| {
            let value = "token-1234".to_owned();
            panic!("{value} is out of reach")
        });
        assert_eq!(formatted, "a defect of Daybook, please report it");
    }
}
