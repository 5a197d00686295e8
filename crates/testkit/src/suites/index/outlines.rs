//! Outlines of documents, and the events around a document.

use daybook_domain::Timestamp;
use daybook_domain::index::{DocumentNo, DocumentOutline, Terms};

use super::*;

/// The only document with these words.
pub(super) async fn doc(store: &dyn Store, words: &str) -> DocumentNo {
    let docs = docs(store, words).await;
    assert_eq!(docs.len(), 1, "{words}");
    docs[0]
}

/// All documents with these words, the newest first.
pub(super) async fn docs(store: &dyn Store, words: &str) -> Vec<DocumentNo> {
    let (tenant, filter) = (Tenant::local(), SearchFilter::default());
    let matches = store.matches(&tenant, &[step(words, 1000)], &filter).await;
    matches.unwrap()
}

pub(super) async fn outlines(store: &dyn Store, docs: &[DocumentNo]) -> Vec<DocumentOutline> {
    store.outlines(&Tenant::local(), docs, None).await.unwrap()
}

fn outline(doc: DocumentNo, origin: Option<Origin>, at: Timestamp, text: &str) -> DocumentOutline {
    DocumentOutline {
        doc,
        origin,
        at,
        terms: Terms::of(&tokens(text)),
        vectors: [].into(),
    }
}

pub async fn outlines_come_in_the_order_asked_without_what_is_gone(store: &dyn Store) {
    let id = one_of_each(store).await;
    let ran = event("word output")
        .with_origin(Origin::ToolResult)
        .with_time(at(7));
    append_session(store, "7f78aa01", vec![ran]).await;
    let scope = user_scope("ada");
    let gone = observation_of(&scope, &id, "word gone");
    store
        .observe(std::slice::from_ref(&gone), at(9))
        .await
        .unwrap();
    let of_gone = doc(store, "gone").await;
    store.retract(&scope, gone.id, at(10)).await.unwrap();
    let event = doc(store, "event").await;
    let output = doc(store, "output").await;
    let (observed, entry) = (doc(store, "observed").await, doc(store, "entry").await);
    let asked = [
        event,
        of_gone,
        entry,
        output,
        DocumentNo(i64::MAX),
        observed,
        event,
    ];
    let of_person = |doc, at, text| outline(doc, Some(Origin::Human), at, text);
    let expected = [
        of_person(event, DAWN, "word event"),
        outline(entry, None, at(5), "word entry"),
        outline(output, Some(Origin::ToolResult), at(7), "word output"),
        outline(observed, None, at(1), "word observed"),
        of_person(event, DAWN, "word event"),
    ];
    assert_eq!(outlines(store, &asked).await, expected);
    let documents = store.documents(&Tenant::local(), &asked).await.unwrap();
    let texts: Vec<&str> = documents.iter().map(|d| d.text.as_str()).collect();
    let expected = [
        "word event",
        "word entry",
        "word output",
        "word observed",
        "word event",
    ];
    assert_eq!(texts, expected);
}

pub async fn terms_keep_the_order_of_words_and_the_marks_between_them(store: &dyn Store) {
    let mut marked = event("marked");
    marked.tokens = "ada\tred blue\n\u{b}green red\u{b}\nblue".to_owned();
    append_session(store, "7f78aa01", vec![marked]).await;
    let term = Terms::of_token;
    let terms = vec![
        term("ada"),
        Terms::SPEAKER,
        term("red"),
        term("blue"),
        Terms::PASSAGE,
        Terms::OPEN,
        term("green"),
        term("red"),
        Terms::OPEN,
        Terms::PASSAGE,
        term("blue"),
    ];
    for word in ["ada", "red", "blue", "green", "ada red green"] {
        let found = outlines(store, &docs(store, word).await).await;
        assert_eq!(found.len(), 1, "{word}");
        assert_eq!(found[0].terms, Terms(terms.clone().into()), "{word}");
    }
    assert_eq!(stats(store, &["blue", "green"]).await, (1, vec![1, 1]));
}

pub async fn an_outline_follows_the_time_of_what_it_shows(store: &dyn Store) {
    let id = append_session(store, "7f78aa01", events("spoken", 4)).await;
    let scope = user_scope("ada");
    let noted_at = |seq| observation(&scope, "use tabs", vec![evidence(&id, &[seq])]);
    store.observe(&[noted_at(3)], at(9)).await.unwrap();
    let tabs = doc(store, "tabs").await;
    assert_eq!(outlines(store, &[tabs]).await[0].at, at(3));
    store.observe(&[noted_at(2)], at(9)).await.unwrap();
    let expected = outline(tabs, None, at(2), "use tabs");
    assert_eq!(outlines(store, &[tabs]).await, [expected]);
}

pub async fn surroundings_are_what_was_said_beside_an_event(store: &dyn Store) {
    let texts = ["a one", "a two", "a three", "a four", "a five", "a six"];
    let mut events = texts.map(event);
    events[1].origin = Origin::ToolResult;
    events[2].origin = Origin::Assistant;
    append_session(store, "a000", events[..3].to_vec()).await;
    append_session(store, "b000", vec![event("b one"), event("b two")]).await;
    append_session(store, "a000", events[3..].to_vec()).await;
    let beside = async |words: &[&str], reach: usize| {
        let mut asked = Vec::new();
        for word in words {
            asked.push(doc(store, word).await);
        }
        let found = store.surroundings(&Tenant::local(), &asked, reach).await;
        let found = store.documents(&Tenant::local(), &found.unwrap()).await;
        let texts = found.unwrap().into_iter().map(|document| document.text);
        texts.collect::<Vec<_>>()
    };
    assert_eq!(
        beside(&["a three"], 1).await,
        ["a one", "a three", "a four"]
    );
    assert_eq!(beside(&["a one"], 2).await, ["a one", "a three", "a four"]);
    assert_eq!(beside(&["a six"], 1).await, ["a five", "a six"]);
    assert_eq!(beside(&["a four"], 0).await, ["a four"]);
    assert_eq!(beside(&["b one"], 9).await, ["b one", "b two"]);
    let overlapping = beside(&["b two", "a five", "a four"], 1).await;
    let expected = ["a three", "a four", "a five", "a six", "b one", "b two"];
    assert_eq!(overlapping, expected);
    assert_eq!(beside(&["a two"], 9).await, [""; 0]);
    assert_eq!(beside(&[], 9).await, [""; 0]);
    file(store, &user_scope("ada"), "MEMORY.md", &[entry(1, "file")]).await;
    assert_eq!(beside(&["file"], 9).await, [""; 0]);
}

pub async fn documents_are_opened_by_their_own_tenant_only(store: &dyn Store) {
    one_of_each(store).await;
    let docs = docs(store, "word").await;
    assert_eq!(docs.len(), 3);
    let other = Tenant("other".to_owned());
    let theirs = SessionId {
        tenant: other.clone(),
        ..session("7f78aa01")
    };
    let append = append(&theirs, vec![event("theirs")]);
    for _ in 0..2 {
        let outlines = store.outlines(&other, &docs, None).await.unwrap();
        assert_eq!(outlines, []);
        assert_eq!(store.documents(&other, &docs).await.unwrap(), []);
        assert_eq!(store.surroundings(&other, &docs, 9).await.unwrap(), []);
        // Tries again once the other tenant exists.
        store.append(&append).await.unwrap();
    }
}
