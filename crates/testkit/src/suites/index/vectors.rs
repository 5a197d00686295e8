//! Vectors of documents: which are kept, of which model, and which are nearest.

use daybook_domain::index::{DocumentNo, Embedded, Unembedded};

use super::outlines::{doc, docs};
use super::*;

const MODEL: &str = "ada/small@1";

fn embedded(doc: DocumentNo, signs: u64) -> Embedded {
    Embedded {
        doc,
        vectors: vec![1, -1, i8::MAX, i8::MIN],
        signs: vec![signs, !0],
        tokens: "word".to_owned(),
    }
}

async fn put(store: &dyn Store, embedded: &[Embedded]) {
    let put = store.put_vectors(&Tenant::local(), MODEL, embedded).await;
    put.unwrap();
}

async fn choose(store: &dyn Store, model: &str) -> bool {
    let chosen = store.choose_model(&Tenant::local(), model).await;
    chosen.unwrap()
}

async fn waiting(store: &dyn Store) -> Vec<DocumentNo> {
    let waiting = store.unembedded(&Tenant::local(), 1000).await.unwrap();
    waiting.into_iter().map(|one| one.doc).collect()
}

/// What is nearest to vectors with these signs.
async fn near(store: &dyn Store, signs: u64, filter: &Filter, limit: usize) -> Vec<DocumentNo> {
    let (tenant, asked) = (Tenant::local(), [signs, !0]);
    let nearest = store.nearest(&tenant, (MODEL, &asked), filter, limit);
    nearest.await.unwrap()
}

async fn nearest(store: &dyn Store, signs: u64, limit: usize) -> Vec<DocumentNo> {
    near(store, signs, &Filter::default(), limit).await
}

async fn vectors(store: &dyn Store, doc: DocumentNo, model: Option<&str>) -> Vec<i8> {
    let outlines = store.outlines(&Tenant::local(), &[doc], model).await;
    outlines.unwrap().remove(0).vectors
}

pub async fn the_nearest_come_first_and_of_equals_the_newest(store: &dyn Store) {
    choose(store, MODEL).await;
    let id = said(store, "7f78aa01", events("word", 4)).await;
    let scope = user_scope("ada");
    store
        .observe(&[noted(&scope, &id, "word noted")], at(9))
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
    let all: Vec<Embedded> = signs
        .map(|(doc, signs)| embedded(doc, signs))
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
    let there = event("word there").in_place("/home/ada/engine");
    let reply = event("word reply").said_by(Origin::Assistant);
    said(store, "8000", vec![there, reply]).await;
    let (root, engine) = ("/home/ada/engine", project("engine"));
    store
        .assign_root(&Tenant::local(), root, &engine, at(1))
        .await
        .unwrap();
    let of_engine = noted(&project_scope("engine"), &id, "word of engine");
    store.observe(&[of_engine], at(2)).await.unwrap();
    let all: Vec<Embedded> = docs(store, "word")
        .await
        .into_iter()
        .map(|doc| embedded(doc, 0))
        .collect();
    put(store, &all).await;
    let texts = async |filter: Filter| {
        let found = near(store, 0, &filter, 9).await;
        let found = store.documents(&Tenant::local(), &found).await;
        let texts = found.unwrap().into_iter().map(|document| document.text);
        texts.collect::<Vec<_>>()
    };
    let (ada, engine) = (user_scope("ada"), project_scope("engine"));
    let scoped = |scopes: &[Scope]| Filter {
        scopes: Some(scopes.to_vec()),
        ..Filter::default()
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
    let layered = |layers: &[Layer]| Filter {
        layers: layers.to_vec(),
        ..Filter::default()
    };
    let said = ["word reply", "word there", "word event"];
    assert_eq!(texts(layered(&[Layer::Event])).await, said);
    let outer = texts(layered(&[Layer::Event, Layer::Entry])).await;
    assert_eq!(outer[0], "word entry");
    assert_eq!(outer[1..], said);
    let by = |origin| Filter {
        origins: vec![origin],
        ..Filter::default()
    };
    let digested = ["word entry", "word of engine", "word observed"];
    let replied = texts(by(Origin::Assistant)).await;
    assert_eq!(replied[..3], digested);
    assert_eq!(replied[3..], ["word reply"]);
    assert_eq!(texts(by(Origin::Recalled)).await, digested);
    let all_three = Filter {
        origins: vec![Origin::Human],
        ..layered(&[Layer::Event])
    };
    let all_three = Filter {
        scopes: Some(vec![engine]),
        ..all_three
    };
    assert_eq!(texts(all_three).await, ["word there"]);
}

pub async fn vectors_are_of_one_model(store: &dyn Store) {
    said(store, "7f78aa01", vec![event("word")]).await;
    let word = doc(store, "word").await;
    let put_of = async |model: &str| {
        let (tenant, vectors) = (Tenant::local(), [embedded(word, 0)]);
        let put = store.put_vectors(&tenant, model, &vectors);
        put.await.unwrap();
        waiting(store).await
    };
    assert_eq!(put_of(MODEL).await, [word], "no model is chosen");
    assert!(choose(store, MODEL).await);
    assert!(!choose(store, MODEL).await);
    assert_eq!(put_of("ada/large@1").await, [word]);
    assert_eq!(put_of(MODEL).await, []);
    assert_eq!(vectors(store, word, Some(MODEL)).await.len(), 4);
    assert_eq!(vectors(store, word, Some("ada/large@1")).await, [0; 0]);
    assert_eq!(vectors(store, word, None).await, [0; 0]);
    let asked = ("ada/large@1", &[0, !0][..]);
    let none = store
        .nearest(&Tenant::local(), asked, &Filter::default(), 9)
        .await;
    assert_eq!(none.unwrap(), []);
}

pub async fn another_model_begins_with_every_document(store: &dyn Store) {
    choose(store, MODEL).await;
    let output = event("word output").said_by(Origin::ToolResult);
    said(
        store,
        "7f78aa01",
        vec![event("word one"), event("word two"), output],
    )
    .await;
    let (one, two) = (doc(store, "one").await, doc(store, "two").await);
    // The second is a text that the model makes nothing of.
    let nothing = Embedded {
        vectors: Vec::new(),
        signs: Vec::new(),
        ..embedded(two, 0)
    };
    put(store, &[embedded(one, 0), nothing]).await;
    assert_eq!(waiting(store).await, []);
    assert_eq!(nearest(store, 0, 9).await, [one]);
    assert!(choose(store, "ada/large@1").await);
    assert_eq!(waiting(store).await, [two, one]);
    assert_eq!(vectors(store, one, Some("ada/large@1")).await, [0; 0]);
    assert!(choose(store, MODEL).await);
    assert_eq!(nearest(store, 0, 9).await, []);
    put(store, &[embedded(two, 0)]).await;
    assert_eq!(nearest(store, 0, 9).await, [two]);
}

pub async fn the_newest_wait_first_for_vectors(store: &dyn Store) {
    let id = one_of_each(store).await;
    let output = event("word output").said_by(Origin::ToolResult);
    let silent = NewEvent {
        tokens: String::new(),
        ..event("silent")
    };
    said(
        store,
        "7f78aa01",
        vec![
            output,
            silent,
            event("word reply").said_by(Origin::Assistant),
        ],
    )
    .await;
    let waiting = async |limit| store.unembedded(&Tenant::local(), limit).await.unwrap();
    let one = async |words: &str, text: &str, context: Option<&str>| Unembedded {
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
    assert_eq!(waiting(9).await, expected);
    assert_eq!(waiting(2).await, expected[..2]);
    assert_eq!(waiting(0).await, []);
    file(store, &user_scope("ada"), "MEMORY.md", &[]).await;
    let observed = noted(&user_scope("ada"), &id, "word observed");
    store
        .retract(&user_scope("ada"), observed.id, at(9))
        .await
        .unwrap();
    assert_eq!(waiting(9).await, expected[2..]);
}

pub async fn vectors_are_kept_once_and_of_what_is_there(store: &dyn Store) {
    choose(store, MODEL).await;
    let ada = user_scope("ada");
    let entries = [entry(1, "word old"), entry(2, "word kept")];
    file(store, &ada, "MEMORY.md", &entries).await;
    let old = doc(store, "old").await;
    file(store, &ada, "MEMORY.md", &[entry(1, "word new")]).await;
    let new = doc(store, "new").await;
    put(store, &[embedded(old, 0), embedded(DocumentNo(7), 0)]).await;
    assert_eq!(nearest(store, 0, 9).await, []);
    assert_eq!(waiting(store).await, [new]);
    let other = Embedded {
        vectors: vec![9],
        ..embedded(new, !0)
    };
    put(store, &[embedded(new, 0), other.clone()]).await;
    put(store, &[other]).await;
    let kept = vectors(store, new, Some(MODEL)).await;
    assert_eq!(kept, [1, -1, i8::MAX, i8::MIN]);
    assert_eq!(nearest(store, 0, 9).await, [new]);
    assert_eq!(waiting(store).await, []);
}

pub async fn what_is_indexed_anew_waits_for_vectors_again(store: &dyn Store) {
    choose(store, MODEL).await;
    let id = one_of_each(store).await;
    let ada = user_scope("ada");
    let embed = async || {
        let all = waiting(store).await.into_iter();
        let all: Vec<Embedded> = all.map(|doc| embedded(doc, 0)).collect();
        put(store, &all).await;
        assert_eq!(nearest(store, 0, 9).await, docs(store, "word").await);
        assert_eq!(waiting(store).await, []);
    };
    embed().await;
    let [event, observed] = [doc(store, "event").await, doc(store, "observed").await];
    let again = [(EventSeq(1), "word event anew".to_owned())];
    store.index_events(&id, &again).await.unwrap();
    assert_eq!(waiting(store).await, [event]);
    assert_eq!(vectors(store, event, Some(MODEL)).await, [0; 0]);
    embed().await;
    store.index_observations(&ada).await.unwrap();
    assert_eq!(waiting(store).await, [observed]);
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
    assert_eq!(waiting(store).await, [observed]);
    assert_eq!(doc(store, "worded").await, observed);
    embed().await;
    file(store, &ada, "MEMORY.md", &[entry(3, "word entry")]).await;
    assert_eq!(waiting(store).await, [doc(store, "entry").await]);
    assert_eq!(nearest(store, 0, 9).await, [observed, event]);
    embed().await;
    store.clear(&Tenant::local()).await.unwrap();
    assert_eq!(nearest(store, 0, 9).await, []);
    assert_eq!(waiting(store).await, []);
    store.index_observations(&ada).await.unwrap();
    assert_eq!(waiting(store).await, [observed]);
    // The model stays the one that was chosen.
    embed().await;
}

pub async fn what_is_gone_is_no_longer_near(store: &dyn Store) {
    choose(store, MODEL).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let from_file = imported(&session("a000"), events("word", 60), "/logs/a", no);
    store.append(&from_file).await.unwrap();
    let id = said(store, "b000", vec![event("far away")]).await;
    let scope = user_scope("ada");
    let taken_back = noted(&scope, &id, "word noted");
    store
        .observe(std::slice::from_ref(&taken_back), at(9))
        .await
        .unwrap();
    let far = doc(store, "far").await;
    let mut all: Vec<Embedded> = docs(store, "word")
        .await
        .into_iter()
        .map(|doc| embedded(doc, 0))
        .collect();
    all.push(embedded(far, !0));
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
    said(store, "7f78aa01", vec![event("word")]).await;
    let append = append(&theirs, vec![event("word")]);
    store.append(&append).await.unwrap();
    let ours = doc(store, "word").await;
    choose(store, MODEL).await;
    assert!(store.choose_model(&other, "ada/large@1").await.unwrap());
    let waiting = store.unembedded(&other, 9).await.unwrap();
    assert_eq!(waiting.len(), 1);
    let wide = Embedded {
        signs: vec![0, 0, 0],
        ..embedded(waiting[0].doc, 0)
    };
    // Nobody keeps vectors of another tenant's documents.
    let both = [embedded(ours, 0), wide];
    put(store, &both).await;
    let put_theirs = store.put_vectors(&other, "ada/large@1", &both);
    put_theirs.await.unwrap();
    for _ in 0..2 {
        assert_eq!(nearest(store, 0, 9).await, [ours]);
        let asked = ("ada/large@1", &[0, 0, 0][..]);
        let found = store.nearest(&other, asked, &Filter::default(), 9).await;
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
    let put_nobodys = store.put_vectors(&nobody, MODEL, &both);
    put_nobodys.await.unwrap();
    let asked = (MODEL, &[0, !0][..]);
    let found = store.nearest(&nobody, asked, &Filter::default(), 9).await;
    assert_eq!(found.unwrap(), []);
}
