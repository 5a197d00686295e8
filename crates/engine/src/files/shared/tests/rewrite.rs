//! Something is taken out of a history that several machines share.

use super::concurrent::{GatedTreeStore, next_order, run_in_order};
use super::*;
use crate::files::changes::FileChanges;
use crate::files::entry::render;
use crate::files::history_rewrite::{FileEdit, HistoryEdit};
use crate::files::own_secrets::FileOwner;
use crate::files::shared::Rewritten;

/// What is taken out: every line with this word.
const WORD: &str = "lobster";
const PAGE: &str = "MEMORY.md";

struct TakeOut;

fn without_word(text: &str) -> String {
    let left = text.lines().filter(|line| !line.contains(WORD));
    left.map(|line| format!("{line}\n")).collect()
}

impl HistoryEdit for TakeOut {
    fn file(&self, _: &str, _: FileOwner, text: &str) -> FileEdit {
        match text.contains(WORD) {
            true => FileEdit::Replace(without_word(text)),
            false => FileEdit::Keep,
        }
    }

    fn message(&self, message: &str, _: bool) -> String {
        message.to_owned()
    }

    fn log_message(&self, message: &str) -> String {
        message.to_owned()
    }

    fn is_unwanted(&self, text: Option<&str>) -> bool {
        text.is_none_or(|text| text.contains(WORD))
    }
}

/// Takes the word out of the present page and of all past ones.
fn take_out(lock: &WriterLock<'_>) -> Result<Rewritten<()>, FilesError> {
    let _ = lock.write(&stamp(), "Take it out", &|| true, |snapshot| {
        let mut changes = FileChanges::none();
        for (path, _) in snapshot.files() {
            let text = String::from_utf8(snapshot.read(path)?.unwrap_or_default());
            let text = text.unwrap_or_default();
            if text.contains(WORD) {
                changes.write(path.clone(), without_word(&text));
            }
        }
        Ok(changes)
    })?;
    let history = lock.rewrite_history(&TakeOut, &stamp())?;
    Ok(Rewritten {
        report: (),
        history,
    })
}

impl SharedStore {
    fn rewrite(&self, memory: &TestFolder, steps: StepObserver) -> Result<(), SharedError> {
        let folder = memory.folder.clone().with_step_observer(steps);
        let (trees, scope) = (&self.0, &scope());
        let (lock, stamp) = (lock(&folder), stamp());
        let shared = SharedHistory { trees, scope };
        let rewriting = shared.rewrite(&lock, &stamp, || take_out(&lock));
        daybook_testkit::run(rewriting).map(drop)
    }

    /// Whether any object has the word.
    fn holds_word(&self) -> bool {
        let objects = daybook_testkit::run(self.0.tree_objects(&scope(), 0, usize::MAX)).unwrap();
        let mut texts = objects.iter().map(|o| String::from_utf8_lossy(&o.bytes));
        texts.any(|text| text.contains(WORD))
    }
}

/// Two machines with one history, whose past and present have the word.
fn machines() -> (SharedStore, TestFolder, TestFolder) {
    let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
    let _ = here.write(&[(PAGE, Some("a\nlobster one\nb\n"))]);
    let _ = here.write(&[
        (PAGE, Some("a\nb\nlobster two\nc\n")),
        ("daily/1.md", Some("a lobster\n")),
    ]);
    store.sync(&here);
    store.sync(&there);
    (store, here, there)
}

fn entry(words: &str) -> String {
    let entry = crate::consolidate::MemoryEntry {
        key: words.to_owned(),
        lines: vec![words.to_owned()],
        observations: Vec::new(),
    };
    render(&entry).join("\n") + "\n"
}

#[track_caller]
fn assert_taken_out(store: &SharedStore, machines: &[&TestFolder]) {
    assert!(!store.holds_word(), "the store has it");
    for memory in machines {
        assert!(!memory.all_bytes().contains(WORD), "a folder has it");
        let found = store.check(memory);
        assert!(found.is_intact(), "{found}");
        memory.assert_sound();
    }
}

#[test]
fn what_is_taken_out_on_one_machine_leaves_the_store_and_all_machines() {
    let (store, here, there) = machines();
    store.rewrite(&here, StepObserver::default()).unwrap();
    assert_taken_out(&store, &[&here]);
    assert_eq!(lines(&here, PAGE), ["a", "b", "c"]);
    store.sync(&there);
    assert_taken_out(&store, &[&here, &there]);
    assert_same(&here, &there);
    assert_eq!(here.log(), there.log());
    // Life goes on.
    let _ = there.write(&[(PAGE, Some("a\nb\nc\nd\n"))]);
    store.sync(&there);
    store.sync(&here);
    assert_same(&here, &there);
}

#[test]
fn what_a_person_changed_meanwhile_is_kept_and_what_the_engine_added_is_not() {
    let (store, here, there) = machines();
    store.rewrite(&here, StepObserver::default()).unwrap();
    let page = "a\nmine\nb\nlobster two\nc\n";
    there.save(PAGE, page);
    there.save("topics/own.md", "own\n");
    there.settle().unwrap();
    // Written, and stopped before it was pushed.
    let unpushed = format!("{page}{}", entry("another lobster"));
    let _ = there.write(&[(PAGE, Some(&unpushed)), ("entities/x.md", Some(WORD))]);
    store.sync(&there);
    store.sync(&here);
    assert_taken_out(&store, &[&here, &there]);
    assert_same(&here, &there);
    assert_eq!(lines(&there, PAGE), ["a", "mine", "b", "c"]);
    assert_eq!(there.read("topics/own.md").as_deref(), Some("own\n"));
    assert_eq!(there.read("entities/x.md"), None);
}

#[test]
fn a_folder_that_lost_its_note_keeps_a_persons_last_edits() {
    let (store, here, there) = machines();
    store.rewrite(&here, StepObserver::default()).unwrap();
    there.save(PAGE, "a\nmine\nb\nlobster two\nc\n");
    std::fs::remove_file(there.at(".git/daybook/shared")).unwrap();
    store.sync(&there);
    assert_taken_out(&store, &[&here, &there]);
    assert_eq!(lines(&there, PAGE), ["a", "mine", "b", "c"]);
}

#[test]
fn a_history_in_which_nothing_was_found_is_not_replaced() {
    let (store, here, _) = machines();
    store.rewrite(&here, StepObserver::default()).unwrap();
    let before = store.head();
    store.rewrite(&here, StepObserver::default()).unwrap();
    assert_eq!(store.head(), before);
}

#[test]
fn a_rewrite_and_a_taking_over_that_are_stopped_anywhere_are_finished_by_the_next() {
    for (is_rewriting, fewest) in [(true, 20), (false, 10)] {
        for n in 0.. {
            let (store, here, there) = machines();
            let was_stopped = if is_rewriting {
                store.rewrite(&here, stopping_at(n)).is_err()
            } else {
                store.rewrite(&here, StepObserver::default()).unwrap();
                there.save(PAGE, "a\nmine\nb\nlobster two\nc\n");
                store.sync_observed(&there, stopping_at(n)).is_err()
            };
            store.rewrite(&here, StepObserver::default()).unwrap();
            store.sync(&there);
            store.sync(&here);
            assert_taken_out(&store, &[&here, &there]);
            assert_same(&here, &there);
            let mine = lines(&here, PAGE).contains(&"mine".to_owned());
            assert_eq!(mine, !is_rewriting, "step {n}");
            if !was_stopped {
                assert!(n > fewest, "only {n} steps");
                break;
            }
        }
    }
}

#[test]
fn machines_that_push_while_it_is_taken_out_bring_nothing_back_in_any_order() {
    let (first, one, other) = machines();
    let objects = daybook_testkit::run(first.0.tree_objects(&scope(), 0, usize::MAX)).unwrap();
    let head = first.head().unwrap();
    let (mut next, mut orders) = (Some(Vec::new()), 0);
    while let Some(order) = next {
        let (store, here, there) = (SharedStore::default(), one.copied(), other.copied());
        daybook_testkit::run(async {
            let (scope, commit) = (scope(), head.commit.unwrap());
            let put = store.0.put_tree_objects(&scope, 0, &objects);
            assert!(put.await.unwrap());
            let advanced = store.0.advance_tree(&scope, 0, commit, "");
            assert!(advanced.await.unwrap().is_some());
        });
        there.save("topics/own.md", "own\n");
        let _ = there.write(&[("daily/2.md", Some("one more lobster\n"))]);
        let (trees, scope) = (GatedTreeStore(&store.0), scope());
        let shared = SharedHistory {
            trees: &trees,
            scope: &scope,
        };
        let (here_lock, there_lock, stamp) = (lock(&here.folder), lock(&there.folder), stamp());
        let rewriting = async {
            let edit = || take_out(&here_lock);
            shared.rewrite(&here_lock, &stamp, edit).await.map(drop)
        };
        let pushing = async { shared.sync(&there_lock, &stamp).await.map(drop) };
        let order = run_in_order((rewriting, pushing), &order);
        drop((here_lock, there_lock));
        // What it wrote before it knew is gone from the store, or taken out by a second call.
        store.rewrite(&here, StepObserver::default()).unwrap();
        store.sync(&there);
        store.sync(&here);
        assert_taken_out(&store, &[&here, &there]);
        assert_same(&here, &there);
        assert_eq!(here.read("topics/own.md").as_deref(), Some("own\n"));
        orders += 1;
        next = next_order(order);
    }
    assert!(orders > 20, "only {orders} orders");
}

#[test]
fn secrets_leave_a_history_to_which_another_machine_pushes_meanwhile_in_any_order() {
    let secret = format!("gh{}_{}", 'p', "1aB3dE5gH7jK9".repeat(3));
    let (first, one) = (SharedStore::default(), TestFolder::new());
    let page = format!("# Reef\n\n{}", entry(&format!("key {secret}")));
    let _ = one.write(&[(PAGE, Some(&page))]);
    let _ = one.write(&[(PAGE, Some("# Reef\n"))]);
    first.sync(&one);
    let objects = daybook_testkit::run(first.0.tree_objects(&scope(), 0, usize::MAX)).unwrap();
    let head = first.head().unwrap();
    let (mut next, mut orders) = (Some(Vec::new()), 0);
    while let Some(order) = next {
        let (store, here, there) = (SharedStore::default(), one.copied(), one.copied());
        let scope = scope();
        daybook_testkit::run(async {
            let put = store.0.put_tree_objects(&scope, 0, &objects);
            assert!(put.await.unwrap());
            let commit = head.commit.unwrap();
            let advanced = store.0.advance_tree(&scope, 0, commit, "");
            assert!(advanced.await.unwrap().is_some());
        });
        there.save("topics/own.md", "own\n");
        let trees = GatedTreeStore(&store.0);
        let shared = SharedHistory {
            trees: &trees,
            scope: &scope,
        };
        let (here_lock, there_lock, stamp) = (lock(&here.folder), lock(&there.folder), stamp());
        let redactor = daybook_text::redact::Redactor::standard();
        let redacting = async {
            let edit = || {
                let history = here_lock.redact_history(&redactor, &stamp)?;
                Ok(Rewritten {
                    report: (),
                    history,
                })
            };
            shared.rewrite(&here_lock, &stamp, edit).await.map(drop)
        };
        let pushing = async { shared.sync(&there_lock, &stamp).await.map(drop) };
        let order = run_in_order((redacting, pushing), &order);
        drop((here_lock, there_lock));
        store.sync(&there);
        store.sync(&here);
        let objects = daybook_testkit::run(store.0.tree_objects(&scope, 0, usize::MAX)).unwrap();
        let mut texts = objects.iter().map(|o| String::from_utf8_lossy(&o.bytes));
        assert!(!texts.any(|text| text.contains(&secret)), "{order:?}");
        for memory in [&here, &there] {
            assert!(!memory.all_bytes().contains(&secret), "{order:?}");
        }
        assert_same(&here, &there);
        assert_eq!(here.read("topics/own.md").as_deref(), Some("own\n"));
        orders += 1;
        next = next_order(order);
    }
    assert!(orders > 20, "only {orders} orders");
}
