use std::sync::Mutex;

use async_trait::async_trait;
use daybook_domain::Price;
use daybook_domain::model::FinishReason;
use serde_json::Value;

use super::*;

/// Returns the replies in order, and records the requests.
struct SequenceModel {
    name: &'static str,
    replies: Mutex<Vec<Result<&'static str, ModelError>>>,
    asked: Mutex<Vec<String>>,
}

impl SequenceModel {
    fn new(name: &'static str, mut replies: Vec<Result<&'static str, ModelError>>) -> Arc<Self> {
        replies.reverse();
        Arc::new(Self {
            name,
            replies: Mutex::new(replies),
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl Model for SequenceModel {
    fn name(&self) -> &str {
        self.name
    }

    fn context_tokens(&self) -> u32 {
        8_192
    }

    fn count_tokens(&self, text: &str) -> u32 {
        text.len() as u32
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let asked = request.messages.last().unwrap().text.clone();
        self.asked.lock().unwrap().push(asked);
        let reply = self.replies.lock().unwrap().pop().unwrap();
        let text = reply.map_err(|error| ModelFailure {
            error,
            spent: FailureCost::Nothing,
        })?;
        Ok(ModelReply {
            text: text.to_owned(),
            answer: serde_json::from_str::<Value>(text).ok(),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: Some(Usage {
                input: 1_000_000,
                cached: 0,
                output: 0,
            }),
            requests: 1,
        })
    }
}

fn question(text: &str, answer: &str, counting: Counting) -> BenchmarkQuestion {
    BenchmarkQuestion {
        id: text.to_owned(),
        text: text.to_owned(),
        class: "fact".to_owned(),
        answer: answer.to_owned(),
        evidence: Vec::new(),
        counting,
        split: None,
        asked: Timestamp::ZERO,
    }
}

fn models(answer_model: &Arc<SequenceModel>, judge_model: &Arc<SequenceModel>) -> EndToEndModels {
    let price = |units| Price {
        input: Money(units * Money::UNIT),
        ..Price::default()
    };
    EndToEndModels {
        answer_model: Arc::clone(answer_model) as _,
        judge_model: Arc::clone(judge_model) as _,
        prices: PriceTable::new([
            ("home/answers".to_owned(), price(2)),
            ("home/judges".to_owned(), price(3)),
        ]),
        questions: None,
    }
}

fn ask_all(
    models: &EndToEndModels,
    questions: &[BenchmarkQuestion],
) -> (Vec<Option<AnswerRecord>>, AnswerReport) {
    let hit = RetrievedText {
        session: None,
        events: Vec::new(),
        text: "Ada: The harbour is Oban.".to_owned(),
        excerpt: String::new(),
        at: Timestamp(1_683_554_160_000),
    };
    let judged = questions
        .iter()
        .filter(|question| QuestionAnswerer::is_judged(question));
    let mut answering = QuestionAnswerer::new(models, judged.count());
    let mut records = Vec::new();
    for question in questions {
        let hits = std::slice::from_ref(&hit);
        records.push(daybook_testkit::run(answering.answer(question, hits)));
    }
    let report = answering.report(records.iter().flatten());
    (records, report)
}

#[test]
fn answers_are_judged_and_what_they_cost_is_added_up() {
    let refused = ModelError::Refused {
        model: "home/answers".to_owned(),
        message: "no".to_owned(),
    };
    let answers = SequenceModel::new(
        "home/answers",
        vec![Ok("Oban"), Ok("Red"), Err(refused), Ok("Yes")],
    );
    let right = r#"{"right": true}"#;
    let wrong = r#"{"right": false}"#;
    let judges = SequenceModel::new("home/judges", vec![Ok(right), Ok(wrong), Ok(wrong)]);
    let questions = [
        question("Which harbour?", "Oban", Counting::Counted),
        question("Which colour?", "", Counting::Abstain),
        question("Is it adversarial?", "x", Counting::Apart),
        question("Which month?", "May", Counting::Counted),
        question("Is it wet?", "no", Counting::Counted),
    ];
    let (records, report) = ask_all(&models(&answers, &judges), &questions);
    let verdicts: Vec<Option<Option<bool>>> = records
        .iter()
        .map(|record| record.as_ref().map(|record| record.is_right))
        .collect();
    let expected = [
        Some(Some(true)),
        Some(Some(false)),
        None,
        Some(None),
        Some(Some(false)),
    ];
    assert_eq!(verdicts, expected);
    let asked = &answers.asked.lock().unwrap()[0];
    let memory = "Memories:\n\n[1] Monday, 8 May 2023\nAda: The harbour is Oban.\n\nQuestion: Which harbour?";
    assert_eq!(asked, memory);
    let asked = &judges.asked.lock().unwrap()[1];
    assert!(
        asked.contains(&format!("Expected answer: {NOT_KNOWN}\n")),
        "{asked}"
    );
    assert_eq!((report.answers.right, report.answers.of), (1, 2));
    assert_eq!((report.abstention.right, report.abstention.of), (0, 1));
    assert_eq!((report.failed, report.stopped), (1, None));
    // Three answers at 2 and three judgements at 3.
    assert_eq!(report.cost.as_deref(), Some("15.00"));
    assert_eq!(report.answer_usage.input, 3_000_000);
}

#[test]
fn a_model_that_cannot_be_asked_ends_the_answering() {
    let denied = ModelError::Denied {
        model: "home/answers".to_owned(),
        message: "no such key".to_owned(),
    };
    let answers = SequenceModel::new("home/answers", vec![Err(denied)]);
    let judges = SequenceModel::new("home/judges", vec![]);
    let questions = ["a", "b"].map(|text| question(text, "x", Counting::Counted));
    let (records, report) = ask_all(&models(&answers, &judges), &questions);
    assert!(records[1].is_none());
    let why = "home/answers refuses access: no such key";
    assert_eq!(report.stopped.as_deref(), Some(why));
}

#[test]
fn chosen_questions_are_spread_evenly() {
    let answers = SequenceModel::new("home/answers", vec![Ok("x"), Ok("x")]);
    let judges = SequenceModel::new(
        "home/judges",
        vec![Ok(r#"{"right": true}"#), Ok(r#"{"right": true}"#)],
    );
    let models = EndToEndModels {
        questions: Some(2),
        ..models(&answers, &judges)
    };
    let questions = ["a", "b", "c", "d"].map(|text| question(text, "x", Counting::Counted));
    let (records, _) = ask_all(&models, &questions);
    let answered: Vec<bool> = records.iter().map(Option::is_some).collect();
    assert_eq!(answered, [false, true, false, true]);
}

#[test]
fn the_interval_is_wilson_s() {
    // 8 of 10, computed by hand: (0.8 + 0.192073 ± 1.959964 · sqrt(0.016 + 0.009604)) / 1.384146.
    let share = Share::of(8, 10);
    assert!((share.low - 0.490_16).abs() < 1e-4, "{share:?}");
    assert!((share.high - 0.943_32).abs() < 1e-4, "{share:?}");
    assert_eq!(Share::of(0, 0), Share::default());
}
