use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use daybook_text::redact::Redactor;

use super::*;
use crate::consolidate::MemoryEntry;
use crate::files::entry::render;
use crate::files::folder_test_support::{TestFolder, lock, stamp};
use crate::files::steps::StepObserver;

/// A secret that no scanner takes for a real one in this file.
fn secret(nth: u8) -> String {
    format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3))
}

fn own_entry(words: &str) -> String {
    let entry = MemoryEntry {
        key: words.to_owned(),
        lines: vec![words.to_owned()],
        observations: Vec::new(),
    };
    render(&entry).join("\n") + "\n"
}

/// A folder whose past and present hold secrets of the engine's, and one of a person's.
fn folder_with_secrets() -> TestFolder {
    let memory = TestFolder::new();
    let first = format!("# Reef\n\n{}", own_entry(&format!("key {}", secret(1))));
    let _ = memory.write(&[("MEMORY.md", Some(&first)), ("daily/1.md", Some(&first))]);
    let _ = memory.write(&[("MEMORY.md", Some("# Reef\n"))]);
    let entity = format!("# Reef\n\n{}\n", secret(2));
    let _ = memory.write(&[("entities/reef.md", Some(&entity))]);
    memory.save("topics/mine.md", format!("my own {}\n", secret(3)));
    memory.settle().unwrap();
    let _ = memory.write(&[("MEMORY.md", Some("# Reef again\n"))]);
    memory
}

#[track_caller]
fn check_redacted(memory: &TestFolder) {
    let folder = &memory.folder;
    let all = memory.all_bytes();
    for nth in [1, 2] {
        assert!(!all.contains(&secret(nth)), "secret {nth} is left");
    }
    let mine = fs::read_to_string(folder.root().join("topics/mine.md")).unwrap();
    assert_eq!(mine, format!("my own {}\n", secret(3)));
    assert!(folder.check_history().unwrap().is_intact());
}

fn redact(folder: &Folder) -> Result<HistoryRewrite, FilesError> {
    let redactor = Redactor::standard();
    let done = lock(folder).redact_history(&redactor, &stamp())?;
    folder.note_redacted(redactor.revision())?;
    Ok(done)
}

#[test]
fn the_engines_secrets_leave_the_files_and_their_history_and_a_persons_stay() {
    let memory = folder_with_secrets();
    let before = memory.folder.log(99).unwrap();
    let done = redact(&memory.folder).unwrap();
    assert!(done.commits > 0 && done.deleted > 0, "{done:?}");
    check_redacted(&memory);
    let after = memory.folder.log(99).unwrap();
    let shown = |commits: &[crate::files::history::Commit]| -> Vec<_> {
        let shown = commits.iter();
        shown
            .map(|commit| {
                (
                    commit.author.clone(),
                    commit.subject.clone(),
                    commit.time_ms,
                )
            })
            .collect()
    };
    // One more commit hides what the present files held.
    assert_eq!(shown(&after[1..]), shown(&before));
    assert_eq!(after[0].subject, MESSAGE);
    assert_eq!(redact(&memory.folder).unwrap(), HistoryRewrite::default());
    assert_eq!(memory.folder.log(99).unwrap(), after);
}

#[test]
fn a_history_without_secrets_stays_as_it_is() {
    let memory = TestFolder::new();
    let _ = memory.write(&[("MEMORY.md", Some("one\n"))]);
    memory.save("topics/mine.md", format!("my own {}\n", secret(3)));
    memory.settle().unwrap();
    let _ = memory.write(&[("MEMORY.md", Some("two\n"))]);
    let before = memory.folder.log(99).unwrap();
    assert_eq!(redact(&memory.folder).unwrap(), HistoryRewrite::default());
    assert_eq!(memory.folder.log(99).unwrap(), before);
    let rules = Redactor::standard().revision();
    assert!(memory.folder.is_redacted_by(rules).unwrap());
}

#[test]
fn a_rewrite_that_is_interrupted_anywhere_is_finished_by_the_next() {
    let whole = folder_with_secrets();
    let steps = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&steps);
    let counted = whole.copied();
    let watch = StepObserver::observing(move |_| {
        counting.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let watched = counted.folder.clone().with_step_observer(watch);
    redact(&watched).unwrap();
    let all = steps.load(Ordering::Relaxed);
    assert!(all > 10, "{all} steps");
    for stop_at in 0..all {
        let memory = whole.copied();
        let left = AtomicUsize::new(stop_at);
        let watch = StepObserver::observing(move |_| {
            let left =
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.map(drop)
                .map_err(|_| io::Error::other("the process was killed"))
        });
        let killed = memory.folder.clone().with_step_observer(watch);
        assert!(redact(&killed).is_err(), "step {stop_at}");
        // Whatever was reached, the history can be read.
        let broken = memory.folder.check_history().unwrap();
        assert!(broken.is_intact(), "step {stop_at}: {broken}");
        redact(&memory.folder).unwrap();
        check_redacted(&memory);
    }
}

#[test]
fn what_a_persons_git_packed_and_tagged_is_rewritten_too() {
    let memory = folder_with_secrets();
    // A machine without git has no packs.
    if memory
        .git(&["tag", "-a", "--no-sign", "-m", "old", "v1", "HEAD~2"])
        .is_none()
    {
        return;
    }
    memory.git(&["branch", "aside", "HEAD~1"]);
    memory.git(&["gc", "--quiet"]);
    assert!(memory.loose_objects().is_empty());
    redact(&memory.folder).unwrap();
    check_redacted(&memory);
    memory.assert_settled();
}
