//! What a forecast says, against what is billed then.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{Finish, Model, ModelFailure, ModelReply, ModelRequest, Usage};
use daybook_domain::price::{Price, PriceTable};
use daybook_domain::seams::{SpendStore, Store};
use daybook_domain::spend::{Cap, Payer, Period, SpendBy, SpendSum};
use daybook_domain::time::Clock;
use daybook_domain::trigger::Patience;
use daybook_domain::{JobKind, Money, Scope, SessionId, Tenant, Timestamp};
use daybook_engine::extract::Extractor;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::extract::model::{Dialect, ModelExtractor};
use daybook_engine::ingest::import::{FileReport, ImportProgress, Intake, import, scan};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::ingest::settle::settle_new_roots;
use daybook_engine::jobs::{Forecast, Progress, Which, WorkLimits, Workshop, forecast, work};
use daybook_engine::spend::{Attribution, Meter, question};
use daybook_engine::stop::Stop;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::DAWN;
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use serde_json::json;
use tempfile::TempDir;

/// A model that counts a token for each four bytes, and says more about longer windows.
#[derive(Debug, Default)]
struct Talkative {
    asked: AtomicU64,
}

#[async_trait]
impl Model for Talkative {
    fn name(&self) -> &str {
        "ada/small"
    }

    fn context_tokens(&self) -> u32 {
        100_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len().div_ceil(4)).unwrap()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let input = question(self, request).input;
        let words = "it went on. ".repeat(usize::try_from(input / 50).unwrap());
        let answer = json!({"observations": [], "summary": words, "slug": null, "raw_memory": ""});
        let text = answer.to_string();
        let usage = Usage {
            input,
            cached: input / 10,
            output: u64::from(self.count_tokens(&text)),
        };
        Ok(ModelReply {
            text,
            answer: Some(answer),
            calls: Vec::new(),
            finish: Finish::Stop,
            usage: Some(usage),
            requests: 1,
        })
    }
}

struct Quiet;

impl ImportProgress for Quiet {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

impl Progress for Quiet {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// The sample, taken in and due, and what its extraction is charged by.
struct Bed {
    shop: Workshop,
    meter: Meter,
    model: Arc<Talkative>,
    _root: TempDir,
}

impl Bed {
    async fn new(caps: Vec<Cap>) -> Self {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(ManualClock::at(DAWN));
        let root = TempDir::new().unwrap();
        let meter = Meter {
            store: Arc::clone(&store) as Arc<dyn SpendStore>,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            prices: PriceTable::new([("ada/*".to_owned(), PRICE)]),
            caps,
            run: "one".to_owned(),
        };
        let model = Arc::new(Talkative::default());
        let whom = Attribution {
            tenant: Tenant::local(),
            user: "ada".to_owned(),
            stage: "extract",
            session: None,
            scope: None,
        };
        let metered = Arc::new(meter.metered(Arc::clone(&model) as Arc<dyn Model>, whom));
        let shop = Workshop {
            store: Arc::clone(&store) as Arc<dyn Store>,
            trees: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: Arc::new(ModelExtractor::new(metered, Dialect::Extract)),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            limits: WorkLimits::default(),
        };
        take_in_sample(&shop).await;
        clock.advance(Duration::from_secs(86_400));
        Self {
            shop,
            meter,
            model,
            _root: root,
        }
    }

    async fn foreseen(&self) -> Forecast {
        forecast(&self.shop, &self.meter, Which::Due).await.unwrap()
    }

    async fn work(&self) {
        let report = work(&self.shop, &Stop::default(), &Quiet).await.unwrap();
        assert_eq!(report.failed, []);
    }

    async fn billed(&self) -> SpendSum {
        let all = (Timestamp(0), Timestamp::MAX);
        let tenant = &self.shop.tenant;
        let sums = self
            .meter
            .store
            .spent(tenant, all, SpendBy::Model, 10)
            .await;
        sums.unwrap().pop().unwrap_or_default()
    }
}

const PRICE: Price = Price {
    input: Money(3_000_000),
    cached: Money(300_000),
    output: Money(15_000_000),
};

async fn take_in_sample(shop: &Workshop) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/sample");
    let intake = Intake {
        store: Arc::clone(&shop.store),
        clock: Arc::clone(&shop.clock),
        tenant: shop.tenant.clone(),
        patience: Patience::default(),
        switches: Switches::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let files = scan(&[folder]);
    let taken = import(&intake, "sample", files, &Stop::default(), &Quiet).await;
    taken.unwrap();
    settle_new_roots(&*shop.store, &shop.tenant, shop.clock.now())
        .await
        .unwrap();
}

#[track_caller]
fn within_a_tenth(foreseen: u64, billed: u64) {
    assert!(billed > 0);
    assert!(
        foreseen.abs_diff(billed) * 10 <= billed,
        "{foreseen} for {billed}"
    );
}

#[test]
fn a_forecast_is_within_a_tenth_of_the_bill() {
    run(async {
        let bed = Bed::new(Vec::new()).await;
        let first = bed.foreseen().await;
        let [model] = first.models.as_slice() else {
            panic!("one model is asked: {first:?}");
        };
        assert_eq!((model.model.as_str(), model.calls), ("ada/small", 0));
        bed.work().await;
        let billed = bed.billed().await;
        assert_eq!(model.windows, billed.calls);
        within_a_tenth(model.usage.input, billed.usage.input);

        for job in bed.shop.store.jobs(JobKind::Extract).await.unwrap() {
            let again = bed.shop.store.redo(&job.key, bed.shop.clock.now()).await;
            again.unwrap();
        }
        let second = bed.foreseen().await;
        let model = &second.models[0];
        assert_eq!((model.windows, model.calls), (billed.calls, billed.calls));
        bed.work().await;
        let both = bed.billed().await;
        assert_eq!(both.calls, 2 * billed.calls);
        within_a_tenth(model.usage.input, both.usage.input - billed.usage.input);
        within_a_tenth(model.usage.cached, both.usage.cached - billed.usage.cached);
        within_a_tenth(model.usage.output, both.usage.output - billed.usage.output);
        let money = model.money.expect("its price is known");
        within_a_tenth(money.0, both.money.0 - billed.money.0);
    });
}

#[test]
fn a_forecast_asks_nobody_and_changes_nothing() {
    run(async {
        let bed = Bed::new(Vec::new()).await;
        let jobs = bed.shop.store.jobs(JobKind::Extract).await.unwrap();
        let foreseen = bed.foreseen().await;
        assert!(foreseen.sessions > 0 && foreseen.caps.is_empty());
        assert_eq!(bed.foreseen().await, foreseen);
        assert_eq!(bed.shop.store.jobs(JobKind::Extract).await.unwrap(), jobs);
        assert_eq!(bed.billed().await, SpendSum::default());
        assert_eq!(bed.model.asked.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn without_a_model_nothing_is_charged() {
    run(async {
        let mut bed = Bed::new(Vec::new()).await;
        bed.shop.extractor = Arc::new(Extractive) as Arc<dyn Extractor>;
        let foreseen = bed.foreseen().await;
        assert_eq!(foreseen.models, []);
        assert!(foreseen.unasked >= foreseen.sessions && foreseen.sessions > 0);
    });
}

/// Whether a forecast says that a cap is met, and whether the work meets it.
fn check_cap(cap: Cap, is_met: bool) {
    run(async {
        let bed = Bed::new(vec![cap]).await;
        let met = bed.foreseen().await.caps;
        assert_eq!(!met.is_empty(), is_met, "{met:?}");
        assert!(met.iter().all(|met| met.cap == cap));
        let report = work(&bed.shop, &Stop::default(), &Quiet).await.unwrap();
        assert_eq!(!report.failed.is_empty(), is_met, "{:?}", report.failed);
    });
}

#[test]
fn caps_that_would_be_met_are_told() {
    let of = |of, period, tokens, money| Cap {
        period,
        of,
        tokens,
        money,
    };
    check_cap(of(Payer::Tenant, Period::Day, Some(10_000), None), true);
    check_cap(
        of(Payer::User, Period::Month, None, Some(Money(10_000))),
        true,
    );
    check_cap(of(Payer::Tenant, Period::Run, Some(10_000), None), true);
    check_cap(of(Payer::Tenant, Period::Day, Some(1_000_000), None), false);
    check_cap(
        of(Payer::User, Period::Day, None, Some(Money(90_000_000))),
        false,
    );
}
