use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

use daybook_domain::Timestamp;
use daybook_domain::limits::FAILURE_TEXT;
use daybook_store::MemoryStore;
use daybook_testkit::clock::ManualClock;
use daybook_testkit::run;
use tempfile::TempDir;

use super::*;
use crate::ingest::parsed::{BadLine, BadState, Reader};
use crate::ingest::{Format, GitCommonDir, Parsed};

struct Bed {
    folder: TempDir,
    intake: Intake,
}

struct Quiet;

impl ImportProgress for Quiet {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

impl Bed {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            intake: Intake {
                store: Arc::new(MemoryStore::default()),
                clock: Arc::new(ManualClock::at(Timestamp(1_000_000))),
                tenant: Tenant::local(),
                patience: Patience::default(),
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
        let (stop, quiet) = (Stop::default(), Quiet);
        let importing = import_with(open, &self.intake, "all", candidates, &stop, &quiet);
        let report = run(importing).unwrap();
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let named = report.files.into_iter().map(|f| (name(&f.path), f.status));
        let mut files: Vec<(String, FileStatus)> = named.collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files
    }

    /// Files whose failure is recorded, and the failure.
    fn failing(&self) -> Vec<(String, String)> {
        let sources = run(self.intake.store.sources(&Tenant::local())).unwrap();
        let failing = sources.into_iter().filter_map(|source| {
            let name = source.path.rsplit('/').next()?.to_owned();
            Some((name, source.failure?))
        });
        failing.collect()
    }

    fn events(&self, session: &str) -> u64 {
        let id = SessionId {
            tenant: Tenant::local(),
            agent: "claude-code".to_owned(),
            host_id: session.to_owned(),
        };
        let session = run(self.intake.store.session(&id)).unwrap();
        session.map_or(0, |session| session.events.0)
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
struct Defective<'a>(Box<dyn Reader + 'a>);

impl Reader for Defective<'_> {
    fn line(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine> {
        assert!(number < 600, "out of reach");
        self.0.line(number, bytes, out)
    }

    fn state(&self) -> String {
        self.0.state()
    }
}

fn defective<'a>(
    format: &Format,
    name: &str,
    git: GitCommonDir<'a>,
    state: Option<&str>,
) -> Result<Option<Box<dyn Reader + 'a>>, BadState> {
    let sound = reader(format, name, git, state)?;
    Ok(match name.starts_with("bad") {
        true => sound.map(|reader| Box::new(Defective(reader)) as Box<dyn Reader>),
        false => sound,
    })
}

const PANIC: &str = "a defect of Daybook, please report it: out of reach";

#[test]
fn a_reader_that_panics_fails_its_file_alone_and_the_next_import_goes_on() {
    let bed = Bed::new();
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
    let mut bed = Bed::new();
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
    let bed = Bed::new();
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
    let bed = Bed::new();
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
    let bed = Bed::new();
    bed.write("a.jsonl", transcript("a", 2, 10));
    bed.import(reader);
    let mut source = run(bed.intake.store.sources(&Tenant::local()))
        .unwrap()
        .remove(0);
    source.state = "of another time".to_owned();
    run(bed.intake.store.put_source(&Tenant::local(), &source, None)).unwrap();
    bed.write("a.jsonl", transcript("a", 3, 10));
    assert_eq!(bed.import(reader)[0].1, FileStatus::Rewritten);
    assert_eq!(bed.events("a"), 3);
}

#[test]
fn a_recorded_reason_is_bounded() {
    let bed = Bed::new();
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
