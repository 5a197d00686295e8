//! `daybook eval` over small invented files in the shapes of the benchmarks.

use std::path::PathBuf;

use daybook_testkit::llm_server::{Behaviour, LlmServer, RecordedRequest, Script};
use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession};

/// Two dialogues, about a boat and about bread, with one question each; and one that is adversarial.
fn locomo() -> Value {
    let dialogue = |id: &str, names: [&str; 2], said: &str, asked: &str, answer: &str| {
        json!({
            "sample_id": id,
            "conversation": {
                "speaker_a": names[0], "speaker_b": names[1],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": names[0], "dia_id": "D1:1", "text": "Hello! How have you been?"},
                    {"speaker": names[1], "dia_id": "D1:2", "text": said},
                    {"speaker": names[0], "dia_id": "D1:3", "text": "That sounds wonderful, tell me more."},
                ],
            },
            "qa": [
                {"question": asked, "answer": answer, "evidence": ["D1:02; D9:9"], "category": 4},
                {"question": "Who sails to the moon?", "evidence": ["D1:1"], "category": 5},
            ],
        })
    };
    json!([
        dialogue(
            "one",
            ["Ada", "Ben"],
            "I painted the hull of my boat turquoise last weekend.",
            "What colour did Ben paint the hull of the boat?",
            "turquoise",
        ),
        dialogue(
            "two",
            ["Cleo", "Dan"],
            "My sourdough starter is named Gustav and needs rye flour.",
            "What flour does the sourdough starter of Dan need?",
            "rye",
        ),
    ])
}

fn with_locomo() -> (TestPlace, String) {
    let place = TestPlace::new();
    let path = place.write("locomo.json", &locomo().to_string());
    (place, path.display().to_string())
}

fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let row = table.lines().find_map(|line| line.strip_prefix(name));
    row.unwrap_or_else(|| panic!("no row {name}: {table}"))
        .split_whitespace()
        .collect()
}

#[test]
fn a_benchmark_is_measured_beside_baselines_and_leaves_no_memory() {
    let (place, path) = with_locomo();
    let table = place.stdout(&["eval", "locomo", &path]);
    assert!(
        table.starts_with("LoCoMo  2 conversations, 6 turns\n"),
        "{table}"
    );
    assert_eq!(row(&table, "total")[..4], ["2", "1.000", "1.000", "1.000"]);
    assert_eq!(row(&table, "single-hop")[0], "2");
    assert_eq!(row(&table, "adversarial, apart")[0], "2");
    assert_eq!(row(&table, "bm25")[..2], ["2", "1.000"]);
    assert_eq!(row(&table, "last turns")[..2], ["2", "1.000"]);
    assert!(table.contains("and 2 of another conversation"), "{table}");
    assert!(
        table.contains("0 questions and 2 pieces of evidence: names no turn"),
        "{table}"
    );
    assert!(!place.root().exists());
}

#[test]
fn json_has_every_question_with_the_ranks_of_its_evidence() {
    let (place, path) = with_locomo();
    let report = place.json(&["eval", "locomo", &path, "--vectors", "off", "--limit", "5"]);
    let asking = json!({"limit": 5, "layers": ["event"], "vectors": "off"});
    assert_eq!(report["asking"], asking);
    let question = &report["questions"][0];
    assert_eq!(question["evidence"], json!(["D1:2"]));
    assert_eq!(question["systems"][0]["system"], "daybook");
    assert_eq!(question["systems"][0]["ranks"], json!([1]));
    let foreign = &report["foreign"][0];
    assert_eq!(
        foreign["question"],
        "What flour does the sourdough starter of Ben need?"
    );
    assert_eq!(
        (&foreign["asked_of"], &foreign["conversation"]),
        (&json!("one"), &json!("two"))
    );
}

#[test]
fn beam_and_longmemeval_are_measured_too() {
    let place = TestPlace::new();
    let folder = place.transcripts().join("chats/1");
    std::fs::create_dir_all(&folder).unwrap();
    let chat = json!([{"time_anchor": "March-15-2026", "turns": [[
        {"role": "user", "id": 0, "content": "The harbour is Port Ellen. ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Noted."},
    ]]}]);
    let questions = json!({
        "abstention": [{"question": "Which elephant do I own?"}],
        "information_extraction": [
            {"question": "Which harbour is it?", "answer": "Port Ellen", "source_chat_ids": [0]},
        ],
    });
    std::fs::write(folder.join("chat.json"), chat.to_string()).unwrap();
    std::fs::write(folder.join("probing_questions.json"), questions.to_string()).unwrap();
    let path = place.transcripts().display().to_string();
    let table = place.stdout(&["eval", "beam", &path]);
    assert_eq!(row(&table, "total")[..2], ["1", "1.000"]);
    assert!(
        table.contains("Abstention  1 question that nothing was said about"),
        "{table}"
    );

    let instance = json!([{
        "question_id": "t-1", "question_type": "knowledge-update", "question": "Which harbour is it?",
        "answer": "Oban", "haystack_session_ids": ["s1"], "haystack_dates": ["2026/03/15 (Sun) 10:12"],
        "haystack_sessions": [[{"role": "user", "content": "The harbour is Oban.", "has_answer": true}]],
        "answer_session_ids": ["s1"],
    }]);
    let path = place.write("longmemeval.json", &instance.to_string());
    let table = place.stdout(&["eval", "longmemeval", &path.display().to_string()]);
    assert_eq!(row(&table, "knowledge-update")[..2], ["1", "1.000"]);
}

/// A session, and questions about its third line and about nothing.
fn with_questions() -> (TestPlace, PathBuf) {
    let place = TestPlace::new();
    let session = TestSession::new(1)
        .human("let's begin")
        .agent("Gladly.")
        .human("the tide tables of Oban are kept in a turquoise notebook");
    place.write("one.jsonl", &session.text());
    let questions = "[[question]]\nquestion = \"Which notebook holds the tide tables?\"\nclass = \"fact\"\n\
                     answer = \"turquoise\"\nevidence = [\"one.jsonl:L3\"]\nsplit = \"report\"\n\
                     [[question]]\nquestion = \"Which elephant plays chess?\"\nnever = true\n";
    let path = place.home().join("questions.toml");
    std::fs::write(&path, questions).unwrap();
    (place, path)
}

#[test]
fn questions_are_asked_about_a_folder_of_transcripts_or_about_one_s_own_memory() {
    let (place, path) = with_questions();
    let path = path.display().to_string();
    let transcripts = place.transcripts().display().to_string();
    let table = place.stdout(&["eval", "questions", &path, "--transcripts", &transcripts]);
    assert_eq!(row(&table, "fact")[..2], ["1", "1.000"]);
    assert!(table.contains("and 1 never discussed"), "{table}");
    assert!(!place.root().exists());

    place.stdout(&["import", &transcripts, "--yes", "--no-process"]);
    let report = place.json(&["eval", "questions", &path, "--split", "report"]);
    assert_eq!(report["questions"].as_array().unwrap().len(), 1);
    assert_eq!(report["systems"][0]["total"]["recall_5"], 1.0);
}

#[test]
fn all_of_memory_answers_what_was_done_on_a_day() {
    let (place, path) = with_questions();
    let questions = "[[question]]\nquestion = \"What did we do yesterday?\"\nasked = \"2026-03-03\"\n\
                     evidence = [\"one.jsonl\"]\n";
    std::fs::write(&path, questions).unwrap();
    let path = path.display().to_string();
    let transcripts = place.transcripts().display().to_string();
    let asked = ["eval", "questions", &path, "--transcripts", &transcripts];
    let report = place.json(&[&asked[..], &["--whole"]].concat());
    assert_eq!(report["systems"][0]["total"]["hit_1"], 1.0);
    let first = report["questions"][0]["first"].as_str().unwrap();
    assert!(first.contains("08:00–08:02 let's begin"), "{first}");
    assert!(!place.root().exists());

    std::fs::write(&path, questions.replace("03-03", "03-32")).unwrap();
    let refused = String::from_utf8(place.run(&asked).stderr).unwrap();
    assert!(
        refused.contains("`asked` is a day such as 2026-03-02"),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_measured_is_named() {
    let (place, path) = with_questions();
    let path = path.display().to_string();
    let refused = |arguments: &[&str]| {
        let output = place.run(arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let message = refused(&["eval", "locomo", &path]);
    assert!(
        message.contains("questions.toml is no LoCoMo file that can be read: line 1, column 3"),
        "{message}"
    );
    let message = refused(&["eval", "locomo", &path, "--split", "tune"]);
    assert!(
        message.contains(
            "--split is for `daybook eval questions`, `changes`, `statements`, `notes` and `threads`"
        ),
        "{message}"
    );
    let message = refused(&["eval", "locomo", &path, "--whole"]);
    assert!(
        message.contains("--whole is for `daybook eval questions`"),
        "{message}"
    );
    let message = refused(&["eval", "locomo", &path, "--limit", "0"]);
    assert!(message.contains("--limit is 1 to 100"), "{message}");
    let message = refused(&["eval", "locomo", &path, "--answer-model", "home/small-1"]);
    assert!(message.contains("--judge-model"), "{message}");
}

#[test]
fn what_is_kept_of_messages_is_measured_by_language() {
    let place = TestPlace::new();
    let file = place.home().join("statements.toml");
    let statement = |language: &str, text: &str, keep: &str| {
        format!(
            "[[statement]]\nsplit = \"report\"\nlanguage = \"{language}\"\ntext = \"{text}\"\nkeep = [{keep}]\n"
        )
    };
    let text = [
        statement("en", "grace owns the importer", "\"grace\""),
        statement("en", "the build is red again, can you have a look?", ""),
        statement("zh", "周五不发版", "\"周五\""),
    ];
    std::fs::write(&file, text.concat()).unwrap();
    let output = place.run(&["eval", "statements", &file.display().to_string(), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let score = |language: &str, part: &str| report["languages"][language][part].clone();
    assert_eq!(
        (score("en", "kept"), score("zh", "kept")),
        (json!(1), json!(1))
    );
    assert_eq!(
        (score("en", "left_out"), score("en", "passing")),
        (json!(1), json!(1))
    );
    assert_eq!(report["wrong"], json!([]));
}

/// Answers with the colour if a memory names it, and judges by the expected word.
fn colour_blind(asked: &RecordedRequest) -> Behaviour {
    let text = asked.text();
    match text.split_once("Answer to judge: ") {
        Some((_, answer)) => Behaviour::AnswerJson(json!({"right": answer.contains("turquoise")})),
        None if text.contains("my boat turquoise") => Behaviour::answer("turquoise"),
        None => Behaviour::answer("I do not know."),
    }
}

#[test]
fn a_model_answers_another_one_judges_and_both_are_charged() {
    let (place, path) = with_locomo();
    let server = LlmServer::start(Script::answering(colour_blind));
    let settings = format!(
        "[providers.home]\nwire = \"openai\"\nbase_url = \"{}/v1\"\ntries = 1\n\
         [prices]\n\"home/*\" = {{ input = 1, output = 4 }}\n",
        server.url()
    );
    std::fs::create_dir_all(place.root()).unwrap();
    let file = place.root().join("daybook.toml");
    std::fs::write(&file, &settings).unwrap();
    let mut arguments = vec!["eval", "locomo", &path];
    arguments.extend(["--answer-model", "home/small-1"]);
    arguments.extend(["--judge-model", "home/large-1"]);
    let report = place.json(&arguments);
    let answers = &report["end_to_end"]["answers"];
    assert_eq!((&answers["right"], &answers["of"]), (&json!(1), &json!(2)));
    assert_eq!(report["questions"][0]["answered"]["answer"], "turquoise");
    assert_eq!(report["questions"][1]["answered"], Value::Null);
    assert_eq!(server.requests(), 4);
    let spend = place.json(&["spend", "--by", "stage"]);
    assert_eq!(spend["spent"][0]["name"], "eval");
    assert_eq!(spend["all"]["calls"], 4);
    assert_eq!(spend["all"]["money"], report["end_to_end"]["cost"]);

    std::fs::write(&file, settings + "[caps]\nday = { tokens = 1 }\n").unwrap();
    let table = place.stdout(&arguments);
    assert!(table.contains("stopped early:"), "{table}");
    assert_eq!(server.requests(), 4);
}
