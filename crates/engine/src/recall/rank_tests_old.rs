use std::collections::HashSet;

use proptest::prelude::*;

use super::super::tokens::for_each_indexed_token;
use super::super::tokens::tests::unruly;
use super::*;

/// What is remembered of an invented project: a log shipper.
const KITE: &[(&str, &str)] = &[
    (
        "left-off",
        "Left off on kite-42-retry-budget (3 March): two commits, one pushed; open: are dropped lines counted?",
    ),
    (
        "rotation",
        "The reader skips rotated files instead of failing: rotation renames a file while it is being read.",
    ),
    (
        "batch",
        "The batch limit is 500 lines; it was 100, then 250.",
    ),
    (
        "tenant",
        "The tenant that sent a line is known from the listener's port, never guessed from the line.",
    ),
    (
        "hashing",
        "Hashing host names was tried and reverted: it hid the symptom, and nobody could read the table.",
    ),
    (
        "spool",
        "One spool per destination since May; numbered spools are gone.",
    ),
    (
        "flush",
        "Flushing is decided when the shutdown signal arrives, before sockets close: afterwards nothing can be sent.",
    ),
    (
        "KITE-77",
        "KITE-77 moves both retry loops into one crate, to end the duplication.",
    ),
    (
        "stderr",
        "The service manager swallows stderr: trace output goes to a file, otherwise it is missing.",
    ),
    ("commits", "One commit per idea; pushing only when told to."),
    (
        "tests",
        "Every new behaviour comes with a test that is written first.",
    ),
    (
        "parser",
        "getFieldOffsets() caches the header row; call reset_offsets after a reload.",
    ),
];

/// Texts with ids, and what a store would know of them.
struct Store<'a> {
    candidates: Vec<Candidate<'a>>,
    frequency: HashMap<String, u64>,
    average_length: f64,
}

impl<'a> Store<'a> {
    fn of(texts: &[(&'a str, &'a str)]) -> Self {
        let candidate = |(time, (id, text)): (i64, &(&'a str, &'a str))| Candidate {
            id,
            text,
            context: None,
            title: None,
            layer: LayerWeight::BEST,
            time,
        };
        Self::with((0..).zip(texts).map(candidate).collect())
    }

    fn with(candidates: Vec<Candidate<'a>>) -> Self {
        let mut frequency = HashMap::new();
        let mut tokens = 0;
        for candidate in &candidates {
            let mut terms = HashSet::new();
            let fields = [Some(candidate.text), candidate.context, candidate.title];
            for field in fields.into_iter().flatten() {
                for_each_indexed_token(field, |token| {
                    tokens += 1;
                    terms.insert(token.text.to_owned());
                });
            }
            for term in terms {
                *frequency.entry(term).or_insert(0) += 1;
            }
        }
        let average_length = f64::from(tokens) / candidates.len().max(1) as f64;
        Self {
            candidates,
            frequency,
            average_length,
        }
    }

    fn ask(&self, question: &str) -> Vec<(&'a str, f64)> {
        let corpus = Corpus {
            total: self.candidates.len() as u64,
            average_length: self.average_length,
            document_frequency: &self.frequency,
        };
        let ranked = rank(&Query::parse(question), &corpus, &self.candidates);
        ranked
            .iter()
            .map(|ranked| (self.candidates[ranked.candidate].id, ranked.score))
            .collect()
    }

    fn ids(&self, question: &str) -> Vec<&'a str> {
        self.ask(question).into_iter().map(|(id, _)| id).collect()
    }
}

#[track_caller]
fn first(question: &str, expected: &str) {
    let found = Store::of(KITE).ids(question);
    assert_eq!(found.first(), Some(&expected), "{question} found {found:?}");
}

#[track_caller]
fn nothing(texts: &[(&str, &str)], question: &str) {
    assert_eq!(Store::of(texts).ask(question), [], "{question}");
}

#[test]
fn a_question_finds_the_memory_that_answers_it() {
    first("where was I on kite-42?", "left-off");
    first(
        "why does the reader skip rotated files instead of failing?",
        "rotation",
    );
    first("what is the limit for batches?", "batch");
    first("how do we know which tenant sent a line?", "tenant");
    first("why not hash the host names?", "hashing");
    first("do we still use numbered spools?", "spool");
    first("why decide about flushing at the shutdown signal?", "flush");
    first("what is KITE-77?", "KITE-77");
    first("why is my trace output missing?", "stderr");
    first("get field offsets", "parser");
    first("getfieldoffsets", "parser");
    first("resetOffsets", "parser");
}

#[test]
fn what_was_never_discussed_finds_nothing() {
    for question in [
        "which database do we use?",
        "who told us to use redis?",
        "what is KITE-99?",
        "what is the vacation policy?",
        "when is Maria's birthday?",
        "how is the cluster deployed to production?",
        "setTenantQuota",
        "我们用哪个数据库？",
    ] {
        nothing(KITE, question);
    }
}

#[test]
fn five_memories_are_enough_to_tell_known_from_unknown() {
    let few = &KITE[..5];
    assert_eq!(Store::of(few).ids("what is the batch limit?"), ["batch"]);
    assert_eq!(Store::of(&KITE[2..3]).ids("batch limit"), ["batch"]);
    nothing(few, "which database do we use?");
    nothing(few, "do we read from a queue?");
    nothing(&[], "anything");
    nothing(few, "");
}

#[test]
fn a_word_of_every_text_still_finds_them() {
    let texts = [
        ("a", "the spool is full"),
        ("b", "the spool is empty"),
        ("c", "a spool, a spool"),
    ];
    assert_eq!(Store::of(&texts).ids("spool"), ["c", "b", "a"]);
}

#[test]
fn a_name_counts_more_than_its_parts() {
    let texts = [
        ("scattered", "the offsets of every field: get them again"),
        ("gathered", "how to get field offsets quickly here"),
        ("whole", "calls getFieldOffsets on every reload"),
        ("other", "the weather was fine at the sea"),
    ];
    assert_eq!(
        Store::of(&texts).ids("getFieldOffsets"),
        ["whole", "gathered", "scattered"]
    );
}

#[test]
fn a_quotation_must_stand_as_it_is() {
    let texts = [
        ("apart", "the limit of a batch"),
        ("together", "the batch limit"),
        ("in", "BatchLimit = 5"),
    ];
    assert_eq!(Store::of(&texts).ids("\"batch limit\""), ["together", "in"]);
    assert_eq!(Store::of(&texts).ids("batch limit").len(), 3);
}

#[test]
fn having_every_concept_is_better_than_repeating_one() {
    let texts = [
        (
            "one",
            "budget, budget and once more the budget of this year",
        ),
        (
            "both",
            "a retry is tried later, and only then the year's budget counts",
        ),
    ];
    assert_eq!(Store::of(&texts).ids("retry budget"), ["both", "one"]);
}

#[test]
fn concepts_side_by_side_come_first() {
    let texts = [
        (
            "apart",
            "retry of uploads, and much later in this text a budget for the whole year",
        ),
        (
            "near",
            "retry budget of uploads, and much later in this text for the whole year",
        ),
    ];
    assert_eq!(Store::of(&texts).ids("retry budget"), ["near", "apart"]);
}

#[test]
fn equal_texts_are_ordered_by_layer_then_time_then_id() {
    let text = "the batch limit is 500";
    let candidate = |id, layer, time| Candidate {
        id,
        text,
        context: None,
        title: None,
        layer,
        time,
    };
    let raw = LayerWeight::percent(80);
    let store = Store::with(vec![
        candidate("raw", raw, 9),
        candidate("older", LayerWeight::BEST, 1),
        candidate("newer-b", LayerWeight::BEST, 2),
        candidate("newer-a", LayerWeight::BEST, 2),
    ]);
    assert_eq!(
        store.ids("batch limit"),
        ["newer-a", "newer-b", "older", "raw"]
    );
}

#[test]
fn title_and_context_are_searched_too() {
    let candidate = |id, text, context, title| Candidate {
        id,
        text,
        context,
        title,
        layer: LayerWeight::BEST,
        time: 0,
    };
    let store = Store::with(vec![
        candidate("context", "it is 500", Some("about the batch limit"), None),
        candidate("title", "it is 500", None, Some("batch limit")),
        candidate("none", "it is 500", None, None),
    ]);
    assert_eq!(store.ids("batch limit"), ["title", "context"]);
}

#[test]
fn questions_in_other_scripts_find_their_answer() {
    let texts = [
        ("zh", "我们的数据库是 PostgreSQL，不用 MySQL。"),
        ("zh-other", "前端使用的是浏览器缓存。"),
        ("ja", "猫の名前はミケです。"),
        ("ja-other", "明日は東京へ行きます。"),
        ("ko", "데이터베이스는 하나만 있습니다"),
        ("ru", "Кошку зовут Мурка"),
        ("th", "ฐานข้อมูลของเราคือ PostgreSQL"),
        ("fr", "Le café ferme à midi"),
    ];
    for (question, answer) in [
        ("我们用哪个数据库？", "zh"),
        ("猫の名前は何ですか", "ja"),
        ("데이터베이스를 어디에", "ko"),
        ("кошку", "ru"),
        ("ฐานข้อมูลอะไร", "th"),
        ("cafe", "fr"),
    ] {
        assert_eq!(
            Store::of(&texts).ids(question).first(),
            Some(&answer),
            "{question}"
        );
    }
    nothing(&texts, "我们用哪个浏览引擎？");
}

proptest! {
    #[test]
    fn a_text_finds_itself_among_others(text in unruly(), others in prop::collection::vec(unruly(), 0..4)) {
        let mut texts = vec![("it", text.as_str())];
        texts.extend(others.iter().map(|other| ("other", other.as_str())));
        let is_quoting = text.contains(['"', '“', '«', '「', '『', '＂']);
        if !is_quoting && !Query::parse(&text).is_empty() {
            prop_assert!(Store::of(&texts).ids(&text).contains(&"it"));
        }
    }

    #[test]
    fn the_order_does_not_depend_on_how_candidates_arrive(
        question in "[a-c]{1,2}( [a-d]{1,2}){0,3}",
        texts in prop::collection::vec("[a-d]{1,2}( [a-d]{1,2}){0,9}", 1..12),
    ) {
        let ids: Vec<String> = (0..texts.len()).map(|at| at.to_string()).collect();
        let pairs: Vec<_> = ids.iter().zip(&texts).map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let mut store = Store::of(&pairs);
        let forwards = store.ask(&question);
        store.candidates.reverse();
        prop_assert_eq!(&store.ask(&question), &forwards);
        prop_assert!(forwards.iter().all(|(_, score)| (0.0..1.0).contains(score)));
    }
}
