//! C52, C56, C62 and C67: what the first stage's model reads of a rollout, and what it costs. C49 to C51 and
//! C61 are tested with the import of rollouts, C53 to C60 and C64 to C66 beside the dialect.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{FinishReason, Model, ModelFailure, ModelReply, ModelRequest, Usage};
use daybook_domain::price::PriceTable;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{SpendBy, SpendSum};
use daybook_domain::{Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::Extractor;
use daybook_engine::extract::model::{Dialect, ModelExtractor, Rendering};
use daybook_engine::import::{FileReport, ImportProgress, import, scan};
use daybook_engine::jobs::{WorkerContext, work};
use daybook_engine::profile::Profile;
use daybook_engine::spend::{Attribution, SpendMeter};
use daybook_engine::stop::Stop;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::DAWN;
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use serde_json::{Value, json};

use crate::profile_test_support::{ProfileFixture, SilentProgress, on_each_store};

/// Answers that nothing is worth keeping, and records each request.
#[derive(Default)]
struct RecordingModel {
    requests: Mutex<Vec<ModelRequest>>,
    usages: Mutex<Vec<Option<Usage>>>,
}

#[async_trait]
impl Model for RecordingModel {
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
        self.requests.lock().unwrap().push(request.clone());
        let nothing = json!({"rollout_summary": "", "rollout_slug": null, "raw_memory": ""});
        Ok(ModelReply {
            text: nothing.to_string(),
            answer: Some(nothing),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: self.usages.lock().unwrap().pop().flatten(),
            requests: 1,
        })
    }
}

struct SilentImport;

impl ImportProgress for SilentImport {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

const SESSION: &str = "0194f5a6-89ab-7cde-8123-456789abcdef";

/// Imports a rollout of these items and returns the whole text of the one request about it.
async fn prompt_text(fixture: &ProfileFixture, items: &[Value]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let at = "2026-03-01T10:00:00Z";
    let meta = json!({"id": SESSION, "timestamp": at, "cwd": "/home/ada/engine", "source": "cli"});
    let line = |kind: &str, payload: &Value| {
        json!({"timestamp": at, "type": kind, "payload": payload}).to_string()
    };
    let mut lines = vec![line("session_meta", &meta)];
    lines.extend(items.iter().map(|item| line("response_item", item)));
    std::fs::write(folder.path().join("rollout.jsonl"), lines.join("\n") + "\n").unwrap();
    let model = Arc::new(RecordingModel::default());
    let extractor = ModelExtractor::new(Arc::clone(&model) as Arc<dyn Model>, Dialect::StageOne);
    let worker_context = WorkerContext {
        extractor: Arc::new(extractor.with_rendering(Rendering::Rollout)) as Arc<dyn Extractor>,
        consolidation_model: None,
        ..fixture.worker_context()
    };
    let intake = IngestContext {
        teams: Default::default(),
        store: Arc::clone(&worker_context.store),
        clock: Arc::clone(&worker_context.clock),
        tenant: worker_context.tenant.clone(),
        patience: fixture.profile.triggers.patience,
        switches: Switches::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let files = scan(&[folder.path().to_owned()]);
    let imported = import(&intake, "rollout", files, &Stop::default(), &SilentImport).await;
    assert_eq!(imported.unwrap().sessions.len(), 1);
    fixture.clock.advance(Duration::from_secs(30 * 86_400));
    let done = work(&worker_context, &Stop::default(), &SilentProgress)
        .await
        .unwrap();
    assert_eq!(done.failed, []);
    let requests = model.requests.lock().unwrap();
    let [request] = requests.as_slice() else {
        panic!("asked {} times", requests.len());
    };
    let texts = request.messages.iter().map(|message| message.text.as_str());
    texts.collect::<Vec<_>>().concat()
}

fn check(items: &[Value], holds: &[&str], holds_not: &[&str]) {
    on_each_store(Profile::codex(), async |fixture: &ProfileFixture| {
        let prompt_text = prompt_text(fixture, items).await;
        for text in holds {
            assert!(prompt_text.contains(text), "{text} is not in {prompt_text}");
        }
        for text in holds_not {
            assert!(!prompt_text.contains(text), "{text} is in {prompt_text}");
        }
    });
}

fn message(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": "c1"})
}

fn output(output: &str) -> Value {
    json!({"type": "function_call_output", "call_id": "c1", "output": output})
}

#[test]
fn c52_no_key_that_a_tool_printed_reaches_the_model() {
    let letters: String = ('a'..='z').collect();
    let key = format!("sk-{letters}{}", 123_456);
    let printed = json!({ "token": key }).to_string();
    let items = [
        message("which token do we use?"),
        call("shell", &json!({"command": ["cat", "token.json"]})),
        output(&printed),
    ];
    check(&items, &["cat token.json", "[REDACTED"], &[&key, &letters]);
}

/// In Codex, requests carry metadata of their own; here they have none that could name a session.
#[test]
fn c62_a_request_names_no_session() {
    check(&[message("hello there")], &["hello there"], &[SESSION]);
}

#[test]
fn c67_the_answer_to_a_question_is_a_persons_with_the_question() {
    let asked = json!({"questions": [{"id": "q1", "question": "Which store?"}]});
    let answered = json!({"answers": {"q1": {"answers": ["SQLite"]}}});
    let items = [
        message("set it up"),
        call("request_user_input", &asked),
        output(&answered.to_string()),
    ];
    let row = "[human user]\n{\"content\":\"Q: Which store?\\nA: SQLite\"";
    check(&items, &[row], &[]);
}

/// Makes one metered call for each usage, reported or not, and returns the recorded spend.
fn recorded_spend(usages: Vec<Option<Usage>>) -> SpendSum {
    run(async {
        let store = Arc::new(MemoryStore::default());
        let calls = usages.len();
        let model = Arc::new(RecordingModel {
            usages: Mutex::new(usages),
            ..RecordingModel::default()
        });
        let meter = SpendMeter {
            store: Arc::clone(&store) as Arc<dyn SpendStore>,
            clock: Arc::new(ManualClock::at(DAWN)),
            prices: PriceTable::default(),
            caps: Vec::new(),
            run: "one".to_owned(),
        };
        let whom = Attribution {
            tenant: Tenant::local(),
            user: "ada".to_owned(),
            stage: "extract",
            session: None,
            scope: None,
        };
        let metered = meter.budgeted(model, whom);
        for _ in 0..calls {
            let request = ModelRequest {
                messages: Vec::new(),
                tools: Vec::new(),
                answer: None,
                temperature: None,
                max_tokens: 100,
            };
            metered.ask(&request).await.unwrap();
        }
        let all = (Timestamp(0), Timestamp::MAX);
        let sums = store.spent(&Tenant::local(), all, SpendBy::Stage, 10).await;
        sums.unwrap().pop().unwrap()
    })
}

/// Thoughts are part of the output here. Where a provider reports no usage, Codex has no sum; here the call stays
/// open and counts with its worst case.
#[test]
fn c56_what_is_reported_is_added_up_and_what_is_not_stays_open() {
    let usage = |input, cached, output| {
        Some(Usage {
            input,
            cached,
            output,
        })
    };
    let sum = recorded_spend(vec![usage(10, 2, 3), None, usage(7, 1, 2)]);
    let all = Usage {
        input: 17,
        cached: 3,
        output: 5,
    };
    assert_eq!((sum.usage, sum.calls, sum.open), (all, 3, 1));
    let sum = recorded_spend(vec![None]);
    assert_eq!((sum.usage, sum.open), (Usage::default(), 1));
    assert!(sum.reserved.tokens > 0);
}
