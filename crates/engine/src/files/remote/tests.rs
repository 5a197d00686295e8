use std::collections::BTreeSet;
use std::path::Path;

use daybook_domain::{Scope, ScopeKind, Tenant};
use proptest::prelude::*;

use super::entry_merge::entry_ids;
use super::*;
use crate::consolidate::{MemoryEntry, MemoryPage, MemorySection};
use crate::files::entry::{EntryId, Marker, render};
use crate::files::error::FilesError;
use crate::files::folder_test_support::{TestFolder, lock, stamp};
use crate::files::history::CommitHash;
use crate::files::page::{Orphans, PageChoices, merge_page};
use crate::files::steps::{StepObserver, WriteStep};
use crate::files::withheld;

/// Several machines with a memory each, and the repository that they exchange files through.
struct Machines {
    repository: tempfile::TempDir,
    head: Option<CommitHash>,
    machines: Vec<Machine>,
}

/// A machine: its folder, and the entries that its memory holds.
struct Machine {
    memory: TestFolder,
    exchanged: Option<CommitHash>,
    holds: BTreeSet<u8>,
}

fn remote() -> RemoteFolder {
    RemoteFolder::of(&Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Project,
        name: "github.com/ada/tidepool".to_owned(),
    })
}

fn entry(key: u8) -> MemoryEntry {
    MemoryEntry {
        key: key.to_string(),
        lines: vec![format!("- Ada keeps rule {key}")],
        observations: Vec::new(),
    }
}

fn id(key: u8) -> EntryId {
    EntryId::of(&key.to_string())
}

impl Machines {
    fn new(count: usize) -> Self {
        let machine = |_| Machine {
            memory: TestFolder::new(),
            exchanged: None,
            holds: BTreeSet::new(),
        };
        Self {
            repository: tempfile::tempdir().unwrap(),
            head: None,
            machines: (0..count).map(machine).collect(),
        }
    }

    fn mirror(&self) -> Mirror {
        Mirror::open(self.repository.path()).unwrap()
    }

    /// One exchange, as long as no step of it is stopped.
    fn try_exchange(&mut self, at: usize, steps: StepObserver) -> Result<MergeReport, FilesError> {
        let mirror = self.mirror();
        let machine = &mut self.machines[at];
        let folder = machine.memory.folder.clone().with_step_observer(steps);
        let states = (machine.exchanged, self.head);
        let report = merge_folder(&lock(&folder), &mirror, &remote(), states, &stamp())?;
        machine.exchanged = self.head;
        let commit = mirror.commit(self.head, &report.updates, &report.removed, &stamp())?;
        if let Some(commit) = commit {
            self.head = Some(commit);
            machine.exchanged = self.head;
        }
        Ok(report)
    }

    fn exchange(&mut self, at: usize) -> MergeReport {
        self.try_exchange(at, StepObserver::default()).unwrap()
    }

    /// Exchanges until nothing moves any more.
    fn settle(&mut self) {
        for _ in 0..4 {
            let all = 0..self.machines.len();
            let moved = all
                .map(|at| self.exchange(at))
                .map(|report| report.taken + report.updates.len());
            if moved.sum::<usize>() == 0 {
                return;
            }
        }
        panic!("the machines keep changing their files");
    }

    fn page(&self, at: usize) -> String {
        self.machines[at]
            .memory
            .read("MEMORY.md")
            .unwrap_or_default()
    }

    fn file_in_repository(&self, path: &str) -> Option<String> {
        let (mirror, remote) = (self.mirror(), remote());
        let files = mirror.files(self.head, &remote).unwrap();
        let file = files.iter().find(|(found, _)| found.as_str() == path);
        file.and_then(|(_, id)| mirror.text(*id).unwrap())
    }

    /// Every machine consolidates, and shows of the first three entries those that are wanted.
    #[track_caller]
    fn consolidate_and_show(&mut self, wanted: &[u8]) {
        for at in 0..self.machines.len() {
            self.machines[at].consolidate();
            let page = self.page(at);
            assert_eq!(shown(&page, 1..4), wanted, "machine {at}: {page}");
        }
    }
}

impl Machine {
    /// A consolidation: the page shows what the memory holds, and keeps what a person or another machine wrote.
    fn consolidate(&self) {
        let lock = lock(&self.memory.folder);
        let held = self.holds.iter().map(|key| entry(*key)).collect();
        let page = MemoryPage {
            heading: "Tidepool".to_owned(),
            sections: vec![MemorySection {
                title: "Rules".to_owned(),
                entries: held,
            }],
        };
        let before = lock.settle(&stamp()).unwrap().head;
        crate::files::persons_changes::persons_changes(&lock, &stamp()).unwrap();
        let chosen = withheld::load(&lock).unwrap();
        let none = PageChoices::default();
        let chosen = chosen.get("MEMORY.md").unwrap_or(&none);
        let current = self.memory.read("MEMORY.md").unwrap_or_default();
        let new = merge_page(&page, &current, chosen, Orphans::Remove);
        drop(lock);
        if before.is_none() || new != current {
            let _ = self.memory.write(&[("MEMORY.md", Some(&new))]).unwrap();
        }
        let own = || self.holds.iter().map(|key| Marker::of(&entry(*key)));
        let lock = self::lock(&self.memory.folder);
        received::make_own(&lock, |_| own().collect()).unwrap();
    }

    fn learn(&mut self, keys: &[u8]) {
        self.holds.extend(keys);
        self.consolidate();
    }

    fn drop_entries(&mut self, keys: &[u8]) {
        self.holds.retain(|key| !keys.contains(key));
        self.consolidate();
    }

    fn edit(&self, change: impl Fn(&str) -> String) {
        let page = self.memory.read("MEMORY.md").unwrap_or_default();
        self.memory.save("MEMORY.md", change(&page));
    }
}

fn without_line(page: &str, words: &str) -> String {
    let kept = page.lines().filter(|line| !line.contains(words));
    kept.map(|line| format!("{line}\n")).collect()
}

fn shown(page: &str, keys: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let ids = entry_ids(page);
    keys.into_iter()
        .filter(|key| ids.contains(&id(*key)))
        .collect()
}

#[test]
fn each_machine_shows_what_the_other_remembers_and_keeps_it_when_it_consolidates() {
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1, 2]);
    all.machines[1].learn(&[2, 3]);
    all.settle();
    all.consolidate_and_show(&[1, 2, 3]);
    all.settle();
    assert_eq!(all.page(0), all.page(1));
}

#[test]
fn what_the_rules_of_one_machine_drop_stays_where_another_one_holds_it() {
    let mut all = Machines::new(3);
    all.machines[0].learn(&[1, 2]);
    all.machines[1].learn(&[2]);
    all.settle();
    all.machines[0].drop_entries(&[1, 2]);
    all.settle();
    all.consolidate_and_show(&[2]);
}

#[test]
fn what_came_from_elsewhere_and_was_learned_here_too_stays_when_it_is_dropped_there() {
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1, 2]);
    all.settle();
    all.machines[1].learn(&[2]);
    all.machines[0].drop_entries(&[1, 2]);
    all.settle();
    all.consolidate_and_show(&[2]);
    // It is this machine's, so it goes with its memory.
    all.machines[1].drop_entries(&[2]);
    all.settle();
    all.consolidate_and_show(&[]);
}

#[test]
fn what_a_person_deletes_is_gone_on_every_machine_that_holds_it() {
    let mut all = Machines::new(3);
    all.machines[0].learn(&[1, 2]);
    all.machines[1].learn(&[1, 2]);
    all.settle();
    all.machines[0].edit(|page| without_line(page, "rule 1"));
    all.settle();
    all.consolidate_and_show(&[2]);
    // A machine that comes later does not bring it back.
    all.machines[2].learn(&[1]);
    all.settle();
    all.machines[0].consolidate();
    assert_eq!(shown(&all.page(0), 1..3), [2]);
}

#[test]
fn a_persons_words_win_over_those_of_the_rules() {
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1]);
    all.machines[1].learn(&[1]);
    all.settle();
    all.machines[0].edit(|page| page.replace("keeps rule 1", "follows her own rule"));
    all.machines[1].edit(|page| format!("{page}A line of Bea.\n"));
    all.settle();
    for at in 0..2 {
        all.machines[at].consolidate();
        let page = all.page(at);
        assert!(
            page.contains("her own rule") && page.contains("A line of Bea."),
            "{page}"
        );
        assert_eq!(page.matches("Ada").count(), 1, "{page}");
    }
}

#[test]
fn two_persons_who_changed_one_entry_or_one_line_both_keep_their_words() {
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1]);
    all.machines[0].memory.save("topics/plan.md", "one\ntwo\n");
    all.settle();
    for (at, words) in [(0, "of Ada"), (1, "of Bea")] {
        all.machines[at].edit(|page| page.replace("rule 1", words));
        all.machines[at]
            .memory
            .save("topics/plan.md", format!("one\ntwo {words}\n"));
    }
    all.settle();
    for at in 0..2 {
        let (page, plan) = (
            all.page(at),
            all.machines[at].memory.read("topics/plan.md").unwrap(),
        );
        for words in ["of Ada", "of Bea"] {
            assert!(page.contains(words) && plan.contains(words), "{page}{plan}");
        }
    }
    assert_eq!(all.page(0), all.page(1));
}

#[test]
fn a_secret_stays_in_its_folder_and_is_nowhere_in_the_repository() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1]);
    all.machines[0]
        .memory
        .save("topics/keys.md", format!("token = {secret}\n"));
    assert_eq!(all.exchange(0).hidden, 1);
    all.machines[0].memory.save("topics/keys.md", "nothing\n");
    all.machines[0].edit(|page| format!("{page}token = {secret}\n"));
    all.settle();
    all.machines[1].edit(|page| format!("{page}A line of Bea.\n"));
    all.settle();
    assert!(all.page(0).contains(secret) && all.page(0).contains("A line of Bea."));
    assert!(!all.page(1).contains(secret));
    let mut objects = vec![all.repository.path().to_owned()];
    let repo = gix::open_opts(all.repository.path(), gix::open::Options::isolated()).unwrap();
    let mut read = 0;
    while let Some(next) = objects.pop() {
        if next.is_dir() {
            objects.extend(
                std::fs::read_dir(&next)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        if let Some(object) = object_name(&next) {
            let bytes = repo.find_object(object).unwrap().detach().data;
            assert!(!String::from_utf8_lossy(&bytes).contains(secret));
            read += 1;
        }
    }
    assert!(read > 10, "only {read} objects");
}

fn object_name(path: &Path) -> Option<gix::ObjectId> {
    let names: Vec<_> = path.iter().rev().take(2).collect();
    format!("{}{}", names.get(1)?.to_str()?, names[0].to_str()?)
        .parse()
        .ok()
}

#[test]
fn what_is_no_text_and_what_belongs_to_others_in_the_repository_stays() {
    let mut all = Machines::new(2);
    all.machines[0].memory.save("picture.png", [0xff, 1]);
    all.machines[0].learn(&[1]);
    let about = FileUpdate {
        path: "README.md".to_owned(),
        text: Some("A repository of Ada\n".to_owned()),
    };
    let none = RemovedEntries::new();
    all.head = all
        .mirror()
        .commit(None, &[about], &none, &stamp())
        .unwrap();
    all.settle();
    assert_eq!(all.machines[1].memory.read("picture.png"), None);
    assert_eq!(all.file_in_repository("picture.png"), None);
    let tree = crate::files::tree::TreeFiles::read(
        &gix::open_opts(all.repository.path(), gix::open::Options::isolated()).unwrap(),
        all.head.unwrap().0,
    );
    let paths: Vec<String> = tree
        .unwrap()
        .files
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        paths,
        [
            "README.md",
            "projects/github.com%2Fada%2Ftidepool/MEMORY.md"
        ]
    );
}

#[test]
fn a_repository_whose_history_was_replaced_costs_no_entry() {
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1, 2]);
    all.machines[1].learn(&[3]);
    all.settle();
    all.head = None;
    all.machines[0].learn(&[4]);
    all.settle();
    for at in 0..2 {
        assert_eq!(shown(&all.page(at), 1..5), [1, 2, 3, 4], "{}", all.page(at));
    }
}

#[test]
fn a_folder_name_leads_back_to_its_scope() {
    let tenant = Tenant::local();
    let scope = remote().scope(&tenant).unwrap();
    assert_eq!(scope.name, "github.com/ada/tidepool");
    assert_eq!(RemoteFolder::of(&scope), remote());
}

/// Stops the writer at its `n`th step.
fn stopping_at(n: usize) -> StepObserver {
    let left = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(n));
    StepObserver::observing(move |_: WriteStep| {
        match left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) {
            0 => Err(std::io::Error::other("stopped")),
            _ => Ok(()),
        }
    })
}

#[test]
fn an_exchange_stopped_at_any_step_ends_like_an_undisturbed_one() {
    for n in 0.. {
        let mut all = Machines::new(2);
        all.machines[0].learn(&[1, 2]);
        all.machines[0].memory.save("topics/plan.md", "one\n");
        all.settle();
        all.machines[0].edit(|page| format!("{page}A line of Ada.\n"));
        all.machines[0].memory.save("topics/plan.md", "one\ntwo\n");
        all.machines[0].learn(&[3]);
        all.exchange(0);
        all.machines[1].edit(|page| format!("{page}A line of Bea.\n"));
        all.machines[1].learn(&[4]);
        let was_stopped = all.try_exchange(1, stopping_at(n)).is_err();
        all.machines[1].consolidate();
        all.settle();
        for at in 0..2 {
            let page = all.page(at);
            assert_eq!(shown(&page, 1..5), [1, 2, 3, 4], "step {n}: {page}");
            for line in ["A line of Ada.", "A line of Bea."] {
                assert_eq!(page.matches(line).count(), 1, "step {n}: {page}");
            }
        }
        if !was_stopped {
            assert!(n > 5, "only {n} steps");
            return;
        }
    }
}

#[test]
fn a_record_that_a_kill_lost_is_found_in_the_folders_history() {
    let mut all = Machines::new(2);
    all.machines[0].learn(&[1]);
    all.settle();
    all.machines[0].edit(|page| format!("{page}A line of Ada.\n"));
    all.exchange(0);
    all.machines[1].edit(|page| format!("{page}A line of Bea.\n"));
    let (head, exchanged) = (all.head, all.machines[1].exchanged);
    all.exchange(1);
    // The folder was written, and neither the record nor the commit of the repository was.
    (all.head, all.machines[1].exchanged) = (head, exchanged);
    all.settle();
    for at in 0..2 {
        assert_eq!(
            all.page(at).matches("A line of").count(),
            2,
            "{}",
            all.page(at)
        );
    }
}

/// What happens on one machine.
#[derive(Debug, Clone)]
enum Change {
    Learn(u8),
    Drop(u8),
    Write(u8),
    Delete(u8),
    Reword(u8),
    Consolidate,
    Exchange,
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let key = 0..6_u8;
    let change = prop_oneof![
        3 => key.clone().prop_map(Change::Learn),
        1 => key.clone().prop_map(Change::Drop),
        2 => (0..40_u8).prop_map(Change::Write),
        1 => key.clone().prop_map(Change::Delete),
        1 => key.prop_map(Change::Reword),
        1 => Just(Change::Consolidate),
        3 => Just(Change::Exchange),
    ];
    proptest::collection::vec((0..3_usize, change), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn whatever_three_machines_do_no_entry_and_no_line_is_lost(changes in changes()) {
        let mut all = Machines::new(3);
        let (mut deleted, mut written, mut reworded) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (at, change) in changes {
            let machine = &mut all.machines[at];
            match change {
                Change::Learn(key) => machine.learn(&[key]),
                Change::Drop(key) => machine.drop_entries(&[key]),
                Change::Consolidate => machine.consolidate(),
                Change::Exchange => { all.exchange(at); }
                Change::Write(line) => {
                    written.insert(line);
                    machine.edit(|page| format!("{page}Line {line}.\n"));
                }
                Change::Delete(key) => {
                    let words = format!("rule {key}");
                    let page = machine.memory.read("MEMORY.md").unwrap_or_default();
                    if page.contains(&words) {
                        deleted.insert(key);
                        machine.edit(|page| without_line(page, &words));
                    }
                }
                Change::Reword(key) => {
                    let words = format!("keeps rule {key}");
                    let page = machine.memory.read("MEMORY.md").unwrap_or_default();
                    if page.contains(&words) {
                        reworded.insert(key);
                        machine.edit(|page| page.replace(&words, &format!("has words of {at} for {key}")));
                    }
                }
            }
        }
        all.settle();
        for machine in &all.machines {
            machine.consolidate();
        }
        all.settle();
        let held: BTreeSet<u8> = all.machines.iter().flat_map(|machine| machine.holds.clone()).collect();
        for at in 0..3 {
            let page = all.page(at);
            for key in held.difference(&deleted) {
                prop_assert!(entry_ids(&page).contains(&id(*key)), "rule {key} is lost at {at}:\n{page}");
            }
            for line in &written {
                prop_assert!(page.contains(&format!("Line {line}.\n")), "line {line} is lost at {at}:\n{page}");
            }
            for key in reworded.difference(&deleted) {
                prop_assert!(page.contains(&format!(" for {key}")), "the words for {key} are lost at {at}:\n{page}");
            }
            prop_assert_eq!(&page, &all.page(0), "machine {} differs", at);
        }
    }
}

#[test]
fn an_entry_renders_as_the_tests_read_it() {
    assert_eq!(
        entry_ids(&(render(&entry(1)).join("\n") + "\n")),
        BTreeSet::from([id(1)])
    );
}
