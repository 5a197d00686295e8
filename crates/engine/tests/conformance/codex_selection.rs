//! C14, C32 to C46, C72, C76 and C85 to C90: which sessions a consolidation selects, and the files that it writes of them. Here
//! a session's snapshot is the last event that was extracted and when, where Codex has seconds.

use std::fs;
use std::sync::atomic::Ordering;

use daybook_domain::seams::ConsolidationResults;
use daybook_domain::{
    EventId, EventSeq, FailureClass, FinishOutcome, JobKey, JobKind, JobStatus, Priority,
    SelectionRecord, SessionId, Tenant, Use, UseKind, UsedBy,
};
use daybook_engine::files::workspace_diff::WorkspaceDiff;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::profile::Profile;

use crate::profile_test_support::{ProfileFixture, ada, on_each_store, s};

const DAY: u64 = 86_400;

/// Runs `test` in the profile, with room for so many sessions.
fn codex(most: usize, test: impl AsyncFn(&ProfileFixture)) {
    let mut profile = Profile::codex();
    profile.consolidation.selection.most = most;
    on_each_store(profile, test);
}

/// Ada states something in a session, which is then extracted and consolidated.
async fn learn(fixture: &ProfileFixture, name: &str, text: &str) {
    fixture.append_texts(&s(name), &[text]).await;
    fixture.wait(DAY);
    let report = fixture.run_worker().await;
    assert_eq!(report.failed, [], "{report:?}");
}

async fn record(fixture: &ProfileFixture) -> SelectionRecord {
    let record = fixture.store.selection(&ada()).await;
    record.expect("the store answers").expect("it succeeded")
}

/// The selected sessions with the last event of each.
async fn selected(fixture: &ProfileFixture) -> Vec<(String, u64)> {
    let sessions = record(fixture).await.sessions.into_iter();
    let named = sessions.map(|it| (it.session.host_id, it.snapshot.upto.0));
    named.collect()
}

async fn check(fixture: &ProfileFixture, expected: &[(&str, u64)]) {
    let expected: Vec<(String, u64)> = expected
        .iter()
        .map(|(name, upto)| ((*name).to_owned(), *upto))
        .collect();
    assert_eq!(selected(fixture).await, expected);
}

/// Raises ada's scope, and consolidates it a day later.
async fn consolidate(fixture: &ProfileFixture) {
    fixture
        .store
        .touch_scope(&ada(), fixture.now())
        .await
        .expect("it is raised");
    fixture.wait(DAY);
    let report = fixture.run_worker().await;
    assert_eq!(report.failed, [], "{report:?}");
}

async fn cite(fixture: &ProfileFixture, session: &SessionId) {
    let used = [Use {
        session: session.clone(),
        event: EventSeq(1),
        kind: UseKind::Cited,
        by: UsedBy::Session {
            session: s("reader"),
            event: EventId(1),
        },
        at: fixture.now(),
    }];
    let noted = fixture
        .store
        .note_uses(&session.tenant, &used, fixture.now());
    assert_eq!(noted.await.expect("it is noted"), 1);
}

/// The lines of `raw_memories.md` that begin a session's block, in order.
fn threads(fixture: &ProfileFixture) -> Vec<String> {
    let raw = fixture.memory_file("raw_memories.md");
    let threads = raw
        .lines()
        .filter_map(|line| line.strip_prefix("## Thread `"));
    threads
        .map(|id| id.trim_end_matches('`').to_owned())
        .collect()
}

/// The names of the summaries.
fn summaries(fixture: &ProfileFixture) -> Vec<String> {
    let folder = fs::read_dir(fixture.memory_folder().join("rollout_summaries"));
    let names = folder.into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn c32_and_c76_raw_memories_are_listed_latest_first_with_a_summary_each() {
    codex(9, async |fixture| {
        learn(fixture, "b", "the limit is 20").await;
        learn(fixture, "c", "the port is 8080").await;
        learn(fixture, "a", "the tests need Docker").await;
        assert_eq!(threads(fixture), ["a", "c", "b"]);
        assert_eq!(summaries(fixture).len(), 3);
        let raw = fixture.memory_file("raw_memories.md");
        let opening = "# Raw Memories\n\nMerged stage-1 raw memories (latest first):\n";
        assert!(raw.starts_with(opening), "{raw}");
        assert!(raw.contains("- \"the port is 8080\" [c:L1]"), "{raw}");
        assert!(!fixture.memory_folder().join("sessions").exists());
    });
}

#[test]
fn c36_to_c39_a_success_records_exactly_what_it_read() {
    codex(2, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        check(fixture, &[("a", 1)]).await;
        learn(fixture, "b", "the port is 8080").await;
        learn(fixture, "c", "the tests need Docker").await;
        check(fixture, &[("b", 1), ("c", 1)]).await;
        // Extracted and not consolidated yet: the record stays as it is.
        fixture.append_texts(&s("a"), &["the limit is 50"]).await;
        check(fixture, &[("b", 1), ("c", 1)]).await;
        fixture.wait(DAY);
        fixture.run_worker().await;
        check(fixture, &[("a", 2), ("c", 1)]).await;
        learn(fixture, "d", "the cache is warm").await;
        learn(fixture, "c", "the tests need no Docker").await;
        check(fixture, &[("c", 2), ("d", 1)]).await;
        assert_eq!(threads(fixture), ["c", "d"]);
        assert_eq!(summaries(fixture).len(), 2);
    });
}

#[test]
fn c44_a_session_that_was_not_used_for_long_is_deselected_and_nothing_is_deleted() {
    codex(9, async |fixture| {
        learn(fixture, "old", "the limit is 20").await;
        learn(fixture, "cited", "the port is 8080").await;
        fixture.wait(29 * DAY);
        cite(fixture, &s("cited")).await;
        fixture.wait(5 * DAY);
        learn(fixture, "new", "the tests need Docker").await;
        check(fixture, &[("cited", 1), ("new", 1)]).await;
        assert_eq!(threads(fixture), ["new", "cited"]);
        let texts = fixture.observation_texts().await;
        assert_eq!(
            texts,
            [
                "the limit is 20",
                "the port is 8080",
                "the tests need Docker"
            ]
        );
        let kept = fixture.store.extractions_of(&s("old")).await;
        assert_eq!(kept.expect("the store answers").len(), 1);
        // A use brings it back.
        cite(fixture, &s("old")).await;
        consolidate(fixture).await;
        check(fixture, &[("cited", 1), ("new", 1), ("old", 1)]).await;
    });
}

/// In Codex a pruning deletes what was not used for long; here it falls out of the selection.
#[test]
fn c72_a_session_lapses_though_its_model_may_not_be_asked() {
    codex(9, async |fixture| {
        learn(fixture, "old", "the limit is 20").await;
        fixture.wait(20 * DAY);
        learn(fixture, "fresh", "the port is 8080").await;
        check(fixture, &[("fresh", 1), ("old", 1)]).await;
        *fixture.extractor.failure_class.lock().expect("no panic") = Some(FailureClass::Outage);
        fixture
            .append_texts(&s("waiting"), &["the tests need Docker"])
            .await;
        let touched = fixture.store.touch_scope(&ada(), fixture.now()).await;
        touched.expect("it is raised");
        fixture.wait(12 * DAY);
        let report = fixture.run_worker().await;
        assert_eq!(report.failed.len(), 1, "{report:?}");
        check(fixture, &[("fresh", 1)]).await;
        assert_eq!(threads(fixture), ["fresh"]);
        let texts = fixture.observation_texts().await;
        assert_eq!(texts, ["the limit is 20", "the port is 8080"]);
    });
}

#[test]
fn c14_a_new_extraction_keeps_the_counts_of_uses() {
    codex(1, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        cite(fixture, &s("a")).await;
        let uses = async || {
            let sessions = [s("a")];
            let uses = fixture.store.uses(&sessions[0].tenant, &sessions).await;
            uses.expect("the store answers")
        };
        let before = uses().await;
        assert_eq!(before.len(), 1);
        // The session goes on, and then all of it is extracted anew.
        learn(fixture, "a", "the limit is 50").await;
        assert_eq!(uses().await, before);
        let key = JobKey::Extract(s("a"));
        let redone = fixture.store.redo(&key, fixture.now()).await;
        redone.expect("it begins again");
        fixture.run_worker().await;
        assert_eq!(fixture.job(&s("a")).await.redo, 1);
        assert_eq!(uses().await, before);
        // It still counts: one that was not cited does not displace it.
        learn(fixture, "b", "the port is 8080").await;
        check(fixture, &[("a", 2)]).await;
    });
}

/// While sessions are forgotten, their files stay beside the new ones until the pages without them are written.
#[test]
fn what_is_to_be_forgotten_is_on_disk_beside_what_is_new() {
    codex(1, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        learn(fixture, "b", "the port is 8080").await;
        assert_eq!(threads(fixture), ["b"]);
        let folder = Folder::open(fixture.memory_folder(), FilesConfig::default());
        let folder = folder.expect("it exists");
        let log = folder.log(9).expect("its history");
        let subjects: Vec<&str> = log.iter().map(|commit| commit.subject.as_str()).collect();
        assert_eq!(subjects.len(), 3, "{subjects:?}");
        assert_eq!(subjects[1], "Keep 1 sessions to forget beside 1 new ones");
        let files = folder.files_at(log[1].id).expect("its files");
        let of_summaries = files
            .keys()
            .filter(|path| path.as_str().starts_with("rollout_"));
        assert_eq!(of_summaries.count(), 2);
    });
}

/// A person's edit is a change of the files since the last success, until the next one has seen it.
#[test]
fn c99_what_a_person_edits_differs_from_the_last_success() {
    codex(9, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        let folder = Folder::open(fixture.memory_folder(), FilesConfig::default());
        let folder = folder.expect("it exists");
        let changed = async || {
            let baseline = record(fixture).await.commit.expect("it has files");
            let baseline = baseline.parse().expect("it is a commit");
            let diff = WorkspaceDiff::since(&folder, Some(baseline)).expect("it can be read");
            diff.changes
                .into_iter()
                .map(|change| change.path)
                .collect::<Vec<_>>()
        };
        assert_eq!(changed().await, [""; 0]);
        let curated = fixture.memory_folder().join("MEMORY.md");
        let text = fs::read_to_string(&curated).expect("it was written");
        fs::write(&curated, text + "My own line.\n").expect("it can be edited");
        assert_eq!(changed().await, ["MEMORY.md"]);
        consolidate(fixture).await;
        assert_eq!(changed().await, [""; 0]);
    });
}

#[test]
fn c46_a_session_whose_import_is_undone_leaves_the_selection_and_its_files() {
    codex(9, async |fixture| {
        let (store, tenant) = (&fixture.store, Tenant::local());
        let import = store.begin_import(&tenant, "all", fixture.now()).await;
        let import = import.expect("it begins");
        let mut append = fixture.new_append(&s("a"), &["the limit is 20"]);
        append.import = Some(import);
        store.append(&append).await.expect("it is kept");
        let ended = store.end_import(&tenant, import, fixture.now()).await;
        ended.expect("it ends");
        learn(fixture, "b", "the port is 8080").await;
        check(fixture, &[("a", 1), ("b", 1)]).await;
        let undone = store.undo_import(&tenant, import, fixture.now()).await;
        undone.expect("it is undone");
        fixture.wait(DAY);
        fixture.run_worker().await;
        check(fixture, &[("b", 1)]).await;
        assert_eq!(threads(fixture), ["b"]);
        assert_eq!(summaries(fixture).len(), 1);
    });
}

/// A worker that vanished after its files were written, and before the finish, leaves the record of the success before.
#[test]
fn a_run_that_ended_before_its_finish_is_repeated_with_the_same_end() {
    codex(1, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        let before = record(fixture).await;
        learn(fixture, "b", "the port is 8080").await;
        let (raw, names) = (fixture.memory_file("raw_memories.md"), summaries(fixture));
        fixture
            .store
            .touch_scope(&ada(), fixture.now())
            .await
            .expect("it is raised");
        let claimed = fixture
            .claim_as("vanished", JobKind::Consolidate)
            .await
            .remove(0);
        let ended = fixture.store.finish_consolidation(
            &claimed.token,
            claimed.upto,
            ConsolidationResults {
                selection: Some(&before),
                ..ConsolidationResults::default()
            },
            fixture.now(),
        );
        assert_eq!(
            ended.await.expect("the store answers"),
            FinishOutcome::Complete
        );
        check(fixture, &[("a", 1)]).await;
        consolidate(fixture).await;
        check(fixture, &[("b", 1)]).await;
        assert_eq!(
            (fixture.memory_file("raw_memories.md"), summaries(fixture)),
            (raw, names)
        );
    });
}

#[test]
fn c78_and_c85_without_sessions_or_changes_nothing_is_written() {
    codex(9, async |fixture| {
        consolidate(fixture).await;
        assert!(!fixture.memory_folder().exists());
        assert_eq!(selected(fixture).await, []);
        learn(fixture, "a", "the limit is 20").await;
        let raw = fixture.memory_file("raw_memories.md");
        consolidate(fixture).await;
        let folder = Folder::open(fixture.memory_folder(), FilesConfig::default());
        let log = folder.expect("it exists").log(9).expect("its history");
        assert_eq!(
            (log.len(), fixture.memory_file("raw_memories.md")),
            (1, raw)
        );
        // All of it lapses: nothing is left to show, and the curated page stays.
        fixture.wait(40 * DAY);
        consolidate(fixture).await;
        let raw = fixture.memory_file("raw_memories.md");
        assert!(
            raw.starts_with("# Raw Memories\n\nNo raw memories yet.\n"),
            "{raw}"
        );
        assert_eq!(summaries(fixture), [""; 0]);
        assert!(fixture.memory_file("MEMORY.md").contains("the limit is 20"));
    });
}

#[test]
fn c89_a_changed_slug_or_a_file_of_a_session_that_is_gone_leaves_no_old_name() {
    codex(1, async |fixture| {
        fixture.extractor.has_model.store(true, Ordering::Relaxed);
        learn(fixture, "a", "the limit").await;
        let first = summaries(fixture);
        assert!(first[0].ends_with("-slug_of_the_limit.md"), "{first:?}");
        learn(fixture, "b", "the port").await;
        let second = summaries(fixture);
        assert!(
            second.len() == 1 && second[0].ends_with("-slug_of_the_port.md"),
            "{second:?}"
        );
        // Read anew, without a model: it has no slug any more.
        fixture.extractor.has_model.store(false, Ordering::Relaxed);
        let job = JobKey::Extract(s("b"));
        fixture
            .store
            .redo(&job, fixture.now())
            .await
            .expect("it is redone");
        fixture.wait(DAY);
        fixture.run_worker().await;
        let third = summaries(fixture);
        assert_eq!(third, [second[0].replace("-slug_of_the_port", "")]);
    });
}

#[test]
fn c90_headers_have_the_order_of_codex() {
    codex(9, async |fixture| {
        fixture.extractor.has_model.store(true, Ordering::Relaxed);
        learn(fixture, "0194f5a6-89ab-7cde-8123-456789abcdef", "the limit").await;
        let names = summaries(fixture);
        assert_eq!(names, ["2025-02-11T15-35-19-jqmb-slug_of_the_limit.md"]);
        let without_marker = |text: String| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with('^'));
            lines.map(str::to_owned).collect()
        };
        let raw = without_marker(fixture.memory_file("raw_memories.md"));
        let expected = [
            "# Raw Memories",
            "",
            "Merged stage-1 raw memories (latest first):",
            "",
            "## Thread `0194f5a6-89ab-7cde-8123-456789abcdef`",
            "updated_at: 2026-11-01T00:00:00Z",
            "cwd: unknown",
            "rollout_path: unknown",
            "rollout_summary_file: 2025-02-11T15-35-19-jqmb-slug_of_the_limit.md",
            "",
            "raw memory of the limit",
            "",
            "source: [0194:L1]",
            "",
        ];
        assert_eq!(raw, expected);
        let summary = fixture.memory_file(&format!("rollout_summaries/{}", names[0]));
        let expected = [
            "thread_id: 0194f5a6-89ab-7cde-8123-456789abcdef",
            "updated_at: 2026-11-01T00:00:00Z",
            "rollout_path: unknown",
            "cwd: unknown",
            "",
            "summary of the limit",
            "",
            "source: [0194:L1]",
            "",
        ];
        assert_eq!(without_marker(summary), expected);
    });
}

/// A person's words win, also in files that the engine keeps.
#[test]
fn a_persons_edits_of_rollouts_stay() {
    codex(9, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        learn(fixture, "b", "the port is 8080").await;
        let raw = fixture.memory_folder().join("raw_memories.md");
        let text = fs::read_to_string(&raw).expect("it was written");
        let edited = text.replace("\"the limit is 20\"", "the limit is 21, says ada");
        fs::write(&raw, format!("{edited}My own line.\n")).expect("it can be edited");
        let summary = fixture
            .memory_folder()
            .join("rollout_summaries")
            .join(&summaries(fixture)[0]);
        let mine = fs::read_to_string(&summary).expect("it was written") + "And a remark.\n";
        fs::write(&summary, &mine).expect("it can be edited");
        learn(fixture, "c", "the tests need Docker").await;
        let raw = fixture.memory_file("raw_memories.md");
        assert!(
            raw.contains("the limit is 21, says ada") && raw.ends_with("My own line.\n"),
            "{raw}"
        );
        assert!(raw.contains("the tests need Docker"), "{raw}");
        assert_eq!(threads(fixture), ["c", "b", "a"]);
        assert_eq!(fs::read_to_string(&summary).expect("it stays"), mine);
        // Their sessions lapse: what the person wrote stays.
        fixture.wait(40 * DAY);
        consolidate(fixture).await;
        let raw = fixture.memory_file("raw_memories.md");
        assert!(
            raw.contains("says ada") && raw.contains("My own line."),
            "{raw}"
        );
        assert_eq!(threads(fixture), ["a"]);
        assert!(
            fs::read_to_string(&summary)
                .expect("it stays")
                .contains("And a remark.")
        );
    });
}

#[test]
fn a_block_or_summary_that_a_person_deleted_is_not_written_again() {
    codex(9, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        fs::remove_file(
            fixture
                .memory_folder()
                .join("rollout_summaries")
                .join(&summaries(fixture)[0]),
        )
        .expect("it can be deleted");
        learn(fixture, "b", "the port is 8080").await;
        assert_eq!(summaries(fixture).len(), 1);
        assert_eq!(threads(fixture), ["b", "a"]);
        learn(fixture, "a", "the limit is 50").await;
        assert_eq!(summaries(fixture).len(), 2, "it has other words by now");
    });
}

/// A person's request waits for nothing.
#[test]
fn c23_after_a_success_a_scope_rests_for_six_hours_unless_a_person_asks() {
    codex(9, async |fixture| {
        learn(fixture, "a", "the limit is 20").await;
        let done = record(fixture).await.at;
        let until = done.plus(std::time::Duration::from_secs(6 * 3_600));
        let key = JobKey::Consolidate(ada());
        let status = async |fixture: &ProfileFixture| {
            let job = fixture.store.job(&key).await.expect("the store answers");
            job.expect("it was marked").status(fixture.now())
        };
        fixture.wait(60);
        fixture
            .store
            .touch_scope(&ada(), fixture.now())
            .await
            .expect("it is raised");
        let report = fixture.run_worker().await;
        assert_eq!(report.resting.get(&ada()), Some(&until));
        assert_eq!(status(fixture).await, JobStatus::Resting { until });
        let now = fixture.now();
        fixture
            .store
            .hasten(&key, now, Priority::High)
            .await
            .expect("it is hastened");
        let report = fixture.run_worker().await;
        assert!(report.scopes.contains(&ada()), "{report:?}");
        assert_eq!(status(fixture).await, JobStatus::Done);
        // Without a request, the next one comes when the rest is over.
        let done = record(fixture).await.at;
        fixture
            .store
            .touch_scope(&ada(), fixture.now())
            .await
            .expect("it is raised");
        fixture.run_worker().await;
        fixture
            .clock
            .set(done.plus(std::time::Duration::from_secs(6 * 3_600)));
        let report = fixture.run_worker().await;
        assert!(report.scopes.contains(&ada()), "{report:?}");
    });
}
