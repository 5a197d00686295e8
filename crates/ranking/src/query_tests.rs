use proptest::prelude::*;

use super::*;
use daybook_testkit::fixtures::unruly_text;
use daybook_text::tokens::index_text;

/// Compares a question's concepts, written `whole(part part)`, `(pair pair)` for a run without a
/// whole, `~` before a light one, and its phrases in quotation marks.
#[track_caller]
fn check(question: &str, expected: &str) {
    let query = Query::parse(question);
    let text = |term: &TermIx| query.term(*term);
    let mut shown: Vec<String> = query
        .concepts()
        .iter()
        .map(|concept| {
            let parts: Vec<&str> = concept.parts.iter().map(text).collect();
            let light = if concept.is_light { "~" } else { "" };
            let whole = concept.whole.as_ref().map_or("", text);
            let parts = if parts.is_empty() {
                String::new()
            } else {
                format!("({})", parts.join(" "))
            };
            format!("{light}{whole}{parts}")
        })
        .collect();
    for phrase in query.phrases() {
        let words: Vec<&str> = phrase.terms.iter().map(|(term, _)| text(term)).collect();
        shown.push(format!("\"{}\"", words.join(" ")));
    }
    assert_eq!(shown.join(" "), expected, "concepts of {question:?}");
}

#[test]
fn a_question_is_what_it_is_about() {
    check(
        "Why does the reader skip rotated files?",
        "reader skip rotat file",
    );
    check("which database do we use?", "databas ~use");
    check("What's Ann's job?", "ann job");
    check("", "");
    check("?!", "");
}

#[test]
fn an_everyday_word_with_a_capital_is_a_name() {
    check("which Go version do we use?", "go version ~use");
    check("Go on, which version do we use?", "~go version ~use");
    check("Find The Best Version", "~find ~best version");
}

#[test]
fn a_question_of_stop_words_asks_for_them() {
    check("who are you", "who are you");
    check("何ですか", "~何 (です すか)");
}

#[test]
fn a_word_asked_twice_is_one_concept() {
    check("branch, branches, Branch", "branch");
    check("getField, getfield, get_field", "getfield(get field)");
}

#[test]
fn a_name_and_its_parts_are_one_concept() {
    check("what is ENT-129?", "ent129(ent 129)");
    check("state-of-the-art", "stateoftheart(state art)");
    check("cmd/cli/explain.go", "cmdcliexplaingo(cmd cli explain go)");
}

#[test]
fn function_words_of_scripts_without_spaces_are_left_out() {
    check("我们用哪个数据库？", "~用 (数据 据库)");
    check("猫の名前は何ですか", "~猫 (名前)");
    check("데이터를 어떻게", "데이터를(데이 이터 터를)");
    check("ทำไมภาษา", "(ภา าษ ษา)");
}

#[test]
fn a_quotation_is_required_word_by_word() {
    check(
        "what is the \"shadow branch\" limit",
        "shadow branch limit \"shadow branch\"",
    );
    check("“to be or not”", "to be or not \"to be or not\"");
    check("5\" pipe", "5 pipe");
    check(
        "\"one two three four five six seven eight nine\"",
        "~one ~two ~three four five six seven eight nine",
    );
}

#[test]
fn a_pasted_page_keeps_its_most_telling_words() {
    let page: String = ('a'..='z').map(|c| format!("{c}{c} ")).collect();
    let query = Query::parse(&format!("{page} retry_budget \"spool file\" configuration"));
    assert_eq!(query.terms().len(), QUERY_TERMS);
    for term in ["retrybudget", "spool", "configur"] {
        assert!(query.terms().iter().any(|known| known == term), "{term}");
    }
}

proptest! {
    #[test]
    fn a_text_has_every_term_of_itself(text in unruly_text()) {
        let tokens = index_text(&text);
        let query = Query::parse(&text);
        for term in query.terms() {
            prop_assert!(tokens.split(' ').any(|token| token == term), "{} in {}", term, tokens);
        }
    }

    #[test]
    fn a_question_is_bounded_and_has_every_term_once(text in unruly_text()) {
        let query = Query::parse(&text);
        let mut terms = query.terms().to_vec();
        prop_assert!(terms.len() <= QUERY_TERMS);
        terms.sort();
        terms.dedup();
        prop_assert_eq!(terms.len(), query.terms().len());
    }
}

#[test]
fn fuzz_question() {
    let seeds = [
        "why does \"explain skip\" commits of main",
        "NEAR(a b) AND -c* OR \"d\" col:e ^f; DROP TABLE x --",
        "日本語の質問は何ですか",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        daybook_testkit::mutation::parse_mutated_text(&seeds, script, |question| {
            let query = Query::parse(question);
            assert!(query.terms().len() <= QUERY_TERMS, "{question}");
        });
    });
}
