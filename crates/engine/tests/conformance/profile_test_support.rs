//! Test fixture: a data folder with a profile, a manual clock and a scripted extractor, on each store.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Append, Store, TreeStore};
use daybook_domain::time::Clock;
use daybook_domain::{
    Claim, ClaimedJob, Digest, Event, EventId, FailureClass, FinishOutcome, Job, JobKey, JobKind,
    NewEvent, ObservationKind, Origin, RetryWait, Scope, SessionId, Timestamp, Trigger,
};
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_engine::jobs::{UpdateReport, WorkLimits, WorkProgress, WorkerContext, work};
use daybook_engine::profile::Profile;
use daybook_engine::stop::Stop;
use daybook_engine::triggers::{TriggerOutcome, Triggers};
use daybook_testkit::ManualClock;
use daybook_testkit::fixtures::{DAWN, append, event};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::stores;

/// Runs `test` in a new data folder on each store.
pub(crate) fn on_each_store(profile: Profile, test: impl AsyncFn(&ProfileFixture)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let fixture = ProfileFixture {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            clock: Arc::new(ManualClock::at(DAWN)),
            profile: profile.clone(),
            extractor: Arc::default(),
            switches: Switches::default(),
            folder: TempDir::new().expect("a folder"),
        };
        daybook_testkit::run(test(&fixture));
    }
}

pub(crate) struct ProfileFixture {
    pub(crate) store: Arc<dyn Store>,
    /// Shares the histories of memory files, if the store serves several machines.
    trees: Option<Arc<dyn TreeStore>>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) profile: Profile,
    pub(crate) extractor: Arc<ScriptedExtractor>,
    pub(crate) switches: Switches,
    folder: TempDir,
}

/// The id of a session of `agent`.
pub(crate) fn session(agent: &str, name: &str) -> SessionId {
    SessionId {
        agent: agent.to_owned(),
        ..daybook_testkit::fixtures::session(name)
    }
}

/// The id of a session of the agent `assistant`.
pub(crate) fn s(name: &str) -> SessionId {
    session("assistant", name)
}

impl ProfileFixture {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn wait(&self, seconds: u64) -> Timestamp {
        self.clock.advance(Duration::from_secs(seconds))
    }

    /// An append of these human messages at the present time, for the test to change and store.
    pub(crate) fn new_append(&self, session: &SessionId, texts: &[&str]) -> Append {
        let events = texts.iter().map(|text| NewEvent {
            id: EventId::of(&[text.as_bytes(), &self.now().0.to_le_bytes()]),
            at: self.now(),
            ..event(text)
        });
        Append {
            patience: self.profile.triggers.patience,
            switches: self.switches.clone(),
            rules: daybook_text::redact::Redactor::standard().revision(),
            now: self.now(),
            ..append(session, events.collect())
        }
    }

    pub(crate) async fn append_texts(&self, session: &SessionId, texts: &[&str]) -> u64 {
        let append = self.new_append(session, texts);
        self.store.append(&append).await.expect("it is kept").last.0
    }

    pub(crate) async fn job(&self, session: &SessionId) -> Job {
        let key = JobKey::Extract(session.clone());
        let job = self.store.job(&key).await.expect("the store answers");
        job.expect("it was marked")
    }

    /// Input while ahead of done, and done: `invalidated_at` and `processed_until`.
    pub(crate) async fn marks(&self, session: &SessionId) -> (Option<u64>, u64) {
        let job = self.job(session).await;
        (job.is_ahead().then_some(job.input), job.done)
    }

    pub(crate) fn triggers(&self) -> Triggers {
        Triggers {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            rules: self.profile.triggers,
            sweep: self.profile.sweep.clone(),
            switches: self.switches.clone(),
        }
    }

    pub(crate) async fn trigger(&self, session: &SessionId, what: Trigger) -> TriggerOutcome {
        let triggered = self.triggers().handle(session, None, what).await;
        triggered.expect("it is taken note of")
    }

    /// Claims the due jobs as the worker `holder`, and returns them in the order of their grant.
    pub(crate) async fn claim_as(&self, holder: &str, kind: JobKind) -> Vec<ClaimedJob> {
        let claim = Claim {
            kind,
            holder,
            now: self.now(),
            lease: self.profile.work.lease,
            limits: self.profile.work.claims,
        };
        self.store.claim(claim).await.expect("the store answers")
    }

    pub(crate) async fn claim(&self) -> Vec<ClaimedJob> {
        self.claim_as("worker", JobKind::Extract).await
    }

    /// Claims the due sessions and returns their host ids, in the order of their grant.
    pub(crate) async fn claim_names(&self) -> Vec<String> {
        let claimed = self.claim().await;
        let name = |claimed: &ClaimedJob| claimed.token.job().parts().2.to_owned();
        claimed.iter().map(name).collect()
    }

    pub(crate) async fn finish(&self, claimed: &ClaimedJob) -> FinishOutcome {
        let ended = self
            .store
            .finish(&claimed.token, claimed.upto, self.now())
            .await;
        ended.expect("the store answers")
    }

    pub(crate) fn worker_context(&self) -> WorkerContext {
        let work = self.profile.work;
        WorkerContext {
            store: Arc::clone(&self.store),
            trees: self.trees.clone(),
            before_files: None,
            root: self.folder.path().to_owned(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            extractor: Arc::clone(&self.extractor) as Arc<dyn Extractor>,
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: daybook_domain::Tenant::local(),
            switches: self.switches.clone(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits {
                claim: work.claims,
                window: work.window,
                parallel: work.parallel,
                lease: work.lease,
                retry: work.retry,
                consolidation: self.profile.consolidation,
                ..WorkLimits::default()
            },
        }
    }

    /// Runs the worker until nothing is due.
    pub(crate) async fn run_worker(&self) -> UpdateReport {
        let done = work(&self.worker_context(), &Stop::default(), &SilentProgress).await;
        done.expect("the store answers")
    }

    /// The folder of ada's own memory.
    pub(crate) fn memory_folder(&self) -> PathBuf {
        daybook_engine::files::layout::folder(self.folder.path(), &ada())
    }

    /// A file of ada's own memory; empty if it does not exist.
    pub(crate) fn memory_file(&self, path: &str) -> String {
        std::fs::read_to_string(self.memory_folder().join(path)).unwrap_or_default()
    }

    /// The texts of the observations in ada's own scope, sorted.
    pub(crate) async fn observation_texts(&self) -> Vec<String> {
        let observations = self.store.observations(&ada()).await;
        let observations = observations.expect("the store answers");
        let mut texts: Vec<String> = observations.into_iter().map(|o| o.text).collect();
        texts.sort();
        texts
    }
}

pub(crate) fn ada() -> Scope {
    daybook_testkit::fixtures::user_scope("ada")
}

pub(crate) struct SilentProgress;

impl WorkProgress for SilentProgress {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// Makes a fact of each human message longer than one word, and fails where the test demands it.
#[derive(Default)]
pub(crate) struct ScriptedExtractor {
    /// While set, every pass fails with this class.
    pub(crate) failure_class: Mutex<Option<FailureClass>>,
    /// Host ids of sessions whose passes always fail.
    pub(crate) failing_sessions: Mutex<Vec<String>>,
    /// The windows that it was given: the session's host id and the texts of its events.
    pub(crate) shown_windows: Mutex<Vec<(String, Vec<String>)>>,
    /// Whether it answers with a summary, a slug and raw memory, as a model does.
    pub(crate) has_model: AtomicBool,
    /// Awaited once, within the next pass.
    pub(crate) on_next_pass: Mutex<Option<PendingAction>>,
}

impl ScriptedExtractor {
    /// A model's words about a window, while it answers like one.
    fn model_text(&self, what: &str, worth: &[&Event]) -> Option<String> {
        let answers = self.has_model.load(Ordering::Relaxed);
        let newest = worth.last().filter(|_| answers)?;
        Some(format!("{what} of {}", newest.text))
    }
}

type PendingAction = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

#[async_trait]
impl Extractor for ScriptedExtractor {
    fn name(&self) -> &str {
        "scripted/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let action = self.on_next_pass.lock().expect("no panic").take();
        if let Some(action) = action {
            action.await;
        }
        let name = window.session.id.host_id.clone();
        let texts = window.events.iter().map(|event| event.text.clone());
        let shown_windows = (name.clone(), texts.collect());
        self.shown_windows
            .lock()
            .expect("no panic")
            .push(shown_windows);
        let failing_sessions = self
            .failing_sessions
            .lock()
            .expect("no panic")
            .contains(&name);
        let failure_class = self.failure_class.lock().expect("no panic");
        if let Some(class) = failure_class.or(failing_sessions.then_some(FailureClass::Content)) {
            let message = "no usable answer".to_owned();
            let wait = RetryWait::Unspecified;
            return Err(ExtractError {
                class,
                message,
                wait,
            });
        }
        let human = window.events.iter().filter(|e| e.origin == Origin::Human);
        let worth = human.filter(|event| event.text.contains(' '));
        let worth: Vec<&Event> = worth.collect();
        let digest = worth.first().map(|first| Digest {
            from_at: first.at,
            to_at: worth.last().map_or(first.at, |last| last.at),
            summary: self.model_text("summary", &worth),
            slug: self.model_text("slug", &worth),
            raw_memory: self.model_text("raw memory", &worth),
            ..Digest::default()
        });
        let drafts = worth.iter().map(|event| ObservationDraft {
            kind: ObservationKind::Fact,
            general: true,
            text: event.text.clone(),
            context: None,
            subject: None,
            stated: true,
            quoted: true,
            events: vec![event.seq],
            lines: vec![event.line],
            at: event.at,
        });
        Ok(ExtractorOutput {
            drafts: drafts.collect(),
            digest,
            ..ExtractorOutput::default()
        })
    }
}
