//! Threads that several processes use at once.

use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use daybook_testkit::{run, suites};

#[test]
fn two_handles_of_a_file_see_each_others_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let open = || SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    run(suites::thread_store::check_two_handles(&open(), &open()));
}

#[test]
fn two_who_share_a_store_in_memory_see_each_others_blocks() {
    let store = MemoryStore::new();
    run(suites::thread_store::check_two_handles(&store, &store));
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn two_handles_of_a_database_see_each_others_blocks() {
    let Some(server) = super::postgres::on_server() else {
        return;
    };
    let other = super::postgres::open(&server.database.address());
    run(suites::thread_store::check_two_handles(&*server, &other));
}
