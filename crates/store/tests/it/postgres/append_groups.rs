//! Appends of several callers that share a transaction.

use daybook_domain::seams::{Append, AppendOutcome};
use futures_util::future::join_all;

use super::proxy::BreakingProxy;
use super::*;

/// Callers that append at once.
const CALLERS: usize = 24;

/// Existing sessions, one for each caller.
async fn sessions(store: &PostgresStore) -> Vec<Append> {
    let mut appends = Vec::new();
    for n in 0..CALLERS {
        let id = session(&format!("5e55{n:04}"));
        let there = |text: &str| {
            let event = event(text).with_place("/home/ada/tidepool");
            append(&id, vec![event])
        };
        store
            .append(&there(&format!("the first of {n}")))
            .await
            .unwrap();
        appends.push(there(&format!("the second of {n}")));
    }
    appends
}

async fn append_all(
    store: &PostgresStore,
    appends: &[Append],
) -> Vec<Result<AppendOutcome, StoreError>> {
    join_all(appends.iter().map(|append| store.append(append))).await
}

async fn texts(store: &PostgresStore, append: &Append) -> Vec<String> {
    let all = daybook_domain::EventSeq(u64::from(u32::MAX));
    let none = daybook_domain::EventSeq(0);
    let events = store.events(&append.session.id, none, all, 100, 1 << 20);
    let events = events.await.unwrap().into_iter();
    events.map(|event| event.text).collect()
}

#[test]
fn appends_that_wait_at_the_same_moment_share_transactions() {
    let Some(fixture) = on_server() else { return };
    let proxy = BreakingProxy::to(&fixture.database);
    let store = open(proxy.address());
    run(async {
        let appends = sessions(&store).await;
        proxy.traffic();
        for appended in append_all(&store, &appends).await {
            let appended = appended.unwrap();
            assert_eq!((appended.added, appended.known, appended.last.0), (1, 0, 2));
        }
        let heard = proxy.traffic().statements;
        let commits = heard.iter().filter(|sent| sent.contains("COMMIT"));
        let commits = commits.count();
        assert!(commits < CALLERS / 2, "{commits} commits");
        assert!(heard.len() < CALLERS * 4, "{} statements", heard.len());
        for (n, append) in appends.iter().enumerate() {
            let both = [format!("the first of {n}"), format!("the second of {n}")];
            assert_eq!(texts(&store, append).await, both);
        }
        // Known events add nothing, in a group or alone.
        for appended in append_all(&store, &appends).await {
            let appended = appended.unwrap();
            assert_eq!((appended.added, appended.known, appended.last.0), (0, 1, 2));
        }
    });
}

#[test]
fn appends_to_one_session_at_once_are_all_kept_once() {
    let Some(fixture) = on_server() else { return };
    let store = open(&fixture.database.address());
    let other_machine = open(&fixture.database.address());
    run(async {
        let id = session("5e550001");
        let texts: Vec<String> = (0..CALLERS).map(|n| format!("number {n}")).collect();
        let one = |text: &String| append(&id, vec![event(text)]);
        for store in [&store, &other_machine] {
            store
                .append(&append(&id, vec![event("the first")]))
                .await
                .unwrap();
        }
        let appends: Vec<Append> = texts.iter().map(one).collect();
        let ours = append_all(&store, &appends);
        let theirs = append_all(&other_machine, &appends);
        let (ours, theirs) = futures_util::future::join(ours, theirs).await;
        let added = ours
            .into_iter()
            .chain(theirs)
            .map(|done| done.unwrap().added);
        assert_eq!(added.sum::<u64>(), CALLERS as u64);
        let mut kept = self::texts(&store, &appends[0]).await;
        assert_eq!(kept.remove(0), "the first");
        kept.sort();
        let mut all = texts;
        all.sort();
        assert_eq!(kept, all);
    });
}

#[test]
fn a_refused_append_takes_no_other_along() {
    let Some(fixture) = on_server() else { return };
    let _ = fixture.database.ask(
        "CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW
            WHEN (NEW.text = 'the second of 7') EXECUTE FUNCTION refuse()",
    );
    run(async {
        let appends = sessions(&fixture).await;
        let appended = append_all(&fixture, &appends).await;
        for (n, appended) in appended.into_iter().enumerate() {
            match n {
                7 => assert!(
                    matches!(appended, Err(StoreError::Refused(_))),
                    "{appended:?}"
                ),
                _ => assert_eq!(appended.unwrap().added, 1),
            }
        }
        assert_eq!(texts(&fixture, &appends[7]).await, ["the first of 7"]);
    });
}

#[test]
fn a_session_that_another_transaction_holds_holds_up_no_other() {
    let Some(fixture) = on_server() else { return };
    run(async {
        let appends = sessions(&fixture).await;
        let mut admin = admin(&fixture.database).await;
        let holding = admin.transaction().await.unwrap();
        let hold = "SELECT FROM sessions WHERE host_id = $1 FOR UPDATE";
        let held = &appends[3].session.id.host_id;
        holding.query(hold, &[held]).await.unwrap();
        let (held, others) = (&appends[3], [&appends[..3], &appends[4..]].concat());
        let waiting = fixture.append(held);
        let going_on = async {
            let appended = append_all(&fixture, &others).await;
            // These appends were answered while the lock was held.
            holding.rollback().await.unwrap();
            appended
        };
        let (waited, appended) = futures_util::future::join(waiting, going_on).await;
        assert_eq!(waited.unwrap().added, 1);
        for appended in appended {
            assert_eq!(appended.unwrap().added, 1);
        }
    });
}
