//! A data folder with a profile, a clock that stands still, and an extractor that can be told what to do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Append, Store, TreeStore};
use daybook_domain::time::Clock;
use daybook_domain::{
    Claim, Claimed, EventId, FailureClass, FinishOutcome, Job, JobKey, JobKind, NewEvent,
    ObservationKind, Origin, Scope, SessionId, Timestamp, Trigger, Wait,
};
use daybook_engine::extract::{Draft, ExtractError, Extracted, Extractor, Window};
use daybook_engine::jobs::{Progress, UpdateReport, WorkLimits, Workshop, work};
use daybook_engine::profile::Profile;
use daybook_engine::stop::Stop;
use daybook_engine::triggers::{Triggered, Triggers};
use daybook_testkit::ManualClock;
use daybook_testkit::fixtures::{DAWN, append, event};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::stores;

/// Runs `scene` in a new data folder on each store.
pub(crate) fn on_each_store(profile: Profile, scene: impl AsyncFn(&Bed)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let bed = Bed {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            clock: Arc::new(ManualClock::at(DAWN)),
            profile: profile.clone(),
            extractor: Arc::default(),
            switches: Switches::default(),
            folder: TempDir::new().expect("a folder"),
        };
        daybook_testkit::run(scene(&bed));
    }
}

pub(crate) struct Bed {
    pub(crate) store: Arc<dyn Store>,
    /// Where histories of memory files are shared, if the store is for several machines.
    trees: Option<Arc<dyn TreeStore>>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) profile: Profile,
    pub(crate) extractor: Arc<Scripted>,
    pub(crate) switches: Switches,
    folder: TempDir,
}

/// A session of an agent.
pub(crate) fn session(agent: &str, name: &str) -> SessionId {
    SessionId {
        agent: agent.to_owned(),
        ..daybook_testkit::fixtures::session(name)
    }
}

pub(crate) fn s(name: &str) -> SessionId {
    session("assistant", name)
}

impl Bed {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn wait(&self, seconds: u64) -> Timestamp {
        self.clock.advance(Duration::from_secs(seconds))
    }

    /// What a person says now, as an append that can still be changed.
    pub(crate) fn said(&self, session: &SessionId, texts: &[&str]) -> Append {
        let events = texts.iter().map(|text| NewEvent {
            id: EventId::of(&[text.as_bytes(), &self.now().0.to_le_bytes()]),
            at: self.now(),
            ..event(text)
        });
        Append {
            patience: self.profile.triggers.patience,
            switches: self.switches.clone(),
            now: self.now(),
            ..append(session, events.collect())
        }
    }

    pub(crate) async fn say(&self, session: &SessionId, texts: &[&str]) -> u64 {
        let said = self.said(session, texts);
        self.store.append(&said).await.expect("it is kept").last.0
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

    pub(crate) async fn happens(&self, session: &SessionId, what: Trigger) -> Triggered {
        let triggered = self.triggers().happened(session, None, what).await;
        triggered.expect("it is taken note of")
    }

    /// Due jobs, in the order in which a worker called `holder` is granted them.
    pub(crate) async fn claim_as(&self, holder: &str, kind: JobKind) -> Vec<Claimed> {
        let claim = Claim {
            kind,
            holder,
            now: self.now(),
            lease: self.profile.work.lease,
            limits: self.profile.work.claims,
        };
        self.store.claim(claim).await.expect("the store answers")
    }

    pub(crate) async fn claim(&self) -> Vec<Claimed> {
        self.claim_as("worker", JobKind::Extract).await
    }

    /// Host ids of due sessions, in the order in which they are granted.
    pub(crate) async fn granted(&self) -> Vec<String> {
        let granted = self.claim().await;
        let name = |claimed: &Claimed| claimed.token.job().parts().2.to_owned();
        granted.iter().map(name).collect()
    }

    pub(crate) async fn finish(&self, claimed: &Claimed) -> FinishOutcome {
        let ended = self
            .store
            .finish(&claimed.token, claimed.upto, self.now())
            .await;
        ended.expect("the store answers")
    }

    pub(crate) fn shop(&self) -> Workshop {
        let work = self.profile.work;
        Workshop {
            store: Arc::clone(&self.store),
            trees: self.trees.clone(),
            root: self.folder.path().to_owned(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            extractor: Arc::clone(&self.extractor) as Arc<dyn Extractor>,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: daybook_domain::Tenant::local(),
            switches: self.switches.clone(),
            limits: WorkLimits {
                claim: work.claims,
                window: work.window,
                parallel: work.parallel,
                lease: work.lease,
                retry: work.retry,
                ..WorkLimits::default()
            },
        }
    }

    /// What a worker does in one look: all that is due.
    pub(crate) async fn tick(&self) -> UpdateReport {
        let done = work(&self.shop(), &Stop::default(), &Unseen).await;
        done.expect("the store answers")
    }

    /// The texts that hold in ada's own scope, sorted.
    pub(crate) async fn learned(&self) -> Vec<String> {
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

pub(crate) struct Unseen;

impl Progress for Unseen {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// Keeps what a person says that is longer than a word, and fails when it is told to.
#[derive(Default)]
pub(crate) struct Scripted {
    /// The next passes fail so.
    pub(crate) failing: Mutex<Option<FailureClass>>,
    /// Sessions that fail, whatever else.
    pub(crate) poisoned: Mutex<Vec<String>>,
    /// What it was shown: the session's host id and what was said.
    pub(crate) shown: Mutex<Vec<(String, Vec<String>)>>,
    /// Done once while it works: what happens meanwhile.
    pub(crate) meanwhile: Mutex<Option<Meanwhile>>,
}

type Meanwhile = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

#[async_trait]
impl Extractor for Scripted {
    fn name(&self) -> &str {
        "scripted/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        let meanwhile = self.meanwhile.lock().expect("no panic").take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        let name = window.session.id.host_id.clone();
        let texts = window.events.iter().map(|event| event.text.clone());
        let shown = (name.clone(), texts.collect());
        self.shown.lock().expect("no panic").push(shown);
        let poisoned = self.poisoned.lock().expect("no panic").contains(&name);
        let failing = self.failing.lock().expect("no panic");
        if let Some(class) = failing.or(poisoned.then_some(FailureClass::Content)) {
            let message = "no usable answer".to_owned();
            let wait = Wait::Unsaid;
            return Err(ExtractError {
                class,
                message,
                wait,
            });
        }
        let human = window.events.iter().filter(|e| e.origin == Origin::Human);
        let worth = human.filter(|event| event.text.contains(' '));
        let drafts = worth.map(|event| Draft {
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
        Ok(Extracted {
            drafts: drafts.collect(),
            ..Extracted::default()
        })
    }
}
