use std::fs;

use tempfile::TempDir;

use super::*;

const CHAT_JSON: &str = r#"[
 {"batch_number": 1, "time_anchor": "March-15-2026", "turns": [
  [{"role": "user", "id": 0, "time_anchor": "March-15-2026", "content": "Use a -> b ->-> c here. ->-> 1,1"},
   {"role": "assistant", "id": 1, "content": "Noted. ->-> 1,1"}],
  [{"role": "user", "id": 2, "time_anchor": "March-16-2026", "content": "Port ->-> left"}]]},
 {"batch_number": 2, "time_anchor": "April-02-2026", "turns": [
  [{"role": "user", "id": 3, "content": "I moved. ->-> 2,1"}]]}
]"#;

const QUESTIONS_JSON: &str = r#"{
 "abstention": [{"question": "a", "ideal_response": "Never said."}],
 "event_ordering": [{"question": "b", "answer": ["one", "two"], "source_chat_ids": [3, 0, 3]}],
 "knowledge_update": [
  {"question": "c", "answer": "Oban", "source_chat_ids": {"original": [0], "updated": [3, 99]}},
  {"question": "d", "answer": "Oban", "source_chat_ids": [99]}]
}"#;

/// A folder with these chats.
fn folder(chats: &[&str]) -> TempDir {
    let base = TempDir::new().unwrap();
    for chat in chats {
        let questions = base.path().join(chat).join("probing_questions");
        fs::create_dir_all(&questions).unwrap();
        fs::write(base.path().join(chat).join(CHAT), CHAT_JSON).unwrap();
        fs::write(questions.join("probing_questions.json"), QUESTIONS_JSON).unwrap();
    }
    base
}

#[test]
fn chats_are_found_at_any_level_in_the_order_of_their_numbers() {
    let base = folder(&["chats/100K/10", "chats/100K/2"]);
    let dataset = load_beam(base.path()).unwrap();
    let ids: Vec<_> = dataset.conversations.iter().map(|c| &*c.id).collect();
    assert_eq!(ids, ["chats/100K/2", "chats/100K/10"]);
}

#[test]
fn turns_keep_their_roles_and_days_and_lose_the_plans_index() {
    let base = folder(&["1"]);
    let dataset = load_beam(base.path()).unwrap();
    let turns = |n: usize| &dataset.conversations[0].sessions[n].turns;
    let turn = |speaker, day: i64, text: &str| BenchmarkTurn {
        speaker,
        at: Timestamp(day * 86_400_000),
        text: text.to_owned(),
    };
    let first = [
        turn(BenchmarkSpeaker::Person, 20_527, "Use a -> b ->-> c here."),
        turn(BenchmarkSpeaker::Assistant, 20_527, "Noted. ->-> 1,1"),
        turn(BenchmarkSpeaker::Person, 20_528, "Port ->-> left"),
    ];
    assert_eq!(*turns(0), first);
    assert_eq!(
        *turns(1),
        [turn(BenchmarkSpeaker::Person, 20_545, "I moved.")]
    );
}

#[test]
fn evidence_is_a_list_or_a_map_of_lists() {
    let base = folder(&["1"]);
    let dataset = load_beam(base.path()).unwrap();
    let shown: Vec<(&str, &str, Vec<&str>, Counting)> = dataset.conversations[0]
        .questions
        .iter()
        .map(|question| {
            let labels = question.evidence.iter().map(|piece| &*piece.label);
            let (text, answer) = (&*question.text, &*question.answer);
            (text, answer, labels.collect(), question.counting)
        })
        .collect();
    let expected = [
        ("a", "Never said.", vec![], Counting::Abstain),
        ("b", "one; two", vec!["0", "3"], Counting::Counted),
        ("c", "Oban", vec!["0", "3"], Counting::Counted),
    ];
    assert_eq!(shown, expected);
    let left_out = dataset.left_out.iter();
    let left_out: Vec<_> = left_out
        .map(|l| (&*l.question, l.evidence.as_deref()))
        .collect();
    let expected = [
        ("knowledge_update-1", Some("99")),
        ("knowledge_update-2", Some("99")),
        ("knowledge_update-2", None),
    ];
    assert_eq!(left_out, expected);
}

#[test]
fn a_damaged_or_missing_file_is_named() {
    let base = folder(&["1"]);
    let chat = base.path().join("1").join(CHAT);
    fs::write(&chat, CHAT_JSON.replace("March-16-2026", "16.3.")).unwrap();
    let message = load_beam(base.path()).unwrap_err().to_string();
    let expected = "1/chat.json is no BEAM file that can be read: batch 1: time_anchor `16.3.` is no date \
                    such as `March-15-2026`";
    assert!(message.ends_with(expected), "{message}");
    fs::write(&chat, CHAT_JSON).unwrap();
    fs::remove_dir_all(base.path().join("1/probing_questions")).unwrap();
    let message = load_beam(base.path()).unwrap_err().to_string();
    assert!(
        message.ends_with("1/probing_questions/probing_questions.json"),
        "{message}"
    );
    let empty = TempDir::new().unwrap();
    let message = load_beam(empty.path()).unwrap_err().to_string();
    assert!(
        message.contains("holds no question (format: BEAM); name a folder"),
        "{message}"
    );
}
