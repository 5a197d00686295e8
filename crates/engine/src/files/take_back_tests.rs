//! Past states of a folder, and the way back to them.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::files::folder_test_support::{TestFolder, lock, stamp};
use crate::files::stamp::CommitAuthor;
use crate::files::states::{FoundState, StateName};
use crate::files::steps::StepObserver;
use crate::files::write::WriteOutcome;

/// States of which each is restored once.
const STATES: usize = 1_000;
/// After this many restores the whole repository is checked, too.
const BETWEEN_CHECKS: usize = 50;

/// Numbers in a fixed order that looks like none.
struct Numbers(u64);

impl Numbers {
    /// The numbers below `most`, each once.
    fn shuffled(&mut self, most: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..most).collect();
        for last in (1..most).rev() {
            all.swap(last, self.below(last as u64 + 1) as usize);
        }
        all
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % most
    }
}

fn restore(
    memory: &TestFolder,
    target: CommitHash,
    steps: StepObserver,
) -> Result<WriteOutcome, FilesError> {
    let folder = memory.folder.clone().with_step_observer(steps);
    let held = lock(&folder);
    held.write_as(
        CommitAuthor::Person,
        &stamp(),
        "Restore",
        &|| true,
        |snapshot| restore_changes(&folder, snapshot, target),
    )
}

/// One change of a person or of the engine, to a few of the same files.
fn change(memory: &TestFolder, numbers: &mut Numbers, n: usize) {
    let paths = [
        "MEMORY.md",
        "daily/2026-03-02.md",
        "topics/größe.md",
        "notes/a.md",
        "a/b/c.md",
    ];
    let path = paths[numbers.below(5) as usize];
    let text = format!(
        "- state {n} größer\r\n{}",
        "x".repeat(numbers.below(9) as usize)
    );
    match numbers.below(4) {
        0 if memory.at(path).exists() => memory.remove(path),
        1 => {
            let _ = memory.write(&[(path, Some(&text))]).unwrap();
        }
        _ => memory.save(path, [text.as_bytes(), &[0xff, 0x00]].concat()),
    }
    memory.settle().unwrap();
}

#[test]
fn each_of_a_thousand_past_states_is_restored_byte_for_byte() {
    let memory = TestFolder::new();
    let mut numbers = Numbers(7);
    let mut states = Vec::new();
    for n in 0..STATES {
        change(&memory, &mut numbers, n);
        let head = memory.folder.head().unwrap().unwrap();
        states.push((head, memory.work_tree()));
    }
    let before: Vec<_> = memory
        .folder
        .log(10 * STATES)
        .unwrap()
        .into_iter()
        .map(|it| it.id)
        .collect();
    let distinct: BTreeSet<_> = states.iter().map(|(_, files)| files).collect();
    assert!(distinct.len() > STATES * 9 / 10, "states differ");
    for (restored, state) in numbers.shuffled(STATES).into_iter().enumerate() {
        let (head, files) = &states[state];
        let _ = restore(&memory, *head, StepObserver::default()).unwrap();
        assert_eq!(memory.work_tree(), *files, "state {state}");
        memory.assert_is_head();
        if restored % BETWEEN_CHECKS == 0 {
            memory.assert_settled();
        }
    }
    let after: Vec<_> = memory
        .folder
        .log(10 * STATES)
        .unwrap()
        .into_iter()
        .map(|it| it.id)
        .collect();
    assert!(after.ends_with(&before), "history was rewritten");
    let found = memory
        .folder
        .find_state(&StateName::At(daybook_domain::Timestamp(0)));
    assert_eq!(found.unwrap(), FoundState::None);
}

#[test]
fn a_restore_that_is_killed_at_any_step_is_not_begun_or_is_finished_as_the_persons() {
    let memory = TestFolder::new();
    let _ = memory
        .write(&[("MEMORY.md", Some("old\n")), ("a.md", Some("a\n"))])
        .unwrap();
    let target = memory.folder.head().unwrap().unwrap();
    let old = memory.work_tree();
    let _ = memory
        .write(&[("MEMORY.md", Some("new\n")), ("a.md", None)])
        .unwrap();
    let new = memory.work_tree();
    for step in 0.. {
        let memory = memory.copied();
        let steps = AtomicUsize::new(0);
        let observer =
            StepObserver::observing(
                move |_| match steps.fetch_add(1, Ordering::Relaxed) == step {
                    true => Err(io::ErrorKind::Interrupted.into()),
                    false => Ok(()),
                },
            );
        let is_whole = restore(&memory, target, observer).is_ok();
        memory.settle().unwrap();
        let last = memory.log().pop().unwrap();
        match last.1.as_str() {
            "Restore" => {
                assert_eq!(last.0, "you", "step {step}");
                assert_eq!(memory.work_tree(), old, "step {step}");
            }
            _ => assert_eq!(memory.work_tree(), new, "step {step}"),
        }
        if is_whole {
            assert!(step > 5, "a write has more steps");
            return;
        }
    }
}

#[test]
fn a_file_that_was_deleted_or_created_again_since_is_left_alone() {
    let file = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
    for (was, made, now, expected) in [
        ("", "a\n", "a\n", ""),
        ("a\n", "", "", "a\n"),
        ("a\n", "", "new\n", "new\n"),
        ("a\n", "b\n", "", ""),
        ("a\n", "b\n", "b\nmine\n", "a\nmine\n"),
    ] {
        let after = taken_back(file(made), file(now), file(was));
        assert_eq!(after, file(expected), "{was:?} → {made:?} → {now:?}");
    }
    let binary = |byte| Some(vec![0xff, byte]);
    assert_eq!(taken_back(binary(1), binary(1), binary(0)), binary(0));
    assert_eq!(taken_back(binary(1), binary(2), binary(0)), binary(2));
}

#[test]
fn trailers_are_read_from_the_lines_that_are_written() {
    let id = ObservationId(0xabc);
    for trailer in [MemoryTrailer::Forgot(id), MemoryTrailer::Remembered(id)] {
        assert_eq!(MemoryTrailer::parse(&trailer.line()), Some(trailer));
        assert_eq!(trailer.inverse().inverse(), trailer);
    }
    assert_eq!(MemoryTrailer::parse("Forgot: the milk"), None);
}
