//! Statements that stay prepared on a connection: what they save, and what is lost where they are gone (nothing).

use daybook_domain::seams::{JobControl, JobListing, JobQueue};
use daybook_domain::{DueMark, FinishOutcome, JobKey, JobKind, Priority};
use daybook_testkit::postgres::{Ending, PostgresServer};

use super::proxy::{BreakingProxy, Traffic};
use super::*;

/// More transactions than any test has.
const ALWAYS: usize = usize::MAX;

/// A store whose only connection leads through a proxy.
struct Fixture {
    store: PostgresStore,
    proxy: BreakingProxy,
    database: TestDatabase,
    cycles: u64,
}

impl Fixture {
    fn new() -> Option<Self> {
        let database = postgres::prepared(|address| drop(open(address)))?;
        let proxy = BreakingProxy::to(&database);
        Some(Self::through(proxy, database))
    }

    fn through(proxy: BreakingProxy, database: TestDatabase) -> Self {
        let store = open_one(proxy.address());
        make_job(&store);
        Self {
            store,
            proxy,
            database,
            cycles: 0,
        }
    }

    /// Claims and finishes the job, and returns what was sent for it.
    fn cycle(&mut self) -> Traffic {
        self.proxy.traffic();
        self.cycles += 1;
        cycle(&self.store, self.cycles);
        self.proxy.traffic()
    }

    /// Cycles until all statements are kept, and returns those that were prepared meanwhile with their names.
    fn keep_statements(&mut self) -> Vec<(String, String)> {
        let names = (0..3).flat_map(|_| self.cycle().names).collect();
        assert_eq!(parsed(&self.cycle()), Vec::<String>::new());
        names
    }
}

fn key() -> JobKey {
    JobKey::Extract(session("7f78aa01"))
}

/// Makes a job that stays due however often it is finished.
fn make_job(store: &PostgresStore) {
    let mark = DueMark::at_once(1_000, at(0), Priority::Normal);
    run(store.mark(&key(), mark)).unwrap();
}

/// Claims and finishes the job for the time of this number, and checks that each was done once.
fn cycle(store: &PostgresStore, number: u64) {
    run(async {
        let claim = claim_of(JobKind::Extract, at(1), 1);
        let claimed = store.claim(claim).await.expect("a claim is tried again");
        assert_eq!(claimed.len(), 1);
        let token = &claimed[0].token;
        let finished = store.finish(token, number, at(1)).await;
        let finished = finished.expect("a finish is tried again");
        assert_eq!(finished, FinishOutcome::StillDue);
        let job = store.job(&key()).await.unwrap().expect("it is there");
        assert_eq!((job.claims, job.done), (number, number));
    });
}

/// The statements of claims and finishes that were parsed by the server, without those of the look-up.
fn parsed(traffic: &Traffic) -> Vec<String> {
    let frames = ["BEGIN", "EXECUTE", "COMMIT", "NOTIFY"];
    let is_frame = |text: &str| frames.iter().any(|frame| text.starts_with(frame));
    let is_look_up = |text: &str| text.contains("FROM jobs WHERE");
    let statements = traffic.statements.iter();
    let parsed = statements.filter(|text| !is_frame(text) && !is_look_up(text));
    parsed.cloned().collect()
}

fn is_kept(traffic: &Traffic) -> bool {
    let statements = &traffic.statements;
    !traffic.names.is_empty()
        || statements
            .iter()
            .any(|text| text.contains("EXECUTE daybook_"))
}

#[test]
fn claims_and_finishes_parse_nothing_once_their_statements_are_kept() {
    let Some(mut fixture) = Fixture::new() else {
        return;
    };
    let first = fixture.cycle();
    assert!(parsed(&first).iter().any(|text| text.contains("next_jobs")));
    fixture.keep_statements();
}

#[test]
fn statements_that_were_discarded_are_prepared_again_and_nothing_is_lost() {
    for discard in ["DISCARD ALL", "DEALLOCATE ALL"] {
        let Some(mut fixture) = Fixture::new() else {
            return;
        };
        fixture.keep_statements();
        fixture.proxy.inject(discard, 1);
        let traffic = fixture.cycle();
        let prepares = traffic.statements.iter();
        let prepares = prepares.filter(|text| text.starts_with("PREPARE"));
        assert_eq!(prepares.count(), 1, "{traffic:#?}");
        fixture.keep_statements();
    }
}

/// What a pooler does that passes settings on, and so is not detected.
#[test]
fn a_store_whose_session_is_another_one_for_each_transaction_loses_nothing_and_keeps_no_statement()
{
    let Some(mut fixture) = Fixture::new() else {
        return;
    };
    fixture.keep_statements();
    fixture.proxy.inject("DISCARD ALL", ALWAYS);
    for _ in 0..3 {
        fixture.cycle();
    }
    let traffic = fixture.cycle();
    assert!(!is_kept(&traffic), "{traffic:#?}");
}

#[test]
fn a_statement_of_another_client_under_the_same_name_is_never_run() {
    let Some(mut fixture) = Fixture::new() else {
        return;
    };
    let names = fixture.keep_statements();
    // The first one that a cycle runs: once a name is missing, no other of them is used.
    let first = names.iter().find(|(_, text)| text.contains("next_jobs"));
    let (name, _) = first.expect("it is kept");
    let make = "CREATE SEQUENCE runs; GRANT ALL ON SEQUENCE runs TO PUBLIC";
    assert_eq!(fixture.database.ask(make), "");
    let of_same_types = "(TEXT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT)";
    let others = format!(
        "DEALLOCATE ALL; PREPARE {name} {of_same_types} AS SELECT nextval('runs')::TEXT AS job"
    );
    fixture.proxy.inject(&others, ALWAYS);
    for _ in 0..3 {
        fixture.cycle();
    }
    assert_eq!(fixture.database.ask("SELECT is_called FROM runs"), "f");
}

#[test]
fn a_function_that_returns_something_else_is_prepared_again() {
    let Some(mut fixture) = Fixture::new() else {
        return;
    };
    fixture.keep_statements();
    let change = "ALTER FUNCTION save_jobs(JSON) RENAME TO save_jobs_before;
        CREATE FUNCTION save_jobs(jobs_now JSON) RETURNS BIGINT LANGUAGE SQL
            AS 'SELECT save_jobs_before(jobs_now); SELECT 1::BIGINT';
        GRANT ALL ON FUNCTION save_jobs(JSON), save_jobs_before(JSON) TO PUBLIC";
    assert_eq!(fixture.database.ask(change), "");
    let traffic = fixture.cycle();
    let is_tried_again = traffic.statements.contains(&"ROLLBACK".to_owned());
    assert!(is_tried_again && is_kept(&traffic), "{traffic:#?}");
    fixture.keep_statements();
}

#[test]
fn a_column_that_is_added_disturbs_no_kept_statement() {
    let Some(mut fixture) = Fixture::new() else {
        return;
    };
    fixture.keep_statements();
    let change = "ALTER TABLE jobs ADD COLUMN later BIGINT";
    assert_eq!(fixture.database.ask(change), "");
    fixture.keep_statements();
}

#[test]
fn a_server_that_restarted_gets_the_statements_again() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let store = open_one(&server.address());
    make_job(&store);
    for number in 1..4 {
        cycle(&store, number);
    }
    for (number, ending) in [(4, Ending::Fast), (5, Ending::Immediate)] {
        server.restart(ending);
        cycle(&store, number);
    }
    for number in 6..9 {
        cycle(&store, number);
    }
}

#[test]
fn a_pooler_that_comes_in_between_later_gets_no_statement_to_keep() {
    let Some(mut fixture) = Fixture::new() else {
        return;
    };
    let Some(pooled) = fixture.database.pooled() else {
        return;
    };
    fixture.keep_statements();
    fixture.proxy.lead_to(&pooled);
    fixture.cycle();
    let traffic = fixture.cycle();
    assert!(!is_kept(&traffic), "{traffic:#?}");
}

#[test]
fn through_a_pooler_no_statement_is_prepared_under_a_name() {
    let poolers: [fn(&TestDatabase) -> Option<String>; 2] =
        [TestDatabase::pooled, TestDatabase::pooled_without_settings];
    for pooled in poolers {
        let Some(database) = postgres::prepared(|address| drop(open(address))) else {
            return;
        };
        let Some(address) = pooled(&database) else {
            return;
        };
        let mut fixture = Fixture::through(BreakingProxy::along(&address), database);
        for _ in 0..4 {
            let traffic = fixture.cycle();
            assert!(!is_kept(&traffic), "{traffic:#?}");
        }
    }
}
