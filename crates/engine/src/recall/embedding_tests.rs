use daybook_domain::index::{CandidateQuery, DocumentOutline, SearchFilter};
use daybook_domain::seams::{IndexReader, ObservationStore, SessionLog, VectorStore};
use daybook_domain::{EventId, NewEvent};
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::{
    EventFixture, append, at, event, evidence, observation, session, user_scope,
};
use daybook_testkit::{FakeEmbedder, run};

use super::*;

const GROUPS: [&str; 3] = ["boat ship", "wind gale", "harbour port"];

fn model() -> FakeEmbedder {
    FakeEmbedder::new("ada/small@1", &GROUPS)
}

/// A store with one session, in which a person wrote these texts.
fn store_of_messages(texts: impl IntoIterator<Item = String>) -> MemoryStore {
    let store = MemoryStore::new();
    let events: Vec<NewEvent> = (1..)
        .zip(texts)
        .map(|(n, text)| NewEvent {
            id: EventId::of(&[&n.to_string().into_bytes()]),
            tokens: outlined_text(&text),
            ..event(&text).with_time(at(n))
        })
        .collect();
    for events in events.chunks(500) {
        run(store.append(&append(&session("a"), events.to_vec()))).expect("events are taken in");
    }
    store
}

fn some(store: &MemoryStore, model: &FakeEmbedder, most: usize) -> Result<usize, EmbeddingError> {
    run(embed_some(store, &Tenant::local(), model, most))
}

fn waiting(store: &MemoryStore) -> usize {
    let waiting = run(store.unembedded(&Tenant::local(), usize::MAX));
    waiting.expect("the store answers").len()
}

/// The outlines of all texts with a word, the newest first, with vectors of a model.
fn outlines(store: &MemoryStore, word: &str, model: &FakeEmbedder) -> Vec<DocumentOutline> {
    let step = CandidateQuery {
        all_of: vec![word.to_owned()],
        limit: usize::MAX,
    };
    let found = run(async {
        let tenant = Tenant::local();
        let docs = store
            .matches(&tenant, &[step], &SearchFilter::default())
            .await?;
        store.outlines(&tenant, &docs, Some(model.id())).await
    });
    found.expect("the store answers")
}

#[test]
fn vectors_are_given_in_steps_the_newest_first() {
    let store = store_of_messages((0..10).map(|n| format!("boat {n}")));
    let model = model();
    assert_eq!(some(&store, &model, 0).expect("no call"), 0);
    assert_eq!(some(&store, &model, 4).expect("the model answers"), 4);
    assert_eq!(waiting(&store), 6);
    let has: Vec<bool> = outlines(&store, "boat", &model)
        .iter()
        .map(|outline| !outline.vectors.is_empty())
        .collect();
    assert_eq!(has, [[true; 4].as_slice(), &[false; 6]].concat());
    assert_eq!(some(&store, &model, 100).expect("the model answers"), 6);
    assert_eq!(some(&store, &model, 100).expect("nothing is left"), 0);
    assert_eq!(waiting(&store), 0);
}

#[test]
fn many_are_given_in_batches_and_progress_is_told() {
    let texts = 2 * BATCH + 7;
    let store = store_of_messages((0..texts).map(|n| format!("boat {n}")));
    let model = model();
    let mut progress = Vec::new();
    let (tenant, note) = (Tenant::local(), |done| progress.push(done));
    let all = embed_all(&store, &tenant, &model, note);
    assert_eq!(run(all).expect("the model answers"), texts);
    assert_eq!(progress, [BATCH, 2 * BATCH, texts]);
    assert!(model.calls().iter().all(|texts| *texts <= BATCH));
    assert_eq!(waiting(&store), 0);
}

#[test]
fn a_model_that_fails_is_named_and_nothing_is_lost() {
    let store = store_of_messages((0..2 * BATCH + 7).map(|n| format!("boat {n}")));
    let model = model();
    model.fail_after(1);
    let error = some(&store, &model, usize::MAX).expect_err("the model fails");
    assert_eq!(
        error.to_string(),
        format!(
            "{} gave no vectors: the model is away; until it does, recall searches by words alone",
            model.id()
        )
    );
    assert_eq!(waiting(&store), BATCH + 7, "the first batch stays");
    model.fail_after(usize::MAX);
    let rest = some(&store, &model, usize::MAX).expect("the model is back");
    assert_eq!(rest, BATCH + 7);
}

#[test]
fn another_model_replaces_the_vectors() {
    let store = store_of_messages(["boat".to_owned(), "a gale".to_owned()]);
    let (small, large) = (model(), FakeEmbedder::new("ada/large@1", &GROUPS[..2]));
    some(&store, &small, 9).expect("the model answers");
    assert_eq!(some(&store, &small, 9).expect("nothing is left"), 0);
    assert_eq!(some(&store, &large, 9).expect("the model answers"), 2);
    assert_eq!(*outlines(&store, "boat", &large)[0].vectors, [127, 0]);
    assert!(outlines(&store, "boat", &small)[0].vectors.is_empty());
}

#[test]
fn a_text_of_nothing_known_waits_no_longer() {
    let store = store_of_messages(["pebbles and sand".to_owned()]);
    let model = model();
    assert_eq!(some(&store, &model, 9).expect("the model answers"), 1);
    assert_eq!(waiting(&store), 0);
    assert!(outlines(&store, "sand", &model)[0].vectors.is_empty());
}

#[test]
fn a_long_text_has_a_vector_of_the_whole_and_one_of_each_passage() {
    let about = |word: &str| format!("{}{word}. ", "pebble ".repeat(40));
    let text = [about("boat"), about("nothing"), about("gale")].concat();
    assert_eq!(passages(&text).len(), 3);
    let store = store_of_messages([text]);
    let model = model();
    some(&store, &model, 9).expect("the model answers");
    let [whole, boat, nothing, gale] = [
        [127, 127, 0],
        [127, 0, 0],
        // Of a passage without a known word, the vector is that of the whole.
        [127, 127, 0],
        [0, 127, 0],
    ];
    let vectors = &outlines(&store, "pebbl", &model)[0].vectors;
    assert_eq!(**vectors, [whole, boat, nothing, gale].concat());
}

#[test]
fn of_a_very_long_text_head_and_tail_have_vectors() {
    let about = |n: usize| format!("{}boat{n}. ", "so ".repeat(40));
    let text: String = (0..40).map(about).collect();
    assert_eq!(passages(&text).len(), 40);
    let store = store_of_messages([text]);
    let model = model();
    some(&store, &model, 9).expect("the model answers");
    assert_eq!(model.calls(), [1 + PASSAGES]);
}

#[test]
fn the_name_of_a_speaker_is_not_part_of_the_vector() {
    let store = store_of_messages(["Gale: a boat".to_owned()]);
    let model = model();
    some(&store, &model, 9).expect("the model answers");
    assert_eq!(*outlines(&store, "boat", &model)[0].vectors, [127, 0, 0]);
}

#[test]
fn what_makes_an_observation_understandable_is_part_of_its_vector() {
    let store = MemoryStore::new();
    let evidence = vec![evidence(&session("a"), &[1])];
    let observed = daybook_domain::Observation {
        context: Some("about the harbour".to_owned()),
        ..observation(&user_scope("ada"), "a boat", evidence)
    };
    run(store.observe(&[observed], at(1))).expect("an observation is taken in");
    let model = model();
    some(&store, &model, 9).expect("the model answers");
    assert_eq!(*outlines(&store, "boat", &model)[0].vectors, [127, 0, 127]);
}

#[test]
fn what_tools_did_has_no_vectors() {
    let store = MemoryStore::new();
    let events = [Origin::ToolCall, Origin::ToolResult, Origin::Human]
        .map(|origin| event(&format!("boat of {origin:?}")).with_origin(origin));
    run(store.append(&append(&session("a"), events.to_vec()))).expect("events are taken in");
    let model = model();
    some(&store, &model, 9).expect("the model answers");
    assert_eq!(model.calls().iter().sum::<usize>(), 1);
    assert_eq!(waiting(&store), 0);
}
