//! Work that meets a cap: who stands in, what is done anew when there is room, and what an extractor is
//! shown of what is known.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::calendar::Day;
use daybook_domain::eligibility::Switches;
use daybook_domain::time::Clock;
use daybook_domain::{
    Digest, EventId, FailureClass, Job, JobKey, JobKind, NewEvent, ObservationKind, Origin, Retry,
    Scope, SessionId, Tenant, Timestamp, Wait,
};
use daybook_engine::extract::stand_in::StandIn;
use daybook_engine::extract::{Draft, ExtractError, Extracted, Extractor, Window};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::{
    Progress, UpdateReport, Waits, WorkLimits, Workshop, redo_older, remember, retry_waiting, work,
};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{DAWN, EventShape, append, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::stores::{self, Made};

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

/// What a window was shown as known: lines of the diary, memories, a summary.
type Shown = (Vec<String>, Vec<String>, Option<String>);

/// Keeps what a person says under its own name, as long as there is room.
struct Scripted {
    name: &'static str,
    /// Windows that there is room for.
    room: Mutex<usize>,
    /// When there is room again, once there is none.
    wait: Mutex<Wait>,
    /// How it fails then.
    class: Mutex<FailureClass>,
    shown: Mutex<Vec<Shown>>,
}

fn scripted(name: &'static str, room: usize) -> Arc<Scripted> {
    Arc::new(Scripted {
        name,
        room: Mutex::new(room),
        wait: Mutex::new(Wait::Unsaid),
        class: Mutex::new(FailureClass::AtCap),
        shown: Mutex::default(),
    })
}

#[async_trait]
impl Extractor for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn wants_known(&self) -> bool {
        self.name.starts_with("model")
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
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
        let drafts = human.map(|event| Draft {
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
        Ok(Extracted {
            drafts: drafts.collect(),
            digest: Some(Digest {
                summary: Some(format!("{} up to {last}", self.name)),
                from_at: at,
                to_at: at,
                ..Digest::default()
            }),
            ..Extracted::default()
        })
    }
}

struct Bed {
    shop: Workshop,
    clock: Arc<ManualClock>,
    _root: TempDir,
    _made: Made,
}

struct Unseen;

impl Progress for Unseen {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

fn on_each_store(scene: impl AsyncFn(&mut Bed)) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let clock = Arc::new(ManualClock::at(DAWN));
        let root = TempDir::new().unwrap();
        let shop = Workshop {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: scripted("plain/1", usize::MAX),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            limits: WorkLimits {
                parallel: 1,
                ..WorkLimits::default()
            },
        };
        let mut bed = Bed {
            shop,
            clock,
            _root: root,
            _made: made,
        };
        run(scene(&mut bed));
    }
}

impl Bed {
    /// What a person says now; an hour later all sessions have rested.
    async fn say(&self, name: &str, text: &str) {
        let now = self.clock.now();
        let said = NewEvent {
            id: EventId::of(&[name.as_bytes(), text.as_bytes()]),
            ..event(text).said_at(now)
        };
        let mut append = append(&session(name), vec![said]);
        append.now = now;
        self.shop.store.append(&append).await.unwrap();
        self.clock.advance(HOUR);
    }

    async fn update(&self) -> UpdateReport {
        work(&self.shop, &Stop::default(), &Unseen).await.unwrap()
    }

    /// The extractor that is asked, with a stand-in and room for so many windows until the day ends.
    fn asks(&mut self, name: &'static str, room: usize) -> Arc<Scripted> {
        let asked = scripted(name, room);
        self.ends_today(&asked);
        let stand_in = StandIn::new(
            Arc::clone(&asked) as Arc<dyn Extractor>,
            scripted("plain/1", usize::MAX),
        );
        self.shop.extractor = Arc::new(stand_in);
        asked
    }

    fn ends_today(&self, asked: &Scripted) {
        let tomorrow = Day::of(self.clock.now()).next().begins();
        *asked.wait.lock().unwrap() = Wait::Until(tomorrow);
    }

    async fn tomorrow(&self, asked: &Scripted, room: usize) {
        let tomorrow = Day::of(self.clock.now()).next().begins();
        self.clock.advance(tomorrow.since(self.clock.now()));
        *asked.room.lock().unwrap() = room;
        self.ends_today(asked);
    }

    async fn made_by(&self) -> Vec<String> {
        let pairs = self.shop.store.extractors(&self.shop.tenant).await.unwrap();
        pairs.into_iter().map(|(_, extractor)| extractor).collect()
    }

    /// What holds in ada's own scope, sorted.
    async fn learned(&self) -> Vec<String> {
        let observations = self.shop.store.observations(&user_scope("ada")).await;
        let texts = observations.unwrap().into_iter().map(|it| it.text);
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts
    }

    async fn jobs(&self) -> Vec<Job> {
        self.shop.store.jobs(JobKind::Extract).await.unwrap()
    }

    async fn under_way(&self) -> usize {
        let jobs = self.jobs().await.into_iter();
        jobs.filter(|job| job.redo_until.is_some()).count()
    }
}

#[test]
fn at_a_cap_a_stand_in_does_the_work_until_there_is_room() {
    on_each_store(async |bed| {
        let asked = bed.asks("model/1", 1);
        bed.say("a", "first").await;
        bed.update().await;
        bed.say("a", "second").await;
        let report = bed.update().await;
        assert_eq!((report.failed.len(), report.observations), (0, 1));
        let tomorrow = Day::of(bed.clock.now()).next();
        let stood_in = format!("plain/1 for model/1 until {tomorrow}");
        assert_eq!(bed.made_by().await, ["model/1".to_owned(), stood_in]);
        assert_eq!(bed.learned().await, ["model/1: first", "plain/1: second"]);
        assert!(bed.update().await.read.is_empty());

        bed.tomorrow(&asked, 2).await;
        assert_eq!(bed.update().await.read.len(), 1);
        assert_eq!(bed.made_by().await, ["model/1"]);
        assert_eq!(bed.learned().await, ["model/1: first", "model/1: second"]);
        bed.tomorrow(&asked, 0).await;
        assert!(bed.update().await.read.is_empty());
    });
}

#[test]
fn nobody_stands_in_while_a_session_is_read_anew() {
    on_each_store(async |bed| {
        let asked = bed.asks("model/1", 0);
        bed.say("a", "first").await;
        bed.update().await;
        bed.tomorrow(&asked, 0).await;
        let report = bed.update().await;
        let classes: Vec<_> = report.failed.iter().map(|it| it.failure.class).collect();
        assert_eq!(classes, [FailureClass::AtCap]);
        assert_eq!(report.broken().count(), 0);
        assert_eq!(bed.learned().await, ["plain/1: first"]);
        let job = bed.jobs().await.remove(0);
        let tomorrow = Day::of(bed.clock.now()).next().begins();
        assert_eq!((job.redo, job.due_at()), (1, Some(tomorrow)));
        assert!(job.is_at_cap());
        bed.clock.advance(HOUR);
        assert!(bed.update().await.failed.is_empty());
        bed.tomorrow(&asked, 1).await;
        bed.update().await;
        assert_eq!(bed.learned().await, ["model/1: first"]);
        assert_eq!(bed.jobs().await[0].redo, 1);
    });
}

#[test]
fn a_few_sessions_at_once_are_read_anew_for_a_stand_in() {
    on_each_store(async |bed| {
        let asked = bed.asks("model/1", 0);
        for n in 0..12 {
            bed.say(&format!("s{n:02}"), "first").await;
        }
        bed.update().await;
        bed.tomorrow(&asked, 1).await;
        bed.update().await;
        assert_eq!(bed.under_way().await, 10);
        bed.update().await;
        assert_eq!(bed.under_way().await, 10);
        bed.tomorrow(&asked, 20).await;
        bed.update().await;
        assert_eq!((bed.under_way().await, *asked.room.lock().unwrap()), (0, 9));
        assert_eq!(bed.made_by().await, ["model/1"; 12]);
    });
}

#[test]
fn what_waiting_does_not_cure_is_left_to_a_later_run() {
    on_each_store(async |bed| {
        let asked = bed.asks("model/1", 0);
        *asked.wait.lock().unwrap() = Wait::For(HOUR);
        bed.say("a", "first").await;
        assert_eq!(bed.update().await.failed.len(), 1);
        assert!(bed.update().await.failed.is_empty());
        *asked.room.lock().unwrap() = 1;
        assert!(bed.update().await.read.is_empty());
        assert_eq!(retry_waiting(&bed.shop, Waits::AtCaps).await.unwrap(), 1);
        bed.update().await;
        assert_eq!(bed.made_by().await, ["model/1"]);
        assert_eq!(retry_waiting(&bed.shop, Waits::AtCaps).await.unwrap(), 0);
    });
}

/// As an engine parked work that honoured whatever a provider asked for.
#[test]
fn what_was_parked_for_too_long_is_tried_again_and_what_an_outage_holds_when_asked_for() {
    on_each_store(async |bed| {
        let asked = bed.asks("model/1", 0);
        *asked.wait.lock().unwrap() = Wait::For(30 * DAY);
        *asked.class.lock().unwrap() = FailureClass::Outage;
        bed.shop.limits.retry.retry_after_most = 30 * DAY;
        bed.say("a", "first").await;
        assert_eq!(bed.update().await.failed.len(), 1);
        let parked = bed.jobs().await[0].due_at();
        assert_eq!(parked, Some(bed.clock.now().plus(30 * DAY)));
        assert_eq!(retry_waiting(&bed.shop, Waits::Overlong).await.unwrap(), 0);

        bed.shop.limits.retry = Retry::default();
        assert_eq!(retry_waiting(&bed.shop, Waits::Overlong).await.unwrap(), 1);
        assert_eq!(bed.update().await.failed.len(), 1);
        let due = bed.jobs().await[0].due_at();
        assert_eq!(due, Some(bed.clock.now().plus(HOUR)));

        assert_eq!(retry_waiting(&bed.shop, Waits::Overlong).await.unwrap(), 0);
        assert_eq!(retry_waiting(&bed.shop, Waits::AtCaps).await.unwrap(), 0);
        *asked.room.lock().unwrap() = 1;
        assert_eq!(retry_waiting(&bed.shop, Waits::Outages).await.unwrap(), 1);
        bed.update().await;
        assert_eq!(bed.made_by().await, ["model/1"]);
    });
}

#[test]
fn a_newer_extractor_begins_nothing_anew_unless_it_is_asked_for() {
    on_each_store(async |bed| {
        bed.asks("model/1", 9);
        bed.say("a", "first").await;
        bed.say("b", "second").await;
        bed.update().await;
        let redactor = Redactor::standard();
        let words = "water the plants";
        let noted = remember(
            &bed.shop,
            &redactor,
            words,
            user_scope("ada"),
            None,
            Origin::Human,
        );
        noted.await.unwrap();
        let asked = bed.asks("model/2", 1);
        bed.clock.advance(40 * DAY);
        assert!(bed.update().await.read.is_empty());
        assert_eq!(redo_older(&bed.shop).await.unwrap(), 2);
        assert_eq!(redo_older(&bed.shop).await.unwrap(), 0);
        let old = ["model/1: first", "model/1: second", words];
        assert_eq!(bed.learned().await, old);
        bed.ends_today(&asked);
        bed.update().await;
        let half = ["model/1: second", "model/2: first", words];
        assert_eq!(bed.learned().await, half);
        bed.tomorrow(&asked, 1).await;
        bed.update().await;
        assert_eq!(bed.made_by().await, ["model/2", "model/2"]);
        assert_eq!(redo_older(&bed.shop).await.unwrap(), 0);
    });
}

#[test]
fn what_is_switched_off_is_not_begun_anew() {
    on_each_store(async |bed| {
        bed.asks("model/1", 9);
        bed.say("a", "first").await;
        bed.update().await;
        let id = session("a");
        assert!(bed.shop.store.switch_memory(&id, false).await.unwrap());
        bed.asks("model/2", 9);
        assert_eq!(redo_older(&bed.shop).await.unwrap(), 0);
        let job = bed.shop.store.job(&JobKey::Extract(id)).await.unwrap();
        assert_eq!(job.map(|job| job.redo), Some(0));
    });
}

#[test]
fn who_asks_a_model_is_shown_what_is_known() {
    on_each_store(async |bed| {
        let asked = bed.asks("model/1", 9);
        bed.say("a", "the cache limit is 50 entries").await;
        bed.update().await;
        bed.say("b", "what was the cache limit?").await;
        bed.update().await;
        bed.say("b", "raise the cache limit").await;
        bed.update().await;
        let shown = std::mem::take(&mut *asked.shown.lock().unwrap());
        assert_eq!(shown[0], Shown::default());
        let (recent, relevant, summary) = &shown[1];
        assert!(
            recent.iter().any(|line| line.starts_with("2026-")),
            "{recent:?}"
        );
        let limit = "model/1: the cache limit is 50 entries";
        assert!(relevant.iter().any(|it| it.contains(limit)), "{relevant:?}");
        assert_eq!(summary, &None);
        assert_eq!(shown[2].2.as_deref(), Some("model/1 up to 1"));

        let asked = bed.asks("model/2", 9);
        redo_older(&bed.shop).await.unwrap();
        bed.update().await;
        assert_eq!(
            *asked.shown.lock().unwrap(),
            [Shown::default(), Shown::default()]
        );
    });
}

#[test]
fn who_asks_no_model_is_shown_nothing() {
    on_each_store(async |bed| {
        let plain = scripted("plain/1", 9);
        bed.shop.extractor = Arc::clone(&plain) as Arc<dyn Extractor>;
        bed.say("a", "the cache limit is 50 entries").await;
        bed.update().await;
        bed.say("a", "raise the cache limit").await;
        bed.update().await;
        assert_eq!(
            *plain.shown.lock().unwrap(),
            [Shown::default(), Shown::default()]
        );
    });
}
