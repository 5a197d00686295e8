//! Keeps what goes wrong with one file, notice or session from ending the work on others.
//!
//! A refusal, a corrupt row and a panic concern the one thing that was worked on: the caller records
//! the reason with it and goes on. An outage of the store concerns all and ends the work.
//!
//! What a panic reports with formatted values is not kept: they may be words of a transcript that no
//! redaction has seen.
//!
//! Not here: where a reason is recorded, when the work is tried again.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use daybook_domain::StoreError;
use futures_util::FutureExt;

/// Why the work on one thing broke off.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The thing itself is at fault, for this reason.
    Alone(String),
    /// The store is at fault, and other things fare no better.
    Store(StoreError),
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        match error.is_outage() {
            true => Self::Store(error),
            false => Self::Alone(error.to_string()),
        }
    }
}

/// Does the work on one thing, and catches its panic. What the work has changed so far must be whole
/// without the rest of it, as transactions are.
pub(crate) async fn guarded<T>(
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, Broken> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => Ok(done?),
        Err(panic) => Err(Broken::Alone(panic_reason(&*panic))),
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
        let broken = |error| match Broken::from(error) {
            Broken::Alone(reason) => Some(reason),
            Broken::Store(_) => None,
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
            match run(guarded(work)) {
                Err(Broken::Alone(reason)) => reason,
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
