use daybook_testkit::FakeEmbedder;
use proptest::prelude::*;

use super::*;
use daybook_domain::seams::Embedder;
use daybook_testkit::fixtures::unruly_text;
use daybook_text::tokens::outlined_text;

const TURN: LengthNorm = LengthNorm {
    average: 40.0,
    b: 0.75,
};

/// Runs `check` on a question in a corpus of 100 texts, 10 of which contain each of its terms.
fn with_query<T>(question: &str, check: impl FnOnce(&LexicalQuery<'_>) -> T) -> T {
    with_akin_words(question, None, check)
}

fn with_akin_words<T>(
    question: &str,
    embedder: Option<&dyn Embedder>,
    check: impl FnOnce(&LexicalQuery<'_>) -> T,
) -> T {
    let query = Query::parse(question);
    let frequencies = query.terms().iter().map(|term| (term.clone(), 10));
    let weights = QueryWeights::of(&query, 100, &frequencies.collect());
    let lexical = LexicalQuery::new(&query, &weights);
    match embedder {
        Some(embedder) => check(&lexical.with_akin(AkinWords::of(&query, embedder))),
        None => check(&lexical),
    }
}

fn stats(lexical: &LexicalQuery<'_>, text: &str) -> TextStats {
    lexical.text_stats(&Terms::of(&outlined_text(text)))
}

/// How well texts answer a question, each measured as a message.
fn scores<const N: usize>(question: &str, texts: [&str; N]) -> [f64; N] {
    with_query(question, |lexical| {
        texts.map(|text| lexical.score(&stats(lexical, text).whole, TURN))
    })
}

fn shares<const N: usize>(question: &str, texts: [&str; N]) -> [f64; N] {
    with_query(question, |lexical| {
        texts.map(|text| lexical.share(&stats(lexical, text).whole, |_| false))
    })
}

fn akin<const N: usize>(question: &str, groups: &[&str], texts: [&str; N]) -> [f64; N] {
    let embedder = FakeEmbedder::new("ada/small@1", groups);
    with_akin_words(question, Some(&embedder), |lexical| {
        texts.map(|text| stats(lexical, text).akin)
    })
}

#[test]
fn repeating_a_word_counts_and_length_is_held_against_a_text() {
    let long = format!("the spool {}", "pebble ".repeat(100));
    let [once, twice, long, none] = scores(
        "spool",
        ["the spool is full", "a spool, a spool", &long, "the sea"],
    );
    assert!(twice > once && once > long && long > 0.0);
    assert!(none.abs() < f64::EPSILON && twice < 1.0);
}

#[test]
fn a_name_counts_more_than_its_parts() {
    let [whole, parts, part] = scores(
        "getFieldOffsets",
        [
            "calls getFieldOffsets",
            "the field offsets we get",
            "calls every offset now",
        ],
    );
    assert!(
        whole > parts && parts > part && part > 0.0,
        "{whole} {parts} {part}"
    );
}

#[test]
fn the_share_is_whole_where_everything_stands() {
    let [all, half, none] = shares("retry budget", ["budget of a retry", "budget", "the sea"]);
    assert!((all - 1.0).abs() < 1e-12);
    assert!((half - 0.5).abs() < 1e-12);
    assert!(none.abs() < f64::EPSILON);
}

#[test]
fn a_concept_can_be_left_out_of_the_share() {
    let share = |text: &str| {
        with_query("Ada harbour", |lexical| {
            let is_ada = |concept: &_| lexical.is_term(concept, Terms::of_token("ada"));
            lexical.share(&stats(lexical, text).whole, is_ada)
        })
    };
    assert!((share("the harbour") - 1.0).abs() < 1e-12);
    assert!(share("Ada").abs() < f64::EPSILON);
    let all = with_query("Ada", |lexical| {
        lexical.share(&stats(lexical, "Ada").whole, |_| true)
    });
    assert!(all.abs() < f64::EPSILON, "nothing is left to share");
}

#[test]
fn a_text_of_one_passage_has_no_others() {
    let sentence = "Ten words make this sentence of mine and no more. ";
    with_query("sentence words", |lexical| {
        assert!(stats(lexical, sentence).passages.is_empty());
        let long = stats(lexical, &sentence.repeat(9));
        assert_eq!(long.passages.len(), 3);
        let mut sum = QueryTermCounts::default();
        for passage in &long.passages {
            sum += passage.counts;
        }
        assert_eq!(sum, long.whole);
        assert_eq!(long.whole.length(), 90);
    });
}

#[test]
fn the_name_of_the_speaker_is_found_but_is_no_passage() {
    with_query("Ada harbour", |lexical| {
        let stats = self::stats(lexical, "Ada: the harbour is wide");
        assert_eq!(stats.speaker, Some(Terms::of_token("ada")));
        assert!(stats.passages.is_empty());
        assert_eq!(stats.whole.length(), 5);
        assert!((lexical.share(&stats.whole, |_| false) - 1.0).abs() < 1e-12);
        assert!(lexical.contains_term(Terms::of_token("ada")));
    });
}

#[test]
fn what_is_always_to_be_done_is_an_instruction() {
    with_query("harbour", |lexical| {
        assert!(stats(lexical, "Always ask the pilot first.").is_instruction);
        assert!(!stats(lexical, "The pilot was lexical.").is_instruction);
    });
}

#[test]
fn akin_words_count_where_the_word_itself_is_missing() {
    let groups = ["boat ship vessel", "wind gale"];
    let texts = ["a ship", "a boat and a ship", "a gale", "a stone"];
    let [other, itself, unasked, none] = akin("boat", &groups, texts);
    assert!(other > 0.0);
    assert_eq!((itself, unasked, none), (0.0, 0.0, 0.0));
    let long = format!("a ship {}", "pebble ".repeat(200));
    let [short, long] = akin("boat", &groups, ["a ship", &long]);
    assert!(short > 2.0 * long && long > 0.0);
}

#[test]
fn light_words_numbers_and_names_have_hardly_any_akin() {
    let groups = [
        "use apply",
        "boat ship",
        "kite42 ship2",
        "getfield fetchfield",
        "8080 9090",
    ];
    let [light, heavy] = akin("use boat", &groups, ["apply", "ship"]);
    assert!(heavy > light && light > 0.0, "{heavy} {light}");
    let texts = ["ship2", "fetchfield", "9090"];
    for (question, text) in ["kite42", "getField", "8080"].into_iter().zip(texts) {
        assert_eq!(akin(question, &groups, [text]), [0.0], "{question}");
    }
}

#[test]
fn words_further_than_the_floor_are_not_akin() {
    struct Far;

    #[async_trait::async_trait]
    impl Embedder for Far {
        fn id(&self) -> &'static str {
            "ada/far@1"
        }
        fn is_instant(&self) -> bool {
            true
        }
        fn near(&self, _: &str, floor: f32) -> Vec<(String, f32)> {
            assert!(floor > 0.0, "everything is nearer than nothing");
            vec![("two words".to_owned(), 0.9), (String::new(), 0.9)]
        }
        async fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, String> {
            Ok(Vec::new())
        }
    }

    let far = with_akin_words("boat", Some(&Far), |lexical| {
        stats(lexical, "two words").akin
    });
    assert!(far.abs() < f64::EPSILON, "only single words are akin");
}

proptest! {
    #[test]
    fn shares_and_scores_lie_between_nothing_and_all(question in unruly_text(), text in unruly_text()) {
        with_query(&question, |lexical| {
            let stats = self::stats(lexical, &text);
            let share = lexical.share(&stats.whole, |_| false);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&share), "{}", share);
            if !lexical.query().is_empty() {
                let score = lexical.score(&stats.whole, TURN);
                prop_assert!((0.0..1.0).contains(&score), "{}", score);
                prop_assert!((share > 0.0) == (score > 0.0));
            }
            Ok(())
        })?;
    }
}
