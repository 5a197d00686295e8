use std::ops::Range;
use std::time::Duration;

use daybook_domain::index::FileEntry;
use daybook_domain::seams::{
    IndexWriter, ObservationStore, PlaceStore, SessionLog, SupersessionStore,
};
use daybook_domain::{EventId, Evidence, NewEvent, Observation, Supersession, SupersessionReason};
use daybook_ranking::confidence::Likelihood;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::{
    EventFixture, append, at, event, evidence, observation, project, project_scope, session,
    user_scope,
};
use daybook_testkit::{FakeEmbedder, run};
use proptest::prelude::*;

use super::super::embedding::embed_all;
use super::*;
use daybook_testkit::fixtures::unruly_text;
use daybook_text::indexed::indexed_tokens;
use daybook_text::tokens::outlined_text;

/// Memories of an invented project: a log shipper.
const KITE: &[&str] = &[
    "Left off on kite-42-retry-budget (3 March): two commits, one pushed; open: are dropped lines counted?",
    "The reader skips rotated files instead of failing: rotation renames a file while it is being read.",
    "The batch limit is 500 lines; it was 100, then 250.",
    "The tenant that sent a line is known from the listener's port, never guessed from the line.",
    "Hashing host names was tried and reverted: it hid the symptom, and nobody could read the table.",
    "One spool per destination since May; numbered spools are gone.",
    "Flushing is decided when the shutdown signal arrives, before sockets close: afterwards nothing can be sent.",
    "KITE-77 moves both retry loops into one crate, to end the duplication.",
    "The service manager swallows stderr: trace output goes to a file, otherwise it is missing.",
    "One commit per idea; pushing only when told to.",
    "Every new behaviour comes with a test that is written first.",
    "getFieldOffsets() caches the header row; call reset_offsets after a reload.",
];

/// A store with messages, observations and memory files.
#[derive(Default)]
pub(super) struct Memory(MemoryStore);

impl Memory {
    /// Stores each text as a person's message, in a session of its own, one second apart.
    pub(super) fn of(texts: &[&str]) -> Self {
        let memory = Self::default();
        for (n, text) in (1..).zip(texts) {
            memory.hear(&format!("{n:04}"), vec![event(text).with_time(at(n))]);
        }
        memory
    }

    /// Adds events to a session.
    pub(super) fn hear(&self, host_id: &str, events: Vec<NewEvent>) {
        run(self.0.append(&append(&session(host_id), indexed(events))))
            .expect("events are taken in");
    }

    /// Adds an observation whose evidence is the first event of a session.
    fn observe(&self, scope: &Scope, host_id: &str, text: &str) {
        let evidence = vec![evidence(&session(host_id), &[1])];
        let observed = Observation {
            context: None,
            tokens: outlined_text(text),
            ..observation(scope, text, evidence)
        };
        run(self.0.observe(&[observed], at(1))).expect("an observation is taken in");
    }

    /// Writes a file of one entry.
    fn write(&self, scope: &Scope, file: &str, text: &str) {
        self.write_below(scope, (file, ""), text);
    }

    /// Writes a file of one entry below a heading.
    pub(super) fn write_below(&self, scope: &Scope, (file, heading): (&str, &str), text: &str) {
        let entry = FileEntry {
            line: 1,
            text: text.to_owned(),
            heading: heading.to_owned(),
            observation: None,
            citation: None,
            tokens: outlined_text(text),
        };
        run(self.0.put_file(scope, file, "", &[entry], at(1))).expect("a file is taken in");
    }

    /// Assigns a folder to a project.
    fn assign(&self, root: &str, key: &str) {
        let (tenant, project) = (Tenant::local(), project(key));
        run(self.0.assign_root(&tenant, root, &project, at(1))).expect("a folder can be assigned");
    }

    pub(super) fn ask(&self, text: &str) -> RecallResult {
        self.answer(&question(text))
    }

    pub(super) fn answer(&self, question: &RecallQuestion<'_>) -> RecallResult {
        run(recall(&self.0, &Tenant::local(), question)).expect("the store answers")
    }

    /// The texts of the answers, best first.
    pub(super) fn texts(&self, question: &RecallQuestion<'_>) -> Vec<String> {
        let answers = self.answer(question).answers;
        answers.into_iter().map(|answer| answer.text).collect()
    }
}

/// Events with tokens as importers give them, each with an identity of its own.
fn indexed(events: Vec<NewEvent>) -> Vec<NewEvent> {
    let events = (0_u64..).zip(events).map(|(n, event)| NewEvent {
        id: EventId::of(&[&n.to_le_bytes(), event.text.as_bytes()]),
        tokens: indexed_tokens(event.origin, &event.text),
        ..event
    });
    events.collect()
}

/// An ordinary question.
pub(super) fn question(text: &str) -> RecallQuestion<'_> {
    RecallQuestion {
        text,
        reach: daybook_domain::Reach::Everything,
        layers: Vec::new(),
        tools: false,
        limit: 10,
        rare: false,
        embedder: None,
        until: None,
        now: Timestamp::ZERO,
    }
}

/// Messages of one session, one second apart.
fn talk(texts: &[&str]) -> Vec<NewEvent> {
    let said = (1..).zip(texts);
    said.map(|(n, text)| event(text).with_time(at(n))).collect()
}

#[track_caller]
fn first(question: &str, expected: usize) {
    let recalled = Memory::of(KITE).ask(question);
    let first = recalled.answers.first().map(|answer| answer.text.as_str());
    assert_eq!(first, Some(KITE[expected]), "{question}");
}

#[track_caller]
fn unlikely(texts: &[&str], question: &str) {
    let recalled = Memory::of(texts).ask(question);
    let label = recalled.confidence.label;
    assert_eq!(label, Likelihood::Unlikely, "{question}: {recalled:?}");
    assert_eq!(recalled.strict().answers, [], "{question}");
}

#[test]
fn a_question_finds_the_memory_that_answers_it() {
    first("where was I on kite-42?", 0);
    first(
        "why does the reader skip rotated files instead of failing?",
        1,
    );
    first("what is the limit for batches?", 2);
    first("how do we know which tenant sent a line?", 3);
    first("why not hash the host names?", 4);
    first("do we still use numbered spools?", 5);
    first("why decide about flushing at the shutdown signal?", 6);
    first("what is KITE-77?", 7);
    first("why is my trace output missing?", 8);
    first("get field offsets", 11);
    first("getfieldoffsets", 11);
    first("resetOffsets", 11);
}

#[test]
fn what_was_never_discussed_is_unlikely_and_strictly_nothing() {
    for question in [
        "which database do we use?",
        "what is KITE-99?",
        "what is the vacation policy?",
        "when is Maria's birthday?",
        "how is the cluster deployed to production?",
        "setTenantQuota",
        "我们用哪个数据库？",
    ] {
        unlikely(KITE, question);
    }
}

#[test]
fn the_nearest_come_although_they_are_no_answer() {
    for (question, nearest) in [
        ("which database has the tenant?", 3),
        ("who told us to use redis?", 9),
    ] {
        let recalled = Memory::of(KITE).ask(question);
        assert!(recalled.confidence.label < Likelihood::Likely, "{question}");
        assert_eq!(recalled.answers[0].text, KITE[nearest], "{question}");
        assert_eq!(recalled.strict().answers, [], "{question}");
    }
}

#[test]
fn what_is_known_is_likely_and_stands_strictly_too() {
    let recalled = Memory::of(KITE).ask("what is the limit for batches?");
    assert_eq!(recalled.confidence.label, Likelihood::Likely);
    assert_eq!(recalled.clone().strict(), recalled);
}

#[test]
fn few_memories_are_enough_to_tell_known_from_unknown() {
    let few = &KITE[..5];
    assert_eq!(
        Memory::of(few).texts(&question("what is the batch limit?")),
        [KITE[2]]
    );
    assert_eq!(
        Memory::of(&KITE[2..3]).texts(&question("batch limit")),
        [KITE[2]]
    );
    let share = |texts: &[&'static str]| {
        let recalled = Memory::of(texts).ask("what is the batch limit of the zeppelin?");
        recalled.confidence.signals.share
    };
    // Two of three things, whether it is all that is remembered or not.
    assert!(share(&KITE[2..3]) > 0.5, "{}", share(&KITE[2..3]));
    assert!((share(&KITE[2..3]) - share(few)).abs() < 0.1);
    unlikely(few, "which database do we use?");
    unlikely(few, "do we write into a queue?");
    unlikely(&[], "anything");
    assert_eq!(Memory::of(few).ask(""), RecallResult::default());
    assert_eq!(Memory::of(few).ask(" ?! "), RecallResult::default());
}

#[test]
fn a_word_of_every_text_still_finds_them() {
    let texts = [
        "the spool is full",
        "the spool is empty",
        "a spool, a spool",
    ];
    let found = Memory::of(&texts).texts(&question("spool"));
    assert_eq!(found, ["a spool, a spool", texts[1], texts[0]]);
}

#[test]
fn a_name_counts_more_than_its_parts() {
    let texts = [
        "the offsets of every field: get them again",
        "how to get field offsets quickly here",
        "calls getFieldOffsets on every reload",
        "the weather was fine at the sea",
    ];
    let found = Memory::of(&texts).texts(&question("getFieldOffsets"));
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], texts[2]);
}

#[test]
fn a_quotation_must_stand_as_it_is() {
    let texts = ["the limit of a batch", "the batch limit", "BatchLimit = 5"];
    let memory = Memory::of(&texts);
    let mut quoted = memory.texts(&question("\"batch limit\""));
    quoted.sort();
    assert_eq!(quoted, ["BatchLimit = 5", "the batch limit"]);
    assert_eq!(memory.texts(&question("batch limit")).len(), 3);
    for never_said in ["\"limit batch\"", "\"batch lid\""] {
        let recalled = memory.ask(never_said);
        // The nearest comes all the same, and a strict question gets nothing.
        assert!(recalled.confidence.label < Likelihood::Likely);
        assert!(!recalled.answers.is_empty());
        assert_eq!(recalled.strict().answers, []);
    }
}

#[test]
fn a_quotation_holds_for_what_stands_around_too() {
    let memory = Memory::default();
    memory.hear("a", talk(&["the batch limit", "It is 500.", "Thanks."]));
    assert_eq!(
        memory.texts(&question("\"batch limit\"")),
        ["the batch limit"]
    );
    assert_eq!(memory.texts(&question("batch limit")).len(), 3);
}

#[test]
fn what_stands_around_a_match_is_found_in_its_own_session_alone() {
    let memory = Memory::default();
    memory.hear(
        "a",
        talk(&["which port has the harbour server?", "It is 8080."]),
    );
    memory.hear("b", talk(&["It is late.", "Good night."]));
    assert_eq!(
        memory.texts(&question("harbour port")),
        ["which port has the harbour server?", "It is 8080."]
    );
}

#[test]
fn equals_are_ordered_by_layer_then_time_then_place() {
    let memory = Memory::default();
    let ada = user_scope("ada");
    memory.hear("b", vec![event("batch limit 501").with_time(at(5))]);
    memory.hear("a", vec![event("batch limit 502").with_time(at(5))]);
    memory.hear("c", vec![event("batch limit 503").with_time(at(9))]);
    memory.hear("d", vec![event("nothing of that")]);
    memory.observe(&ada, "d", "batch limit 504");
    memory.write(&ada, "MEMORY.md", "batch limit 505");
    // Of what was, the latest answer is not preferred.
    let found = memory.texts(&question("batch limit before"));
    let numbers: Vec<&str> = found.iter().map(|text| &text[text.len() - 3..]).collect();
    assert_eq!(numbers, ["505", "504", "503", "502", "501"]);
    let latest = memory.texts(&question("batch limit"));
    assert!(latest[0].ends_with("503"), "{latest:?}");
}

#[test]
fn what_an_observation_is_about_is_searched_too() {
    let memory = Memory::default();
    let ada = user_scope("ada");
    let about = Observation {
        context: Some("about the batch limit".to_owned()),
        tokens: outlined_text("it is 500 about the batch limit"),
        ..observation(&ada, "it is 500", vec![evidence(&session("a"), &[1])])
    };
    run(memory.0.observe(&[about], at(1))).expect("an observation is taken in");
    let [answer] = &memory.ask("\"batch limit\"").answers[..] else {
        panic!("there is one answer");
    };
    assert_eq!(answer.context.as_deref(), Some("about the batch limit"));
}

#[test]
fn questions_in_other_scripts_find_their_answer() {
    let texts = [
        "我们的数据库是 PostgreSQL，不用 MySQL。",
        "前端使用的是浏览器缓存。",
        "猫の名前はミケです。",
        "明日は東京へ行きます。",
        "데이터베이스는 하나만 있습니다",
        "Кошку зовут Мурка",
        "ฐานข้อมูลของเราคือ PostgreSQL",
        "Le café ferme à midi",
    ];
    let memory = Memory::of(&texts);
    for (asked, answer) in [
        ("我们用哪个数据库？", 0),
        ("猫の名前は何ですか", 2),
        ("데이터베이스를 어디에", 4),
        ("кошку", 5),
        ("ฐานข้อมูลอะไร", 6),
        ("cafe", 7),
    ] {
        let found = memory.texts(&question(asked));
        assert_eq!(
            found.first().map(String::as_str),
            Some(texts[answer]),
            "{asked}"
        );
    }
}

#[test]
fn scopes_hold_for_what_stands_around_too() {
    let memory = Memory::default();
    let places = ["/home/ada/pier", "/home/ada/mole"];
    let said = ["the harbour is wide", "the mole is long"];
    let events = talk(&said).into_iter().zip(places);
    memory.hear(
        "a",
        events.map(|(event, root)| event.with_place(root)).collect(),
    );
    memory.assign(places[0], "pier");
    memory.assign(places[1], "mole");
    let within = |scopes: &[&str]| RecallQuestion {
        reach: daybook_domain::Reach::Scopes(scopes.iter().map(|key| project_scope(key)).collect()),
        ..question("harbour")
    };
    assert_eq!(memory.texts(&question("harbour")), said);
    assert_eq!(memory.texts(&within(&["pier"])), said[..1]);
    assert_eq!(memory.texts(&within(&["mole"])), [""; 0]);
    assert_eq!(memory.texts(&within(&["pier", "mole"])), said);
    assert_eq!(memory.texts(&within(&[])), [""; 0]);
}

#[test]
fn layers_hold_for_what_stands_around_too() {
    let memory = Memory::default();
    let ada = user_scope("ada");
    memory.hear("a", talk(&["the harbour is wide", "So it is."]));
    memory.observe(&ada, "z", "harbours are wide");
    memory.write(&ada, "MEMORY.md", "a wide harbour");
    let within = |layers: &[MemoryLayer]| RecallQuestion {
        layers: layers.to_vec(),
        ..question("wide harbour")
    };
    let events = ["the harbour is wide", "So it is."];
    assert_eq!(memory.texts(&within(&[])).len(), 4);
    assert_eq!(memory.texts(&within(&[MemoryLayer::Event])), events);
    assert_eq!(
        memory.texts(&within(&[MemoryLayer::Observation])),
        ["harbours are wide"]
    );
    assert_eq!(
        memory.texts(&within(&[MemoryLayer::Entry])),
        ["a wide harbour"]
    );
    assert_eq!(
        memory
            .texts(&within(&[MemoryLayer::Observation, MemoryLayer::Entry]))
            .len(),
        2
    );
}

#[test]
fn what_tools_answered_is_found_only_when_asked_for() {
    let memory = Memory::default();
    let by = |text: &str, origin| event(text).with_origin(origin);
    memory.hear(
        "a",
        vec![
            by("find the harbour", Origin::Human),
            by("grep harbour", Origin::ToolCall),
            by("chart.txt: harbour", Origin::ToolResult),
            by("harbour rules", Origin::Harness),
        ],
    );
    let texts = |tools| {
        memory.texts(&RecallQuestion {
            tools,
            ..question("harbour")
        })
    };
    assert_eq!(texts(false), ["find the harbour", "grep harbour"]);
    assert_eq!(texts(true).len(), 3);
}

#[test]
fn no_more_than_the_limit_and_never_more_than_a_hundred() {
    let texts: Vec<String> = (0..130)
        .map(|n| format!("the harbour of day {n}"))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let memory = Memory::of(&texts);
    let some = |limit| {
        memory.texts(&RecallQuestion {
            limit,
            ..question("harbour")
        })
    };
    let all = some(usize::MAX);
    assert_eq!(all.len(), ANSWERS);
    for limit in [0, 1, 7, 99] {
        assert_eq!(some(limit), all[..limit]);
    }
}

#[test]
fn the_same_is_told_once() {
    let memory = Memory::default();
    let ada = user_scope("ada");
    memory.hear("a", vec![event("the harbour is wide")]);
    memory.hear("b", vec![event("The Harbour is WIDE").with_time(at(1))]);
    memory.observe(&ada, "a", "a wide harbour it is");
    let found = memory.texts(&question("wide harbour"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "a wide harbour it is");
    assert_eq!(found[1].to_lowercase(), "the harbour is wide");
    // The observation rests on the first event, which is no further answer.
    assert_eq!(found[1], "The Harbour is WIDE");
}

#[test]
fn rare_words_alone_lead_to_what_has_enough_of_them() {
    let memory = Memory::default();
    let weather: Vec<String> = (0..200)
        .map(|n| format!("the weather of day {n}"))
        .collect();
    for (n, text) in weather.iter().enumerate() {
        memory.hear(&format!("w{n}"), vec![event(text)]);
    }
    memory.hear("a", talk(&["the kestrel moored at the pier", "Quite so."]));
    let rare = RecallQuestion {
        rare: true,
        ..question("weather at the pier when the kestrel moored")
    };
    let found = memory.texts(&rare);
    assert!(found.contains(&"the kestrel moored at the pier".to_owned()));
    assert!(!found.contains(&"Quite so.".to_owned()), "{found:?}");
    assert!(
        found.iter().all(|text| !text.contains("weather")),
        "{found:?}"
    );
    let pasted = format!("weather {}", KITE.concat());
    let pasted = RecallQuestion {
        text: &pasted,
        ..rare
    };
    assert_eq!(memory.texts(&pasted), [""; 0]);
}

#[test]
fn the_time_that_is_asked_for_comes_first() {
    let memory = Memory::default();
    let day = |day: u64| at(day * 86_400);
    for n in 0..6 {
        let text = format!("we sailed at {n} o'clock");
        memory.hear(&format!("{n}"), vec![event(&text).with_time(day(n * 5))]);
    }
    let asked = RecallQuestion {
        now: day(21),
        ..question("where did we sail yesterday?")
    };
    assert_eq!(memory.texts(&asked)[0], "we sailed at 4 o'clock");
}

#[test]
fn a_vector_finds_what_no_word_leads_to() {
    let memory = Memory::of(&["the boat is new", "the ship is old", "a gale came up"]);
    let embedder = FakeEmbedder::new("ada/small@1", &["boat ship vessel", "wind gale"]);
    run(embed_all(&memory.0, &Tenant::local(), &embedder, |_| {})).expect("the model answers");
    let with = RecallQuestion {
        embedder: Some(&embedder),
        ..question("vessel")
    };
    let found = memory.answer(&with);
    assert_eq!(memory.texts(&question("vessel")), [""; 0]);
    let texts: Vec<&str> = found.answers.iter().map(|a| a.text.as_str()).collect();
    assert_eq!(texts[2..], ["a gale came up"]);
    assert_eq!(found.confidence.signals.angle, Some(1.0));
    assert!(found.answers[0].parts.vector > 0.0 && found.answers[0].parts.akin > 0.0);
}

#[test]
fn vectors_of_another_model_are_not_looked_at() {
    let memory = Memory::of(&["the boat is new"]);
    let groups = ["boat ship vessel"];
    let known = FakeEmbedder::new("ada/small@1", &groups);
    let other = FakeEmbedder::new("ada/large@1", &groups);
    run(embed_all(&memory.0, &Tenant::local(), &known, |_| {})).expect("the model answers");
    let asked = RecallQuestion {
        embedder: Some(&other),
        ..question("vessel")
    };
    assert_eq!(memory.texts(&asked), [""; 0]);
    let by_word = RecallQuestion {
        text: "boat",
        ..asked
    };
    let vector = memory.answer(&by_word).answers[0].parts.vector;
    assert!(vector.abs() < f64::EPSILON);
}

#[test]
fn a_model_that_fails_leaves_the_words() {
    let memory = Memory::of(KITE);
    let embedder = FakeEmbedder::new("ada/small@1", &["batch lot"]);
    embedder.fail_after(0);
    let asked = RecallQuestion {
        embedder: Some(&embedder),
        ..question("batch limit")
    };
    let recalled = memory.answer(&asked);
    let why = "gave no vector for the question: the model is away";
    let expected = RecallResult {
        without_vectors: Some(format!("{} {why}", embedder.id())),
        ..memory.ask("batch limit")
    };
    assert_eq!(recalled, expected);
    assert_eq!(recalled.confidence.signals.angle, None);
}

#[test]
fn a_question_that_a_model_knows_no_word_of_goes_by_words() {
    let memory = Memory::of(KITE);
    let embedder = FakeEmbedder::new("ada/small@1", &["boat ship"]);
    run(embed_all(&memory.0, &Tenant::local(), &embedder, |_| {})).expect("the model answers");
    let asked = RecallQuestion {
        embedder: Some(&embedder),
        ..question("batch limit")
    };
    assert_eq!(memory.answer(&asked), memory.ask("batch limit"));
}

#[test]
fn another_tenant_finds_nothing() {
    let memory = Memory::of(KITE);
    let other = Tenant("other".to_owned());
    let found = run(recall(&memory.0, &other, &question("batch limit")));
    assert_eq!(found.expect("the store answers").answers, []);
}

#[test]
fn whatever_is_asked_is_answered() {
    let memory = Memory::of(KITE);
    let huge = "the batch limit of spool number 77 and getFieldOffsets ".repeat(20_000);
    let names = "aB_".repeat(40_000);
    let han = "数据库".repeat(40_000);
    for text in [
        huge.as_str(),
        &names,
        &han,
        "'; DROP TABLE events; --",
        "\"",
        "\"\"",
        "\"batch",
        "\"batch\" \"limit\" \"lines\"",
        "batch AND (limit OR NOT lines) NEAR/3",
        "batch* -limit +lines text:batch {a b} ^batch",
        "% _ \\ \0 \u{1b}[31m batch",
        "(((((((((((((((",
        "*",
        "😀 🛶",
    ] {
        let recalled = memory.ask(text);
        assert!(recalled.answers.len() <= 10);
        let quoted = memory.ask(&format!("\"{text}\""));
        assert!(quoted.answers.len() <= 10);
    }
}

/// Sessions of short texts, which share words with each other and with the question.
fn sessions(number: Range<usize>) -> impl Strategy<Value = Vec<Vec<String>>> {
    let text = "([KL]o: )?[k-n]{2}( [k-n]{2}){0,9}";
    prop::collection::vec(prop::collection::vec(text, 1..5), number)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_question_is_answered(text in unruly_text(), rare: bool, tools: bool) {
        let memory = Memory::of(&KITE[..4]);
        let asked = RecallQuestion { rare, tools, ..question(&text) };
        let recalled = memory.answer(&asked);
        prop_assert!(recalled.answers.iter().all(|a| (0.0..=1.0).contains(&a.score)));
        prop_assert!(recalled.answers.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn a_text_finds_itself_among_others(text in unruly_text(), others in prop::collection::vec(unruly_text(), 0..4)) {
        let mut texts = vec![text.as_str()];
        texts.extend(others.iter().map(String::as_str));
        let is_quoting = text.contains(['"', '“', '«', '「', '『', '＂']);
        if !is_quoting && !Query::parse(&text).is_empty() {
            let found = Memory::of(&texts).texts(&question(&text));
            let lower = text.to_lowercase();
            prop_assert!(found.iter().any(|found| found.to_lowercase() == lower), "{:?}", found);
        }
    }

    #[test]
    fn the_order_in_which_sessions_come_in_does_not_matter(
        asked in "[k-n]{2}( [k-n]{2}){0,3}",
        sessions in sessions(1..6),
    ) {
        let taken_in = |order: &mut dyn Iterator<Item = usize>| {
            let memory = Memory::default();
            for n in order {
                let texts: Vec<&str> = sessions[n].iter().map(String::as_str).collect();
                memory.hear(&format!("{n:04}"), talk(&texts));
            }
            memory.answer(&RecallQuestion { limit: 50, ..question(&asked) })
        };
        let forwards = taken_in(&mut (0..sessions.len()));
        let backwards = taken_in(&mut (0..sessions.len()).rev());
        prop_assert_eq!(forwards, backwards);
    }
}

/// A provider's model that never answers.
struct SilentModel;

#[async_trait::async_trait]
impl Embedder for SilentModel {
    fn id(&self) -> &'static str {
        "invented/silent"
    }

    fn is_instant(&self) -> bool {
        false
    }

    async fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        std::future::pending().await
    }
}

#[test]
fn a_question_goes_by_words_when_its_model_is_silent() {
    let memory = Memory::of(KITE);
    // No text holds the quotation: recall searches a second time, and embeds the question only once.
    let text = "\"limit of a batch\"";
    let asked = RecallQuestion {
        embedder: Some(&SilentModel),
        ..question(text)
    };
    let mut clock = tokio::runtime::Builder::new_current_thread();
    let clock = clock.enable_time().start_paused(true).build();
    let recalled = clock.expect("a runtime").block_on(async {
        let began = tokio::time::Instant::now();
        let recalled = recall(&memory.0, &Tenant::local(), &asked).await;
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        recalled.expect("the store answers")
    });
    let why = "invented/silent gave no vector for the question: no answer within 1s";
    let expected = RecallResult {
        without_vectors: Some(why.to_owned()),
        ..memory.ask(text)
    };
    assert_eq!(recalled.answers[0].text, KITE[2]);
    assert_eq!(recalled, expected);
}

/// Three statements on one subject, each of which replaced the one before.
fn changed_twice() -> Memory {
    let memory = Memory::default();
    let scope = user_scope("ada");
    let texts = [
        "The retry limit of the batch is twenty tries.",
        "The retry limit of the batch is fifty tries.",
        "The batch gives up after a minute.",
    ];
    let mut ids = Vec::new();
    for (n, text) in (1..).zip(texts) {
        let host_id = format!("{n:04}");
        memory.hear(&host_id, vec![event(text).with_time(at(n * 100))]);
        let piece = Evidence {
            at: at(n * 100),
            ..evidence(&session(&host_id), &[1])
        };
        let observed = Observation {
            tokens: outlined_text(text),
            ..observation(&scope, text, vec![piece])
        };
        ids.push(observed.id);
        run(memory.0.observe(&[observed], at(1))).expect("an observation is taken in");
    }
    let replaced = |n: usize, until| Supersession {
        earlier: ids[n],
        later: ids[n + 1],
        reason: SupersessionReason::Replaced,
        until: at(until),
    };
    let noted = [replaced(0, 200), replaced(1, 300)];
    run(memory.0.set_supersessions(&scope, &noted)).expect("changes are noted");
    memory
}

#[test]
fn what_holds_comes_before_what_it_replaced() {
    let memory = changed_twice();
    let answers = memory.ask("what is the retry limit of the batch?").answers;
    assert_eq!(answers[0].text, "The batch gives up after a minute.");
    assert_eq!(answers[0].replaced, None);
    let outdated: Vec<&RankedAnswer> = answers.iter().filter(|a| a.replaced.is_some()).collect();
    assert_eq!(outdated.len(), 2, "{answers:?}");
    for answer in outdated {
        let replaced = answer.replaced.as_ref().expect("it is outdated");
        assert_eq!(replaced.text, answers[0].text);
    }
}

#[test]
fn a_question_about_the_past_is_answered_as_it_was_then() {
    let memory = changed_twice();
    for (until, expected) in [
        (150, "The retry limit of the batch is twenty tries."),
        (250, "The retry limit of the batch is fifty tries."),
        (350, "The batch gives up after a minute."),
    ] {
        let asked = RecallQuestion {
            until: Some(at(until)),
            ..question("what is the retry limit of the batch?")
        };
        let answers = memory.answer(&asked).answers;
        assert_eq!(answers[0].text, expected, "{until}: {answers:?}");
        assert!(answers.iter().all(|answer| answer.time <= at(until)));
    }
}
