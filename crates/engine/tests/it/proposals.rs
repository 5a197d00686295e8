//! Consolidation with a model: what it proposes changes the files, and no failure of it does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{
    FailureCost, FinishReason, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
};
use daybook_domain::price::PriceTable;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{Cap, Payer, Period, SpendBy};
use daybook_domain::time::Clock;
use daybook_domain::{
    Job, JobKey, NewEvent, ObservationKind, Origin, ProposalRecord, Scope, Tenant, Timestamp,
};
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::{WorkLimits, WorkerContext, work, write_due};
use daybook_engine::spend::SpendMeter;
use daybook_engine::stop::Stop;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::{DAWN, EventFixture, append, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores::{self, TestStore};

const HOUR: Duration = Duration::from_secs(3_600);
/// Two ways to say the same, without a common word.
const BRIEF: [&str; 2] = ["keep replies brief", "write short answers"];

/// Keeps each human event as a preference that holds everywhere.
struct PreferenceExtractor;

#[async_trait]
impl Extractor for PreferenceExtractor {
    fn name(&self) -> &str {
        "preferences/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let human = window.events.iter().filter(|e| e.origin == Origin::Human);
        let drafts = human.map(|event| ObservationDraft {
            kind: ObservationKind::Preference,
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
            ..ExtractorOutput::default()
        })
    }
}

/// How the model answers a question.
#[derive(Debug, Clone)]
enum Behaviour {
    Answer(Value),
    Outage,
    /// The worker has vanished before the answer arrives.
    Vanish(Value),
}

struct ProposingModel {
    script: Mutex<VecDeque<Behaviour>>,
    asked: Mutex<Vec<String>>,
    worker: Mutex<Option<WorkerContext>>,
}

#[async_trait]
impl Model for ProposingModel {
    fn name(&self) -> &str {
        "home/small"
    }

    fn context_tokens(&self) -> u32 {
        40_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let question = request.messages.last().unwrap().text.clone();
        self.asked.lock().unwrap().push(question);
        let next = self.script.lock().unwrap().pop_front();
        let answer = match next.expect("a behaviour for each question") {
            Behaviour::Answer(answer) => answer,
            Behaviour::Vanish(answer) => {
                let worker = self.worker.lock().unwrap().take().unwrap();
                worker.store.abandon(&worker.holder).await.unwrap();
                answer
            }
            Behaviour::Outage => {
                let error = ModelError::Unavailable {
                    model: self.name().to_owned(),
                    message: "no route".to_owned(),
                    retry_after: None,
                };
                let spent = FailureCost::Nothing;
                return Err(ModelFailure { error, spent });
            }
        };
        Ok(ModelReply {
            text: String::new(),
            answer: Some(answer),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: None,
            requests: 1,
        })
    }
}

struct ProposalFixture {
    worker: WorkerContext,
    clock: Arc<ManualClock>,
    model: Arc<ProposingModel>,
    root: TempDir,
    _made: TestStore,
}

/// Runs `test` on each store, with a model that behaves as the script says.
fn on_each_store(script: &[Behaviour], test: impl AsyncFn(&mut ProposalFixture)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let (root, clock) = (TempDir::new().unwrap(), Arc::new(ManualClock::at(DAWN)));
        let model = Arc::new(ProposingModel {
            script: Mutex::new(script.iter().cloned().collect()),
            asked: Mutex::default(),
            worker: Mutex::default(),
        });
        let asked = Arc::clone(&model) as Arc<dyn Model>;
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: Arc::new(PreferenceExtractor),
            consolidation_model: Some(Arc::new(move |_| Some(Arc::clone(&asked)))),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: Redactor::standard(),
            limits: WorkLimits::default(),
        };
        *model.worker.lock().unwrap() = Some(worker.clone());
        let mut fixture = ProposalFixture {
            worker,
            clock,
            model,
            root,
            _made: made,
        };
        run(test(&mut fixture));
        let unused = fixture.model.script.lock().unwrap().len();
        assert_eq!(unused, 0, "behaviours without a question");
    }
}

impl ProposalFixture {
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

    async fn work(&self) {
        let report = work(&self.worker, &Stop::default(), &SilentProgress).await;
        assert_eq!(report.unwrap().failed, []);
    }

    /// Charges the model's calls, within a cap of so many tokens a day.
    fn charge(&mut self, spending: &Arc<dyn SpendStore>, tokens: u64) {
        let cap = Cap {
            of: Payer::Tenant,
            period: Period::Day,
            tokens: Some(tokens),
            money: None,
        };
        let meter = SpendMeter {
            store: Arc::clone(spending),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            prices: PriceTable::default(),
            caps: vec![cap],
            run: "1".to_owned(),
        };
        let model = Arc::clone(&self.model) as Arc<dyn Model>;
        self.worker.consolidation_model = Some(Arc::new(move |scope: &Scope| {
            let model = Arc::clone(&model);
            let charged = meter.budgeted_for_scope(model, "consolidate", scope, "bob");
            Some(Arc::new(charged) as Arc<dyn Model>)
        }));
    }

    fn asked(&self) -> usize {
        self.model.asked.lock().unwrap().len()
    }

    fn path(&self) -> std::path::PathBuf {
        folder(self.root.path(), &scope()).join("MEMORY.md")
    }

    /// The lines of `MEMORY.md` on what ada wants, without citations and markers.
    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path()).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
        let lines = lines.map(|line| line.split(" [").next().unwrap_or(line).to_owned());
        // Its session is listed, too.
        lines.filter(|line| !line.starts_with("undated")).collect()
    }

    async fn record(&self) -> Option<ProposalRecord> {
        self.worker.store.proposals(&scope()).await.unwrap()
    }

    async fn job(&self) -> Job {
        let key = JobKey::Consolidate(scope());
        self.worker.store.job(&key).await.unwrap().unwrap()
    }
}

fn scope() -> Scope {
    user_scope("ada")
}

/// The answer that merges the statements with these numbers.
fn merge(ids: &[usize]) -> Behaviour {
    Behaviour::Answer(json!({"merge": [{"ids": ids}], "reword": [], "supersede": []}))
}

fn nothing() -> Behaviour {
    Behaviour::Answer(json!({"merge": [], "reword": [], "supersede": []}))
}

#[test]
fn what_is_accepted_is_written_and_not_asked_again() {
    on_each_store(&[merge(&[2, 1])], async |fixture| {
        fixture.say("a", &BRIEF).await;
        fixture.work().await;
        let merged = ["write short answers · 2 times in one session"];
        assert_eq!(fixture.lines(), merged);
        let job = fixture.job().await;
        assert!(!job.is_ahead(), "{job:?}");
        // Files that are made anew need no model.
        fixture.worker.consolidation_model = None;
        fixture
            .worker
            .store
            .touch_scope(&scope(), fixture.clock.now())
            .await
            .unwrap();
        fixture.work().await;
        assert_eq!(
            (fixture.lines(), fixture.asked()),
            (vec![merged[0].to_owned()], 1)
        );
    });
}

#[test]
fn only_what_is_new_is_asked_about_later() {
    on_each_store(&[nothing(), nothing()], async |fixture| {
        fixture
            .say("a", &["use tabs for indentation", "commit often"])
            .await;
        fixture.work().await;
        fixture
            .say("b", &["indentation of Makefiles is special"])
            .await;
        fixture.work().await;
        let asked = fixture.model.asked.lock().unwrap().clone();
        let last = asked.last().unwrap();
        // With it goes what shares a word with it, and nothing else.
        assert!(
            last.contains("new preference") && last.contains("Makefiles"),
            "{last}"
        );
        assert!(
            last.contains("tabs") && !last.contains("commit often"),
            "{last}"
        );
        assert_eq!(last.matches("new preference").count(), 1);
    });
}

#[test]
fn an_answer_without_use_changes_nothing_and_ends_the_job() {
    let unusable = Behaviour::Answer(json!({"merge": "all"}));
    on_each_store(&[unusable], async |fixture| {
        fixture.say("a", &BRIEF).await;
        fixture.work().await;
        assert_eq!(fixture.lines().len(), 2);
        assert!(!fixture.job().await.is_ahead());
        assert_eq!(fixture.record().await.unwrap().accepted, []);
        fixture
            .worker
            .store
            .touch_scope(&scope(), fixture.clock.now())
            .await
            .unwrap();
        fixture.work().await;
        assert_eq!(fixture.asked(), 1);
    });
}

#[test]
fn an_outage_leaves_the_files_and_the_question_for_later() {
    on_each_store(
        &[Behaviour::Outage, Behaviour::Outage, merge(&[1, 2])],
        async |fixture| {
            fixture.say("a", &BRIEF).await;
            fixture.work().await;
            assert_eq!((fixture.lines().len(), fixture.asked()), (2, 1));
            assert_eq!(fixture.record().await, None);
            fixture.work().await;
            assert_eq!(fixture.asked(), 1, "not before the wait is over");
            // New memory does not wait for the model.
            fixture.say("b", &["commit often"]).await;
            fixture.work().await;
            assert_eq!((fixture.lines().len(), fixture.asked()), (3, 2));
            fixture.clock.advance(HOUR);
            fixture.work().await;
            assert_eq!((fixture.lines().len(), fixture.asked()), (2, 3));
        },
    );
}

#[test]
fn a_worker_that_vanishes_asks_about_the_same_window_again() {
    let answer = |behaviour| match behaviour {
        Behaviour::Answer(answer) => Behaviour::Vanish(answer),
        Behaviour::Vanish(_) | Behaviour::Outage => behaviour,
    };
    let script = [merge(&[1, 2]), answer(nothing()), nothing()];
    on_each_store(&script, async |fixture| {
        let others: Vec<String> = (0..30)
            .map(|n| format!("rule{n} is about topic{n}"))
            .collect();
        let others = others.iter().map(String::as_str);
        let all: Vec<&str> = BRIEF.into_iter().chain(others).collect();
        fixture.say("a", &all).await;
        fixture.work().await;
        let asked = fixture.model.asked.lock().unwrap().clone();
        // The first window was finished before.
        assert_eq!(asked.len(), 3);
        assert!(asked[0] != asked[1] && asked[1] == asked[2]);
        let record = fixture.record().await.unwrap();
        assert_eq!((record.accepted.len(), record.examined.len()), (1, 32));
        assert!(!fixture.job().await.is_ahead());
    });
}

#[test]
fn a_persons_words_stay() {
    let reword = json!({"merge": [], "supersede": [], "reword": [
        {"id": 1, "text": "Always run cargo fmt."},
    ]});
    on_each_store(&[Behaviour::Answer(reword), nothing()], async |fixture| {
        fixture
            .say("a", &["so yeah really, always run cargo fmt"])
            .await;
        fixture.work().await;
        assert_eq!(fixture.lines(), ["Always run cargo fmt."]);
        let text = std::fs::read_to_string(fixture.path()).unwrap();
        let changed = text.replace("Always run cargo fmt.", "Run cargo fmt, says ada");
        std::fs::write(fixture.path(), changed).unwrap();
        fixture.say("b", &["commit often"]).await;
        fixture.work().await;
        assert!(
            fixture
                .lines()
                .contains(&"Run cargo fmt, says ada".to_owned())
        );
        let asked = fixture.model.asked.lock().unwrap().clone();
        assert!(!asked[1].contains("cargo fmt"), "{asked:?}");
    });
}

#[test]
fn a_caller_that_waits_asks_no_model() {
    on_each_store(&[nothing()], async |fixture| {
        fixture.worker.limits.proposals = false;
        fixture.say("a", &BRIEF).await;
        fixture.work().await;
        assert_eq!((fixture.lines().len(), fixture.asked()), (2, 0));
        fixture.worker.limits.proposals = true;
        fixture.clock.advance(HOUR);
        let report = write_due(&fixture.worker, &Stop::default(), &SilentProgress).await;
        assert_eq!((report.unwrap().failed.len(), fixture.asked()), (0, 1));
    });
}

#[test]
fn a_cap_without_room_sends_nothing_and_a_call_is_charged_to_its_scope() {
    on_each_store(&[merge(&[1, 2])], async |fixture| {
        let spending: Arc<dyn SpendStore> = Arc::new(MemoryStore::new());
        fixture.charge(&spending, 100);
        fixture.say("a", &BRIEF).await;
        fixture.work().await;
        assert_eq!((fixture.lines().len(), fixture.asked()), (2, 0));
        fixture.charge(&spending, 1_000_000);
        fixture.clock.advance(HOUR);
        fixture.work().await;
        assert_eq!((fixture.lines().len(), fixture.asked()), (1, 1));
        for (by, name) in [(SpendBy::Stage, "consolidate"), (SpendBy::User, "ada")] {
            let always = (Timestamp::ZERO, Timestamp::MAX);
            let spent = spending
                .spent(&Tenant::local(), always, by, 9)
                .await
                .unwrap();
            let spent: Vec<&str> = spent.iter().map(|sum| sum.name.as_str()).collect();
            assert_eq!(spent, [name]);
        }
    });
}
