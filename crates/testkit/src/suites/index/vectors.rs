//! Vectors of documents: which are stored, of which model, and which are nearest.

use daybook_domain::index::{DocumentNo, DocumentVectors, EmbeddingInput, WordsDigest};

use super::outlines::{doc, docs};
use super::*;

const MODEL: &str = "ada/small@1";

fn vectors_with_signs(doc: DocumentNo, signs: u64) -> DocumentVectors {
    DocumentVectors {
        doc,
        digest: WordsDigest::of("", None),
        vectors: vec![1, -1, i8::MAX, i8::MIN],
        signs: vec![signs, !0],
        tokens: "word".to_owned(),
    }
}

async fn put(store: &dyn Store, embedded: &[DocumentVectors]) {
    put_of(store, &Tenant::local(), MODEL, embedded).await;
}

/// Stores vectors of the texts that the documents have now.
async fn put_of(store: &dyn Store, tenant: &Tenant, model: &str, embedded: &[DocumentVectors]) {
    let mut embedded = embedded.to_vec();
    for one in &mut embedded {
        let found = store.documents(tenant, &[one.doc]).await.unwrap();
        if let [document] = found.as_slice() {
            one.digest = WordsDigest::of(&document.text, document.context.as_deref());
        }
    }
    let put = store.put_vectors(tenant, model, &embedded).await;
    put.unwrap();
}

async fn choose(store: &dyn Store, model: &str) -> bool {
    let chosen = store.choose_model(&Tenant::local(), model).await;
    chosen.unwrap()
}

async fn waiting_documents(store: &dyn Store) -> Vec<DocumentNo> {
    let waiting = store.unembedded(&Tenant::local(), 1000).await.unwrap();
    waiting.into_iter().map(|one| one.doc).collect()
}

/// The documents nearest to a vector with these signs.
async fn near(
    store: &dyn Store,
    signs: u64,
    filter: &SearchFilter,
    limit: usize,
) -> Vec<DocumentNo> {
    let (tenant, asked) = (Tenant::local(), [signs, !0]);
    let nearest = store.nearest(&tenant, (MODEL, &asked), filter, limit);
    nearest.await.unwrap()
}

async fn nearest(store: &dyn Store, signs: u64, limit: usize) -> Vec<DocumentNo> {
    near(store, signs, &SearchFilter::default(), limit).await
}

async fn vectors(store: &dyn Store, doc: DocumentNo, model: Option<&str>) -> Vec<i8> {
    let outlines = store.outlines(&Tenant::local(), &[doc], model).await;
    outlines.unwrap().remove(0).vectors.to_vec()
}

pub async fn the_nearest_come_first_and_of_equals_the_newest(store: &dyn Store) {
    choose(store, MODEL).await;
    let id = append_session(store, "7f78aa01", events("word", 4)).await;
    let scope = user_scope("ada");
    store
        .observe(&[observation_of(&scope, &id, "word noted")], at(9))
        .await
        .unwrap();
    file(store, &scope, "MEMORY.md", &[entry(1, "word entry")]).await;
    let docs = docs(store, "word").await;
    let [entry, noted, four, three, two, one] = docs[..] else {
        panic!("six documents, not {docs:?}");
    };
    let signs = [
        (one, 0b1111),
        (two, 0b0001),
        (three, 0b1000),
        (four, 1 << 63),
        (noted, 0b1100),
        (entry, 0b0110),
    ];
    let all: Vec<DocumentVectors> = signs
        .map(|(doc, signs)| vectors_with_signs(doc, signs))
        .into_iter()
        .collect();
    put(store, &all[..3]).await;
    assert_eq!(nearest(store, 0, 9).await, [three, two, one]);
    put(store, &all[3..]).await;
    let order = [four, three, two, entry, noted, one];
    assert_eq!(nearest(store, 0, 9).await, order);
    assert_eq!(nearest(store, 0, 2).await, order[..2]);
    assert_eq!(nearest(store, 0, 0).await, []);
    let order = [one, entry, noted, three, two, four];
    assert_eq!(nearest(store, 0b1111, 9).await, order);
}

pub async fn scopes_layers_and_origins_narrow_what_is_nearest(store: &dyn Store) {
    choose(store, MODEL).await;
    let id = one_of_each(store).await;
    let there = event("word there").with_place("/home/ada/engine");
    let reply = event("word reply").with_origin(Origin::Assistant);
    append_session(store, "8000", vec![there, reply]).await;
    let (root, engine) = ("/home/ada/engine", project("engine"));
    store
        .assign_root(&Tenant::local(), root, &engine, at(1))
        .await
        .unwrap();
    let of_engine = observation_of(&project_scope("engine"), &id, "word of engine");
    store.observe(&[of_engine], at(2)).await.unwrap();
    let all: Vec<DocumentVectors> = docs(store, "word")
        .await
        .into_iter()
        .map(|doc| vectors_with_signs(doc, 0))
        .collect();
    put(store, &all).await;
    let texts = async |filter: SearchFilter| {
        let found = near(store, 0, &filter, 9).await;
        let found = store.documents(&Tenant::local(), &found).await;
        let texts = found.unwrap().into_iter().map(|document| document.text);
        texts.collect::<Vec<_>>()
    };
    let (ada, engine) = (user_scope("ada"), project_scope("engine"));
    let scoped = |scopes: &[Scope]| SearchFilter {
        scopes: Some(scopes.to_vec()),
        ..SearchFilter::default()
    };
    assert_eq!(
        texts(scoped(std::slice::from_ref(&engine))).await,
        ["word of engine", "word there"]
    );
    assert_eq!(
        texts(scoped(std::slice::from_ref(&ada))).await,
        ["word entry", "word observed"]
    );
    assert_eq!(texts(scoped(&[ada, engine.clone()])).await.len(), 4);
    assert_eq!(texts(scoped(&[user_scope("nobody")])).await, [""; 0]);
    assert_eq!(texts(scoped(&[])).await, [""; 0]);
    let layered = |layers: &[MemoryLayer]| SearchFilter {
        layers: layers.to_vec(),
        ..SearchFilter::default()
    };
    let said = ["word reply", "word there", "word event"];
    assert_eq!(texts(layered(&[MemoryLayer::Event])).await, said);
    let outer = texts(layered(&[MemoryLayer::Event, MemoryLayer::Entry])).await;
    assert_eq!(outer[0], "word entry");
    assert_eq!(outer[1..], said);
    let by = |origin| SearchFilter {
        origins: vec![origin],
        ..SearchFilter::default()
    };
    let digested = ["word entry", "word of engine", "word observed"];
    let replied = texts(by(Origin::Assistant)).await;
    assert_eq!(replied[..3], digested);
    assert_eq!(replied[3..], ["word reply"]);
    assert_eq!(texts(by(Origin::Recalled)).await, digested);
    let all_three = SearchFilter {
        origins: vec![Origin::Human],
        ..layered(&[MemoryLayer::Event])
    };
    let all_three = SearchFilter {
        scopes: Some(vec![engine]),
        ..all_three
    };
    assert_eq!(texts(all_three).await, ["word there"]);
}

pub async fn vectors_are_of_one_model(store: &dyn Store) {
    append_session(store, "7f78aa01", vec![event("word")]).await;
    let word = doc(store, "word").await;
    let left_by = async |model: &str| {
        put_of(
            store,
            &Tenant::local(),
            model,
            &[vectors_with_signs(word, 0)],
        )
        .await;
        waiting_documents(store).await
    };
    assert_eq!(left_by(MODEL).await, [word], "no model is chosen");
    assert!(choose(store, MODEL).await);
    assert!(!choose(store, MODEL).await);
    assert_eq!(left_by("ada/large@1").await, [word]);
    assert_eq!(left_by(MODEL).await, []);
    assert_eq!(vectors(store, word, Some(MODEL)).await.len(), 4);
    assert_eq!(vectors(store, word, Some("ada/large@1")).await, [0; 0]);
    assert_eq!(vectors(store, word, None).await, [0; 0]);
    let asked = ("ada/large@1", &[0, !0][..]);
    let none = store
        .nearest(&Tenant::local(), asked, &SearchFilter::default(), 9)
        .await;
    assert_eq!(none.unwrap(), []);
}

pub async fn another_model_begins_with_every_document(store: &dyn Store) {
    choose(store, MODEL).await;
    let output = event("word output").with_origin(Origin::ToolResult);
    append_session(
        store,
        "7f78aa01",
        vec![event("word one"), event("word two"), output],
    )
    .await;
    let (one, two) = (doc(store, "one").await, doc(store, "two").await);
    // The second is a text for which the model returns no vector.
    let nothing = DocumentVectors {
        vectors: Vec::new(),
        signs: Vec::new(),
        ..vectors_with_signs(two, 0)
    };
    put(store, &[vectors_with_signs(one, 0), nothing]).await;
    assert_eq!(waiting_documents(store).await, []);
    assert_eq!(nearest(store, 0, 9).await, [one]);
    assert!(choose(store, "ada/large@1").await);
    assert_eq!(waiting_documents(store).await, [two, one]);
    assert_eq!(vectors(store, one, Some("ada/large@1")).await, [0; 0]);
    assert!(choose(store, MODEL).await);
    assert_eq!(nearest(store, 0, 9).await, []);
    put(store, &[vectors_with_signs(two, 0)]).await;
    assert_eq!(nearest(store, 0, 9).await, [two]);
}

pub async fn the_newest_wait_first_for_vectors(store: &dyn Store) {
    let id = one_of_each(store).await;
    let output = event("word output").with_origin(Origin::ToolResult);
    let silent = NewEvent {
        tokens: String::new(),
        ..event("silent")
    };
    append_session(
        store,
        "7f78aa01",
        vec![
            output,
            silent,
            event("word reply").with_origin(Origin::Assistant),
        ],
    )
    .await;
    let newest_waiting = async |limit| store.unembedded(&Tenant::local(), limit).await.unwrap();
    let one = async |words: &str, text: &str, context: Option<&str>| EmbeddingInput {
        doc: doc(store, words).await,
        text: text.to_owned(),
        context: context.map(str::to_owned),
    };
    let expected = [
        one("entry", "word entry", Some("Preferences")).await,
        one(
            "observed",
            "word observed",
            Some("context of word observed"),
        )
        .await,
        one("reply", "word reply", None).await,
        one("event", "word event", None).await,
    ];
    assert_eq!(newest_waiting(9).await, expected);
    assert_eq!(newest_waiting(2).await, expected[..2]);
    assert_eq!(newest_waiting(0).await, []);
    file(store, &user_scope("ada"), "MEMORY.md", &[]).await;
    let observed = observation_of(&user_scope("ada"), &id, "word observed");
    store
        .retract(&user_scope("ada"), observed.id, at(9))
        .await
        .unwrap();
    assert_eq!(newest_waiting(9).await, expected[2..]);
}

pub async fn vectors_are_kept_once_and_of_what_is_there(store: &dyn Store) {
    choose(store, MODEL).await;
    let ada = user_scope("ada");
    let entries = [entry(1, "word old"), entry(2, "word kept")];
    file(store, &ada, "MEMORY.md", &entries).await;
    let old = doc(store, "old").await;
    file(store, &ada, "MEMORY.md", &[entry(1, "word new")]).await;
    let new = doc(store, "new").await;
    put(
        store,
        &[
            vectors_with_signs(old, 0),
            vectors_with_signs(DocumentNo(7), 0),
        ],
    )
    .await;
    assert_eq!(nearest(store, 0, 9).await, []);
    assert_eq!(waiting_documents(store).await, [new]);
    let other = DocumentVectors {
        vectors: vec![9],
        ..vectors_with_signs(new, !0)
    };
    put(store, &[vectors_with_signs(new, 0), other.clone()]).await;
    put(store, &[other]).await;
    let kept = vectors(store, new, Some(MODEL)).await;
    assert_eq!(kept, [1, -1, i8::MAX, i8::MIN]);
    assert_eq!(nearest(store, 0, 9).await, [new]);
    assert_eq!(waiting_documents(store).await, []);
}

pub async fn what_is_indexed_anew_waits_for_vectors_again(store: &dyn Store) {
    choose(store, MODEL).await;
    let id = one_of_each(store).await;
    let ada = user_scope("ada");
    let embed = async || {
        let all = waiting_documents(store).await.into_iter();
        let all: Vec<DocumentVectors> = all.map(|doc| vectors_with_signs(doc, 0)).collect();
        put(store, &all).await;
        assert_eq!(nearest(store, 0, 9).await, docs(store, "word").await);
        assert_eq!(waiting_documents(store).await, []);
    };
    embed().await;
    let [event, observed] = [doc(store, "event").await, doc(store, "observed").await];
    let again = [(EventSeq(1), "word event anew".to_owned())];
    store.index_events(&id, &again).await.unwrap();
    assert_eq!(waiting_documents(store).await, [event]);
    assert_eq!(vectors(store, event, Some(MODEL)).await, [0; 0]);
    embed().await;
    store.index_observations(&ada).await.unwrap();
    assert_eq!(waiting_documents(store).await, [observed]);
    embed().await;
    let other_words = Observation {
        tokens: "word worded".to_owned(),
        ..observation(&ada, "word observed", vec![evidence(&session("bb"), &[])])
    };
    let earlier = daybook_domain::Evidence {
        at: DAWN,
        ..other_words.evidence[0].clone()
    };
    let other_words = Observation {
        evidence: vec![earlier],
        ..other_words
    };
    store.observe(&[other_words], at(3)).await.unwrap();
    assert_eq!(waiting_documents(store).await, [observed]);
    assert_eq!(doc(store, "worded").await, observed);
    embed().await;
    file(store, &ada, "MEMORY.md", &[entry(3, "word entry")]).await;
    assert_eq!(waiting_documents(store).await, [doc(store, "entry").await]);
    assert_eq!(nearest(store, 0, 9).await, [observed, event]);
    embed().await;
    store.clear(&Tenant::local()).await.unwrap();
    assert_eq!(nearest(store, 0, 9).await, []);
    assert_eq!(waiting_documents(store).await, []);
    store.index_observations(&ada).await.unwrap();
    assert_eq!(waiting_documents(store).await, [observed]);
    // The model stays the one that was chosen.
    embed().await;
}

pub async fn vectors_of_earlier_words_are_not_kept(store: &dyn Store) {
    choose(store, MODEL).await;
    let ada = user_scope("ada");
    let worded = |text: &str, context: &str, time| {
        let mut evidence = evidence(&session(&format!("aa{time}")), &[1]);
        evidence.at = at(time);
        Observation {
            text: text.to_owned(),
            context: Some(context.to_owned()),
            tokens: format!("word {text}"),
            ..observation(&ada, "word", vec![evidence])
        }
    };
    // The earliest evidence decides the observation's text, so each of these changes the text.
    let wordings = [
        ("tea", "at work"),
        ("coffee", "at work"),
        ("coffee", "at home"),
    ];
    let mut stale: Vec<DocumentVectors> = Vec::new();
    for ((text, context), time) in wordings.into_iter().zip([9, 8, 7]) {
        store
            .observe(&[worded(text, context, time)], at(10))
            .await
            .unwrap();
        let tenant = Tenant::local();
        let waits = store.unembedded(&tenant, 9).await.unwrap();
        let [waits] = waits.as_slice() else {
            panic!("one observation waits, not {waits:?}");
        };
        assert_eq!(
            (&*waits.text, waits.context.as_deref()),
            (text, Some(context))
        );
        for one in &stale {
            let put = store.put_vectors(&tenant, MODEL, std::slice::from_ref(one));
            put.await.unwrap();
            assert_eq!(nearest(store, 0, 9).await, []);
            assert_eq!(waiting_documents(store).await, [waits.doc]);
        }
        stale.push(DocumentVectors {
            digest: waits.digest(),
            ..vectors_with_signs(waits.doc, 0)
        });
    }
    let present = &stale[2..];
    store
        .put_vectors(&Tenant::local(), MODEL, present)
        .await
        .unwrap();
    assert_eq!(nearest(store, 0, 9).await, [present[0].doc]);
    assert_eq!(waiting_documents(store).await, []);
}

pub async fn what_is_gone_is_no_longer_near(store: &dyn Store) {
    choose(store, MODEL).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let from_file = imported(&session("a000"), events("word", 60), "/logs/a", no);
    store.append(&from_file).await.unwrap();
    let id = append_session(store, "b000", vec![event("far away")]).await;
    let scope = user_scope("ada");
    let taken_back = observation_of(&scope, &id, "word noted");
    store
        .observe(std::slice::from_ref(&taken_back), at(9))
        .await
        .unwrap();
    let far = doc(store, "far").await;
    let mut all: Vec<DocumentVectors> = docs(store, "word")
        .await
        .into_iter()
        .map(|doc| vectors_with_signs(doc, 0))
        .collect();
    all.push(vectors_with_signs(far, !0));
    put(store, &all).await;
    assert_eq!(nearest(store, 0, 1).await, [doc(store, "noted").await]);
    store.retract(&scope, taken_back.id, at(10)).await.unwrap();
    assert_eq!(nearest(store, 0, 1).await, [doc(store, "60").await]);
    store
        .undo_import(&Tenant::local(), no, at(11))
        .await
        .unwrap();
    assert_eq!(nearest(store, 0, 1).await, [far]);
    assert_eq!(nearest(store, 0, 100).await, [far]);
}

pub async fn each_tenant_has_a_model_of_its_own(store: &dyn Store) {
    let other = Tenant("other".to_owned());
    let theirs = SessionId {
        tenant: other.clone(),
        ..session("7f78aa01")
    };
    append_session(store, "7f78aa01", vec![event("word")]).await;
    let append = append(&theirs, vec![event("word")]);
    store.append(&append).await.unwrap();
    let ours = doc(store, "word").await;
    choose(store, MODEL).await;
    assert!(store.choose_model(&other, "ada/large@1").await.unwrap());
    let waiting = store.unembedded(&other, 9).await.unwrap();
    assert_eq!(waiting.len(), 1);
    let wide = DocumentVectors {
        signs: vec![0, 0, 0],
        ..vectors_with_signs(waiting[0].doc, 0)
    };
    // No tenant stores vectors of another tenant's documents.
    let both = [vectors_with_signs(ours, 0), wide];
    put(store, &both).await;
    put_of(store, &other, "ada/large@1", &both).await;
    for _ in 0..2 {
        assert_eq!(nearest(store, 0, 9).await, [ours]);
        let asked = ("ada/large@1", &[0, 0, 0][..]);
        let found = store
            .nearest(&other, asked, &SearchFilter::default(), 9)
            .await;
        assert_eq!(found.unwrap(), [both[1].doc]);
    }
    let outlines = store.outlines(&other, &[ours], Some(MODEL)).await.unwrap();
    assert_eq!(outlines, []);
    assert!(store.choose_model(&other, MODEL).await.unwrap());
    assert_eq!(nearest(store, 0, 9).await, [ours]);
    store.clear(&other).await.unwrap();
    assert_eq!(nearest(store, 0, 9).await, [ours]);
    assert_eq!(store.unembedded(&other, 9).await.unwrap(), []);
    let nobody = Tenant("nobody".to_owned());
    put_of(store, &nobody, MODEL, &both).await;
    let asked = (MODEL, &[0, !0][..]);
    let found = store
        .nearest(&nobody, asked, &SearchFilter::default(), 9)
        .await;
    assert_eq!(found.unwrap(), []);
}
