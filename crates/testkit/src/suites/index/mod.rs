//! The promises of an index.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

mod outlines;
mod vectors;

use daybook_domain::index::{
    CandidateQuery, DocumentKind, FileEntry, IndexedDocument, MemoryLayer, SearchFilter, TermStats,
};
use daybook_domain::seams::Store;
use daybook_domain::{
    EventSeq, NewEvent, Observation, ObservationId, ObservationKind, ObservationOrigin, Origin,
    PageRequest, Scope, SessionId, Tenant,
};
use strum::VariantArray;

pub use self::outlines::{
    an_outline_follows_the_time_of_what_it_shows, documents_are_opened_by_their_own_tenant_only,
    outlines_come_in_the_order_asked_without_what_is_gone,
    surroundings_are_what_was_said_beside_an_event,
    terms_keep_the_order_of_words_and_the_marks_between_them,
};
pub use self::vectors::{
    another_model_begins_with_every_document, each_tenant_has_a_model_of_its_own,
    scopes_layers_and_origins_narrow_what_is_nearest,
    the_nearest_come_first_and_of_equals_the_newest, the_newest_wait_first_for_vectors,
    vectors_are_kept_once_and_of_what_is_there, vectors_are_of_one_model,
    vectors_of_earlier_words_are_not_kept, what_is_gone_is_no_longer_near,
    what_is_indexed_anew_waits_for_vectors_again,
};
use crate::fixtures::*;

fn step(words: &str, limit: usize) -> CandidateQuery {
    CandidateQuery {
        all_of: words.split(' ').map(str::to_owned).collect(),
        limit,
    }
}

async fn search_texts(store: &dyn Store, words: &str, filter: &SearchFilter) -> Vec<String> {
    let steps = [step(words, 100)];
    let documents = candidates(store, &Tenant::local(), &steps, filter)
        .await
        .unwrap();
    documents
        .into_iter()
        .map(|document| document.text)
        .collect()
}

async fn all(store: &dyn Store, words: &str) -> Vec<String> {
    search_texts(store, words, &SearchFilter::default()).await
}

async fn append_session(store: &dyn Store, host_id: &str, events: Vec<NewEvent>) -> SessionId {
    let id = session(host_id);
    store.append(&append(&id, events)).await.unwrap();
    id
}

fn entry(line: u32, text: &str) -> FileEntry {
    FileEntry {
        line,
        text: text.to_owned(),
        heading: "Preferences".to_owned(),
        observation: Some(ObservationId(u64::MAX - 1)),
        citation: Some("7f78:L1".to_owned()),
        tokens: tokens(text),
    }
}

async fn file(store: &dyn Store, scope: &Scope, name: &str, entries: &[FileEntry]) {
    store
        .put_file(scope, name, "stamp", entries, at(5))
        .await
        .unwrap();
}

fn observation_of(scope: &Scope, id: &SessionId, text: &str) -> Observation {
    observation(scope, text, vec![evidence(id, &[1])])
}

async fn stats(store: &dyn Store, words: &[&str]) -> (u64, Vec<u64>) {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let stats: TermStats = store.term_stats(&Tenant::local(), &words).await.unwrap();
    (stats.documents, stats.frequencies)
}

pub async fn an_appended_event_is_found_at_once(store: &dyn Store) {
    let words = event("Run the tests")
        .with_line(7)
        .with_place("/home/ada/engine");
    let id = append_session(store, "7f78aa01", vec![event("hello"), words]).await;
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(1),
        )
        .await
        .unwrap();
    let steps = [step("tests", 10)];
    let documents = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
        .await
        .unwrap();
    let expected = IndexedDocument {
        what: DocumentKind::Event {
            origin: Origin::Human,
        },
        scope: Some(project_scope("engine")),
        text: "Run the tests".to_owned(),
        context: None,
        at: DAWN,
        session: Some((id, "7f78".to_owned())),
        events: vec![EventSeq(2)],
        lines: vec![7],
    };
    assert_eq!(documents, [expected]);
}

pub async fn all_words_of_a_step_must_occur(store: &dyn Store) {
    let texts = ["red green", "green blue", "red blue green"].map(event);
    append_session(store, "7f78aa01", texts.to_vec()).await;
    assert_eq!(
        all(store, "red green").await,
        ["red blue green", "red green"]
    );
    assert_eq!(all(store, "red blue").await, ["red blue green"]);
    assert_eq!(all(store, "blu").await, [""; 0]);
    let none = [CandidateQuery {
        all_of: Vec::new(),
        limit: 5,
    }];
    let nothing = candidates(store, &Tenant::local(), &none, &SearchFilter::default())
        .await
        .unwrap();
    assert!(nothing.is_empty());
}

pub async fn the_newest_come_first_and_the_limit_holds(store: &dyn Store) {
    append_session(store, "a000", events("word", 3)).await;
    let later = append_session(store, "b000", vec![event("word b")]).await;
    append_session(store, "a000", vec![event("word a")]).await;
    file(
        store,
        &user_scope("ada"),
        "MEMORY.md",
        &[entry(1, "word x"), entry(2, "word y")],
    )
    .await;
    store
        .observe(
            &[observation_of(&user_scope("ada"), &later, "word noted")],
            at(9),
        )
        .await
        .unwrap();
    let order = [
        "word y",
        "word x",
        "word noted",
        "word b",
        "word a",
        "word 3",
        "word 2",
        "word 1",
    ];
    assert_eq!(all(store, "word").await, order);
    let steps = [step("word", 4)];
    let few = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
        .await
        .unwrap();
    assert_eq!(
        few.iter().map(|d| d.text.as_str()).collect::<Vec<_>>(),
        order[..4]
    );
}

pub async fn a_limit_takes_the_newest_whoever_said_them(store: &dyn Store) {
    let mut texts = ["word 1", "word 2", "word 3", "word 4"].map(event);
    texts[1].origin = Origin::ToolResult;
    texts[3].origin = Origin::ToolResult;
    append_session(store, "7f78aa01", texts.to_vec()).await;
    let documents = candidates(
        store,
        &Tenant::local(),
        &[step("word", 2)],
        &SearchFilter::default(),
    )
    .await
    .unwrap();
    let texts: Vec<&str> = documents.iter().map(|d| d.text.as_str()).collect();
    assert_eq!(texts, ["word 4", "word 3"]);
}

pub async fn steps_are_taken_in_turn_and_nothing_comes_twice(store: &dyn Store) {
    let texts = ["red green", "green", "red", "green red blue"].map(event);
    append_session(store, "7f78aa01", texts.to_vec()).await;
    let steps = [step("red green", 10), step("red", 2), step("green", 10)];
    let documents = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
        .await
        .unwrap();
    let texts: Vec<&str> = documents
        .iter()
        .map(|document| document.text.as_str())
        .collect();
    assert_eq!(texts, ["green red blue", "red green", "red", "green"]);
}

pub async fn frequencies_count_documents(store: &dyn Store) {
    assert_eq!(stats(store, &["red"]).await, (0, vec![0]));
    let id = append_session(
        store,
        "7f78aa01",
        ["red red green", "green", "blue"].map(event).to_vec(),
    )
    .await;
    file(store, &user_scope("ada"), "MEMORY.md", &[entry(1, "red")]).await;
    store
        .observe(
            &[observation_of(&user_scope("ada"), &id, "green blue")],
            at(1),
        )
        .await
        .unwrap();
    let counted = stats(store, &["red", "none", "green", "blue", "red"]).await;
    assert_eq!(counted, (5, vec![2, 0, 3, 2, 2]));
}

pub async fn frequencies_follow_what_is_withdrawn(store: &dyn Store) {
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let id = session("7f78aa01");
    let from_file = imported(&id, vec![event("red one"), event("red two")], "/logs/a", no);
    store.append(&from_file).await.unwrap();
    append_session(store, "7f78aa01", vec![event("red three")]).await;
    let scope = user_scope("ada");
    let kept = observation_of(&scope, &session("elsewhere"), "red noted");
    let withdrawn = observation_of(&scope, &session("elsewhere"), "red withdrawn");
    store
        .observe(&[kept, withdrawn.clone()], at(1))
        .await
        .unwrap();
    file(
        store,
        &scope,
        "MEMORY.md",
        &[entry(1, "red x"), entry(2, "red y")],
    )
    .await;
    assert_eq!(stats(store, &["red"]).await, (7, vec![7]));
    store.retract(&scope, withdrawn.id, at(2)).await.unwrap();
    store
        .undo_import(&Tenant::local(), no, at(3))
        .await
        .unwrap();
    file(store, &scope, "MEMORY.md", &[entry(1, "red z")]).await;
    assert_eq!(stats(store, &["red", "two", "x"]).await, (3, vec![3, 0, 0]));
    assert_eq!(all(store, "red").await, ["red z", "red noted", "red three"]);
}

/// One document of each layer, all with the word `word`.
async fn one_of_each(store: &dyn Store) -> SessionId {
    let id = append_session(store, "7f78aa01", vec![event("word event")]).await;
    file(
        store,
        &user_scope("ada"),
        "MEMORY.md",
        &[entry(3, "word entry")],
    )
    .await;
    let noted = observation_of(&user_scope("ada"), &id, "word observed");
    store.observe(&[noted], at(9)).await.unwrap();
    id
}

pub async fn layers_narrow_a_search(store: &dyn Store) {
    one_of_each(store).await;
    let only = async |layers: &[MemoryLayer]| {
        let filter = SearchFilter {
            layers: layers.to_vec(),
            ..SearchFilter::default()
        };
        search_texts(store, "word", &filter).await
    };
    assert_eq!(only(&[MemoryLayer::Event]).await, ["word event"]);
    assert_eq!(only(&[MemoryLayer::Observation]).await, ["word observed"]);
    assert_eq!(only(&[MemoryLayer::Entry]).await, ["word entry"]);
    assert_eq!(
        only(&[MemoryLayer::Event, MemoryLayer::Entry]).await,
        ["word entry", "word event"]
    );
    assert_eq!(only(MemoryLayer::VARIANTS).await.len(), 3);
}

pub async fn origins_narrow_events_only(store: &dyn Store) {
    one_of_each(store).await;
    let reply = event("word reply").with_origin(Origin::Assistant);
    let call = event("word call").with_origin(Origin::ToolCall);
    append_session(store, "8000", vec![reply, call]).await;
    let only = async |origins: &[Origin]| {
        let filter = SearchFilter {
            origins: origins.to_vec(),
            ..SearchFilter::default()
        };
        search_texts(store, "word", &filter).await
    };
    let digested = ["word entry", "word observed"];
    assert_eq!(only(&[Origin::Human]).await[2..], ["word event"]);
    let both = only(&[Origin::ToolCall, Origin::Assistant]).await;
    assert_eq!(both[..2], digested);
    assert_eq!(both[2..], ["word call", "word reply"]);
    assert_eq!(only(&[Origin::Recalled]).await, digested);
}

pub async fn scopes_narrow_every_layer(store: &dyn Store) {
    let id = one_of_each(store).await;
    let engine = project_scope("engine");
    append_session(
        store,
        "8000",
        vec![event("word there").with_place("/home/ada/engine")],
    )
    .await;
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(1),
        )
        .await
        .unwrap();
    file(store, &engine, "MEMORY.md", &[entry(1, "word of engine")]).await;
    store
        .observe(
            &[observation_of(&engine, &id, "word seen in engine")],
            at(2),
        )
        .await
        .unwrap();
    let only = async |scopes: &[Scope]| {
        let filter = SearchFilter {
            scopes: Some(scopes.to_vec()),
            ..SearchFilter::default()
        };
        search_texts(store, "word", &filter).await
    };
    let ada = user_scope("ada");
    let of_engine = ["word of engine", "word seen in engine", "word there"];
    assert_eq!(only(std::slice::from_ref(&engine)).await, of_engine);
    assert_eq!(
        only(std::slice::from_ref(&ada)).await,
        ["word entry", "word observed"]
    );
    assert_eq!(only(&[ada, engine]).await.len(), 5);
    assert_eq!(only(&[user_scope("nobody")]).await, [""; 0]);
    assert_eq!(only(&[]).await, [""; 0]);
}

pub async fn an_event_follows_its_root_to_another_project(store: &dyn Store) {
    append_session(
        store,
        "8000",
        vec![event("word there").with_place("/home/ada/engine")],
    )
    .await;
    let only = async |key: &str| {
        let filter = SearchFilter {
            scopes: Some(vec![project_scope(key)]),
            ..SearchFilter::default()
        };
        search_texts(store, "word", &filter).await
    };
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("guess"),
            at(1),
        )
        .await
        .unwrap();
    assert_eq!(only("guess").await, ["word there"]);
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(2),
        )
        .await
        .unwrap();
    assert_eq!(only("guess").await, [""; 0]);
    assert_eq!(only("engine").await, ["word there"]);
}

pub async fn tenants_are_searched_apart(store: &dyn Store) {
    let other = Tenant("other".to_owned());
    let theirs = SessionId {
        tenant: other.clone(),
        ..session("7f78aa01")
    };
    one_of_each(store).await;
    store
        .append(&append(&theirs, vec![event("word theirs")]))
        .await
        .unwrap();
    let scope = Scope {
        tenant: other.clone(),
        ..user_scope("ada")
    };
    file(
        store,
        &scope,
        "MEMORY.md",
        &[entry(1, "word in their file")],
    )
    .await;
    assert_eq!(all(store, "word").await.len(), 3);
    assert_eq!(stats(store, &["word", "theirs"]).await, (3, vec![3, 0]));
    let steps = [step("word", 10)];
    let documents = candidates(store, &other, &steps, &SearchFilter::default())
        .await
        .unwrap();
    assert_eq!(documents.len(), 2);
    let narrowed = SearchFilter {
        scopes: Some(vec![scope]),
        ..SearchFilter::default()
    };
    assert_eq!(search_texts(store, "word", &narrowed).await, [""; 0]);
    let nobody = Tenant("nobody".to_owned());
    assert!(
        candidates(store, &nobody, &steps, &SearchFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
    let counted = store
        .term_stats(&nobody, &["word".to_owned()])
        .await
        .unwrap();
    assert_eq!((counted.documents, counted.frequencies), (0, vec![0]));
}

pub async fn an_observation_is_found_by_the_words_that_it_shows(store: &dyn Store) {
    let id = append_session(store, "7f78aa01", events("spoken", 4)).await;
    let scope = user_scope("ada");
    let late = Observation {
        tokens: "late".to_owned(),
        ..observation(&scope, "Use tabs", vec![evidence(&id, &[3])])
    };
    let early = Observation {
        tokens: "early".to_owned(),
        ..observation(&scope, "use tabs", vec![evidence(&id, &[2])])
    };
    store.observe(&[late], at(9)).await.unwrap();
    assert_eq!(all(store, "late").await, ["Use tabs"]);
    store.observe(&[early], at(9)).await.unwrap();
    assert_eq!(all(store, "late").await, [""; 0]);
    let steps = [step("early", 10)];
    let documents = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
        .await
        .unwrap();
    let expected = IndexedDocument {
        what: DocumentKind::Observation {
            id: ObservationId::of(&scope, ObservationKind::Preference, "use tabs"),
            kind: ObservationKind::Preference,
            origin: ObservationOrigin::Typed,
        },
        scope: Some(scope),
        text: "use tabs".to_owned(),
        context: Some("context of use tabs".to_owned()),
        at: at(2),
        session: Some((id, "7f78".to_owned())),
        events: vec![EventSeq(2)],
        lines: vec![2],
    };
    assert_eq!(documents, [expected]);
}

pub async fn a_file_is_replaced_whole(store: &dyn Store) {
    let (ada, bob) = (user_scope("ada"), user_scope("bob"));
    file(
        store,
        &ada,
        "MEMORY.md",
        &[entry(1, "word one"), entry(5, "word two")],
    )
    .await;
    file(store, &bob, "MEMORY.md", &[entry(1, "word of bob")]).await;
    store
        .put_file(&ada, "MEMORY.md", "new", &[entry(2, "word three")], at(8))
        .await
        .unwrap();
    store
        .put_file(&ada, "INDEX.md", "one", &[entry(2, "index")], at(8))
        .await
        .unwrap();
    assert_eq!(all(store, "word").await, ["word three", "word of bob"]);
    let steps = [step("three", 10)];
    let documents = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
        .await
        .unwrap();
    let expected = IndexedDocument {
        what: DocumentKind::Entry {
            file: "MEMORY.md".to_owned(),
            line: 2,
            observation: Some(ObservationId(u64::MAX - 1)),
            citation: Some("7f78:L1".to_owned()),
        },
        scope: Some(ada.clone()),
        text: "word three".to_owned(),
        context: Some("Preferences".to_owned()),
        at: at(8),
        session: None,
        events: Vec::new(),
        lines: Vec::new(),
    };
    assert_eq!(documents, [expected]);
    let stamps = store.file_stamps(&ada).await.unwrap();
    let stamp = |file: &str, stamp: &str| (file.to_owned(), stamp.to_owned());
    assert_eq!(
        stamps,
        [stamp("INDEX.md", "one"), stamp("MEMORY.md", "new")]
    );
}

pub async fn an_empty_file_is_forgotten(store: &dyn Store) {
    let ada = user_scope("ada");
    file(store, &ada, "MEMORY.md", &[entry(1, "word one")]).await;
    file(store, &ada, "MEMORY.md", &[]).await;
    assert!(all(store, "word").await.is_empty());
    assert!(store.file_stamps(&ada).await.unwrap().is_empty());
    assert!(
        store
            .file_stamps(&user_scope("nobody"))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        store
            .scopes(&Tenant::local(), PageRequest::first(100))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

pub async fn tokens_with_punctuation_and_other_scripts_are_whole(store: &dyn Store) {
    let mut odd = event("odd");
    odd.tokens = "c++ a_b don't \"quoted\" naïve 東京 x*y ünïcödé".to_owned();
    append_session(
        store,
        "7f78aa01",
        vec![odd, event("c a b don t quoted x y")],
    )
    .await;
    for word in [
        "c++",
        "a_b",
        "don't",
        "\"quoted\"",
        "naïve",
        "東京",
        "x*y",
        "ünïcödé",
    ] {
        assert_eq!(all(store, word).await, ["odd"], "{word}");
        assert_eq!(stats(store, &[word]).await.1, [1], "{word}");
    }
    for word in ["東", "nai", "AND", "*", "\"", "NEAR(c b)"] {
        let steps = [CandidateQuery {
            all_of: vec![word.to_owned()],
            limit: 5,
        }];
        let none = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
            .await
            .unwrap();
        assert!(none.is_empty(), "{word}");
    }
}

pub async fn without_tokens_nothing_is_indexed(store: &dyn Store) {
    let mut silent = event("word");
    silent.tokens = String::new();
    append_session(store, "7f78aa01", vec![silent]).await;
    assert_eq!(stats(store, &["word"]).await, (0, vec![0]));
    assert!(all(store, "word").await.is_empty());
}

pub async fn long_texts_are_shown_by_their_head(store: &dyn Store) {
    let text = format!("word {}", "ü".repeat(4000));
    append_session(store, "7f78aa01", vec![event(&text)]).await;
    let shown = all(store, "word").await.remove(0);
    assert!(text.starts_with(&shown));
    assert_eq!(shown.len(), 4095);
}

pub async fn a_rebuilt_index_answers_the_same(store: &dyn Store) {
    let id = one_of_each(store).await;
    let ada = user_scope("ada");
    let answers = async || {
        let steps = [step("word", 10), step("event", 10)];
        let documents = candidates(store, &Tenant::local(), &steps, &SearchFilter::default()).await;
        (documents.unwrap(), stats(store, &["word", "event"]).await)
    };
    let before = answers().await;
    store.clear(&Tenant::local()).await.unwrap();
    assert_eq!(answers().await, (Vec::new(), (0, vec![0, 0])));
    assert!(store.file_stamps(&ada).await.unwrap().is_empty());
    for _ in 0..2 {
        let again = [
            (EventSeq(1), tokens("word event")),
            (EventSeq(9), tokens("word nowhere")),
        ];
        store.index_events(&id, &again).await.unwrap();
        store.index_observations(&ada).await.unwrap();
        file(store, &ada, "MEMORY.md", &[entry(3, "word entry")]).await;
    }
    assert_eq!(answers().await, before);
}
