//! The consolidation agent: what it writes stands beside what the rules write, and no misbehaviour of it changes anything.

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

#[test]
fn c78_the_agents_lines_stand_on_the_pages_and_unchanged_inputs_cost_nothing() {
    on_each_store(async |fixture| {
        fixture.script(vec![
            read(),
            write_cache(),
            add("memory_summary.md", &[]),
            done(),
        ]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        let report = fixture.work().await;
        assert_eq!(report.proposals.agent_lines, [(scope(), 1)].into());
        assert_eq!(
            fixture.handbook("MEMORY.md"),
            ["Cache: the limit is 50 entries."]
        );
        assert!(
            fixture
                .text("MEMORY.md")
                .contains("## Facts that ada stated")
        );
        assert!(!fixture.job().await.is_ahead());
        let first = fixture.model.requests.lock().unwrap()[0].clone();
        let question = texts(&first)[1].to_owned();
        assert!(
            question.contains("Mode: INIT") && question.contains("last success: 2"),
            "{question}"
        );
        // Nothing is new: the files are made again without a call.
        for _ in 0..2 {
            fixture.touch().await;
            fixture.work().await;
        }
        assert_eq!(fixture.asked(), 4);
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        assert_eq!(fixture.record().await.agent.failed, None);
    });
}

#[test]
fn c86_what_is_added_and_what_changed_in_the_folder_is_shown_later() {
    on_each_store(async |fixture| {
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        fixture.script(vec![
            reply(calls(&[
                ("read", json!({"path": "inputs/added-001.md"})),
                ("read", json!({"path": "phase2_workspace_diff.md"})),
                ("read", json!({"path": "MEMORY.md"})),
            ])),
            add("MEMORY.md", &[("Never deploy on Fridays.", FRIDAYS)]),
            done(),
        ]);
        fixture.say("b", &[FRIDAYS]).await;
        fixture.work().await;
        let requests = fixture.model.requests.lock().unwrap().clone();
        let question = texts(&requests[3])[1];
        for line in [
            "Mode: INCREMENTAL",
            "- newly added since the last success: 1",
            "- retained from the last success: 1",
            "- removed since the last success: 0",
        ] {
            assert!(question.contains(line), "{line}: {question}");
        }
        let diff = texts(&requests[4])[4];
        assert!(
            diff.contains("M MEMORY.md") && diff.contains(FRIDAYS),
            "{diff}"
        );
        let page = texts(&requests[4])[5];
        assert!(
            page.contains("- Cache: the limit is 50 entries. ["),
            "{page}"
        );
        // In the order of its own page.
        let lines = [
            "Never deploy on Fridays.",
            "Cache: the limit is 50 entries.",
        ];
        assert_eq!(fixture.handbook("MEMORY.md"), lines);
    });
}

/// Runs a script that must change nothing, and then a good one on the same inputs.
fn check_refused(why: &str, script: impl Fn() -> Vec<Step>) {
    on_each_store(async |fixture| {
        fixture.say("a", &[CACHE]).await;
        fixture.script(script());
        let report = fixture.work().await;
        let unanswered = &report.proposals.unanswered[&scope()].message;
        assert!(unanswered.contains(why), "{why}: {unanswered}");
        assert_eq!(fixture.handbook("MEMORY.md"), [""; 0]);
        assert!(fixture.text("MEMORY.md").contains(CACHE));
        let record = fixture.record().await;
        assert_eq!((record.accepted, record.agent.examined.len()), (vec![], 0));
        let failed = record.agent.failed.expect("the reason is stored");
        assert!(failed.reason.contains(why), "{}", failed.reason);
        fixture.check_script_is_used_up();
        fixture.clock.advance(HOUR);
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        assert_eq!(fixture.record().await.agent.failed, None);
    });
}

#[test]
fn answers_that_are_none_change_nothing() {
    check_refused("answer `DONE`", || {
        ["", "All is well.", "..."]
            .map(|text| reply(says(text)))
            .into()
    });
    check_refused("cut off", || {
        let cut_off = || ModelReply {
            finish: FinishReason::Length,
            ..says("DON")
        };
        (0..3).map(|_| reply(cut_off())).collect()
    });
}

#[test]
fn invented_citations_names_and_secrets_change_nothing() {
    for (line, why) in [
        ("The limit is 50 entries. [zzzz:L9]", "cites [zzzz:L9]"),
        ("The limit is 50 entries.", "is no item"),
        (
            "Call it sk-proj-abcdefghijklmnopqrstuvwxyz0123456789. [a:L1]",
            "holds a secret",
        ),
    ] {
        check_refused(why, || {
            let new = format!("## Handbook\n- {line}\n");
            let arguments = json!({"path": "MEMORY.md", "old": "## Handbook\n", "new": new});
            vec![
                reply(calls(&[("replace", arguments)])),
                done(),
                done(),
                done(),
            ]
        });
    }
    check_refused("names what the cited statements do not name", || {
        let lines = &[("The cache limit of Redis is 60 entries.", CACHE)];
        vec![read(), add("MEMORY.md", lines), done(), done(), done()]
    });
}

#[test]
fn a_model_that_calls_for_ever_is_stopped() {
    check_refused("its bound of turns", || {
        (0..AGENT_LIMITS.turns).map(|_| read()).collect()
    });
}

#[test]
fn paths_that_leave_the_copy_and_tools_that_do_not_exist_have_no_effect() {
    on_each_store(async |fixture| {
        let outside = fixture.root.path().join("outside.md");
        std::fs::write(&outside, "theirs").unwrap();
        let absolute = outside.to_str().unwrap();
        fixture.script(vec![
            reply(calls(&[
                ("write", json!({"path": "../../outside.md", "text": "x"})),
                ("write", json!({"path": absolute, "text": "x"})),
                ("delete", json!({"path": absolute})),
                ("read", json!({"path": absolute})),
                ("write", json!({"path": "notes/2026-01-27.md", "text": "x"})),
                ("write", json!({"path": "topics/deploys.md", "text": "x"})),
                ("write", json!({"path": "link/x.md", "text": "x"})),
                ("write", json!({"path": "MEMORY.md", "text": ""})),
                ("delete", json!({"path": "MEMORY.md"})),
                ("shell", json!({"command": "rm -r ."})),
                ("fetch", json!({"url": "https://example.org"})),
            ])),
            done(),
        ]);
        fixture.say("a", &[CACHE]).await;
        // A link in the folder, which the agent's copy does not have.
        std::fs::create_dir_all(fixture.path("")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(fixture.root.path(), fixture.path("link")).unwrap();
        let report = fixture.work().await;
        assert_eq!(report.proposals.agent_lines, [(scope(), 0)].into());
        let outcomes = fixture.model.requests.lock().unwrap()[1].clone();
        let outcomes = &texts(&outcomes)[3..];
        let refused = |text: &&str| {
            [
                "cannot be written",
                "There is no file",
                "are not yours",
                "no such tool",
            ]
            .iter()
            .any(|why| text.contains(why))
        };
        assert!(
            outcomes.len() == 11 && outcomes.iter().all(refused),
            "{outcomes:?}"
        );
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs");
        assert!(fixture.text("MEMORY.md").contains(CACHE));
        for path in ["notes/2026-01-27.md", "topics/deploys.md", "x.md"] {
            assert!(!fixture.path(path).exists());
        }
    });
}

#[test]
fn deleting_everything_changes_nothing() {
    on_each_store(async |fixture| {
        let long = "Cache: the limit is 50 entries, and the cache limit is 50 entries as the limit of the cache is";
        let lines: &'static [(&str, &str)] = &[
            (
                "Cache: the limit is 50 entries, and the cache limit is 50 entries as the limit of the cache is",
                CACHE,
            ),
            (
                "The cache limit is 50 entries, and the cache limit is 50 entries as the limit of the cache is",
                CACHE,
            ),
            (
                "Cache limit: 50 entries, and the cache limit is 50 entries as the limit of the cache is",
                CACHE,
            ),
        ];
        fixture.script(vec![read(), add("MEMORY.md", lines), done()]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md")[0], long);
        let delete = Step::Reply(Box::new(|request| {
            let page = request
                .messages
                .iter()
                .rfind(|m| m.role == Role::Tool)
                .unwrap();
            let page: String = page
                .text
                .lines()
                .map(|line| format!("{}\n", &line[1..]))
                .collect();
            let (others, _) = page.split_once("## Handbook").unwrap();
            let text = format!("{others}## Handbook\n");
            calls(&[("write", json!({"path": "MEMORY.md", "text": text}))])
        }));
        fixture.script(vec![
            reply(calls(&[("read", json!({"path": "MEMORY.md"}))])),
            delete,
            done(),
            done(),
            done(),
        ]);
        fixture.say("b", &[FRIDAYS]).await;
        let report = fixture.work().await;
        let why = &report.proposals.unanswered[&scope()].message;
        assert!(why.contains("your text shrinks"), "{why}");
        assert_eq!(fixture.handbook("MEMORY.md").len(), 3);
    });
}

#[test]
fn the_same_inputs_are_tried_a_few_times_and_others_at_once() {
    on_each_store(async |fixture| {
        fixture.say("a", &[CACHE]).await;
        for tries in 1..=3 {
            fixture.script((0..3).map(|_| reply(says("no"))).collect());
            fixture.work().await;
            assert_eq!(fixture.record().await.agent.failures, tries);
            for _ in 0..4 {
                fixture.clock.advance(HOUR);
            }
        }
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.asked(), 9);
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("b", &[FRIDAYS]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
    });
}

#[test]
fn an_outage_leaves_the_inputs_for_later() {
    on_each_store(async |fixture| {
        fixture.script(vec![read(), Step::Outage]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        let record = fixture.record().await;
        assert_eq!((record.agent.failures, record.agent.examined.len()), (0, 0));
        fixture.work().await;
        assert_eq!(fixture.asked(), 2, "not before the wait is over");
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.clock.advance(HOUR);
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
    });
}

#[test]
fn c84_a_lease_that_is_lost_in_the_middle_merges_nothing_and_the_next_run_once() {
    on_each_store(async |fixture| {
        let lost = Step::LoseLease(says("DONE"));
        fixture.script(vec![
            read(),
            write_cache(),
            lost,
            read(),
            write_cache(),
            done(),
        ]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        assert_eq!(fixture.asked(), 6);
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        assert_eq!(fixture.record().await.agent_lines().count(), 1);
    });
}

#[test]
fn a_worker_that_is_killed_at_any_request_leaves_the_next_one_the_same_memory() {
    let undisturbed = |fixture: &AgentFixture| fixture.text("MEMORY.md");
    let expected = Mutex::new(Vec::new());
    on_each_store(async |fixture| {
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        expected.lock().unwrap().push(undisturbed(fixture));
    });
    let expected = expected.into_inner().unwrap();
    for killed_at in 0..3 {
        let stores = Mutex::new(expected.iter());
        on_each_store(async |fixture| {
            let before = [read(), write_cache()].into_iter().take(killed_at);
            fixture.script(before.chain([Step::Hang]).collect());
            fixture.say("a", &[CACHE, FRIDAYS]).await;
            fixture.work_until_killed().await;
            assert_eq!(fixture.handbook("MEMORY.md"), [""; 0]);
            fixture.script(vec![read(), write_cache(), done()]);
            fixture.worker.holder = "second".to_owned();
            fixture.work().await;
            let expected = stores.lock().unwrap().next().unwrap();
            assert_eq!(&fixture.text("MEMORY.md"), expected);
        });
    }
}

#[test]
fn a_person_who_edits_while_the_agent_runs_loses_nothing() {
    on_each_store(async |fixture| {
        let path = fixture.path("MEMORY.md");
        let edited = path.clone();
        let edit = Step::Reply(Box::new(move |_| {
            let text = std::fs::read_to_string(&edited).unwrap();
            let text = text.replace(FRIDAYS, "never deploy on Fridays or Mondays");
            std::fs::write(&edited, format!("{text}\nada's own line\n")).unwrap();
            says("DONE")
        }));
        // Their lines are new to the agent, which runs again.
        fixture.script(vec![read(), write_cache(), edit, done()]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        let text = std::fs::read_to_string(&path).unwrap();
        for line in [
            "ada's own line",
            "never deploy on Fridays or Mondays",
            "Cache: the limit is 50 entries.",
        ] {
            assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
        }
    });
}

#[test]
fn a_persons_word_about_a_line_of_the_agent_is_the_last() {
    on_each_store(async |fixture| {
        fixture.script(vec![
            read(),
            add(
                "MEMORY.md",
                &[
                    ("Cache: the limit is 50 entries.", CACHE),
                    ("Never deploy on Fridays.", FRIDAYS),
                ],
            ),
            done(),
        ]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        let text = fixture.text("MEMORY.md");
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("- Never deploy"));
        let lines: Vec<String> = lines
            .map(|line| line.replace("Cache: the limit", "Cache (ask ada): the limit"))
            .collect();
        std::fs::write(fixture.path("MEMORY.md"), lines.join("\n")).unwrap();
        // It is told once that a person's line is new.
        fixture.script(vec![done()]);
        fixture.touch().await;
        fixture.work().await;
        for _ in 0..2 {
            fixture.touch().await;
            fixture.work().await;
        }
        let text = fixture.text("MEMORY.md");
        assert!(text.contains("Cache (ask ada): the limit"), "{text}");
        assert!(
            !text.contains("- Never deploy") && !text.contains("- Cache: the limit"),
            "{text}"
        );
        // What the deleted line rested on still holds.
        assert!(text.contains(FRIDAYS), "{text}");
        assert_eq!(fixture.record().await.agent_lines().count(), 0);
    });
}

#[test]
fn a_line_goes_with_what_it_rests_on() {
    on_each_store(async |fixture| {
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        // The person deletes the statement: it is retracted.
        let text = fixture.text("MEMORY.md");
        let kept = text.lines().filter(|line| !line.contains(CACHE));
        let kept: Vec<&str> = kept.collect();
        std::fs::write(fixture.path("MEMORY.md"), kept.join("\n")).unwrap();
        fixture.script(vec![done()]);
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md"), [""; 0]);
        let requests = fixture.model.requests.lock().unwrap().clone();
        let question = texts(requests.last().unwrap())[1];
        assert!(
            question.contains("- removed since the last success: 1"),
            "{question}"
        );
        assert!(
            !requests
                .last()
                .unwrap()
                .messages
                .iter()
                .any(|m| m.text.contains(CACHE))
        );
    });
}

#[test]
fn a_skill_stands_in_a_file_of_its_own_and_goes_with_its_steps() {
    on_each_store(async |fixture| {
        let (build, upload) = (
            "build the release with make dist",
            "upload the release with make put",
        );
        let write = Step::Reply(Box::new(move |request| {
            let text = format!(
                "# The release\n\n- Build the release with make dist. {}\n- Upload the release with make put. {}\n",
                cited(request, build),
                cited(request, upload)
            );
            calls(&[(
                "write",
                json!({"path": "skills/release/SKILL.md", "text": text}),
            )])
        }));
        fixture.script(vec![read(), write, done()]);
        fixture.say("a", &[build]).await;
        fixture.say("b", &[upload]).await;
        fixture.work().await;
        let page = fixture.text("skills/release/SKILL.md");
        assert!(page.starts_with("# The release"), "{page}");
        assert_eq!(
            page.lines().filter(|line| line.starts_with("- ")).count(),
            2
        );
        // Files are made again without a model.
        fixture.worker.consolidation_model = None;
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.text("skills/release/SKILL.md"), page);
    });
}

#[test]
fn calls_are_charged_and_the_agent_has_no_session() {
    on_each_store(async |fixture| {
        let spending: Arc<dyn SpendStore> = Arc::new(MemoryStore::new());
        let meter = SpendMeter {
            store: Arc::clone(&spending),
            clock: Arc::clone(&fixture.clock) as Arc<dyn Clock>,
            prices: PriceTable::default(),
            caps: Vec::new(),
            run: "1".to_owned(),
        };
        let model = Arc::clone(&fixture.model) as Arc<dyn Model>;
        fixture.worker.consolidation_model = Some(Arc::new(move |scope: &Scope| {
            let charged = meter.budgeted_for_scope(Arc::clone(&model), "consolidate", scope, "bob");
            Some(Arc::new(charged) as Arc<dyn Model>)
        }));
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        let always = (Timestamp::ZERO, Timestamp::MAX);
        let spent = spending
            .spent(&Tenant::local(), always, SpendBy::Stage, 9)
            .await
            .unwrap();
        let stages: Vec<&str> = spent.iter().map(|sum| sum.name.as_str()).collect();
        assert_eq!(stages, ["consolidate"]);
        // What it said and read is in no log, so that nothing is extracted from it.
        let page = PageRequest::first(9);
        let sessions = fixture
            .worker
            .store
            .sessions(&Tenant::local(), page)
            .await
            .unwrap();
        let ids: Vec<_> = sessions
            .items
            .iter()
            .map(|it| it.id.host_id.as_str())
            .collect();
        assert_eq!(ids, ["a"]);
        let again = fixture.work().await;
        assert_eq!((again.read.len(), fixture.asked()), (0, 3));
    });
}

#[test]
fn a_caller_that_waits_and_a_worker_without_the_setting_run_no_agent() {
    on_each_store(async |fixture| {
        fixture.worker.limits.agent = None;
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        fixture.worker.limits.agent = Some(AGENT_LIMITS);
        fixture.worker.limits.proposals = false;
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.asked(), 0);
        fixture.worker.limits.proposals = true;
        fixture.clock.advance(HOUR);
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
    });
}

#[test]
fn a_consolidation_of_256_inputs_sends_at_most_twice_their_tokens_and_40000() {
    for at_once in [usize::MAX, 1] {
        let made = stores::ALL[0]().expect("the first store needs no server");
        let mut fixture = AgentFixture::new(made, Vec::new());
        run(check_cost(&mut fixture, at_once));
    }
}

/// Files of the statements of [`check_cost`].
const FILES: usize = 9;

/// Forty words of which no other number has one: statements with a word in common could end each other.
fn invented_words(n: usize) -> Vec<String> {
    let syllables = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "va",
    ];
    let word = |k: usize| -> String {
        let number = n * 40 + k;
        let parts = [number / 4_096, number / 256, number / 16, number];
        parts.map(|part| syllables[part % 16]).concat()
    };
    (0..40).map(word).collect()
}

/// Has the model read `at_once` files in each turn.
#[expect(clippy::print_stdout, reason = "the figure is what the test is for")]
async fn check_cost(fixture: &mut AgentFixture, at_once: usize) {
    for n in 0..256 {
        let text = invented_words(n).join(" ");
        fixture.say(&format!("s{n}"), &[&text]).await;
    }
    // Reads each added file once, and rewrites each of the three artefacts.
    let read = move |turn: usize| {
        Step::Reply(Box::new(move |request| {
            let files = request.messages[1].text.lines();
            let files = files.filter_map(|line| line.strip_prefix("- [added] "));
            let paths = files.map(|line| line.split(':').next().unwrap());
            let paths = paths.skip(turn.saturating_mul(at_once)).take(at_once);
            let reads = paths.map(|path| ("read", json!({"path": path})));
            calls(&reads.collect::<Vec<_>>())
        }))
    };
    let write = Step::Reply(Box::new(|_| {
        let line = |n: usize| {
            let words = invented_words(n)[..8].join(" ");
            format!("- {words} [s{n}:L1]\n")
        };
        let section = |lines: String| json!(format!("## Handbook\n{lines}"));
        let title = invented_words(1)[..2].join(" ");
        let skill = format!("# {title}\n\n{}{}", line(1), line(2));
        let handbook = section((0..40).map(line).collect());
        let summary = section((0..8).map(line).collect());
        calls(&[
            (
                "replace",
                json!({"path": "MEMORY.md", "old": "## Handbook\n", "new": handbook}),
            ),
            (
                "replace",
                json!({"path": "memory_summary.md", "old": "## Handbook\n", "new": summary}),
            ),
            (
                "write",
                json!({"path": "skills/services/SKILL.md", "text": skill}),
            ),
        ])
    }));
    let files = if at_once == 1 { FILES } else { 1 };
    let reads = (0..files).map(read);
    fixture.script(reads.chain([write, done()]).collect());
    let report = fixture.work().await;
    let written = &report.proposals;
    assert_eq!(written.agent_lines, [(scope(), 50)].into(), "{written:?}");
    assert_eq!(fixture.handbook("MEMORY.md").len(), 40);
    let requests = fixture.model.requests.lock().unwrap().clone();
    // Each outcome of a read, once, although it may have been sent more often.
    let outcomes = requests.iter().flat_map(|request| &request.messages);
    let read: BTreeSet<&str> = outcomes
        .filter(|message| message.role == Role::Tool && message.text.starts_with(" - ["))
        .map(|message| message.text.as_str())
        .collect();
    let statements: usize = read.iter().map(|text| text.lines().count()).sum();
    assert_eq!(statements, 256);
    let tokens = read
        .iter()
        .map(|text| u64::from(fixture.model.count_tokens(text)));
    let inputs: u64 = tokens.sum();
    let sent = fixture.model.sent_tokens.load(Ordering::Relaxed);
    println!(
        "256 inputs of {inputs} tokens: {sent} tokens sent in {} requests",
        requests.len()
    );
    assert!(
        sent <= 2 * inputs + 40_000,
        "{sent} tokens sent for inputs of {inputs}"
    );
    // Unchanged inputs cost none.
    fixture.touch().await;
    fixture.work().await;
    assert_eq!(fixture.model.sent_tokens.load(Ordering::Relaxed), sent);
}

#[test]
fn in_profile_codex_the_agent_reads_the_selected_sessions_and_its_lines_do_not_wait() {
    on_each_store(async |fixture| {
        let rules = &mut fixture.worker.limits.consolidation;
        (rules.layout, rules.cooldown) = (FileLayout::Codex, 6 * HOUR);
        fixture.script(vec![
            reply(calls(&[
                ("read", json!({"path": "inputs/added-001.md"})),
                ("read", json!({"path": "raw_memories.md"})),
            ])),
            write_cache(),
            done(),
        ]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        let requests = fixture.model.requests.lock().unwrap().clone();
        let question = texts(&requests[0])[1];
        assert!(question.contains("- [added] thread_id=a\n"), "{question}");
        let raw = texts(&requests[1])[4];
        assert!(raw.contains("# Raw Memories"), "{raw}");
    });
}
