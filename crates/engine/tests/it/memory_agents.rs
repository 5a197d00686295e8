//! What memory agents write with their tools, from the transcript to the person's files.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{Finish, Model, ModelFailure, ModelReply, ModelRequest, ToolCall};
use daybook_domain::seams::Store;
use daybook_domain::{
    Descriptor, EventSeq, Extraction, JobKey, Scope, SessionId, Staged, Tenant, Yield,
};
use daybook_engine::extract::model::agent::MemoryAgents;
use daybook_engine::files::entities::post_staged;
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder, LockOutcome};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::{
    PersonShelves, Progress, UpdateReport, WorkLimits, Workshop, work, write_due,
};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{append, at, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stores;

const SAID: &str = "the tide tables come from the harbour office, on port 8080";
const NOTHING: &str = "<observations/>";

/// A model that answers what it was told to; a store whose holder is taken for dead meanwhile.
struct Scripted {
    answers: Mutex<VecDeque<ModelReply>>,
    asked: Mutex<Vec<ModelRequest>>,
    dies: Mutex<Option<Arc<dyn Store>>>,
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        "test/model"
    }

    fn context_tokens(&self) -> u32 {
        128_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len()).expect("a short text")
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.asked.lock().unwrap().push(request.clone());
        let dies = self.dies.lock().unwrap().take();
        if let Some(store) = dies {
            store.abandon("worker").await.unwrap();
        }
        let next = self.answers.lock().unwrap().pop_front();
        Ok(next.expect("nobody asks more often than was foreseen"))
    }
}

fn says(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        answer: None,
        calls: Vec::new(),
        finish: Finish::Stop,
        usage: None,
        requests: 1,
    }
}

fn calls(calls: &[(&str, Value)]) -> ModelReply {
    let calls = calls.iter().enumerate();
    let calls = calls.map(|(n, (name, arguments))| ToolCall {
        id: n.to_string(),
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    });
    ModelReply {
        calls: calls.collect(),
        finish: Finish::Tools,
        ..says("")
    }
}

fn create() -> (&'static str, Value) {
    let card = json!({"entity": "tide", "name": "Tide tables", "description": "the tide tables"});
    ("memory_create_entity", card)
}

fn upsert(content: &str) -> (&'static str, Value) {
    let record = json!({"entity": "tide", "record": "Source", "content": content});
    ("memory_upsert_record", record)
}

struct Bed {
    shop: Workshop,
    clock: Arc<ManualClock>,
    model: Arc<Scripted>,
    root: TempDir,
}

/// Runs `scene` on each store, with a model that will answer so.
fn on_each_store(answers: &[ModelReply], scene: impl AsyncFn(&Bed)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let root = TempDir::new().unwrap();
        let clock = Arc::new(ManualClock::at(at(10_000)));
        let model = Arc::new(Scripted {
            answers: Mutex::new(answers.iter().cloned().collect()),
            asked: Mutex::default(),
            dies: Mutex::default(),
        });
        let shelves = PersonShelves {
            store: Arc::clone(&made.store),
            root: root.path().to_owned(),
            person: "ada".to_owned(),
        };
        let agents = MemoryAgents::new(
            Arc::clone(&model) as Arc<dyn Model>,
            Arc::new(shelves),
            Arc::clone(&clock) as _,
        );
        let shop = Workshop {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as _,
            extractor: Arc::new(agents),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            limits: WorkLimits {
                folder_wait: Duration::ZERO,
                ..WorkLimits::default()
            },
        };
        let bed = Bed {
            shop,
            clock,
            model,
            root,
        };
        run(scene(&bed));
    }
}

struct Unseen;

impl Progress for Unseen {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

impl Bed {
    async fn say(&self, session: &SessionId, text: &str) {
        let said = append(session, vec![event(text)]);
        self.shop.store.append(&said).await.unwrap();
    }

    async fn work(&self) -> UpdateReport {
        work(&self.shop, &Stop::default(), &Unseen).await.unwrap()
    }

    async fn staged(&self) -> Vec<Staged> {
        self.shop.store.staged(&Tenant::local()).await.unwrap()
    }

    fn folder(&self) -> Folder {
        let path = folder(self.root.path(), &user_scope("ada"));
        Folder::open(path, FilesConfig::default()).unwrap()
    }

    /// What the record says in its file.
    fn source(&self) -> Option<String> {
        let path = folder(self.root.path(), &user_scope("ada")).join("entities/tide.md");
        let text = std::fs::read_to_string(path).ok()?;
        Some(text.split_once("## Source\n")?.1.trim().to_owned())
    }

    fn posts(&self) -> usize {
        let log = self.folder().log(100).unwrap();
        let posts = log
            .iter()
            .filter(|c| c.subject.starts_with("Entities: post"));
        posts.count()
    }
}

#[test]
fn what_an_agent_writes_lands_with_its_extraction_and_stands_in_one_commit() {
    let answers = [
        calls(&[create(), upsert("The harbour office.")]),
        calls(&[("memory_read_entity", json!({"entity": "tide"}))]),
        says(NOTHING),
    ];
    on_each_store(&answers, async |bed| {
        bed.say(&session("7f78aa01"), SAID).await;
        let report = bed.work().await;
        assert_eq!(report.failed.len(), 0, "{report:?}");
        assert_eq!(bed.source().as_deref(), Some("The harbour office."));
        assert_eq!((bed.staged().await, bed.posts()), (Vec::new(), 1));
        let asked = bed.model.asked.lock().unwrap().clone();
        assert!(
            asked[2]
                .messages
                .last()
                .unwrap()
                .text
                .contains("harbour office")
        );
        bed.work().await;
        assert_eq!(bed.posts(), 1);
    });
}

#[test]
fn a_failed_extraction_writes_nothing() {
    let done = says("Memory update complete.");
    let answers = [calls(&[create(), upsert(SAID)]), done.clone(), done];
    on_each_store(&answers, async |bed| {
        bed.say(&session("7f78aa01"), SAID).await;
        assert_eq!(bed.work().await.failed.len(), 1);
        assert_eq!((bed.staged().await, bed.source()), (Vec::new(), None));
    });
}

#[test]
fn an_extraction_whose_lease_is_lost_writes_nothing() {
    let answers = [
        calls(&[create(), upsert("The harbour office.")]),
        says(NOTHING),
        says(NOTHING),
    ];
    on_each_store(&answers, async |bed| {
        let id = session("7f78aa01");
        bed.say(&id, SAID).await;
        *bed.model.dies.lock().unwrap() = Some(Arc::clone(&bed.shop.store));
        bed.work().await;
        let job = bed.shop.store.job(&JobKey::Extract(id)).await.unwrap();
        assert!(!job.unwrap().is_ahead());
        assert_eq!((bed.staged().await, bed.source()), (Vec::new(), None));
    });
}

#[test]
fn what_was_committed_before_a_worker_vanished_is_not_written_again() {
    let answers = [
        calls(&[create(), upsert("The harbour office.")]),
        says(NOTHING),
    ];
    on_each_store(&answers, async |bed| {
        bed.say(&session("7f78aa01"), SAID).await;
        let folder = bed.folder();
        {
            let LockOutcome::Held(lock) = folder.try_lock(Duration::ZERO).unwrap() else {
                panic!("nobody else writes");
            };
            bed.work().await;
            let staged = bed.staged().await;
            assert_eq!((staged.len(), bed.source()), (1, None));
            // A worker that vanishes before it can say so.
            let (stamp, redactor) = (bed.shop.stamp(), Redactor::standard());
            let _ = post_staged(&lock, &stamp, &redactor, &staged, &|| true).unwrap();
        }
        assert_eq!(bed.source().as_deref(), Some("The harbour office."));
        // The person takes it out, before its job is taken up again.
        std::fs::remove_file(folder.root().join("entities/tide.md")).unwrap();
        bed.clock.advance(Duration::from_secs(86_400));
        let written = write_due(&bed.shop, &Stop::default(), &Unseen)
            .await
            .unwrap();
        assert_eq!(written.scopes.len(), 1);
        assert_eq!((bed.staged().await, bed.source()), (Vec::new(), None));
        assert_eq!(bed.posts(), 1);
    });
}

#[test]
fn the_next_delivery_sees_what_waits_to_be_written() {
    let answers = [
        calls(&[create(), upsert("The harbour office.")]),
        says(NOTHING),
        calls(&[upsert("The harbour office, on port 8080.")]),
        says(NOTHING),
    ];
    on_each_store(&answers, async |bed| {
        let folder = bed.folder();
        {
            let LockOutcome::Held(_lock) = folder.try_lock(Duration::ZERO).unwrap() else {
                panic!("nobody else writes");
            };
            for name in ["7f78aa01", "8000"] {
                bed.say(&session(name), &format!("{SAID}, as {name} says"))
                    .await;
                bed.work().await;
            }
            assert_eq!(bed.staged().await.len(), 2);
        }
        bed.clock.advance(Duration::from_secs(86_400));
        bed.work().await;
        let source = "The harbour office, on port 8080.".to_owned();
        assert_eq!((bed.source(), bed.posts()), (Some(source), 1));
    });
}

#[test]
fn dc22_the_conversation_of_a_memory_agent_is_never_posted() {
    on_each_store(&[], async |bed| {
        let id = SessionId {
            agent: Descriptor::memory_of("claude-code").cache_key(),
            ..session("7f78aa01")
        };
        bed.say(&id, SAID).await;
        bed.work().await;
        assert!(bed.model.asked.lock().unwrap().is_empty());
    });
}

/// What one person's agent writes never reaches another's memory.
#[test]
fn staged_writes_are_the_persons_whose_session_it_is() {
    let answers = [
        calls(&[create(), upsert("The harbour office.")]),
        says(NOTHING),
    ];
    on_each_store(&answers, async |bed| {
        let mut said = append(&session("7f78aa01"), vec![event(SAID)]);
        said.session.user = Some("grace".to_owned());
        bed.shop.store.append(&said).await.unwrap();
        bed.work().await;
        assert_eq!((bed.staged().await, bed.source()), (Vec::new(), None));
        let theirs = folder(bed.root.path(), &user_scope("grace"));
        assert!(theirs.join("entities/tide.md").is_file());
    });
}

#[test]
fn an_extraction_without_writes_reads_as_it_did() {
    let old = json!({
        "session": session("7f78aa01"), "from": 1, "to": 2, "yielded": "nothing", "retracted": [],
        "concerns": [], "extractor": "test/1",
    });
    let read: Extraction = serde_json::from_value(old.clone()).unwrap();
    assert_eq!((read.to, &read.yielded), (EventSeq(2), &Yield::Nothing));
    assert_eq!(read.writes, []);
    assert_eq!(serde_json::to_value(&read).unwrap(), old);
}
