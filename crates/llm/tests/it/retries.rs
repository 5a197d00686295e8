//! When a question is sent again, and after what wait.

use std::num::NonZeroU32;
use std::time::Duration;

use daybook_domain::model::{Model as _, ModelError};
use daybook_llm::{RetryConfig, Wire};
use daybook_testkit::llm_server::{Behaviour, RetryAfter};

use crate::llm_test_support::{ScriptedProvider, WIRES, demand, question};

fn config() -> RetryConfig {
    RetryConfig {
        tries: NonZeroU32::new(3).expect("it is not zero"),
        first_wait: Duration::from_secs(1),
        longest_wait: Duration::from_secs(8),
        total_wait: Duration::from_secs(60),
    }
}

/// What a provider that is busy once makes us wait, in whole seconds.
async fn check(retry_after: Option<RetryAfter>, from: u64, to: u64) {
    for wire in WIRES {
        let script = [
            Behaviour::RateLimit { retry_after },
            Behaviour::answer("50"),
        ];
        let scripted = ScriptedProvider::with(wire, script, |provider| provider.retries = config());
        assert_eq!(
            scripted.ask_line(&question()).await,
            r#"stop "50", reported, 2"#
        );
        let waits = scripted.waits.all();
        let [wait] = waits[..] else {
            panic!("{waits:?}");
        };
        let range = Duration::from_secs(from)..=Duration::from_secs(to);
        assert!(range.contains(&wait), "{wait:?}");
    }
}

#[tokio::test]
async fn a_provider_is_left_alone_as_long_as_it_asks() {
    check(None, 1, 2).await;
    check(Some(RetryAfter::Seconds(20)), 21, 22).await;
    check(Some(RetryAfter::Millis(20_000)), 21, 22).await;
    check(Some(RetryAfter::Date(Duration::from_secs(20))), 21, 22).await;
}

#[tokio::test]
async fn a_provider_that_wants_longer_is_not_waited_for() {
    let retry_after = Some(RetryAfter::Seconds(61));
    let limited = [
        Behaviour::RateLimit { retry_after },
        Behaviour::answer("50"),
    ];
    let scripted = ScriptedProvider::with(Wire::OpenAi, limited, |provider| {
        provider.retries = config()
    });
    let failure = scripted
        .model
        .ask(&question())
        .await
        .expect_err("it is busy");
    let ModelError::Unavailable { retry_after, .. } = failure.error else {
        panic!("{failure:?}");
    };
    assert_eq!(retry_after, Some(Duration::from_secs(61)));
    assert_eq!(
        (scripted.waits.all(), scripted.server.requests()),
        (vec![], 1)
    );
}

#[tokio::test]
async fn waits_grow_and_end() {
    let script = vec![Behaviour::ServerError(503); 9];
    let scripted =
        ScriptedProvider::with(Wire::OpenAi, script, |provider| provider.retries = config());
    assert_eq!(
        scripted.ask_line(&question()).await,
        "unavailable, nothing, 3"
    );
    let waits = scripted.waits.all();
    assert_eq!(waits.len(), 2);
    assert!(
        waits[0] >= Duration::from_secs(1) && waits[1] >= Duration::from_secs(2),
        "{waits:?}"
    );
}

#[tokio::test]
async fn all_waits_of_a_question_are_bounded_together() {
    let retry_after = Some(RetryAfter::Seconds(25));
    let script = vec![Behaviour::RateLimit { retry_after }; 9];
    let patient = RetryConfig {
        tries: NonZeroU32::new(9).expect("it is not zero"),
        ..config()
    };
    let scripted =
        ScriptedProvider::with(Wire::OpenAi, script, |provider| provider.retries = patient);
    assert_eq!(
        scripted.ask_line(&question()).await,
        "unavailable, nothing, 3"
    );
}

/// Reservations of a question's worst case use this number.
#[tokio::test]
async fn no_question_is_billed_for_more_requests_than_it_says() {
    let lost = vec![Behaviour::ServerError(500); 2];
    let wrong = vec![Behaviour::answer("fifty"); 9];
    let script = [lost, wrong].concat();
    let scripted =
        ScriptedProvider::with(Wire::OpenAi, script, |provider| provider.retries = config());
    scripted
        .model
        .ask(&demand())
        .await
        .expect_err("never right");
    let most = usize::try_from(scripted.model.most_requests()).expect("a few");
    assert_eq!((scripted.server.requests(), most), (4, 4));
}
