//! Storing vectors while other callers index their documents again, delete them, or choose another model.

use daybook_domain::index::{DocumentVectors, SearchFilter};
use daybook_domain::seams::{IndexWriter, ObservationStore, VectorStore};
use daybook_domain::{EventSeq, StoreError};
use futures_util::future::join;

use super::*;

const MODELS: [&str; 2] = ["ada/small@1", "ada/large@1"];
const EVENTS: u64 = 20;
const ROUNDS: u64 = 25;

/// Stores vectors of a model for all documents that wait for them.
async fn embed(store: &PostgresStore, model: &str) -> Result<(), StoreError> {
    let tenant = Tenant::local();
    let waiting = store.unembedded(&tenant, 100).await?.into_iter();
    let vectors = waiting.map(|one| DocumentVectors {
        doc: one.doc,
        digest: one.digest(),
        vectors: vec![1],
        signs: vec![7],
        tokens: tokens(&one.text),
    });
    let vectors: Vec<DocumentVectors> = vectors.collect();
    store.put_vectors(&tenant, model, &vectors).await
}

/// Indexes events again, and adds and retracts an observation.
async fn disturb(store: &PostgresStore, round: u64) -> Result<(), StoreError> {
    let (id, ada) = (session("5e550001"), user_scope("ada"));
    let some = (1..=EVENTS).filter(|n| n % 3 == round % 3);
    let some: Vec<(EventSeq, String)> = some.map(|n| (EventSeq(n), format!("word {n}"))).collect();
    store.index_events(&id, &some).await?;
    let noted = observation(&ada, "word noted", vec![evidence(&id, &[round + 1])]);
    let noted = [noted];
    store.observe(&noted, at(round)).await?;
    store.retract(&ada, noted[0].id, at(round)).await?;
    Ok(())
}

#[test]
fn vectors_are_kept_of_nothing_that_is_gone_however_calls_meet() {
    let Some(fixture) = on_server() else { return };
    let other_machine = open(&fixture.database.address());
    run(async {
        let tenant = Tenant::local();
        let id = session("5e550001");
        let appended = fixture.append(&append(&id, events("word", EVENTS))).await;
        appended.unwrap();
        let disturbing = async {
            for round in 0..ROUNDS {
                disturb(&other_machine, round).await.unwrap();
            }
        };
        let embedding = async {
            for round in 0..2 * ROUNDS {
                let model = MODELS[usize::from(round % 7 == 3)];
                fixture.choose_model(&tenant, model).await.unwrap();
                embed(&fixture, model).await.unwrap();
                embed(&other_machine, model).await.unwrap();
            }
        };
        join(disturbing, embedding).await;
        let stray = "SELECT count(*) FROM ix_signs FULL JOIN ix_vectors USING (tenant_no, doc)
            LEFT JOIN ix_docs USING (doc) LEFT JOIN ix_unembedded USING (doc)
            WHERE ix_docs.doc IS NULL OR ix_unembedded.doc IS NOT NULL
                OR signs IS NULL OR vectors IS NULL";
        assert_eq!(fixture.database.ask(stray), "0");
        fixture.choose_model(&tenant, MODELS[0]).await.unwrap();
        embed(&fixture, MODELS[0]).await.unwrap();
        let asked = (MODELS[0], &[7][..]);
        let near = fixture
            .nearest(&tenant, asked, &SearchFilter::default(), 100)
            .await;
        assert_eq!(near.unwrap().len() as u64, EVENTS);
        assert_eq!(fixture.unembedded(&tenant, 100).await.unwrap(), []);
    });
}
