//! Work that reaches a cap: when the fallback extractor is used, what is redone when there is room, and what
//! an extractor is shown of existing knowledge.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::calendar::Day;
use daybook_domain::eligibility::Switches;
use daybook_domain::time::Clock;
use daybook_domain::{
    Digest, EventId, FailureClass, FallbackFor, Job, JobKey, JobKind, NewEvent, ObservationKind,
    Origin, Provenance, RetryPolicy, RetryWait, Tenant, Timestamp,
};
use daybook_engine::extract::fallback::FallbackExtractor;
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_engine::jobs::{
    UpdateReport, WaitFilter, WorkLimits, WorkerContext, redo_older, remember, retry_waiting, work,
};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{DAWN, EventFixture, append, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores::{self, TestStore};

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

/// Knowledge shown with a window: lines of the diary, memories, a summary.
type ShownKnowledge = (Vec<String>, Vec<String>, Option<String>);

/// An extractor that keeps each human event under its own name, as long as its cap has room.
struct CappedExtractor {
    name: &'static str,
    /// Windows that still fit under the cap.
    room: Mutex<usize>,
    /// The wait that it returns once the cap is reached.
    wait: Mutex<RetryWait>,
    /// The class of its failure then.
    class: Mutex<FailureClass>,
    shown: Mutex<Vec<ShownKnowledge>>,
}

fn capped_extractor(name: &'static str, room: usize) -> Arc<CappedExtractor> {
    Arc::new(CappedExtractor {
        name,
        room: Mutex::new(room),
        wait: Mutex::new(RetryWait::Unspecified),
        class: Mutex::new(FailureClass::AtCap),
        shown: Mutex::default(),
    })
}

#[async_trait]
impl Extractor for CappedExtractor {
    fn name(&self) -> &str {
        self.name
    }

    fn wants_known(&self) -> bool {
        self.name.starts_with("model")
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let mut room = self.room.lock().unwrap();
        if *room == 0 {
            return Err(ExtractError {
                class: *self.class.lock().unwrap(),
                message: "at the cap".to_owned(),
                wait: *self.wait.lock().unwrap(),
            });
        }
        *room -= 1;
        let known = window.known;
        let summary = known.summary.map(str::to_owned);
        let shown = (known.recent.to_vec(), known.relevant.to_vec(), summary);
        self.shown.lock().unwrap().push(shown);
        let human = window.events.iter().filter(|e| e.origin == Origin::Human);
        let drafts = human.map(|event| ObservationDraft {
            kind: ObservationKind::Fact,
            general: true,
            text: format!("{}: {}", self.name, event.text),
            context: None,
            subject: None,
            stated: true,
            quoted: true,
            events: vec![event.seq],
            lines: vec![event.line],
            at: event.at,
        });
        let last = window.events.last().map_or(0, |event| event.seq.0);
        let at = window
            .events
            .first()
            .map_or(Timestamp::ZERO, |event| event.at);
        Ok(ExtractorOutput {
            drafts: drafts.collect(),
            digest: Some(Digest {
                summary: Some(format!("{} up to {last}", self.name)),
                from_at: at,
                to_at: at,
                ..Digest::default()
            }),
            ..ExtractorOutput::default()
        })
    }
}

struct CapFixture {
    worker: WorkerContext,
    clock: Arc<ManualClock>,
    _root: TempDir,
    _made: TestStore,
}

fn on_each_store(test: impl AsyncFn(&mut CapFixture)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let clock = Arc::new(ManualClock::at(DAWN));
        let root = TempDir::new().unwrap();
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: capped_extractor("plain/1", usize::MAX),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits {
                parallel: 1,
                ..WorkLimits::default()
            },
        };
        let mut fixture = CapFixture {
            worker,
            clock,
            _root: root,
            _made: made,
        };
        run(test(&mut fixture));
    }
}

impl CapFixture {
    /// Appends a human event now, and moves on an hour, after which all sessions have rested.
    async fn say(&self, name: &str, text: &str) {
        let now = self.clock.now();
        let said = NewEvent {
            id: EventId::of(&[name.as_bytes(), text.as_bytes()]),
            ..event(text).with_time(now)
        };
        let mut append = append(&session(name), vec![said]);
        append.now = now;
        self.worker.store.append(&append).await.unwrap();
        self.clock.advance(HOUR);
    }

    async fn update(&self) -> UpdateReport {
        work(&self.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap()
    }

    /// Installs an extractor with a fallback, with room for `room` windows until the day ends.
    fn with_extractor(&mut self, name: &'static str, room: usize) -> Arc<CappedExtractor> {
        let extractor = capped_extractor(name, room);
        self.wait_until_tomorrow(&extractor);
        let fallback = FallbackExtractor::new(
            Arc::clone(&extractor) as Arc<dyn Extractor>,
            capped_extractor("plain/1", usize::MAX),
        );
        self.worker.extractor = Arc::new(fallback);
        extractor
    }

    fn wait_until_tomorrow(&self, extractor: &CappedExtractor) {
        let tomorrow = Day::of(self.clock.now()).next().begins();
        *extractor.wait.lock().unwrap() = RetryWait::Until(tomorrow);
    }

    async fn begin_tomorrow(&self, extractor: &CappedExtractor, room: usize) {
        let tomorrow = Day::of(self.clock.now()).next().begins();
        self.clock.advance(tomorrow.since(self.clock.now()));
        *extractor.room.lock().unwrap() = room;
        self.wait_until_tomorrow(extractor);
    }

    async fn extractors(&self) -> Vec<Provenance> {
        let pairs = self
            .worker
            .store
            .extractors(&self.worker.tenant)
            .await
            .unwrap();
        pairs
            .into_iter()
            .map(|(_, provenance)| provenance)
            .collect()
    }

    /// Texts of the observations in ada's own scope, sorted.
    async fn observed_texts(&self) -> Vec<String> {
        let observations = self.worker.store.observations(&user_scope("ada")).await;
        let texts = observations.unwrap().into_iter().map(|it| it.text);
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts
    }

    async fn jobs(&self) -> Vec<Job> {
        self.worker
            .store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap()
    }

    async fn redo_count(&self) -> usize {
        let jobs = self.jobs().await.into_iter();
        jobs.filter(|job| job.redo_until.is_some()).count()
    }
}

#[test]
fn at_a_cap_the_fallback_does_the_work_until_there_is_room() {
    on_each_store(async |fixture| {
        let extractor = fixture.with_extractor("model/1", 1);
        fixture.say("a", "first").await;
        fixture.update().await;
        fixture.say("a", "second").await;
        let report = fixture.update().await;
        assert_eq!((report.failed.len(), report.observations), (0, 1));
        let filled_in = Provenance {
            extractor: "plain/1".to_owned(),
            fallback_for: Some(FallbackFor {
                extractor: "model/1".to_owned(),
                until: Day::of(fixture.clock.now()).next().begins(),
            }),
        };
        assert_eq!(
            fixture.extractors().await,
            [Provenance::of("model/1"), filled_in]
        );
        assert_eq!(
            fixture.observed_texts().await,
            ["model/1: first", "plain/1: second"]
        );
        assert!(fixture.update().await.read.is_empty());

        fixture.begin_tomorrow(&extractor, 2).await;
        assert_eq!(fixture.update().await.read.len(), 1);
        assert_eq!(fixture.extractors().await, [Provenance::of("model/1")]);
        assert_eq!(
            fixture.observed_texts().await,
            ["model/1: first", "model/1: second"]
        );
        fixture.begin_tomorrow(&extractor, 0).await;
        assert!(fixture.update().await.read.is_empty());
    });
}

#[test]
fn no_fallback_is_used_while_a_session_is_redone() {
    on_each_store(async |fixture| {
        let extractor = fixture.with_extractor("model/1", 0);
        fixture.say("a", "first").await;
        fixture.update().await;
        fixture.begin_tomorrow(&extractor, 0).await;
        let report = fixture.update().await;
        let classes: Vec<_> = report.failed.iter().map(|it| it.failure.class).collect();
        assert_eq!(classes, [FailureClass::AtCap]);
        assert_eq!(report.broken().count(), 0);
        assert_eq!(fixture.observed_texts().await, ["plain/1: first"]);
        let job = fixture.jobs().await.remove(0);
        let tomorrow = Day::of(fixture.clock.now()).next().begins();
        assert_eq!((job.redo, job.due_at()), (1, Some(tomorrow)));
        assert!(job.is_at_cap());
        fixture.clock.advance(HOUR);
        assert!(fixture.update().await.failed.is_empty());
        fixture.begin_tomorrow(&extractor, 1).await;
        fixture.update().await;
        assert_eq!(fixture.observed_texts().await, ["model/1: first"]);
        assert_eq!(fixture.jobs().await[0].redo, 1);
    });
}

#[test]
fn a_few_sessions_at_once_are_redone_after_a_fallback() {
    on_each_store(async |fixture| {
        let extractor = fixture.with_extractor("model/1", 0);
        for n in 0..12 {
            fixture.say(&format!("s{n:02}"), "first").await;
        }
        fixture.update().await;
        fixture.begin_tomorrow(&extractor, 1).await;
        fixture.update().await;
        assert_eq!(fixture.redo_count().await, 10);
        fixture.update().await;
        assert_eq!(fixture.redo_count().await, 10);
        fixture.begin_tomorrow(&extractor, 20).await;
        fixture.update().await;
        assert_eq!(
            (fixture.redo_count().await, *extractor.room.lock().unwrap()),
            (0, 9)
        );
        assert_eq!(
            fixture.extractors().await,
            vec![Provenance::of("model/1"); 12]
        );
    });
}

#[test]
fn what_waiting_does_not_cure_is_left_to_a_later_run() {
    on_each_store(async |fixture| {
        let extractor = fixture.with_extractor("model/1", 0);
        *extractor.wait.lock().unwrap() = RetryWait::For(HOUR);
        fixture.say("a", "first").await;
        assert_eq!(fixture.update().await.failed.len(), 1);
        assert!(fixture.update().await.failed.is_empty());
        *extractor.room.lock().unwrap() = 1;
        assert!(fixture.update().await.read.is_empty());
        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::AtCaps)
                .await
                .unwrap(),
            1
        );
        fixture.update().await;
        assert_eq!(fixture.extractors().await, [Provenance::of("model/1")]);
        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::AtCaps)
                .await
                .unwrap(),
            0
        );
    });
}

/// As an engine parked work that honoured any wait a provider requested.
#[test]
fn an_overlong_wait_is_retried_and_an_outage_only_on_request() {
    on_each_store(async |fixture| {
        let extractor = fixture.with_extractor("model/1", 0);
        *extractor.wait.lock().unwrap() = RetryWait::For(30 * DAY);
        *extractor.class.lock().unwrap() = FailureClass::Outage;
        fixture.worker.limits.retry.retry_after_most = 30 * DAY;
        fixture.say("a", "first").await;
        assert_eq!(fixture.update().await.failed.len(), 1);
        let parked = fixture.jobs().await[0].due_at();
        assert_eq!(parked, Some(fixture.clock.now().plus(30 * DAY)));
        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::Overlong)
                .await
                .unwrap(),
            0
        );

        fixture.worker.limits.retry = RetryPolicy::default();
        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::Overlong)
                .await
                .unwrap(),
            1
        );
        assert_eq!(fixture.update().await.failed.len(), 1);
        let due = fixture.jobs().await[0].due_at();
        assert_eq!(due, Some(fixture.clock.now().plus(HOUR)));

        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::Overlong)
                .await
                .unwrap(),
            0
        );
        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::AtCaps)
                .await
                .unwrap(),
            0
        );
        *extractor.room.lock().unwrap() = 1;
        assert_eq!(
            retry_waiting(&fixture.worker, WaitFilter::Outages)
                .await
                .unwrap(),
            1
        );
        fixture.update().await;
        assert_eq!(fixture.extractors().await, [Provenance::of("model/1")]);
    });
}

#[test]
fn a_newer_extractor_redoes_nothing_unless_requested() {
    on_each_store(async |fixture| {
        fixture.with_extractor("model/1", 9);
        fixture.say("a", "first").await;
        fixture.say("b", "second").await;
        fixture.update().await;
        let redactor = Redactor::standard();
        let words = "water the plants";
        let noted = remember(
            &fixture.worker,
            &redactor,
            words,
            user_scope("ada"),
            None,
            Origin::Human,
        );
        noted.await.unwrap();
        let extractor = fixture.with_extractor("model/2", 1);
        fixture.clock.advance(40 * DAY);
        assert!(fixture.update().await.read.is_empty());
        assert_eq!(redo_older(&fixture.worker).await.unwrap(), 2);
        assert_eq!(redo_older(&fixture.worker).await.unwrap(), 0);
        let old = ["model/1: first", "model/1: second", words];
        assert_eq!(fixture.observed_texts().await, old);
        fixture.wait_until_tomorrow(&extractor);
        fixture.update().await;
        let half = ["model/1: second", "model/2: first", words];
        assert_eq!(fixture.observed_texts().await, half);
        fixture.begin_tomorrow(&extractor, 1).await;
        fixture.update().await;
        assert_eq!(
            fixture.extractors().await,
            vec![Provenance::of("model/2"); 2]
        );
        assert_eq!(redo_older(&fixture.worker).await.unwrap(), 0);
    });
}

#[test]
fn what_is_switched_off_is_not_begun_anew() {
    on_each_store(async |fixture| {
        fixture.with_extractor("model/1", 9);
        fixture.say("a", "first").await;
        fixture.update().await;
        let id = session("a");
        assert!(
            fixture
                .worker
                .store
                .switch_memory(&id, false, &Switches::default(), DAWN)
                .await
                .unwrap()
        );
        fixture.with_extractor("model/2", 9);
        assert_eq!(redo_older(&fixture.worker).await.unwrap(), 0);
        let job = fixture
            .worker
            .store
            .job(&JobKey::Extract(id))
            .await
            .unwrap();
        assert_eq!(job.map(|job| job.redo), Some(0));
    });
}

#[test]
fn a_model_extractor_is_shown_existing_knowledge() {
    on_each_store(async |fixture| {
        let extractor = fixture.with_extractor("model/1", 9);
        fixture.say("a", "the cache limit is 50 entries").await;
        fixture.update().await;
        fixture.say("b", "what was the cache limit?").await;
        fixture.update().await;
        fixture.say("b", "raise the cache limit").await;
        fixture.update().await;
        let shown = std::mem::take(&mut *extractor.shown.lock().unwrap());
        assert_eq!(shown[0], ShownKnowledge::default());
        let (recent, relevant, summary) = &shown[1];
        assert!(
            recent.iter().any(|line| line.starts_with("2026-")),
            "{recent:?}"
        );
        let limit = "model/1: the cache limit is 50 entries";
        assert!(relevant.iter().any(|it| it.contains(limit)), "{relevant:?}");
        assert_eq!(summary, &None);
        assert_eq!(shown[2].2.as_deref(), Some("model/1 up to 1"));

        let extractor = fixture.with_extractor("model/2", 9);
        redo_older(&fixture.worker).await.unwrap();
        fixture.update().await;
        assert_eq!(
            *extractor.shown.lock().unwrap(),
            [ShownKnowledge::default(), ShownKnowledge::default()]
        );
    });
}

#[test]
fn an_extractor_without_a_model_is_shown_nothing() {
    on_each_store(async |fixture| {
        let plain = capped_extractor("plain/1", 9);
        fixture.worker.extractor = Arc::clone(&plain) as Arc<dyn Extractor>;
        fixture.say("a", "the cache limit is 50 entries").await;
        fixture.update().await;
        fixture.say("a", "raise the cache limit").await;
        fixture.update().await;
        assert_eq!(
            *plain.shown.lock().unwrap(),
            [ShownKnowledge::default(), ShownKnowledge::default()]
        );
    });
}
