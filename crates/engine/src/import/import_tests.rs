use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

use daybook_domain::limits::FAILURE_TEXT;
use daybook_domain::{EventSeq, Origin, PageRequest, Timestamp};
use daybook_store::MemoryStore;
use daybook_testkit::clock::ManualClock;
use daybook_testkit::run;
use serde_json::json;
use tempfile::TempDir;

use daybook_domain::Tenant;
use daybook_domain::eligibility::Switches;
use daybook_domain::time::Clock;
use daybook_domain::trigger::DueLimits;
use daybook_text::redact::Redactor;

use super::*;
use crate::places::folding::GitCommonDir;
use crate::transcripts::item::{BadLine, BadState, TranscriptReader};
use crate::transcripts::{TranscriptFormat, TranscriptItem};

struct ImportFixture {
    folder: TempDir,
    intake: IngestContext,
}

struct Quiet;

impl ImportProgress for Quiet {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

impl ImportFixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            intake: IngestContext {
                teams: Default::default(),
                store: Arc::new(MemoryStore::default()),
                clock: Arc::new(ManualClock::at(Timestamp(1_000_000))),
                tenant: Tenant::local(),
                patience: DueLimits::default(),
                switches: Switches::default(),
                redactor: Arc::new(Redactor::standard()),
                readers: 2,
            },
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Imports the folder; each file's name and status, by name.
    fn import(&self, open: OpenReader) -> Vec<(String, FileStatus)> {
        let candidates = scan(&[self.folder.path().to_owned()]);
        let (stop, quiet, learned) = (Stop::default(), Quiet, BTreeSet::new());
        let importing = import_with(
            open,
            &self.intake,
            "all",
            (candidates, &learned),
            &stop,
            &quiet,
        );
        let report = run(importing).unwrap();
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let named = report.files.into_iter().map(|f| (name(&f.path), f.status));
        let mut files: Vec<(String, FileStatus)> = named.collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files
    }

    /// Files whose failure is recorded, and the failure.
    fn failing(&self) -> Vec<(String, String)> {
        let sources = run(self
            .intake
            .store
            .sources(&Tenant::local(), PageRequest::first(1000)))
        .unwrap()
        .items;
        let failing = sources.into_iter().filter_map(|source| {
            let name = source.path.rsplit('/').next()?.to_owned();
            Some((name, source.failure?))
        });
        failing.collect()
    }

    fn events(&self, session: &str) -> u64 {
        let session = run(self.intake.store.session(&session_id(session))).unwrap();
        session.map_or(0, |session| session.events.0)
    }
}

fn session_id(host_id: &str) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: "claude-code".to_owned(),
        host_id: host_id.to_owned(),
    }
}

/// A transcript of so many messages of a session, each of so many bytes.
fn transcript(session: &str, lines: usize, bytes: usize) -> String {
    let line = |n: usize| {
        let text = "tide ".repeat(bytes / 5);
        format!(
            r#"{{"type":"user","uuid":"{session}-{n}","sessionId":"{session}","timestamp":"2026-01-02T03:04:05Z","message":{{"role":"user","content":"{n} {text}"}}}}"#
        )
    };
    (0..lines).map(|n| line(n) + "\n").collect()
}

fn named(names: &[(&str, FileStatus)]) -> Vec<(String, FileStatus)> {
    let owned = |(name, status): &(&str, FileStatus)| ((*name).to_owned(), status.clone());
    names.iter().map(owned).collect()
}

/// A reader with a defect that the 600th line brings to light.
struct Defective<'a>(Box<dyn TranscriptReader + 'a>);

impl TranscriptReader for Defective<'_> {
    fn line(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        assert!(number < 600, "out of reach");
        self.0.line(number, bytes, out)
    }

    fn state(&self) -> String {
        self.0.state()
    }
}

fn defective<'a>(
    format: &TranscriptFormat,
    name: &str,
    git: GitCommonDir<'a>,
    state: Option<&str>,
) -> Result<Option<Box<dyn TranscriptReader + 'a>>, BadState> {
    let sound = reader(format, name, git, state)?;
    Ok(match name.starts_with("bad") {
        true => sound.map(|reader| Box::new(Defective(reader)) as Box<dyn TranscriptReader>),
        false => sound,
    })
}

const PANIC: &str = "a defect of Daybook, please report it: out of reach";

#[test]
fn a_reader_that_panics_fails_its_file_alone_and_the_next_import_goes_on() {
    let bed = ImportFixture::new();
    // Longest first: with two readers, files land before the bad one, beside it and after it.
    bed.write("a.jsonl", transcript("a", 900, 10));
    bed.write("bad.jsonl", transcript("b", 700, 10));
    for (name, lines) in [("c", 300), ("d", 200), ("e", 100)] {
        bed.write(&format!("{name}.jsonl"), transcript(name, lines, 10));
    }
    let rest = [
        ("c.jsonl", FileStatus::New),
        ("d.jsonl", FileStatus::New),
        ("e.jsonl", FileStatus::New),
    ];
    let mut expected = named(&[
        ("a.jsonl", FileStatus::New),
        ("bad.jsonl", FileStatus::Failed(PANIC.to_owned())),
    ]);
    expected.extend(named(&rest));
    assert_eq!(bed.import(defective), expected);
    assert_eq!(bed.failing(), [("bad.jsonl".to_owned(), PANIC.to_owned())]);
    // What came before the defect is kept, and gone on from.
    let before = bed.events("b");
    assert!(before > 0 && before < 600, "{before}");
    assert_eq!([bed.events("a"), bed.events("e")], [900, 100]);
    assert_eq!(bed.import(reader)[1].1, FileStatus::Grew);
    assert_eq!(bed.failing(), []);
    assert_eq!(bed.events("b"), 700);
    assert_eq!(bed.import(reader)[1].1, FileStatus::Unchanged);
}

/// A clock that fails when it is asked for the third time.
struct FailingClock(AtomicUsize);

impl Clock for FailingClock {
    fn now(&self) -> Timestamp {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) != 2, "no time");
        Timestamp(1_000_000)
    }
}

#[test]
fn a_panic_while_a_file_lands_fails_that_file_alone() {
    let mut bed = ImportFixture::new();
    // Asked once for the import, and once for each file.
    bed.intake.clock = Arc::new(FailingClock(AtomicUsize::new(0)));
    for (name, lines) in [("a", 3), ("b", 2), ("c", 1)] {
        bed.write(&format!("{name}.jsonl"), transcript(name, lines, 10));
    }
    let why = "a defect of Daybook, please report it: no time".to_owned();
    let expected = named(&[
        ("a.jsonl", FileStatus::New),
        ("b.jsonl", FileStatus::Failed(why.clone())),
        ("c.jsonl", FileStatus::New),
    ]);
    assert_eq!(bed.import(reader), expected);
    assert_eq!(bed.failing(), [("b.jsonl".to_owned(), why)]);
}

#[test]
fn a_stretch_of_large_events_lands_whole() {
    let bed = ImportFixture::new();
    bed.write("a.jsonl", transcript("a", 600, 2_100));
    bed.write("b.jsonl", transcript("b", 5, 300_000));
    let statuses = bed.import(reader);
    assert!(
        statuses
            .iter()
            .all(|(_, status)| *status == FileStatus::New)
    );
    assert_eq!([bed.events("a"), bed.events("b")], [600, 5]);
}

#[test]
fn a_file_that_cannot_be_read_is_shown_until_it_is_mended_or_gone() {
    let bed = ImportFixture::new();
    // How a compressed file begins, and nothing that follows from it.
    let broken = [0x28, 0xB5, 0x2F, 0xFD, 0xFF, 0xFF, 0xFF, 0xFF];
    bed.write("a.jsonl.zst", broken);
    bed.write("b.jsonl.zst", broken);
    bed.write("c.jsonl", transcript("c", 1, 10));
    for _ in 0..2 {
        let statuses = bed.import(reader);
        let unreadable = |n: usize| matches!(statuses[n].1, FileStatus::Unreadable(_));
        assert!(unreadable(0) && unreadable(1), "{statuses:?}");
        assert_eq!(bed.failing().len(), 2);
    }
    bed.write("a.jsonl.zst", transcript("a", 1, 10));
    std::fs::remove_file(bed.path("b.jsonl.zst")).unwrap();
    bed.import(reader);
    assert_eq!(bed.failing(), []);
    assert_eq!(bed.events("a"), 1);
}

#[test]
fn a_state_that_no_reader_knows_means_reading_from_the_beginning() {
    let bed = ImportFixture::new();
    bed.write("a.jsonl", transcript("a", 2, 10));
    bed.import(reader);
    let listed = PageRequest::first(1);
    let mut source = run(bed.intake.store.sources(&Tenant::local(), listed))
        .unwrap()
        .items
        .remove(0);
    source.state = "of another time".to_owned();
    run(bed.intake.store.put_source(&Tenant::local(), &source, None)).unwrap();
    bed.write("a.jsonl", transcript("a", 3, 10));
    assert_eq!(bed.import(reader)[0].1, FileStatus::Rewritten);
    assert_eq!(bed.events("a"), 3);
}

#[test]
fn an_output_that_is_written_later_shows_the_remote_of_its_commands_folder() {
    let bed = ImportFixture::new();
    let line = |kind: &str, content: serde_json::Value| {
        json!({"type": kind, "uuid": kind, "sessionId": "a", "cwd": "/nowhere/ada/reef",
            "timestamp": "2026-01-02T03:04:05Z", "message": {"role": kind, "content": [content]}})
        .to_string()
    };
    let push =
        json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "git push"}});
    let output = json!({"type": "tool_result", "tool_use_id": "c1", "content": "To github.com:ada/reef.git"});
    let (push, output) = (line("assistant", push), line("user", output));
    bed.write("a.jsonl", format!("{push}\n"));
    bed.import(reader);
    bed.write("a.jsonl", format!("{push}\n{output}\n"));
    assert_eq!(bed.import(reader)[0].1, FileStatus::Grew);
    let roots = run(bed.intake.store.roots(&Tenant::local())).unwrap();
    assert_eq!(roots[0].remotes[0].remote, "github.com/ada/reef");
}

#[test]
fn a_recorded_reason_is_bounded() {
    let bed = ImportFixture::new();
    let source =
        daybook_testkit::fixtures::source("/logs/a", &daybook_testkit::fixtures::session("a"), 1);
    run(failing::record(
        &bed.intake,
        source,
        &"é".repeat(9_999),
        None,
    ))
    .unwrap();
    assert_eq!(bed.failing()[0].1, "é".repeat(FAILURE_TEXT));
}

impl ImportFixture {
    /// The newest events of a session, and what they retract.
    fn retractions(&self, session: &str) -> (Vec<String>, Vec<u64>) {
        let id = session_id(session);
        let store = &self.intake.store;
        let (from, to) = (EventSeq(0), EventSeq(u64::from(u32::MAX)));
        let events = run(store.events(&id, from, to, 99, usize::MAX)).unwrap();
        let retractions = events
            .into_iter()
            .filter(|e| e.origin == Origin::Retraction);
        let texts = retractions.map(|event| event.text).collect();
        let retracted = run(store.retracted_seqs(&id, from, to)).unwrap();
        (texts, retracted.into_iter().map(|seq| seq.0).collect())
    }

    /// The session of each file, and what else the file claims it to be.
    fn claims(&self) -> Vec<(String, Option<String>)> {
        let page = PageRequest::first(100);
        let sources = run(self.intake.store.sources(&Tenant::local(), page)).unwrap();
        let claims = sources.items.into_iter().filter_map(|source| {
            let session = source.session?.host_id;
            Some((session, source.claimed_id))
        });
        claims.collect()
    }
}

#[test]
fn a_session_whose_id_holds_a_tilde_grows_on_under_that_id() {
    let fixture = ImportFixture::new();
    fixture.write("a.jsonl", transcript("tide~water", 2, 5));
    fixture.import(reader);
    fixture.write("a.jsonl", transcript("tide~water", 5, 5));
    fixture.import(reader);
    assert_eq!(fixture.events("tide~water"), 5);
    assert_eq!(fixture.claims(), [("tide~water".to_owned(), None)]);
}

#[test]
fn a_conversation_that_claims_a_taken_id_grows_on_under_its_own() {
    for id in ["tide", "tide~water"] {
        let fixture = ImportFixture::new();
        let other = |lines| transcript(id, lines, 5).replace("\"uuid\":\"", "\"uuid\":\"other-");
        fixture.write("a.jsonl", transcript(id, 2, 5));
        fixture.import(reader);
        fixture.write("b.jsonl", other(3));
        fixture.import(reader);
        fixture.write("b.jsonl", other(7));
        fixture.import(reader);
        let own = format!("{id}~2");
        assert_eq!((fixture.events(id), fixture.events(&own)), (2, 7));
        let claims = [(id.to_owned(), None), (own, Some(id.to_owned()))];
        assert_eq!(fixture.claims(), claims);
    }
}

#[test]
fn retractions_name_the_positions_of_what_they_retract() {
    let fixture = ImportFixture::new();
    let superseding = transcript("tide", 4, 5).lines().last().unwrap().replace(
        "\"type\":\"user\"",
        "\"type\":\"user\",\"supersedesUuids\":[\"tide-0\",\"tide-1\",\"never\"]",
    );
    let text = transcript("tide", 3, 5) + &superseding + "\n";
    fixture.write("a.jsonl", text);
    fixture.import(reader);
    let retracted = (vec!["retracts events 1-2".to_owned()], vec![1, 2]);
    assert_eq!(fixture.retractions("tide"), retracted);
    // A rewritten file retracts what it no longer holds.
    fixture.write("a.jsonl", transcript("tide", 2, 50));
    fixture.import(reader);
    let (texts, retracted) = fixture.retractions("tide");
    assert_eq!(texts[1..], ["retracts events 3-5"]);
    assert_eq!(retracted, [1, 2, 3, 4, 5]);
}
