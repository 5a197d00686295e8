//! The ledger's file: its content, and how files that another program wrote are read.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::seams::{
    ExtractionStore, JobControl, JobListing, JobQueue, JobWatch, SessionLog, Store,
};
use daybook_domain::{
    Claim, DueMark, JobKey, JobKind, Priority, SessionId, StoreError, Tenant, Timestamp,
};
use daybook_store::flush_state::FILE;
use daybook_store::{Ledgered, MemoryStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;
use serde_json::Value;
use tempfile::TempDir;

const DAY: Duration = Duration::from_secs(86_400);

/// A data folder, and the inner store that outlives each ledger on it.
struct LedgerFolder {
    folder: TempDir,
    inner: Arc<MemoryStore>,
}

impl LedgerFolder {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            inner: Arc::new(MemoryStore::new()),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn try_open(&self, now: Timestamp) -> Result<Ledgered<MemoryStore>, StoreError> {
        run(Ledgered::open(
            &self.path(),
            Arc::clone(&self.inner),
            DAY,
            now,
        ))
    }

    fn open(&self, now: Timestamp) -> Ledgered<MemoryStore> {
        self.try_open(now).expect("the ledger can be opened")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn entry(&self, name: &str) -> Value {
        let file: Value = serde_json::from_str(&self.text()).unwrap();
        file["sessions"][name].clone()
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }
}

fn append_events(store: &dyn SessionLog, id: &SessionId, word: &str, count: u64) {
    run(store.append(&append(id, events(word, count)))).unwrap();
}

fn claim_extractions(store: &dyn Store, now: Timestamp) -> Vec<daybook_domain::ClaimedJob> {
    run(store.claim(claim_of(JobKind::Extract, now, 9))).unwrap()
}

fn extract_all(store: &impl Store, now: Timestamp) -> usize {
    let claims = claim_extractions(store, now);
    for claimed in &claims {
        let JobKey::Extract(id) = claimed.token.job() else {
            panic!("a session was asked for");
        };
        let window = nothing(id, (claimed.after + 1, claimed.upto));
        let _ = run(store.finish_extraction(&claimed.token, &window, now)).unwrap();
    }
    claims.len()
}

#[test]
fn an_entry_has_mindrooms_keys_and_the_rest_of_the_job() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    assert!(!folder.path().exists(), "there is nothing to keep yet");
    let id = session("naïve 🦀");
    append_events(&store, &id, "first", 2);
    assert_eq!(claim_extractions(&store, at(500)).len(), 1);
    let expected = r#"{
  "version": 1,
  "sessions": {
    "claude-code:na\u00efve \ud83e\udd80": {
      "agent_name": "claude-code",
      "session_id": "na\u00efve \ud83e\udd80",
      "dirty": true,
      "last_session_updated_at": 1793491202,
      "last_flushed_at": null,
      "last_flushed_session_updated_at": null,
      "room_id": null,
      "thread_id": null,
      "last_seen_at": 1793491202,
      "in_flight": true,
      "daybook": {
        "tenant": "local",
        "granted_session_updated_at": 1793491202,
        "job": {
          "claims": 1,
          "deadline": 1793491802000,
          "idle_due": 1793491322000,
          "input": 2,
          "lease": {
            "arrived": null,
            "generation": 1,
            "holder": "worker",
            "turns": 0,
            "until": 1793491760000,
            "upto": 2
          },
          "priority": "normal",
          "turns": 2
        }
      }
    }
  },
  "daybook": {
    "claimed": 1,
    "rounds": [
      {
        "tenant": "local",
        "user": "",
        "agent": "claude-code",
        "served": 1
      }
    ]
  }
}
"#;
    assert_eq!(folder.text(), expected);
}

#[test]
fn a_finish_stores_its_time_and_the_sessions_last_activity_at_the_claim() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    let id = session("a");
    append_events(&store, &id, "first", 2);
    let claimed = claim_extractions(&store, at(500)).remove(0);
    // In the same second as the session's last activity, and still not taken for flushed.
    let late = event("late").with_time(at(2));
    run(store.append(&append(&id, vec![late]))).unwrap();
    let window = nothing(&id, (1, claimed.upto));
    let _ = run(store.finish_extraction(&claimed.token, &window, at(501))).unwrap();
    let entry = folder.entry("claude-code:a");
    assert_eq!(entry["dirty"], true);
    assert_eq!(entry["in_flight"], false);
    assert_eq!(entry["last_flushed_at"], at(501).0 / 1000);
    assert_eq!(entry["last_flushed_session_updated_at"], at(2).0 / 1000);
    assert_eq!(extract_all(&store, at(9_000)), 1);
    assert_eq!(folder.entry("claude-code:a")["dirty"], false);
}

#[test]
fn a_ledger_that_is_opened_again_is_the_same() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    for name in ["a", "b"] {
        append_events(&store, &session(name), name, 3);
    }
    let claim = Claim {
        limits: daybook_domain::ClaimLimits::jobs(1),
        ..claim_of(JobKind::Extract, at(500), 1)
    };
    run(store.claim(claim)).unwrap();
    let (jobs, text) = (
        run(store.jobs_of_all_tenants(JobKind::Extract)).unwrap(),
        folder.text(),
    );
    let tallies = run(store.tallies()).unwrap();
    let again = folder.open(at(501));
    assert_eq!(folder.text(), text);
    assert_eq!(
        run(again.jobs_of_all_tenants(JobKind::Extract)).unwrap(),
        jobs
    );
    assert_eq!(run(again.tallies()).unwrap(), tallies);
}

#[test]
fn only_lapsed_leases_are_cleared_when_it_opens() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    append_events(&store, &session("a"), "a", 1);
    let held = claim_extractions(&store, at(500)).remove(0);
    drop(folder.open(at(559)));
    assert_eq!(folder.entry("claude-code:a")["in_flight"], true);
    assert!(run(store.heartbeat(&held.token, at(559), LEASE)).unwrap());
    drop(folder.open(at(600)));
    assert_eq!(folder.entry("claude-code:a")["in_flight"], true);
    let late = folder.open(at(619));
    assert_eq!(folder.entry("claude-code:a")["in_flight"], false);
    let job = run(late.job(held.token.job())).unwrap().unwrap();
    assert_eq!((job.lease, job.vanished), (None, 1));
    assert_eq!(claim_extractions(&late, at(619)).len(), 1);
}

#[test]
fn clean_entries_are_dropped_in_time_and_dirty_ones_never() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    append_events(&store, &session("done"), "done", 1);
    assert_eq!(extract_all(&store, at(500)), 1);
    append_events(&store, &session("dirty"), "dirty", 1);
    let before = run(store.jobs_of_all_tenants(JobKind::Extract)).unwrap();
    drop(folder.open(DAWN.plus(DAY)));
    assert_ne!(folder.entry("claude-code:done"), Value::Null);
    let later = DAWN.plus(DAY * 400);
    let store = folder.open(later);
    assert_eq!(folder.entry("claude-code:done"), Value::Null);
    assert_ne!(folder.entry("claude-code:dirty"), Value::Null);
    assert_eq!(
        run(store.jobs_of_all_tenants(JobKind::Extract)).unwrap(),
        before
    );
    let more = event("more").with_time(later);
    run(store.append(&append(&session("done"), vec![more]))).unwrap();
    let job = run(store.job(&JobKey::Extract(session("done")))).unwrap();
    let job = job.unwrap();
    assert_eq!((job.done, job.input, job.claims), (1, 2, 1));
    assert_eq!(folder.entry("claude-code:done")["dirty"], true);
}

#[test]
fn a_corrupt_file_is_set_aside_and_made_anew_from_the_log() {
    for corrupt in [
        "{\"version\": 1, \"sess",
        "[]",
        "{\"sessions\": 7}",
        "\u{0}\u{0}",
    ] {
        let folder = LedgerFolder::new();
        let store = folder.open(DAWN);
        for name in ["a", "b", "c"] {
            append_events(&store, &session(name), name, 2);
        }
        let claim = Claim {
            limits: daybook_domain::ClaimLimits::jobs(2),
            ..claim_of(JobKind::Extract, at(500), 2)
        };
        let held = run(store.claim(claim)).unwrap();
        let window = nothing(&session("a"), (1, 2));
        let _ = run(store.finish_extraction(&held[0].token, &window, at(501))).unwrap();
        let jobs = run(store.jobs_of_all_tenants(JobKind::Extract)).unwrap();
        folder.write(corrupt);
        let again = folder.open(at(502));
        assert_eq!(
            run(again.jobs_of_all_tenants(JobKind::Extract)).unwrap(),
            jobs
        );
        let asides = again.corrupt_files().unwrap();
        assert_eq!(asides.len(), 1, "{corrupt}");
        assert_eq!(fs::read_to_string(&asides[0]).unwrap(), corrupt);
        // A ledger that was open all the time continues, too, and so does its worker.
        folder.write(corrupt);
        assert_eq!(run(store.holders()).unwrap(), ["worker"]);
        let window = nothing(&session("b"), (1, 2));
        let ended = run(store.finish_extraction(&held[1].token, &window, at(503)));
        assert_eq!(ended.unwrap(), daybook_domain::FinishOutcome::Complete);
        assert_eq!(again.corrupt_files().unwrap().len(), 2);
        assert_eq!(extract_all(&again, at(9_000)), 1);
    }
}

#[test]
fn a_file_that_is_missing_or_blank_is_made_anew() {
    for blank in [None, Some(""), Some(" \n")] {
        let folder = LedgerFolder::new();
        let store = folder.open(DAWN);
        append_events(&store, &session("a"), "a", 2);
        match blank {
            Some(text) => folder.write(text),
            None => fs::remove_file(folder.path()).unwrap(),
        }
        assert_eq!(extract_all(&store, at(9_000)), 1, "{blank:?}");
        assert!(store.corrupt_files().unwrap().is_empty());
    }
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let folder = LedgerFolder::new();
    let newer = "{\"version\": 2, \"sessions\": {}}\n";
    folder.write(newer);
    let refused = folder.try_open(DAWN).unwrap_err();
    assert!(
        matches!(
            &refused,
            StoreError::TooNew { what, found: 2, known: 1 } if what.ends_with(FILE)
        ),
        "{refused:?}"
    );
    assert_eq!(folder.text(), newer);
}

#[test]
fn an_entry_names_the_room_and_the_thread_of_its_session() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    let mut first = append(&session("pier"), events("first", 2));
    first.session.venue.room_id = Some("!pier:example.org".to_owned());
    first.session.venue.thread_id = Some("$thread".to_owned());
    run(store.append(&first)).unwrap();
    // A later append names no room.
    append_events(&store, &session("pier"), "second", 1);
    let entry = folder.entry("claude-code:pier");
    assert_eq!(entry["room_id"], "!pier:example.org");
    assert_eq!(entry["thread_id"], "$thread");
    assert_eq!(entry["last_session_updated_at"], 1793491202);
}

#[test]
fn a_file_of_mindrooms_own_program_is_taken_over() {
    let folder = LedgerFolder::new();
    let (dirty, clean) = (session("dirty"), session("clean"));
    append_events(&*folder.inner, &dirty, "dirty", 2);
    append_events(&*folder.inner, &clean, "clean", 2);
    folder.write(
        r#"{"version": 1, "by": "another program", "sessions": {
            "claude-code:dirty": {"dirty": true, "last_session_updated_at": 1793491202,
                "last_flushed_at": null, "last_flushed_session_updated_at": null,
                "room_id": "!room:example.org", "thread_id": "$thread", "last_seen_at": 1793491203,
                "in_flight": true},
            "claude-code:clean": {"agent_name": "claude-code", "session_id": "clean",
                "worker_key": null, "dirty": false, "in_flight": false, "dirty_revision": 3,
                "last_seen_at": 1793491203, "priority_boost_at": null},
            "general:far:away": {"dirty": true, "last_seen_at": 5, "in_flight": false},
            "broken": 7
        }}"#,
    );
    let store = folder.open(at(4));
    // Due since it was seen, although its own time has not come; it has no lease of ours.
    let claims = claim_extractions(&store, at(4));
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].token.job(), &JobKey::Extract(dirty));
    let entry = folder.entry("claude-code:dirty");
    assert_eq!(entry["room_id"], "!room:example.org");
    assert_eq!(entry["thread_id"], "$thread");
    assert_eq!(folder.entry("claude-code:clean")["dirty_revision"], 3);
    assert_eq!(folder.entry("claude-code:clean")["dirty"], true);
    assert!(folder.text().contains("\"by\": \"another program\""));
    let foreign_entries = run(store.foreign_entries()).unwrap();
    assert_eq!(foreign_entries, ["broken", "general:far:away"]);
    assert_eq!(folder.entry("broken"), 7);
    let far = SessionId {
        agent: "general".to_owned(),
        ..session("far:away")
    };
    append_events(&store, &far, "far", 1);
    assert_eq!(run(store.foreign_entries()).unwrap(), ["broken"]);
    assert_eq!(folder.entry("general:far:away")["dirty"], true);
    assert_eq!(folder.entry("general:far:away")["session_id"], "far:away");
}

#[test]
fn what_other_programs_keep_in_it_stays() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    append_events(&store, &session("a"), "a", 1);
    let text = folder.text().replacen(
        "\"room_id\": null",
        "\"room_id\": \"!r\",\n\"mood\": {\"good\": [1, 2.5]}",
        1,
    );
    folder.write(&text.replacen("\"version\"", "\"also\": null, \"version\"", 1));
    assert_eq!(extract_all(&store, at(500)), 1);
    let entry = folder.entry("claude-code:a");
    assert_eq!(entry["dirty"], false);
    assert_eq!(entry["room_id"], "!r");
    assert_eq!(entry["mood"]["good"][1], 2.5);
    assert!(folder.text().contains("\"also\": null"));
}

#[test]
fn no_two_sessions_share_an_entry() {
    let folder = LedgerFolder::new();
    let store = folder.open(DAWN);
    let names = [
        ("local", "a:b", "c"),
        ("local", "a", "b:c"),
        ("local", "a%3Ab", "c"),
        ("local", "t/a", "c"),
        ("t", "a", "c"),
        ("t", "", ""),
        ("local", "", ""),
        ("local", "\"\\\n\u{7f}\u{e9}", "__proto__"),
    ];
    let sessions = names.map(|(tenant, agent, host_id)| SessionId {
        tenant: Tenant(tenant.to_owned()),
        agent: agent.to_owned(),
        host_id: host_id.to_owned(),
    });
    for (n, id) in sessions.iter().enumerate() {
        let mark = DueMark::at_once(n as u64 + 1, DAWN, Priority::Normal);
        run(store.mark(&JobKey::Extract(id.clone()), mark)).unwrap();
    }
    let again = folder.open(DAWN);
    for (n, id) in sessions.iter().enumerate() {
        let job = run(again.job(&JobKey::Extract(id.clone()))).unwrap();
        assert_eq!(job.map(|job| job.input), Some(n as u64 + 1), "{id:?}");
    }
    let file: Value = serde_json::from_str(&folder.text()).unwrap();
    assert_eq!(file["sessions"].as_object().unwrap().len(), sessions.len());
    assert!(folder.text().is_ascii());
    assert!(run(again.foreign_entries()).unwrap().is_empty());
}
