//! Compares forecasts with the later bill.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{FinishReason, Model, ModelFailure, ModelReply, ModelRequest, Usage};
use daybook_domain::price::{Price, PriceTable};
use daybook_domain::seams::{SpendStore, Store};
use daybook_domain::spend::{Cap, Payer, Period, SpendBy, SpendSum};
use daybook_domain::time::Clock;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{JobKind, Money, Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::Extractor;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::extract::model::{Dialect, ModelExtractor};
use daybook_engine::import::{import, scan};
use daybook_engine::jobs::{
    Forecast, ForecastSelection, WorkLimits, WorkerContext, forecast, work,
};
use daybook_engine::projects::settle::settle_new_roots;
use daybook_engine::spend::{Attribution, SpendMeter, expected_usage};
use daybook_engine::stop::Stop;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::DAWN;
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::json;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;

/// A model that counts a token for each four bytes, and answers longer windows at greater length.
#[derive(Debug, Default)]
struct TalkativeModel {
    asked: AtomicU64,
}

#[async_trait]
impl Model for TalkativeModel {
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
        let input = expected_usage(self, request).input;
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
            finish: FinishReason::Stop,
            usage: Some(usage),
            requests: 1,
        })
    }
}

/// The imported sample, due, and the meter of its extraction.
struct ForecastFixture {
    worker: WorkerContext,
    meter: SpendMeter,
    model: Arc<TalkativeModel>,
    _root: TempDir,
}

impl ForecastFixture {
    async fn new(caps: Vec<Cap>) -> Self {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(ManualClock::at(DAWN));
        let root = TempDir::new().unwrap();
        let meter = SpendMeter {
            store: Arc::clone(&store) as Arc<dyn SpendStore>,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            prices: PriceTable::new([("ada/*".to_owned(), PRICE)]),
            caps,
            run: "one".to_owned(),
        };
        let model = Arc::new(TalkativeModel::default());
        let whom = Attribution {
            tenant: Tenant::local(),
            user: "ada".to_owned(),
            stage: "extract",
            session: None,
            scope: None,
        };
        let metered = Arc::new(meter.budgeted(Arc::clone(&model) as Arc<dyn Model>, whom));
        let worker = WorkerContext {
            store: Arc::clone(&store) as Arc<dyn Store>,
            trees: None,
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: Arc::new(ModelExtractor::new(metered, Dialect::Extract)),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits::default(),
        };
        import_sample(&worker).await;
        clock.advance(Duration::from_secs(86_400));
        Self {
            worker,
            meter,
            model,
            _root: root,
        }
    }

    async fn forecast_due(&self) -> Forecast {
        forecast(&self.worker, &self.meter, ForecastSelection::Due)
            .await
            .unwrap()
    }

    async fn work(&self) {
        let report = work(&self.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        assert_eq!(report.failed, []);
    }

    async fn total_spend(&self) -> SpendSum {
        let all = (Timestamp(0), Timestamp::MAX);
        let tenant = &self.worker.tenant;
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

async fn import_sample(worker: &WorkerContext) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/sample");
    let intake = IngestContext {
        teams: Default::default(),
        store: Arc::clone(&worker.store),
        clock: Arc::clone(&worker.clock),
        tenant: worker.tenant.clone(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let files = scan(&[folder]);
    let taken = import(&intake, "sample", files, &Stop::default(), &SilentProgress).await;
    taken.unwrap();
    settle_new_roots(&*worker.store, &worker.tenant, worker.clock.now())
        .await
        .unwrap();
}

#[track_caller]
fn assert_within_a_tenth(forecasted: u64, billed: u64) {
    assert!(billed > 0);
    assert!(
        forecasted.abs_diff(billed) * 10 <= billed,
        "{forecasted} for {billed}"
    );
}

#[test]
fn a_forecast_is_within_a_tenth_of_the_bill() {
    run(async {
        let fixture = ForecastFixture::new(Vec::new()).await;
        let first = fixture.forecast_due().await;
        let [model] = first.models.as_slice() else {
            panic!("one model is asked: {first:?}");
        };
        assert_eq!((model.model.as_str(), model.calls), ("ada/small", 0));
        fixture.work().await;
        let billed = fixture.total_spend().await;
        assert_eq!(model.windows, billed.calls);
        assert_within_a_tenth(model.usage.input, billed.usage.input);

        for job in fixture
            .worker
            .store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap()
        {
            let again = fixture
                .worker
                .store
                .redo(&job.key, fixture.worker.clock.now())
                .await;
            again.unwrap();
        }
        let second = fixture.forecast_due().await;
        let model = &second.models[0];
        assert_eq!((model.windows, model.calls), (billed.calls, billed.calls));
        fixture.work().await;
        let both = fixture.total_spend().await;
        assert_eq!(both.calls, 2 * billed.calls);
        assert_within_a_tenth(model.usage.input, both.usage.input - billed.usage.input);
        assert_within_a_tenth(model.usage.cached, both.usage.cached - billed.usage.cached);
        assert_within_a_tenth(model.usage.output, both.usage.output - billed.usage.output);
        let money = model.money.expect("its price is known");
        assert_within_a_tenth(money.0, both.money.0 - billed.money.0);
    });
}

#[test]
fn a_forecast_calls_no_model_and_changes_nothing() {
    run(async {
        let fixture = ForecastFixture::new(Vec::new()).await;
        let jobs = fixture
            .worker
            .store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap();
        let forecasted = fixture.forecast_due().await;
        assert!(forecasted.sessions > 0 && forecasted.caps.is_empty());
        assert_eq!(fixture.forecast_due().await, forecasted);
        assert_eq!(
            fixture
                .worker
                .store
                .jobs_of_all_tenants(JobKind::Extract)
                .await
                .unwrap(),
            jobs
        );
        assert_eq!(fixture.total_spend().await, SpendSum::default());
        assert_eq!(fixture.model.asked.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn without_a_model_nothing_is_charged() {
    run(async {
        let mut fixture = ForecastFixture::new(Vec::new()).await;
        fixture.worker.extractor = Arc::new(Extractive) as Arc<dyn Extractor>;
        let forecasted = fixture.forecast_due().await;
        assert_eq!(forecasted.models, []);
        assert!(forecasted.unasked >= forecasted.sessions && forecasted.sessions > 0);
    });
}

/// Checks whether a forecast reports a cap as reached, and whether the work reaches it.
fn check_cap(cap: Cap, is_met: bool) {
    run(async {
        let fixture = ForecastFixture::new(vec![cap]).await;
        let met = fixture.forecast_due().await.caps;
        assert_eq!(!met.is_empty(), is_met, "{met:?}");
        assert!(met.iter().all(|met| met.cap == cap));
        let report = work(&fixture.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        assert_eq!(!report.failed.is_empty(), is_met, "{:?}", report.failed);
    });
}

#[test]
fn caps_that_would_be_reached_are_listed() {
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
