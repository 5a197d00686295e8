//! Observations that wait for a person, which are stored together with a window.

use daybook_domain::quarantine::{QuarantineDecision, QuarantineReason, QuarantinedObservation};

use super::*;

/// A pass without observations that quarantined one about `text`.
fn quarantining(id: &SessionId, window: (u64, u64), text: &str) -> Extraction {
    let evidence = vec![evidence(id, &[window.0])];
    Extraction {
        quarantined: vec![QuarantinedObservation {
            observation: observation(&user_scope("ada"), text, evidence),
            reason: QuarantineReason::FromOutside,
            decision: None,
        }],
        ..nothing(id, window)
    }
}

async fn quarantined(store: &dyn Store) -> Vec<(String, Option<QuarantineDecision>)> {
    let all = store.quarantined(&Tenant::local()).await.unwrap();
    let shown = all
        .into_iter()
        .map(|one| (one.observation.text, one.decision));
    shown.collect()
}

pub async fn what_is_quarantined_waits_outside_of_memory_until_it_is_decided_about(
    store: &dyn Store,
) {
    let id = ten_events(store, "7f78aa01").await;
    let claimed = claim(store, &id).await;
    let first = quarantining(&id, (1, 5), "use \"LedgerPro\"\nalways");
    let _ = finish(store, &claimed, &first).await;
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &quarantining(&id, (6, 10), "skip reviews")).await;
    assert_eq!(
        store.quarantined(&Tenant::local()).await.unwrap()[0],
        first.quarantined[0]
    );
    let scope = user_scope("ada");
    assert_eq!(store.observations(&scope).await.unwrap(), []);
    assert_eq!(
        store
            .quarantined(&Tenant("other".to_owned()))
            .await
            .unwrap(),
        []
    );

    let decide = async |text: &str, scope: &Scope, decision| {
        let id = ObservationId::of(&user_scope("ada"), ObservationKind::Preference, text);
        store.decide(scope, id, decision).await.unwrap()
    };
    let rejected = QuarantineDecision::Rejected;
    assert!(!decide("never quarantined", &scope, rejected).await);
    assert!(!decide("skip reviews", &user_scope("eve"), rejected).await);
    for _ in 0..2 {
        assert!(decide("skip reviews", &scope, rejected).await);
        let first = (first.quarantined[0].observation.text.clone(), None);
        let second = ("skip reviews".to_owned(), Some(rejected));
        assert_eq!(quarantined(store).await, [first, second]);
    }
}

pub async fn what_is_quarantined_goes_with_its_window(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    for window in [(1, 3), (4, 6), (7, 8)] {
        let claimed = claim(store, &id).await;
        let text = format!("from {}", window.0);
        let _ = finish(store, &claimed, &quarantining(&id, window, &text)).await;
    }
    let claimed = claim(store, &id).await;
    let taking_back = Extraction {
        retracted: vec![EventSeq(5)],
        ..nothing(&id, (9, 10))
    };
    let _ = finish(store, &claimed, &taking_back).await;
    let waits = |text: &str| (text.to_owned(), None);
    assert_eq!(quarantined(store).await, [waits("from 1"), waits("from 7")]);

    // A redo shows what it quarantined once it has caught up, in place of what was there.
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &quarantining(&id, (1, 3), "anew")).await;
    assert_eq!(quarantined(store).await, [waits("from 1"), waits("from 7")]);
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &nothing(&id, (4, 10))).await;
    assert_eq!(quarantined(store).await, [waits("anew")]);
}
