//! Tests what is charged for model calls, and which calls are not sent.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use daybook_domain::model::{
    AnswerSchema, FailureCost, FinishReason, Message, Model, ModelError, ModelFailure, ModelReply,
    ModelRequest, Role, Tool, Usage,
};
use daybook_domain::price::{Price, PriceTable};
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{Cap, Payer, Period, SpendBy, SpendSum};
use daybook_domain::{Money, Tenant, Timestamp};
use daybook_engine::spend::{
    Attribution, BudgetedModel, PER_MESSAGE, PER_REQUEST, SpendMeter, at_cap, expected_usage,
    unknown_price, worst_case,
};
use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{DAWN, project_scope, session};
use daybook_testkit::{ManualClock, run};
use strum::VariantArray;

/// How a call ends.
#[derive(Debug, Clone, Copy)]
enum CallEnd {
    Answered(Option<Usage>),
    Failed(FailureCost),
    Never,
}

/// A model that counts a token for each byte.
#[derive(Debug, Default)]
struct ScriptedSpendModel {
    script: Mutex<VecDeque<CallEnd>>,
    asked: AtomicU64,
    requests: u32,
}

impl ScriptedSpendModel {
    fn ending(ends: impl IntoIterator<Item = CallEnd>) -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::new(ends.into_iter().collect()),
            asked: AtomicU64::new(0),
            requests: 1,
        })
    }

    fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Model for ScriptedSpendModel {
    fn name(&self) -> &str {
        "ada/small"
    }

    fn context_tokens(&self) -> u32 {
        100_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }

    fn most_requests(&self) -> u32 {
        self.requests
    }

    async fn ask(&self, _: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let next = self.script.lock().unwrap().pop_front();
        match next.expect("the script says how each call ends") {
            CallEnd::Answered(usage) => Ok(ModelReply {
                text: "yes".to_owned(),
                answer: None,
                calls: Vec::new(),
                finish: FinishReason::Stop,
                usage,
                requests: 1,
            }),
            CallEnd::Failed(spent) => Err(ModelFailure {
                error: ModelError::Cancelled {
                    model: self.name().to_owned(),
                },
                spent,
            }),
            CallEnd::Never => std::future::pending().await,
        }
    }
}

/// A request of 10 + 16 + 1,024 tokens, and 50 of an answer.
fn request() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::new(Role::User, "0123456789")],
        tools: Vec::new(),
        answer: None,
        temperature: None,
        max_tokens: 50,
    }
}

const WORST: u64 = 10 + PER_MESSAGE + PER_REQUEST + 50;

const USAGE: Usage = Usage {
    input: 12,
    cached: 2,
    output: 7,
};

/// Two units for a million tokens read, one cached, ten written.
fn prices() -> PriceTable {
    let price = Price {
        input: Money(2 * Money::UNIT),
        cached: Money(Money::UNIT),
        output: Money(10 * Money::UNIT),
    };
    PriceTable::new([("ada/*".to_owned(), price)])
}

fn meter(store: Arc<dyn SpendStore>, caps: &[Cap]) -> SpendMeter {
    SpendMeter {
        store,
        clock: Arc::new(ManualClock::at(DAWN)),
        prices: prices(),
        caps: caps.to_vec(),
        run: "1".to_owned(),
    }
}

fn budgeted(meter: &SpendMeter, model: &Arc<ScriptedSpendModel>) -> BudgetedModel {
    let whom = Attribution {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        stage: "extract",
        session: Some(session("aaaa")),
        scope: Some(project_scope("tidepool")),
    };
    meter.budgeted(Arc::clone(model) as Arc<dyn Model>, whom)
}

fn tokens_per(period: Period, tokens: u64) -> Cap {
    Cap {
        period,
        of: Payer::Tenant,
        tokens: Some(tokens),
        money: None,
    }
}

fn money_per(period: Period, money: u64) -> Cap {
    Cap {
        period,
        of: Payer::User,
        tokens: None,
        money: Some(Money(money)),
    }
}

async fn sums(store: &dyn SpendStore, by: SpendBy) -> Vec<SpendSum> {
    let always = (Timestamp::ZERO, Timestamp::MAX);
    store.spent(&Tenant::local(), always, by, 9).await.unwrap()
}

/// Checks the sums after one call: calls, tokens and money that count, and how many calls are unsettled.
fn check(ends: CallEnd, expected: &[(u64, u64, u64, u64)]) {
    run(async {
        let store = Arc::new(MemoryStore::new());
        let meter = meter(Arc::clone(&store) as Arc<dyn SpendStore>, &[]);
        let model = ScriptedSpendModel::ending([ends]);
        let budgeted = budgeted(&meter, &model);
        let request = request();
        tokio::select! {
            biased;
            asked = budgeted.ask(&request) => assert_eq!(asked.is_ok(), matches!(ends, CallEnd::Answered(_))),
            // The caller drops the call.
            () = tokio::task::yield_now() => assert!(matches!(ends, CallEnd::Never)),
        }
        assert_eq!(model.asked(), 1);
        let sums = sums(&*store, SpendBy::Day).await;
        let sums: Vec<_> = sums
            .iter()
            .map(|sum| {
                (
                    sum.calls,
                    sum.counts().tokens,
                    sum.counts().money.0,
                    sum.open,
                )
            })
            .collect();
        assert_eq!(sums, expected);
    });
}

#[test]
fn what_is_reported_is_what_is_charged() {
    check(CallEnd::Answered(Some(USAGE)), &[(1, 19, 92, 0)]);
    check(
        CallEnd::Failed(FailureCost::Reported(USAGE)),
        &[(1, 19, 92, 0)],
    );
}

#[test]
fn what_was_never_sent_is_free() {
    check(CallEnd::Failed(FailureCost::Nothing), &[]);
}

#[test]
fn unreported_usage_stays_at_its_worst_case() {
    let money = 2 * (WORST - 50) + 10 * 50;
    let worst = [(1, WORST, money, 1)];
    check(CallEnd::Answered(None), &worst);
    check(CallEnd::Failed(FailureCost::Unknown), &worst);
    check(CallEnd::Never, &worst);
}

#[test]
fn a_call_is_charged_to_whom_it_is_for() {
    run(async {
        let store = Arc::new(MemoryStore::new());
        let meter = meter(Arc::clone(&store) as Arc<dyn SpendStore>, &[]);
        let model = ScriptedSpendModel::ending([CallEnd::Answered(Some(USAGE))]);
        assert!(budgeted(&meter, &model).ask(&request()).await.is_ok());
        let mut names = Vec::new();
        for &by in SpendBy::VARIANTS {
            names.push(sums(&*store, by).await[0].name.clone());
        }
        assert_eq!(
            names,
            [
                "2026-11-01",
                "2026-11",
                "ada/small",
                "extract",
                "ada",
                "project/tidepool",
                "claude-code:aaaa"
            ]
        );
    });
}

#[test]
fn at_a_cap_nothing_is_sent_and_the_caller_learns_until_when() {
    run(async {
        let store = Arc::new(MemoryStore::new());
        let day = tokens_per(Period::Day, WORST + 20);
        let meter = meter(Arc::clone(&store) as Arc<dyn SpendStore>, &[day]);
        let model =
            ScriptedSpendModel::ending([CallEnd::Answered(Some(USAGE)), CallEnd::Answered(None)]);
        let budgeted = budgeted(&meter, &model);
        for _ in 0..2 {
            assert!(budgeted.ask(&request()).await.is_ok());
        }
        let failure = budgeted.ask(&request()).await.unwrap_err();
        assert_eq!((model.asked(), failure.spent), (2, FailureCost::Nothing));
        let at = at_cap(&failure).expect("a cap is why");
        assert_eq!((at.cap, at.used.tokens), (day, WORST + 19));
        assert_eq!(at.until, Some(Timestamp(DAWN.0 + 86_400_000)));
        assert!(unknown_price(&failure).is_none());
        assert!(failure.to_string().contains("at the cap of"), "{failure}");
    });
}

#[test]
fn a_run_has_a_cap_of_its_own() {
    run(async {
        let store = Arc::new(MemoryStore::new());
        let first = meter(
            Arc::clone(&store) as Arc<dyn SpendStore>,
            &[tokens_per(Period::Run, WORST)],
        );
        let model = ScriptedSpendModel::ending([CallEnd::Answered(None); 2]);
        assert!(budgeted(&first, &model).ask(&request()).await.is_ok());
        let failure = budgeted(&first, &model).ask(&request()).await.unwrap_err();
        assert_eq!(at_cap(&failure).map(|at| at.until), Some(None));
        let second = SpendMeter {
            run: "2".to_owned(),
            ..first
        };
        assert!(budgeted(&second, &model).ask(&request()).await.is_ok());
    });
}

#[test]
fn without_a_price_nothing_is_sent_under_a_cap_on_money() {
    run(async {
        let store = Arc::new(MemoryStore::new());
        let capped = SpendMeter {
            prices: PriceTable::default(),
            ..meter(
                Arc::clone(&store) as Arc<dyn SpendStore>,
                &[money_per(Period::Month, 1_000)],
            )
        };
        let model = ScriptedSpendModel::ending([CallEnd::Answered(Some(USAGE))]);
        let failure = budgeted(&capped, &model).ask(&request()).await.unwrap_err();
        assert_eq!((model.asked(), failure.spent), (0, FailureCost::Nothing));
        assert!(at_cap(&failure).is_none());
        let said = unknown_price(&failure)
            .expect("a price is wanting")
            .to_string();
        assert!(said.contains("[prices] \"ada/small\" = {"), "{said}");
        // Tokens are counted without one.
        let uncapped = SpendMeter {
            caps: vec![tokens_per(Period::Day, 10_000)],
            ..capped
        };
        assert!(budgeted(&uncapped, &model).ask(&request()).await.is_ok());
        assert_eq!(sums(&*store, SpendBy::Day).await[0].unpriced, 1);
    });
}

#[test]
fn the_worst_case_holds_every_request_with_all_that_may_be_added() {
    let mut model = ScriptedSpendModel::default();
    let request = ModelRequest {
        tools: vec![Tool {
            name: "look".to_owned(),
            description: "looks".to_owned(),
            arguments: serde_json::json!({}),
        }],
        answer: Some(AnswerSchema {
            name: "form".to_owned(),
            schema: serde_json::json!({}),
        }),
        ..request()
    };
    let expected = expected_usage(&model, &request);
    assert_eq!((expected.input, expected.output), (10 + 11 + 6, 50));
    model.requests = 3;
    let worst = worst_case(&model, &request);
    let each = 10 + 11 + 3 * 6 + 2 * PER_MESSAGE + PER_REQUEST;
    assert_eq!((worst.input, worst.output), (3 * each + 2 * 50, 150));
}

/// Compares what sixteen workers are charged with what the provider has billed them.
fn check_workers(open: impl Fn() -> Arc<dyn SpendStore> + Sync) {
    let cap = 40 * WORST;
    let workers = 16;
    let billed: u64 = std::thread::scope(|scope| {
        let open = &open;
        let worker = |_| {
            scope.spawn(move || {
                let meter = meter(open(), &[tokens_per(Period::Day, cap)]);
                // Every other call uses as much as it may; the rest report nothing.
                let full = Usage {
                    input: WORST - 50,
                    cached: 0,
                    output: 50,
                };
                let ends = [
                    CallEnd::Answered(Some(full)),
                    CallEnd::Failed(FailureCost::Unknown),
                ];
                let model = ScriptedSpendModel::ending(ends.into_iter().cycle().take(9));
                let budgeted = budgeted(&meter, &model);
                run(async {
                    for _ in 0..9 {
                        if let Err(failure) = budgeted.ask(&request()).await
                            && failure.spent == FailureCost::Nothing
                        {
                            assert!(at_cap(&failure).is_some(), "{failure}");
                        }
                    }
                });
                model.asked() * WORST
            })
        };
        let workers: Vec<_> = (0..workers).map(worker).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(billed, cap, "all of it is spent, and no more");
    let charged = run(async { sums(&*open(), SpendBy::Stage).await });
    assert_eq!(
        charged[0].counts().tokens,
        billed,
        "nothing is lost or doubled"
    );
}

#[test]
fn sixteen_workers_spend_a_cap_and_never_more() {
    let store = Arc::new(MemoryStore::new());
    check_workers(|| Arc::clone(&store) as Arc<dyn SpendStore>);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    check_workers(|| Arc::new(SqliteStore::open(&path, SqliteOptions::default()).unwrap()));
}
