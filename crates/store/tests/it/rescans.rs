//! What a rescan replaced is nowhere in the database's files: not in free pages, not in the full-text index, not in
//! the log.

use std::path::Path;

use daybook_domain::rescan::EventRewrite;
use daybook_domain::seams::{IndexReader, JobQueue, RescanStore, SessionLog};
use daybook_domain::{EventSeq, JobKind, RulesRevision};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;

/// A word as it stands in texts and in the full-text index, where words may be shortened by their beginnings.
const SECRET: &str = "zqxwsecretword";
const IN_INDEX: &str = "secretword";
const NEWER: RulesRevision = RulesRevision(8);

/// The files below a folder that hold these bytes.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let mut windows = bytes.windows(needle.len());
        if windows.any(|window| window == needle.as_bytes()) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

fn rewrite_all(store: &SqliteStore) {
    run(async {
        let id = session("7f78aa01");
        assert_eq!(store.raise_rescans(NEWER, at(2)).await.unwrap(), 1);
        let claims = store.claim(claim_of(JobKind::Redact, at(3), 1)).await;
        let claimed = claims.unwrap().remove(0);
        let all = store.log_entries(&id, EventSeq(0), EventSeq(999), 999, usize::MAX);
        let rewrites = all.await.unwrap().into_iter().map(|before| {
            let mut after = before.clone();
            after.event.text = before.event.text.replace(SECRET, "hidden");
            EventRewrite {
                tokens: after.event.text.clone(),
                before,
                after,
            }
        });
        let rewrites: Vec<EventRewrite> = rewrites.collect();
        let upto = EventSeq(claimed.upto - 1);
        let rewriting = store.rewrite_events(&claimed.token, upto, &rewrites, at(4));
        let _ = rewriting.await.unwrap();
    });
}

fn check(waiting: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let store = store.with_waiting_documents(waiting);
    for nth in 0..40 {
        let word = format!("{SECRET} n{nth}");
        let append = append(&session("7f78aa01"), events(&word, 5));
        run(store.append(&append)).unwrap();
    }
    rewrite_all(&store);
    assert!(!files_with(folder.path(), IN_INDEX).is_empty());
    assert!(run(store.erase_replaced()).unwrap());
    assert_eq!(files_with(folder.path(), IN_INDEX), [] as [String; 0]);
    // Nothing is left to do, and everything is found.
    assert!(run(store.erase_replaced()).unwrap());
    let tokens = ["hidden".to_owned(), SECRET.to_owned()];
    let tenant = session("7f78aa01").tenant;
    let stats = run(store.term_stats(&tenant, &tokens)).unwrap();
    assert_eq!(stats.frequencies, [200, 0]);
}

#[test]
fn what_was_replaced_is_nowhere_in_the_files() {
    check(1_000);
}

#[test]
fn what_was_replaced_is_not_in_the_full_text_index_either() {
    check(1);
}
