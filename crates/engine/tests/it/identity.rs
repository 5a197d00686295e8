//! An import that is cut off anywhere ends where an undisturbed one does: projects, scopes and files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::Patience;
use daybook_domain::{Project, Scope, SessionId, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::ingest::import::{FileReport, ImportProgress, Intake, import, scan};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::{Progress, WorkLimits, Workshop, rebuild_index, settle_projects, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::at;
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use serde_json::json;
use tempfile::TempDir;

use crate::stores::{self, Made};

/// The three checkouts are gone from this machine, and one session shows their remote.
const CHECKOUTS: [&str; 3] = [
    "/nowhere/ada/tidepool",
    "/nowhere/old/tidepool",
    "/nowhere/build/tidepool",
];

struct Unseen;

impl Progress for Unseen {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// Ends the process that imports, as far as the store can tell, when so many batches have landed.
struct CutOff(AtomicUsize);

impl ImportProgress for CutOff {
    fn bytes(&self, _: u64) {
        let left = self.0.fetch_sub(1, Ordering::Relaxed);
        assert!(left > 0, "the import is cut off here, as the test wants it");
    }

    fn file(&self, _: &FileReport) {}
}

fn line(session: &str, n: usize, folder: &str, role: &str, content: &serde_json::Value) -> String {
    let line = json!({
        "type": role,
        "uuid": format!("{session}-{n}"),
        "parentUuid": null,
        "isSidechain": false,
        "sessionId": session,
        "cwd": folder,
        "version": "2.1.0",
        "timestamp": format!("2026-03-02T09:{n:02}:00.000Z"),
        "message": {"role": role, "content": content},
    });
    format!("{line}\n")
}

/// One session for each checkout; the last and shortest, which is read last, shows the remote.
fn write_transcripts(folder: &Path) {
    for (n, checkout) in CHECKOUTS.iter().enumerate() {
        let session = format!("{n}7f78aa0-1c2d-4e3f-8a4b-00000000000{n}");
        let mut lines = vec![json!(
            "let's keep the tide table in a file, please always run the linter first"
        )];
        for more in n..6 {
            let words = format!("please never cache the harbour charts of station {more}");
            lines.push(json!(words));
        }
        if n == 2 {
            let answer = "To github.com:ada/tidepool.git\n   1..2  main -> main";
            lines.push(json!([{"type": "tool_result", "tool_use_id": "t1", "content": answer}]));
        }
        let lines = lines.iter().enumerate();
        let text: String = lines
            .map(|(at, content)| line(&session, at, checkout, "user", content))
            .collect();
        fs::write(folder.join(format!("{n}.jsonl")), text).unwrap();
    }
}

/// A memory, and where it is told what.
struct Bed {
    shop: Workshop,
    _made: Made,
    _root: TempDir,
}

/// Everything that must be the same.
#[derive(Debug, PartialEq)]
struct State {
    projects: Vec<Project>,
    roots: BTreeMap<String, Option<String>>,
    observations: BTreeMap<String, u64>,
    files: BTreeMap<String, String>,
}

impl Bed {
    fn new(made: Made) -> Self {
        let root = TempDir::new().unwrap();
        let shop = Workshop {
            store: Arc::clone(&made.store),
            trees: None,
            root: root.path().to_owned(),
            clock: Arc::new(ManualClock::at(at(4_000_000))),
            extractor: Arc::new(Extractive),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            limits: WorkLimits::default(),
        };
        Self {
            shop,
            _made: made,
            _root: root,
        }
    }

    /// False when the import is cut off after so many batches.
    fn import(&self, transcripts: &Path, batches: usize) -> bool {
        let intake = Intake {
            store: Arc::clone(&self.shop.store),
            clock: Arc::clone(&self.shop.clock),
            tenant: self.shop.tenant.clone(),
            patience: Patience::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        };
        let cut_off = CutOff(AtomicUsize::new(batches));
        let stop = Stop::default();
        let whole = catch_unwind(AssertUnwindSafe(|| {
            let files = scan(&[transcripts.to_owned()]);
            run(import(&intake, "all", files, &stop, &cut_off)).unwrap();
        }));
        whole.is_ok()
    }

    fn work(&self) {
        run(async {
            settle_projects(&self.shop).await.unwrap();
            let report = work(&self.shop, &Stop::default(), &Unseen).await.unwrap();
            assert_eq!(report.failed, []);
        });
    }

    fn state(&self) -> State {
        run(async {
            let (store, tenant) = (&self.shop.store, &self.shop.tenant);
            let places = store.places(tenant).await.unwrap();
            let scopes = store.scopes(tenant).await.unwrap();
            let told = scopes.into_iter().filter(|state| state.observations > 0);
            let mut files = BTreeMap::new();
            for kind in ["projects", "users"] {
                collect(&self.shop.root.join(kind), &self.shop.root, &mut files);
            }
            State {
                projects: store.projects(tenant).await.unwrap(),
                roots: places.into_iter().map(|(p, key)| (p.root, key)).collect(),
                observations: told
                    .map(|state| (state.scope.to_string(), state.observations))
                    .collect(),
                files,
            }
        })
    }
}

fn collect(folder: &Path, root: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() {
            collect(&path, root, files);
        } else if let (Ok(text), Ok(name)) = (fs::read_to_string(&path), path.strip_prefix(root)) {
            files.insert(name.display().to_string(), text);
        }
    }
}

#[test]
fn an_import_that_is_cut_off_after_any_batch_ends_like_an_undisturbed_one() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    for make in stores::ALL {
        let Some(made) = make() else { continue };
        let undisturbed = Bed::new(made);
        assert!(undisturbed.import(transcripts.path(), usize::MAX));
        undisturbed.work();
        let expected = undisturbed.state();
        let keys: BTreeSet<&str> = expected.projects.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, BTreeSet::from(["ada-tidepool"]));
        let mut batches = 1;
        loop {
            let bed = Bed::new(make().unwrap());
            let is_whole = bed.import(transcripts.path(), batches);
            // Whoever works meanwhile files what is there where it seems to belong.
            bed.work();
            assert!(bed.import(transcripts.path(), usize::MAX));
            bed.work();
            assert_eq!(bed.state(), expected, "cut off after {batches} batches");
            if is_whole {
                break;
            }
            batches += 1;
        }
        assert!(batches > 3, "there were {batches} batches");
    }
}

#[test]
fn undoing_the_import_that_showed_a_remote_takes_the_project_back() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    for make in stores::ALL {
        let (Some(first), Some(made)) = (make(), make()) else {
            continue;
        };
        let shown = transcripts.path().join("2.jsonl");
        let without = Bed::new(first);
        for n in 0..2 {
            without.import(&transcripts.path().join(format!("{n}.jsonl")), usize::MAX);
        }
        without.work();
        let bed = Bed::new(made);
        for n in 0..2 {
            bed.import(&transcripts.path().join(format!("{n}.jsonl")), usize::MAX);
        }
        bed.import(&shown, usize::MAX);
        bed.work();
        assert_eq!(bed.state().projects.len(), 1);
        let (store, tenant) = (&bed.shop.store, &bed.shop.tenant);
        run(async {
            let newest = store.imports(tenant, 1).await.unwrap()[0].no;
            store
                .undo_import(tenant, newest, at(4_000_001))
                .await
                .unwrap();
        });
        bed.work();
        let (found, expected) = (bed.state(), without.state());
        assert_eq!(found.projects, expected.projects);
        assert_eq!(found.roots, expected.roots);
        assert_eq!(found.observations, expected.observations);
    }
}

/// A version before kept nothing of what files show: it is found again in what tools printed.
#[test]
fn a_rebuild_finds_again_what_an_older_version_did_not_keep() {
    use daybook_domain::seams::Append;
    use daybook_domain::{Origin, ToolStatus};
    use daybook_testkit::fixtures::{EventShape, append, event, session};

    for made in stores::ALL.iter().filter_map(|make| make()) {
        let bed = Bed::new(made);
        let store = &bed.shop.store;
        run(async {
            for (n, checkout) in CHECKOUTS.iter().enumerate() {
                let mut said = vec![event("set the cache limit to 50 entries").in_place(checkout)];
                if n == 2 {
                    let mut pushed = event("To github.com:ada/tidepool.git\n   1..2 main -> main")
                        .said_by(Origin::ToolResult)
                        .in_place(checkout);
                    pushed.status = Some(ToolStatus::Succeeded);
                    said.push(pushed);
                }
                let told: Append = append(&session(&format!("aaa{n}")), said);
                store.append(&told).await.unwrap();
            }
        });
        bed.work();
        assert_eq!(bed.state().projects.len(), 3);
        run(async { rebuild_index(&bed.shop).await.unwrap() });
        bed.work();
        let state = bed.state();
        let keys: Vec<&str> = state.projects.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, ["ada-tidepool"]);
        let scopes: BTreeSet<&String> = state.observations.keys().collect();
        assert_eq!(scopes.len(), 1, "{scopes:?}");
    }
}
