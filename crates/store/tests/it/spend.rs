//! Spending by several callers at once, each with a store of its own, as processes have.

use std::path::Path;

#[cfg(all(unix, feature = "postgres"))]
use daybook_domain::seams::SessionLog;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    BudgetPeriod, Cap, Charge, Payer, Period, ReserveOutcome, SettleOutcome,
};
use daybook_domain::{Money, Tenant};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;

const WORKERS: u64 = 16;
const CAP: u64 = 100;

fn charge(worker: u64) -> Charge {
    Charge {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        run: worker.to_string(),
        session: None,
        stage: "extract".to_owned(),
        scope: None,
        model: "ada/small".to_owned(),
        tokens: 7,
        money: None,
    }
}

/// Calls until there is no room, settling every other call for a token less; returns what it spent.
async fn spend(store: &impl SpendStore, worker: u64) -> u64 {
    let cap = Cap {
        period: Period::Day,
        of: Payer::Tenant,
        tokens: Some(CAP),
        money: None,
    };
    let mut spent = 0;
    for n in 0.. {
        let reserved = store.reserve(&charge(worker), &[cap], DAWN).await.unwrap();
        let ReserveOutcome::Reserved(id) = reserved else {
            break;
        };
        spent += 7;
        if n % 2 == 0 {
            let usage = daybook_domain::model::Usage {
                input: 5,
                cached: 0,
                output: 1,
            };
            let settled = store.settle(&id, usage, Some(Money(1)), DAWN).await;
            assert_eq!(settled.unwrap(), SettleOutcome::Settled);
            spent -= 1;
        }
    }
    spent
}

/// Runs all workers at once, each with the store that `open` opens, and checks the rest with one more.
fn check<S: SpendStore>(open: impl Fn() -> S + Sync) {
    let spent: u64 = std::thread::scope(|scope| {
        let open = &open;
        let worker = |worker| scope.spawn(move || run(spend(&open(), worker)));
        let workers: Vec<_> = (0..WORKERS).map(worker).collect();
        let spent = workers.into_iter().map(|worker| worker.join().unwrap());
        spent.sum()
    });
    let day = BudgetPeriod::at(Payer::Tenant, "", Period::Day, "", DAWN);
    let used = run(open().used(&Tenant::local(), &[day])).unwrap();
    assert_eq!(used[0].tokens, spent, "nothing is lost or doubled");
    assert!((CAP - 6..=CAP).contains(&spent), "{spent} of {CAP}");
}

#[test]
fn stores_on_one_file_never_pass_a_cap_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let open = |path: &Path| SqliteStore::open(path, SqliteOptions::default()).unwrap();
    check(|| open(&path));
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn stores_on_one_server_never_pass_a_cap_together() {
    let Some(server) = super::postgres::on_server() else {
        return;
    };
    let address = server.database.address();
    check(|| super::postgres::open(&address));
}

/// A server may be set to acknowledge writes before they are on its disk; spending always waits.
#[cfg(all(unix, feature = "postgres"))]
#[test]
fn what_is_spent_waits_for_the_servers_disk() {
    let Some(server) = super::postgres::on_server() else {
        return;
    };
    let look = "CREATE TABLE seen (level TEXT);
        CREATE FUNCTION look() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO seen VALUES (TG_TABLE_NAME || ' ' || current_setting('synchronous_commit'));
            RETURN NULL;
        END $$;
        CREATE TRIGGER look AFTER INSERT OR UPDATE ON spend_calls EXECUTE FUNCTION look();
        CREATE TRIGGER look AFTER INSERT ON sessions EXECUTE FUNCTION look();
        DO $$ BEGIN
            EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
        END $$";
    run(async {
        let admin = super::postgres::admin(&server.database).await;
        admin.batch_execute(look).await.unwrap();
    });
    let store = super::postgres::open(&server.database.address());
    let seen = run(async {
        let session = append(&session("aaaa"), events("said", 1));
        SessionLog::append(&store, &session).await.unwrap();
        assert!(spend(&store, 1).await > 0);
        let admin = super::postgres::admin(&server.database).await;
        let select = "SELECT level, count(*) FROM seen GROUP BY level ORDER BY level";
        let rows = admin.query(select, &[]).await.unwrap();
        let levels = rows.iter().map(|row| row.get::<_, String>(0));
        levels.collect::<Vec<_>>()
    });
    assert_eq!(seen, ["sessions off", "spend_calls on"]);
}
