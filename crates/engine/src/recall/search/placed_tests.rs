//! Answers that are placed before others with a higher score.

use daybook_domain::index::MemoryLayer;
use daybook_testkit::fixtures::project_scope;

use super::RecallQuestion;
use super::tests::{Memory, question};
use crate::consolidate::{FAILED, LEFT_OFF, VALUES};

#[test]
fn a_value_answers_before_talk_that_names_its_words_more_often() {
    let memory = Memory::of(&[
        "which Go version did we use to build the version command, and does the version command print the version?",
        "The Go build sets the version of the version command; the test compares it with the version in go.sum.",
    ]);
    let line = "go version in mise.toml: **1.25.6**";
    memory.write_below(&project_scope("kite"), ("MEMORY.md", VALUES), line);
    assert_eq!(
        memory.texts(&question("which Go version do we use?"))[0],
        line
    );
    // It is no answer to what it does not name.
    let texts = memory.texts(&question("which version does the Go test compare?"));
    assert_ne!(texts[0], line);
}

#[test]
fn a_value_that_names_every_word_answers_before_much_talk() {
    let talk: Vec<String> = (0..30)
        .map(|n| format!("The version command of build {n} prints the version that go build sets."))
        .collect();
    let memory = Memory::of(&talk.iter().map(String::as_str).collect::<Vec<_>>());
    let line = "go version in mise.toml: **1.25.6**";
    let other = "node version in .nvmrc: **22**";
    let place = ("MEMORY.md", VALUES);
    memory.write_below(&project_scope("kite"), place, line);
    memory.write_below(&project_scope("boat"), place, other);
    for (asked, expected) in [
        ("which go version are we on?", line),
        ("what node version are we using?", other),
    ] {
        assert_eq!(memory.texts(&question(asked))[0], expected, "{asked}");
    }
    let texts = memory.texts(&question("which rust version are we on?"));
    assert!(talk.contains(&texts[0]), "{}", texts[0]);
}

#[test]
fn where_work_stands_is_answered_by_the_line_that_tells_it() {
    let memory = Memory::of(&[
        "so where was I on kite-42, the retry budget? I have lost track of where I was",
        "The retry budget of kite-42 counts dropped lines.",
    ]);
    let line = "kite-42-retry-budget · 3 March · open: are dropped lines counted?";
    let place = ("branches.md", "kite-42-retry-budget");
    memory.write_below(&project_scope("kite"), place, line);
    assert_eq!(memory.texts(&question("where was I on kite-42?"))[0], line);
    assert_ne!(
        memory.texts(&question("what counts dropped lines on kite-42?"))[0],
        line
    );
}

#[test]
fn the_latest_line_of_where_work_stands_answers_before_much_talk() {
    let talk: Vec<String> = (0..30)
        .map(|n| format!("the git hooks: all git hooks of hook number {n} are verified"))
        .collect();
    let memory = Memory::of(&talk.iter().map(String::as_str).collect::<Vec<_>>());
    let of_branch = "ada/phase-aware-git-hooks · 8 Feb · \"lint failures\" [0001:L1]";
    let place = ("branches.md", "ada/phase-aware-git-hooks");
    memory.write_below(&project_scope("kite"), place, of_branch);
    let line = "ada/better-git-hook-handling · 11 Feb · open: was this a stale comment? [0002:L1]";
    let place = ("MEMORY.md", LEFT_OFF);
    memory.write_below(&project_scope("kite"), place, line);
    for limit in [1, 20] {
        let asked = RecallQuestion {
            limit,
            ..question("where were we with git hooks?")
        };
        assert_eq!(memory.texts(&asked)[0], line);
    }
    // Where files alone or messages alone are asked, the others are left out.
    let of_layers = |layers: Vec<MemoryLayer>| RecallQuestion {
        layers,
        ..question("where were we with git hooks?")
    };
    let of_files = memory.texts(&of_layers(vec![MemoryLayer::Entry]));
    assert!([line, of_branch].contains(&&*of_files[0]), "{of_files:?}");
    let messages = memory.texts(&of_layers(vec![MemoryLayer::Event]));
    assert!(messages.iter().all(|text| talk.contains(text)));
    // It is no answer to what it does not name.
    let texts = memory.texts(&question("where were we with the importer's cache?"));
    assert_ne!(texts.first().map(String::as_str), Some(line));
}

#[test]
fn a_rule_that_leaves_out_the_verb_answers_before_much_talk() {
    let mut talk: Vec<String> = (0..30)
        .map(|n| format!("Let me use a subagent. Using subagent {n}."))
        .collect();
    talk.push("The importer reads the table.".to_owned());
    let memory = Memory::of(&talk.iter().map(String::as_str).collect::<Vec<_>>());
    let line = "\"prefer subagents to save on the main context\" [0001:L1]";
    let place = ("MEMORY.md", "What ada insisted on");
    memory.write_below(&project_scope("kite"), place, line);
    let other = "subagents read the transcripts of their parents [0001:L2]";
    let place = ("INDEX.md", "Facts that ada stated");
    memory.write_below(&project_scope("kite"), place, other);
    assert_eq!(memory.texts(&question("should I use subagents?"))[0], line);
    // It does not say what is asked here.
    let texts = memory.texts(&question("should I use the importer?"));
    assert_ne!(texts[0], line);
}

#[test]
fn a_question_why_is_answered_by_the_trap_that_tells_the_cause() {
    let memory = Memory::of(&[
        "why is the kite import so slow? please find out why the kite import is slow",
        "I'll find out why the kite import is slow, because you asked why the kite import is slow.",
    ]);
    let line = "The kite import was so slow since it opened the table for each line. [0001:L1]";
    let place = ("MEMORY.md", FAILED);
    memory.write_below(&project_scope("kite"), place, line);
    let why = "why was the kite import slow?";
    assert_eq!(memory.texts(&question(why))[0], line);
    // A question for something else is answered as before.
    let texts = memory.texts(&question("who asked for the kite import?"));
    assert_ne!(texts[0], line);
}

#[test]
fn whether_work_is_finished_is_answered_by_where_it_stands() {
    let memory = Memory::of(&[
        "is the rigging finished? the rigging branch must be finished and merged today",
        "The rigging branch is not finished: rigging needs more rope.",
    ]);
    let line = "ada/rigging · 3 March · success · 2 commits, pushed [0001:L1]";
    let place = ("branches.md", "ada/rigging");
    memory.write_below(&project_scope("kite"), place, line);
    for asked in [
        "is the rigging branch finished?",
        "did we merge the rigging?",
    ] {
        assert_eq!(memory.texts(&question(asked))[0], line);
    }
    let texts = memory.texts(&question("what does the rigging need?"));
    assert_ne!(texts[0], line);
}

#[test]
fn a_rule_is_not_of_what_stands_in_brackets_behind_it() {
    let memory =
        Memory::of(&["The kite box holds ropes: forty ropes in the box of the kite, no more."]);
    let line =
        "\"never push without asking me\" (refused `git push origin kite-box-rope`) [0001:L1]";
    let place = ("MEMORY.md", "What ada insisted on");
    memory.write_below(&project_scope("kite"), place, line);
    let texts = memory.texts(&question("how many ropes does the kite box hold?"));
    assert_ne!(texts[0], line);
    assert_eq!(memory.texts(&question("may I push?"))[0], line);
}

#[test]
fn of_branches_the_one_that_is_called_so_tells_where_work_stands() {
    let memory = Memory::of(&["did we push the kite tail?", "The kite tail is not pushed."]);
    let older = "ada/kite-tail · 2 March · success · 2 commits, not pushed [0001:L1]";
    memory.write_below(
        &project_scope("kite"),
        ("branches.md", "ada/kite-tail"),
        older,
    );
    let newer = "ada/bridle · 9 March · \"where were we with the kite tail?\" [0002:L1]";
    memory.write_below(&project_scope("kite"), ("MEMORY.md", LEFT_OFF), newer);
    assert_eq!(
        memory.texts(&question("did we push the kite tail?"))[0],
        older
    );
}

#[test]
fn a_trap_that_names_all_answers_before_much_talk() {
    let talk: Vec<String> = (0..30)
        .map(|n| format!("the bug with the bridle, and no one knows why {n}"))
        .collect();
    let memory = Memory::of(&talk.iter().map(String::as_str).collect::<Vec<_>>());
    let line = "The root cause: the bridle was measured while wet. [0001:L1]";
    memory.write_below(&project_scope("kite"), ("MEMORY.md", FAILED), line);
    assert_eq!(
        memory.texts(&question("what was the bug with the bridle?"))[0],
        line
    );
}
