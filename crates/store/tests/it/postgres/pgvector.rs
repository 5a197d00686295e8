//! The approximate search for the nearest vectors: the promises of every store, on an index of the extension
//! `vector`, and what holds for the index itself. `.ci/postgres` runs this on a server that comes with it.

use daybook_domain::Origin;
use daybook_domain::index::{DocumentNo, DocumentVectors, SearchFilter};
use daybook_domain::seams::VectorStore;
use daybook_store::VectorSearch;

use super::proxy::BreakingProxy;
use super::*;

const MODEL: &str = "ada/small@1";
/// Asks the index for every tenant, however few its documents are.
const ALWAYS: PostgresOptions = PostgresOptions {
    vectors: VectorSearch::Approximate { from: 0 },
    ..OPTIONS
};

fn on_pgvector() -> Option<ServerStore> {
    if !postgres::has_extension("vector") {
        return None;
    }
    let database = postgres::prepared(|address| drop(open(address)))?;
    database.install("vector");
    let store = open_approximate(&database.address()).expect("a store can be opened");
    Some(ServerStore { store, database })
}

fn open_approximate(address: &str) -> Result<PostgresStore, StoreError> {
    run(PostgresStore::open(address, &Trust::System, ALWAYS))
}

daybook_testkit::store_suite!(maybe on_pgvector, 4);
daybook_testkit::model_suite!(maybe on_pgvector, 8);

/// Indexes so many events, and gives each a vector at a distance from `!0` that is its number.
async fn fill(store: &PostgresStore, tenant: &Tenant, count: u64) {
    let mut id = session("5e550001");
    id.tenant = tenant.clone();
    let appended = store.append(&append(&id, events("word", count))).await;
    appended.unwrap();
    store.choose_model(tenant, MODEL).await.unwrap();
    let waiting = store.unembedded(tenant, 1_000).await.unwrap();
    let vectors = waiting.into_iter().enumerate();
    let vectors = vectors.map(|(n, one)| DocumentVectors {
        doc: one.doc,
        digest: one.digest(),
        vectors: vec![1],
        signs: signs(n % 64),
        tokens: tokens(&one.text),
    });
    let vectors: Vec<DocumentVectors> = vectors.collect();
    let put = store.put_vectors(tenant, MODEL, &vectors).await;
    put.unwrap();
}

/// Signs of which so many differ from those of `signs(0)`.
fn signs(distance: usize) -> Vec<u64> {
    vec![
        !0,
        u64::MAX
            .checked_shl(u32::try_from(distance).unwrap())
            .unwrap_or(0),
    ]
}

async fn nearest(store: &PostgresStore, filter: &SearchFilter, limit: usize) -> Vec<DocumentNo> {
    let (tenant, asked) = (Tenant::local(), signs(0));
    let nearest = store.nearest(&tenant, (MODEL, &asked), filter, limit);
    nearest.await.unwrap()
}

#[test]
fn the_index_answers_for_a_role_that_sees_its_tenants_rows_alone() {
    let Some(fixture) = on_pgvector() else { return };
    let proxy = BreakingProxy::to(&fixture.database);
    let store = open_approximate(proxy.address()).expect("a store can be opened");
    run(async {
        fill(&store, &Tenant::local(), 20).await;
        nearest(&store, &SearchFilter::default(), 5).await;
        let search = proxy.traffic().statements.into_iter();
        let search: Vec<String> = search.filter(|text| text.contains("<~>")).collect();
        let [search] = search.as_slice() else {
            panic!("one search, not {search:?}");
        };
        let client = connect(&fixture.database.address()).await;
        let explain = format!(
            "SET daybook.tenant = 'local'; SET enable_sort = off;
             PREPARE search (TEXT, TEXT, TEXT, BIGINT, BIGINT[], TEXT[], BIGINT[]) AS {search};
             EXPLAIN EXECUTE search ('local', '', 'x{:032x}', 5, '{{}}', '{{}}', '{{}}')",
            0
        );
        let plan = format!("{:?}", client.simple_query(&explain).await.unwrap());
        assert!(
            plan.contains("Index Scan using ix_signs_near_128"),
            "{plan}"
        );
    });
}

#[test]
fn where_the_index_finds_too_few_the_search_is_exact() {
    let Some(fixture) = on_pgvector() else { return };
    // The index gives up after the first documents, and these are another tenant's.
    let give_up = "ALTER DATABASE %I SET hnsw.max_scan_tuples = 1";
    let give_up = format!("DO $$ BEGIN EXECUTE format('{give_up}', current_database()); END $$");
    assert_eq!(fixture.database.ask(&give_up), "");
    let store = open_approximate(&fixture.database.address()).unwrap();
    let exact = open(&fixture.database.address());
    run(async {
        fill(&store, &Tenant::local(), 8).await;
        let nearer = "INSERT INTO ix_signs (tenant_no, doc, signs)
            SELECT 999, n, repeat('1', 128)::VARBIT FROM generate_series(1, 1000) AS n";
        assert_eq!(fixture.database.ask(nearer), "");
        let found = nearest(&store, &SearchFilter::default(), 5).await;
        assert_eq!(found.len(), 5);
        assert_eq!(found, nearest(&exact, &SearchFilter::default(), 5).await);
        let of_tools = SearchFilter {
            origins: vec![Origin::ToolResult],
            ..SearchFilter::default()
        };
        assert_eq!(nearest(&store, &of_tools, 5).await, []);
    });
}

#[test]
fn vectors_that_were_there_before_it_was_chosen_are_indexed_when_the_store_opens() {
    let Some(fixture) = on_pgvector() else { return };
    let exact = open(&fixture.database.address());
    let built =
        "SELECT string_agg(relname, ' ') FROM pg_class WHERE starts_with(relname, 'ix_signs_near')";
    run(async {
        fill(&exact, &Tenant::local(), 8).await;
        assert_eq!(fixture.database.ask(built), "");
    });
    let approximate = open_approximate(&fixture.database.address()).unwrap();
    assert_eq!(fixture.database.ask(built), "ix_signs_near_128");
    run(async {
        let all = SearchFilter::default();
        let found = nearest(&approximate, &all, 8).await;
        assert_eq!(found.len(), 8);
        assert_eq!(found, nearest(&exact, &all, 8).await);
    });
}

#[test]
fn without_the_extension_an_approximate_search_is_refused() {
    let Some(fixture) = on_server() else { return };
    let refused = open_approximate(&fixture.database.address()).map(drop);
    let Err(StoreError::Refused(why)) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("CREATE EXTENSION vector"), "{why}");
}
