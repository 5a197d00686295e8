use std::collections::{HashMap, HashSet};

use daybook_domain::index::Terms;
use daybook_domain::{EventSeq, Timestamp};
use daybook_testkit::FakeEmbedder;
use proptest::prelude::*;

use super::*;
use crate::akin::AkinWords;
use crate::query::Query;
use crate::relevance::QueryWeights;
use daybook_text::tokens::outlined_text;

/// The outline of a person's message in a session.
fn said(session: i64, seq: u64, text: &str) -> DocumentOutline {
    said_by(Origin::Human, session, seq, text)
}

fn said_by(origin: Origin, session: i64, seq: u64, text: &str) -> DocumentOutline {
    DocumentOutline {
        doc: DocumentNo::event(session, EventSeq(seq), origin),
        origin: Some(origin),
        at: Timestamp::ZERO,
        terms: Terms::of(&outlined_text(text)),
        vectors: [].into(),
    }
}

fn digested(doc: DocumentNo, text: &str) -> DocumentOutline {
    DocumentOutline {
        doc,
        origin: None,
        ..said(0, 0, text)
    }
}

fn with_vectors(outline: DocumentOutline, vectors: &[i8]) -> DocumentOutline {
    DocumentOutline {
        vectors: vectors.into(),
        ..outline
    }
}

/// Words that no question contains.
fn filler(words: usize) -> String {
    "pebble ".repeat(words)
}

/// Scores texts like a search that has fetched all of them.
fn scored(question: &str, outlines: Vec<DocumentOutline>) -> Vec<RecallCandidate> {
    scored_with(question, &[], None, outlines)
}

fn scored_with(
    question: &str,
    vector: &[i8],
    embedder: Option<&FakeEmbedder>,
    mut outlines: Vec<DocumentOutline>,
) -> Vec<RecallCandidate> {
    let query = Query::parse(question);
    let mut frequencies: HashMap<String, u64> = HashMap::new();
    for term in query.terms() {
        let number = Terms::of_token(term);
        let having = outlines.iter().filter(|o| o.terms.0.contains(&number));
        frequencies.insert(term.clone(), having.count() as u64);
    }
    let weights = QueryWeights::of(&query, outlines.len() as u64, &frequencies);
    let lexical = LexicalQuery::new(&query, &weights);
    let ranking = RankingQuery {
        lexical: match embedder {
            Some(embedder) => lexical.with_akin(AkinWords::of(&query, embedder)),
            None => lexical,
        },
        vector: Direction::of(vector),
        dates: &Dates::of(question, Timestamp::ZERO),
        asks_what_holds: false,
    };
    outlines.sort_unstable_by_key(|outline| outline.doc);
    let read = outlines.into_iter();
    let mut candidates: Vec<RecallCandidate> =
        read.map(|o| RecallCandidate::new(&ranking, o)).collect();
    let all: Documents = candidates.iter().map(|c| c.outline.doc).collect();
    score(&ranking, &mut candidates, &all);
    candidates
}

fn at(candidates: &[RecallCandidate], doc: DocumentNo) -> &RecallCandidate {
    let found = candidates.iter().find(|c| c.outline.doc == doc);
    found.expect("the text was scored")
}

/// The score's parts of a person's message in a session.
fn parts(candidates: &[RecallCandidate], session: i64, seq: u64) -> ScoreParts {
    at(
        candidates,
        DocumentNo::event(session, EventSeq(seq), Origin::Human),
    )
    .parts
}

/// The sessions of the texts, best text first; each text has a session of its own.
fn sessions(candidates: &[RecallCandidate]) -> Vec<i64> {
    let mut best: Vec<&RecallCandidate> = candidates.iter().collect();
    best.sort_by(|a, b| b.parts.total().total_cmp(&a.parts.total()));
    best.iter()
        .filter_map(|c| c.outline.doc.session())
        .collect()
}

#[test]
fn a_passage_wins_against_scattered_words() {
    let sentences = |first: &str, last: &str| {
        let between = format!("{}. ", filler(40)).repeat(4);
        format!("{first}. {between}{last}.")
    };
    let scored = scored(
        "retry budget",
        vec![
            said(1, 1, &sentences("A retry", "A budget")),
            said(2, 1, &sentences("The retry has a budget", "So it ends")),
        ],
    );
    assert_eq!(sessions(&scored), [2, 1]);
    assert!(parts(&scored, 2, 1).passage > parts(&scored, 1, 1).passage);
}

#[test]
fn having_every_concept_is_better_than_repeating_one() {
    let scored = scored(
        "retry budget",
        vec![
            said(1, 1, "budget, budget and once more the budget of this year"),
            said(
                2,
                1,
                "a retry is tried later, and only then the year's budget counts",
            ),
        ],
    );
    assert_eq!(sessions(&scored), [2, 1]);
}

#[test]
fn what_is_beside_lifts_a_short_message_and_hardly_a_long_one() {
    let question = "Which port does the harbour server use?";
    let scored = scored(
        "port of the harbour server",
        vec![
            said(1, 1, question),
            said(1, 2, "It is 8080."),
            said(2, 1, question),
            said(2, 2, &filler(600)),
            said(3, 2, "It is 9090."),
        ],
    );
    let lifted = |parts: ScoreParts| parts.neighbours + parts.window;
    let short = lifted(parts(&scored, 1, 2));
    let long = lifted(parts(&scored, 2, 2));
    assert!(short > 5.0 * long, "{short} {long}");
    assert!(long > 0.0);
    let none = lifted(parts(&scored, 3, 2));
    assert!(none.abs() < f64::EPSILON, "{none}");
}

#[test]
fn nothing_is_lifted_across_sessions() {
    let texts = |next: i64| {
        vec![
            said(1, 1, "the harbour server has a port"),
            said(1, 2, "the port of the harbour server again"),
            said(next, 3, "It is 8080."),
        ]
    };
    let inside = scored("port of the harbour server", texts(1));
    let outside = scored("port of the harbour server", texts(2));
    assert!(parts(&inside, 1, 3).neighbours > 0.0);
    assert!(parts(&inside, 1, 3).window > 0.0);
    let apart = parts(&outside, 2, 3);
    assert_eq!((apart.neighbours, apart.window), (0.0, 0.0));
    assert_eq!(at(&outside, said(2, 3, "").doc).window_counts.length(), 3);
}

#[test]
fn a_neighbour_counts_more_than_the_next_but_one_and_none_beyond() {
    let mut texts = vec![said(1, 1, "the harbour")];
    texts.extend((2..=4).map(|seq| said(1, seq, "Quite so.")));
    let scored = scored("harbour", texts);
    let [near, next, beyond] = [2, 3, 4].map(|seq| parts(&scored, 1, seq).neighbours);
    assert!(near > next && next > 0.0, "{near} {next}");
    assert!(beyond < next / 2.0, "{beyond} {next}");
}

#[test]
fn where_tools_worked_in_between_there_are_no_neighbours() {
    let beside = |seq| {
        let texts = vec![said(1, 1, "harbour"), said(1, seq, "Quite so.")];
        parts(&scored("harbour", texts), 1, seq).neighbours
    };
    assert!(beside(2) > 0.0);
    assert!(beside(2 + REACH as u64).abs() < f64::EPSILON);
}

#[test]
fn what_says_something_comes_before_what_hardly_does() {
    let long = format!("harbour {}", filler(100));
    let scored = scored("pilot", vec![said(1, 1, "harbour"), said(2, 1, &long)]);
    assert_eq!(sessions(&scored), [2, 1]);
    let substance = |words| {
        let text = filler(words);
        parts(&self::scored("pilot", vec![said(1, 1, &text)]), 1, 1).substance
    };
    assert!(substance(10) < substance(90));
    assert!((substance(90) - substance(900)).abs() < f64::EPSILON);
}

#[test]
fn what_asks_comes_behind_what_answers() {
    let asks = "Which port has the harbour server, by the way?";
    let answers = "The harbour server has port 8080, by the way.";
    let scored = scored(
        "Which port has the harbour server?",
        vec![said(1, 1, answers), said(2, 1, asks)],
    );
    assert_eq!(sessions(&scored), [1, 2]);
    let open = |text: &str| {
        let texts = vec![said(1, 1, text)];
        parts(&self::scored("harbour", texts), 1, 1).open
    };
    let both = format!("{answers} {asks}");
    assert!(open(asks) < open(&both) && open(&both) < open(answers));
    assert!(open("Now let me look at the harbour server:") < open(answers));
}

#[test]
fn a_part_of_nothing_has_no_sign() {
    let scored = scored("harbour", vec![said(1, 1, "harbour")]);
    let shown = serde_json::to_string(&scored[0].parts).expect("numbers can be shown");
    assert!(!shown.contains("-0"), "{shown}");
}

#[test]
fn what_tools_did_is_nobody_s_neighbour() {
    let scored = scored(
        "harbour",
        vec![
            said_by(Origin::ToolResult, 1, 1, "harbour harbour"),
            said(1, 2, "Quite so."),
            said_by(Origin::ToolCall, 1, 3, "harbour"),
        ],
    );
    let parts = parts(&scored, 1, 2);
    assert_eq!((parts.neighbours, parts.window), (0.0, 0.0));
}

#[test]
fn the_person_who_is_named_is_favoured() {
    let talk = |question: &str| {
        let texts = [
            "Ada: the harbour is wide",
            "Ben: the harbour is deep",
            "Ada: so it is",
            "Ben: it is so",
        ];
        let texts = (1..).zip(texts).map(|(n, text)| said(1, n, text));
        let scored = scored(question, texts.collect());
        [1, 2].map(|seq| parts(&scored, 1, seq).speaker)
    };
    let [ada, ben] = talk("what did Ada say about the harbour?");
    assert!(ada > 0.0 && ben == 0.0, "{ada} {ben}");
    let [ada, ben] = talk("what did Ben say about the harbour?");
    assert!(ben > 0.0 && ada == 0.0, "{ada} {ben}");
    assert_eq!(talk("what did Ada and Ben say?"), [0.0, 0.0]);
    assert_eq!(talk("how wide is the harbour?"), [0.0, 0.0]);
}

#[test]
fn a_name_that_hardly_any_text_begins_with_is_no_speaker() {
    let mut texts = vec![said(1, 1, "Ada: the harbour is wide")];
    texts.extend((2..30).map(|n| said(n, 1, "the harbour is deep")));
    assert!(speakers(&scored("Ada harbour", texts)).is_empty());
}

#[test]
fn what_was_said_in_the_time_asked_for_comes_first() {
    // The 15th of May, June and July 2023.
    let times = [1_684_108_800_000, 1_686_787_200_000, 1_689_379_200_000];
    let texts = (1..).zip(times).map(|(session, at)| DocumentOutline {
        at: Timestamp(at),
        ..said(session, 1, "we sailed out of the harbour")
    });
    let texts: Vec<DocumentOutline> = texts.collect();
    let june = scored("when in June did we sail?", texts.clone());
    assert_eq!(sessions(&june)[0], 2);
    let dated = [1, 2, 3].map(|session| parts(&june, session, 1).dated > 0.0);
    assert_eq!(dated, [false, true, false]);
    let whenever = scored("when did we sail?", texts);
    assert!([1, 2, 3].map(|session| parts(&whenever, session, 1).dated) == [0.0; 3]);
}

#[test]
fn a_session_that_has_more_to_say_comes_first() {
    let far = 10;
    let scored = scored(
        "harbour pilot",
        vec![
            said(1, 1, "the pilot waits"),
            said(2, 1, "the pilot waits"),
            said(2, 1 + far, "a pilot brings ships into the harbour"),
        ],
    );
    let (alone, beside) = (parts(&scored, 1, 1), parts(&scored, 2, 1));
    assert!(beside.session > alone.session);
    assert!(beside.total() > alone.total());
}

#[test]
fn what_has_no_session_is_not_behind_for_it() {
    let entry = DocumentNo::entry(1);
    let scored = scored(
        "harbour pilot",
        vec![
            digested(entry, "the harbour pilot"),
            said(1, 1, "the harbour pilot"),
        ],
    );
    let shared = at(&scored, entry).parts.session;
    assert!(shared > 0.0 && shared >= parts(&scored, 1, 1).session);
}

#[test]
fn the_side_that_says_much_more_counts_less() {
    let sides = |human: usize, agent: usize| {
        let texts = (1..=3).flat_map(|n| {
            let by = |origin, seq, words| said_by(origin, n, seq, &filler(words));
            [
                by(Origin::Human, 1, human),
                by(Origin::Assistant, 20, agent),
            ]
        });
        let scored = scored("harbour", texts.collect());
        let side = |origin| {
            let of = |c: &&RecallCandidate| c.outline.origin == Some(origin);
            scored.iter().find(of).map(|c| c.parts.side)
        };
        [Origin::Human, Origin::Assistant].map(|origin| side(origin).expect("both speak") < 1.0)
    };
    assert_eq!(sides(10, 100), [false, true]);
    assert_eq!(sides(100, 10), [true, false]);
    assert_eq!(sides(40, 50), [false, false]);
    let alone = scored("harbour", vec![said(1, 1, "a"), said(1, 2, &filler(300))]);
    assert!(alone.iter().all(|c| c.parts.side >= 1.0));
}

#[test]
fn the_more_digested_layer_comes_first() {
    let text = "the batch limit is 500";
    let by = |origin, session| said_by(origin, session, 1, text);
    let mut scored = scored(
        "batch limit",
        vec![
            digested(DocumentNo::entry(1), text),
            digested(DocumentNo::observation(1), text),
            by(Origin::Human, 1),
            by(Origin::ToolCall, 2),
            by(Origin::ToolResult, 3),
            by(Origin::Harness, 4),
        ],
    );
    scored.sort_by(|a, b| b.parts.total().total_cmp(&a.parts.total()));
    let order: Vec<_> = scored
        .iter()
        .map(|c| (c.outline.doc.layer(), c.outline.origin))
        .collect();
    assert_eq!(
        order,
        [
            (MemoryLayer::Entry, None),
            (MemoryLayer::Observation, None),
            (MemoryLayer::Event, Some(Origin::Human)),
            (MemoryLayer::Event, Some(Origin::ToolCall)),
            (MemoryLayer::Event, Some(Origin::ToolResult)),
            (MemoryLayer::Event, Some(Origin::Harness)),
        ]
    );
}

#[test]
fn other_words_of_the_same_meaning_count_and_the_word_itself_more() {
    let embedder = FakeEmbedder::new("ada/small@1", &["boat ship vessel", "wind gale"]);
    let texts = vec![
        said(1, 1, "the boat is new"),
        said(2, 1, "the ship is new"),
        said(3, 1, "the gale is new"),
    ];
    let scored = scored_with("where is the boat?", &[], Some(&embedder), texts);
    assert_eq!(sessions(&scored), [1, 2, 3]);
    let akin = [1, 2, 3].map(|session| parts(&scored, session, 1).akin > 0.0);
    assert_eq!(akin, [false, true, false]);
}

#[test]
fn of_equal_words_the_nearer_vector_comes_first() {
    let text = "the harbour";
    let texts = vec![
        with_vectors(said(1, 1, text), &[0, 127]),
        with_vectors(said(2, 1, text), &[127, 0]),
        with_vectors(said(3, 1, text), &[90, 90]),
        said(4, 1, text),
    ];
    let scored = scored_with("harbour", &[127, 0], None, texts);
    assert_eq!(sessions(&scored)[..2], [2, 3]);
    let vectors = [1, 2, 3, 4].map(|session| parts(&scored, session, 1).vector);
    assert!(vectors[1] > vectors[2] && vectors[2] > vectors[0]);
    assert_eq!((vectors[0], vectors[3]), (0.0, 0.0));
}

#[test]
fn one_near_passage_counts_in_a_text_that_is_not() {
    let texts = vec![
        with_vectors(said(1, 1, "x"), &[0, 127]),
        with_vectors(said(2, 1, "x"), &[0, 127, 0, 127, 127, 0]),
    ];
    let scored = scored_with("harbour", &[127, 0], None, texts);
    let [one, several] = [1, 2].map(|session| at(&scored, said(session, 1, "").doc));
    assert!(several.parts.passage_vector > one.parts.passage_vector);
    assert!((several.best_cosine() - 1.0).abs() < 1e-12 && one.best_cosine().abs() < 1e-12);
}

#[test]
fn vectors_around_count_too() {
    let texts = vec![
        with_vectors(said(1, 1, "x"), &[0, 127]),
        with_vectors(said(1, 2, "x"), &[127, 0]),
        with_vectors(said(2, 1, "x"), &[0, 127]),
    ];
    let scored = scored_with("harbour", &[127, 0], None, texts);
    assert!(parts(&scored, 1, 1).window_vector > parts(&scored, 2, 1).window_vector);
}

#[test]
fn vectors_of_another_length_do_no_harm() {
    for vectors in [&[1_i8][..], &[1, 2, 3], &[0; 8]] {
        let texts = vec![with_vectors(said(1, 1, "the harbour"), vectors)];
        let scored = scored_with("harbour", &[127, 0], None, texts);
        assert!(scored[0].parts.total().is_finite());
    }
}

#[test]
fn only_what_has_its_neighbours_beside_it_is_scored_by_them() {
    let query = Query::parse("harbour");
    let weights = QueryWeights::of(&query, 2, &HashMap::from([("harbour".to_owned(), 1)]));
    let ranking = RankingQuery {
        lexical: LexicalQuery::new(&query, &weights),
        vector: Direction::of(&[]),
        dates: &Dates::default(),
        asks_what_holds: false,
    };
    let texts = [said(1, 1, "the harbour"), said(1, 2, "Quite so.")];
    let mut candidates = texts.map(|outline| RecallCandidate::new(&ranking, outline));
    let first = candidates[0].outline.doc;
    score(&ranking, &mut candidates, &Documents::from_iter([first]));
    let neighbours = candidates.map(|candidate| candidate.parts.neighbours);
    assert_eq!(neighbours, [0.0, 0.0]);
}

proptest! {
    #[test]
    fn scores_are_numbers_and_depend_on_no_order(
        question in "[k-n]{2}( [k-p]{2}){0,4}",
        texts in prop::collection::vec(
            (1_i64..4, 1_u64..9, "([KL]o: )?[k-p]{2}([ .\n] ?[k-p]{2}){0,20}", any::<[i8; 4]>()),
            1..16,
        ),
        asked in any::<[i8; 2]>(),
    ) {
        let mut known = HashSet::new();
        let outlines: Vec<DocumentOutline> = texts
            .iter()
            .filter(|(session, seq, ..)| known.insert((*session, *seq)))
            .map(|(session, seq, text, vectors)| with_vectors(said(*session, *seq, text), vectors))
            .collect();
        let mut backwards = outlines.clone();
        backwards.reverse();
        let scores = |outlines| {
            let scored = scored_with(&question, &asked, None, outlines);
            let parts = scored.iter().map(|c| (c.outline.doc, c.parts));
            parts.collect::<Vec<_>>()
        };
        let forwards = scores(outlines);
        prop_assert_eq!(&forwards, &scores(backwards));
        for (_, parts) in forwards {
            prop_assert!(parts.total().is_finite());
            let words = [parts.words, parts.passage, parts.window, parts.neighbours];
            prop_assert!(words.iter().all(|part| (0.0..1.0).contains(part)));
        }
    }
}
