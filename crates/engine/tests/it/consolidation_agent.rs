//! The consolidation agent: what it writes stands beside what the rules write, and no misbehaviour of it changes anything.

mod cost;
mod interruptions;
mod pages;
mod refusals;

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{
    FailureCost, FinishReason, Message, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
    Role, ToolCall,
};
use daybook_domain::page::PageRequest;
use daybook_domain::price::PriceTable;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::SpendBy;
use daybook_domain::time::Clock;
use daybook_domain::{
    Digest, Job, JobKey, NewEvent, ObservationKind, Origin, Outcome, ProposalRecord, Scope, Tenant,
    Timestamp,
};
use daybook_engine::consolidate::FileLayout;
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::{AGENT_LIMITS, UpdateReport, WorkLimits, WorkerContext, work};
use daybook_engine::spend::SpendMeter;
use daybook_engine::stop::Stop;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::{DAWN, EventFixture, append, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::silent_progress::SilentProgress;
use crate::stores::{self, TestStore};

const HOUR: Duration = Duration::from_secs(3_600);
const CACHE: &str = "the cache limit is 50 entries";
const FRIDAYS: &str = "never deploy on Fridays";

/// Keeps each human event as a fact that holds everywhere; every session ends well.
struct FactExtractor;

#[async_trait]
impl Extractor for FactExtractor {
    fn name(&self) -> &str {
        "facts/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let human = window.events.iter().filter(|e| e.origin == Origin::Human);
        let drafts = human.map(|event| ObservationDraft {
            kind: ObservationKind::Fact,
            general: true,
            text: event.text.clone(),
            context: None,
            subject: None,
            stated: true,
            quoted: false,
            events: vec![event.seq],
            lines: vec![event.line],
            at: event.at,
        });
        Ok(ExtractorOutput {
            drafts: drafts.collect(),
            digest: Some(Digest {
                outcome: Some(Outcome::Success),
                from_at: window.events.first().map(|it| it.at).unwrap_or_default(),
                to_at: window.events.last().map(|it| it.at).unwrap_or_default(),
                ..Digest::default()
            }),
            ..ExtractorOutput::default()
        })
    }
}

/// What the model does when the agent asks it.
enum Step {
    Reply(Box<dyn Fn(&ModelRequest) -> ModelReply + Send>),
    /// It fails, and is unavailable.
    Outage,
    /// It never replies: the worker is killed here.
    Hang,
    /// The lease is lost before it replies.
    LoseLease(ModelReply),
}

/// Proposes nothing, and has a script for the agent.
struct ScriptedModel {
    script: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<ModelRequest>>,
    hangs: Notify,
    worker: Mutex<Option<WorkerContext>>,
    sent_tokens: AtomicU64,
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "home/small"
    }

    fn context_tokens(&self) -> u32 {
        200_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len().div_ceil(4)).unwrap()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        if request.tools.is_empty() {
            let nothing = json!({"merge": [], "reword": [], "supersede": []});
            return Ok(ModelReply {
                answer: Some(nothing),
                ..says("")
            });
        }
        let tokens: u64 = sent_texts(request)
            .map(|text| u64::from(self.count_tokens(&text)))
            .sum();
        self.sent_tokens.fetch_add(tokens, Ordering::Relaxed);
        self.requests.lock().unwrap().push(request.clone());
        let next = self.script.lock().unwrap().pop_front();
        match next.expect("a step for each request of the agent") {
            Step::Reply(reply) => Ok(reply(request)),
            Step::Hang => {
                self.hangs.notify_one();
                std::future::pending().await
            }
            Step::LoseLease(reply) => {
                let worker = self.worker.lock().unwrap().take().unwrap();
                worker.store.abandon(&worker.holder).await.unwrap();
                Ok(reply)
            }
            Step::Outage => Err(ModelFailure {
                error: ModelError::Unavailable {
                    model: self.name().to_owned(),
                    message: "no route".to_owned(),
                    retry_after: None,
                },
                spent: FailureCost::Nothing,
            }),
        }
    }
}

/// Everything of a request that is billed.
fn sent_texts(request: &ModelRequest) -> impl Iterator<Item = String> + '_ {
    let tools = request.tools.iter();
    let tools = tools.map(|tool| format!("{} {} {}", tool.name, tool.description, tool.arguments));
    let calls = request.messages.iter().flat_map(|message| &message.calls);
    let calls = calls.map(|call| format!("{} {}", call.name, call.arguments));
    let texts = request.messages.iter().map(|message| message.text.clone());
    tools.chain(calls).chain(texts)
}

fn says(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        answer: None,
        calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: None,
        requests: 1,
    }
}

fn calls(calls: &[(&str, Value)]) -> ModelReply {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(n, (name, arguments))| ToolCall {
            id: format!("c{n}"),
            name: (*name).to_owned(),
            arguments: arguments.to_string(),
        });
    ModelReply {
        calls: calls.collect(),
        finish: FinishReason::Tools,
        ..says("")
    }
}

fn reply(reply: ModelReply) -> Step {
    Step::Reply(Box::new(move |_| reply.clone()))
}

fn done() -> Step {
    reply(says("DONE"))
}

/// Reads the added statements.
fn read() -> Step {
    reply(calls(&[("read", json!({"path": "inputs/added-001.md"}))]))
}

/// The citation of the statement with these words, as the last outcomes show it.
fn cited(request: &ModelRequest, words: &str) -> String {
    let outcomes = request.messages.iter().filter(|m| m.role == Role::Tool);
    let mut lines = outcomes.flat_map(|message| message.text.lines());
    let line = lines.find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("{words} was not read: {:?}", texts(request)));
    let (from, to) = (line.find('[').unwrap(), line.find(']').unwrap());
    line[from..=to].to_owned()
}

fn texts(request: &ModelRequest) -> Vec<&str> {
    request
        .messages
        .iter()
        .map(|m: &Message| m.text.as_str())
        .collect()
}

/// Adds lines to the handbook, each with the citation of the statement with these words.
fn add(page: &'static str, lines: &'static [(&'static str, &'static str)]) -> Step {
    Step::Reply(Box::new(move |request| {
        let items = lines.iter().map(|(line, words)| {
            let cited = if words.is_empty() {
                String::new()
            } else {
                cited(request, words)
            };
            format!("- {line} {cited}\n")
        });
        let items: String = items.collect();
        let new = format!("## Handbook\n{items}");
        let arguments = json!({"path": page, "old": "## Handbook\n", "new": new});
        calls(&[("replace", arguments)])
    }))
}

fn write_cache() -> Step {
    add("MEMORY.md", &[("Cache: the limit is 50 entries.", CACHE)])
}

struct AgentFixture {
    worker: WorkerContext,
    clock: Arc<ManualClock>,
    model: Arc<ScriptedModel>,
    root: TempDir,
    _made: TestStore,
}

impl AgentFixture {
    fn new(made: TestStore, script: Vec<Step>) -> Self {
        let (root, clock) = (TempDir::new().unwrap(), Arc::new(ManualClock::at(DAWN)));
        let model = Arc::new(ScriptedModel {
            script: Mutex::new(script.into()),
            requests: Mutex::default(),
            hangs: Notify::new(),
            worker: Mutex::default(),
            sent_tokens: AtomicU64::new(0),
        });
        let asked = Arc::clone(&model) as Arc<dyn Model>;
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: Arc::new(FactExtractor),
            consolidation_model: Some(Arc::new(move |_| Some(Arc::clone(&asked)))),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: Redactor::standard(),
            limits: WorkLimits {
                agent: Some(AGENT_LIMITS),
                ..WorkLimits::default()
            },
        };
        *model.worker.lock().unwrap() = Some(worker.clone());
        Self {
            worker,
            clock,
            model,
            root,
            _made: made,
        }
    }

    /// Appends what ada says in one session, and waits until it has rested.
    async fn say(&self, name: &str, texts: &[&str]) {
        let now = self.clock.now();
        let event = |(n, text): (i64, &&str)| -> NewEvent {
            event(text).with_time(Timestamp(now.0 + n * 1_000))
        };
        let events: Vec<NewEvent> = (0..).zip(texts).map(event).collect();
        let mut append = append(&session(name), events);
        append.now = now;
        self.worker.store.append(&append).await.unwrap();
        self.clock.advance(HOUR);
    }

    async fn work(&self) -> UpdateReport {
        let report = work(&self.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        assert_eq!(report.failed, []);
        report
    }

    /// Works until the model hangs, and kills the worker there.
    async fn work_until_killed(&self) {
        let (stop, progress) = (Stop::default(), SilentProgress);
        tokio::select! {
            ended = work(&self.worker, &stop, &progress) => {
                panic!("it ended: {ended:?}");
            }
            () = self.model.hangs.notified() => {}
        }
        self.clock.advance(HOUR);
    }

    fn script(&self, steps: Vec<Step>) {
        self.model.script.lock().unwrap().extend(steps);
    }

    fn asked(&self) -> usize {
        self.model.requests.lock().unwrap().len()
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        folder(self.root.path(), &scope()).join(file)
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_default()
    }

    /// The lines below `## Handbook`, without citations and markers.
    fn handbook(&self, file: &str) -> Vec<String> {
        let text = self.text(file);
        let lines = text
            .lines()
            .skip_while(|line| *line != "## Handbook")
            .skip(1);
        let lines = lines.take_while(|line| !line.starts_with("## "));
        let lines = lines.filter_map(|line| line.strip_prefix("- "));
        lines
            .map(|line| line.split(" [").next().unwrap_or(line).to_owned())
            .collect()
    }

    async fn record(&self) -> ProposalRecord {
        let record = self.worker.store.proposals(&scope()).await.unwrap();
        record.unwrap_or_default()
    }

    async fn job(&self) -> Job {
        let key = JobKey::Consolidate(scope());
        self.worker.store.job(&key).await.unwrap().unwrap()
    }

    async fn touch(&self) {
        let now = self.clock.now();
        self.worker.store.touch_scope(&scope(), now).await.unwrap();
    }

    fn check_script_is_used_up(&self) {
        let unused = self.model.script.lock().unwrap().len();
        assert_eq!(unused, 0, "steps without a request");
    }
}

fn scope() -> Scope {
    user_scope("ada")
}

/// Runs `test` on each store.
fn on_each_store(test: impl AsyncFn(&mut AgentFixture)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let mut fixture = AgentFixture::new(made, Vec::new());
        run(test(&mut fixture));
        fixture.check_script_is_used_up();
    }
}
