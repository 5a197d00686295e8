//! Follows what memory agents write with their tools, from the transcript to the person's files.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{
    FinishReason, Model, ModelFailure, ModelReply, ModelRequest, ToolCall,
};
use daybook_domain::seams::Store;
use daybook_domain::{
    Descriptor, EventSeq, Extraction, JobKey, SessionId, StagedEntityWrite, Tenant, Yield,
};
use daybook_engine::extract::model::agent::MemoryAgents;
use daybook_engine::files::entities::commit_staged;
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder, LockOutcome};
use daybook_engine::jobs::{
    PersonEntityRepositories, UpdateReport, WorkLimits, WorkerContext, work, write_due,
};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{append, at, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

const HUMAN_TEXT: &str = "the tide tables come from the harbour office, on port 8080";
const NOTHING: &str = "<observations/>";

/// A model with scripted answers; during a call it can have its worker's leases freed as if the worker had
/// vanished.
struct AgentModel {
    answers: Mutex<VecDeque<ModelReply>>,
    asked: Mutex<Vec<ModelRequest>>,
    abandoned_store: Mutex<Option<Arc<dyn Store>>>,
}

#[async_trait]
impl Model for AgentModel {
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
        let abandoned_store = self.abandoned_store.lock().unwrap().take();
        if let Some(store) = abandoned_store {
            store.abandon("worker").await.unwrap();
        }
        let next = self.answers.lock().unwrap().pop_front();
        Ok(next.expect("nobody asks more often than was foreseen"))
    }
}

fn reply(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        answer: None,
        calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: None,
        requests: 1,
    }
}

fn tool_calls(calls: &[(&str, Value)]) -> ModelReply {
    let calls = calls.iter().enumerate();
    let calls = calls.map(|(n, (name, arguments))| ToolCall {
        id: n.to_string(),
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    });
    ModelReply {
        calls: calls.collect(),
        finish: FinishReason::Tools,
        ..reply("")
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

struct AgentFixture {
    worker: WorkerContext,
    clock: Arc<ManualClock>,
    model: Arc<AgentModel>,
    root: TempDir,
}

/// Runs `test` on each store, with a model that returns `answers`.
fn on_each_store(answers: &[ModelReply], test: impl AsyncFn(&AgentFixture)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let root = TempDir::new().unwrap();
        let clock = Arc::new(ManualClock::at(at(10_000)));
        let model = Arc::new(AgentModel {
            answers: Mutex::new(answers.iter().cloned().collect()),
            asked: Mutex::default(),
            abandoned_store: Mutex::default(),
        });
        let repositories = PersonEntityRepositories {
            store: Arc::clone(&made.store),
            root: root.path().to_owned(),
            person: "ada".to_owned(),
        };
        let agents = MemoryAgents::new(
            Arc::clone(&model) as Arc<dyn Model>,
            Arc::new(repositories),
            Arc::clone(&clock) as _,
        );
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as _,
            extractor: Arc::new(agents),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits {
                folder_wait: Duration::ZERO,
                ..WorkLimits::default()
            },
        };
        let fixture = AgentFixture {
            worker,
            clock,
            model,
            root,
        };
        run(test(&fixture));
    }
}

impl AgentFixture {
    async fn say(&self, session: &SessionId, text: &str) {
        let said = append(session, vec![event(text)]);
        self.worker.store.append(&said).await.unwrap();
    }

    async fn work(&self) -> UpdateReport {
        work(&self.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap()
    }

    async fn staged(&self) -> Vec<StagedEntityWrite> {
        self.worker.store.staged(&Tenant::local()).await.unwrap()
    }

    fn folder(&self) -> Folder {
        let path = folder(self.root.path(), &user_scope("ada"));
        Folder::open(path, FilesConfig::default()).unwrap()
    }

    /// The record's content in its file.
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
fn an_agents_writes_are_stored_with_its_extraction_and_make_one_commit() {
    let answers = [
        tool_calls(&[create(), upsert("The harbour office.")]),
        tool_calls(&[("memory_read_entity", json!({"entity": "tide"}))]),
        reply(NOTHING),
    ];
    on_each_store(&answers, async |fixture| {
        fixture.say(&session("7f78aa01"), HUMAN_TEXT).await;
        let report = fixture.work().await;
        assert_eq!(report.failed.len(), 0, "{report:?}");
        assert_eq!(fixture.source().as_deref(), Some("The harbour office."));
        assert_eq!((fixture.staged().await, fixture.posts()), (Vec::new(), 1));
        let asked = fixture.model.asked.lock().unwrap().clone();
        assert!(
            asked[2]
                .messages
                .last()
                .unwrap()
                .text
                .contains("harbour office")
        );
        fixture.work().await;
        assert_eq!(fixture.posts(), 1);
    });
}

#[test]
fn a_failed_extraction_writes_nothing() {
    let done = reply("Memory update complete.");
    let answers = [
        tool_calls(&[create(), upsert(HUMAN_TEXT)]),
        done.clone(),
        done,
    ];
    on_each_store(&answers, async |fixture| {
        fixture.say(&session("7f78aa01"), HUMAN_TEXT).await;
        assert_eq!(fixture.work().await.failed.len(), 1);
        assert_eq!(
            (fixture.staged().await, fixture.source()),
            (Vec::new(), None)
        );
    });
}

#[test]
fn an_extraction_whose_lease_is_lost_writes_nothing() {
    let answers = [
        tool_calls(&[create(), upsert("The harbour office.")]),
        reply(NOTHING),
        reply(NOTHING),
    ];
    on_each_store(&answers, async |fixture| {
        let id = session("7f78aa01");
        fixture.say(&id, HUMAN_TEXT).await;
        *fixture.model.abandoned_store.lock().unwrap() = Some(Arc::clone(&fixture.worker.store));
        fixture.work().await;
        let job = fixture
            .worker
            .store
            .job(&JobKey::Extract(id))
            .await
            .unwrap();
        assert!(!job.unwrap().is_ahead());
        assert_eq!(
            (fixture.staged().await, fixture.source()),
            (Vec::new(), None)
        );
    });
}

#[test]
fn what_was_committed_before_a_worker_vanished_is_not_written_again() {
    let answers = [
        tool_calls(&[create(), upsert("The harbour office.")]),
        reply(NOTHING),
    ];
    on_each_store(&answers, async |fixture| {
        fixture.say(&session("7f78aa01"), HUMAN_TEXT).await;
        let folder = fixture.folder();
        {
            let LockOutcome::Held(lock) = folder.try_lock(Duration::ZERO).unwrap() else {
                panic!("no other writer is active");
            };
            fixture.work().await;
            let staged = fixture.staged().await;
            assert_eq!((staged.len(), fixture.source()), (1, None));
            // A worker that vanishes before it records the result.
            let (stamp, redactor) = (fixture.worker.stamp(), Redactor::standard());
            let _ = commit_staged(&lock, &stamp, &redactor, &staged, &|| true).unwrap();
        }
        assert_eq!(fixture.source().as_deref(), Some("The harbour office."));
        // The person deletes it before the job is claimed again.
        std::fs::remove_file(folder.root().join("entities/tide.md")).unwrap();
        fixture.clock.advance(Duration::from_secs(86_400));
        let written = write_due(&fixture.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        assert_eq!(written.scopes.len(), 1);
        assert_eq!(
            (fixture.staged().await, fixture.source()),
            (Vec::new(), None)
        );
        assert_eq!(fixture.posts(), 1);
    });
}

#[test]
fn the_next_delivery_sees_what_waits_to_be_written() {
    let answers = [
        tool_calls(&[create(), upsert("The harbour office.")]),
        reply(NOTHING),
        tool_calls(&[upsert("The harbour office, on port 8080.")]),
        reply(NOTHING),
    ];
    on_each_store(&answers, async |fixture| {
        let folder = fixture.folder();
        {
            let LockOutcome::Held(_lock) = folder.try_lock(Duration::ZERO).unwrap() else {
                panic!("no other writer is active");
            };
            for name in ["7f78aa01", "8000"] {
                fixture
                    .say(&session(name), &format!("{HUMAN_TEXT}, as {name} says"))
                    .await;
                fixture.work().await;
            }
            assert_eq!(fixture.staged().await.len(), 2);
        }
        fixture.clock.advance(Duration::from_secs(86_400));
        fixture.work().await;
        let source = "The harbour office, on port 8080.".to_owned();
        assert_eq!((fixture.source(), fixture.posts()), (Some(source), 1));
    });
}

#[test]
fn d22_the_conversation_of_a_memory_agent_is_never_posted() {
    on_each_store(&[], async |fixture| {
        let id = SessionId {
            agent: Descriptor::memory_of("claude-code").cache_key(),
            ..session("7f78aa01")
        };
        fixture.say(&id, HUMAN_TEXT).await;
        fixture.work().await;
        assert!(fixture.model.asked.lock().unwrap().is_empty());
    });
}

/// What one person's agent writes never reaches another's memory.
#[test]
fn staged_writes_are_the_persons_whose_session_it_is() {
    let answers = [
        tool_calls(&[create(), upsert("The harbour office.")]),
        reply(NOTHING),
    ];
    on_each_store(&answers, async |fixture| {
        let mut said = append(&session("7f78aa01"), vec![event(HUMAN_TEXT)]);
        said.session.user = Some("grace".to_owned());
        fixture.worker.store.append(&said).await.unwrap();
        fixture.work().await;
        assert_eq!(
            (fixture.staged().await, fixture.source()),
            (Vec::new(), None)
        );
        let theirs = folder(fixture.root.path(), &user_scope("grace"));
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
