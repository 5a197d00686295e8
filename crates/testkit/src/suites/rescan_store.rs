//! The promises of `RescanStore`.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::index::{CandidateQuery, SearchFilter};
use daybook_domain::quarantine::{QuarantineReason, QuarantinedObservation};
use daybook_domain::rescan::{
    EventRewrite, EvidenceRewrite, SessionRewrite, StoredEvent, TextField, TextRewrite,
};
use daybook_domain::seams::{Append, Store};
use daybook_domain::{
    ClaimedJob, EntityChange, EntityWrite, EventSeq, Extraction, FinishOutcome, JobKey, JobKind,
    ObservationId, Place, RulesRevision, Scope, SessionId, SessionMeta, Tenant, Venue, Yield,
};

use crate::fixtures::{
    EventFixture, RULES, append, at, claim_of, event, events, evidence, extraction, imported,
    observation, session, user_scope,
};

/// Rules that are newer than those of the fixtures.
const NEWER: RulesRevision = RulesRevision(8);

async fn add(store: &dyn Store, append: &Append) {
    store.append(append).await.expect("an append");
}

async fn three_events(store: &dyn Store, name: &str) -> SessionId {
    let id = session(name);
    add(store, &append(&id, events("secret", 3))).await;
    id
}

async fn claim_rescan(store: &dyn Store) -> ClaimedJob {
    let claim = claim_of(JobKind::Redact, at(9_000), 1);
    let claimed = store.claim(claim).await.expect("claims");
    claimed.into_iter().next().expect("a rescan is due")
}

async fn entries(store: &dyn Store, id: &SessionId) -> Vec<StoredEvent> {
    let (all, end) = (EventSeq(0), EventSeq(99));
    store.log_entries(id, all, end, 99, 9_999).await.unwrap()
}

fn hidden(text: &str) -> String {
    text.replace("secret", "hidden")
}

fn rewrite_of(before: &StoredEvent) -> EventRewrite {
    let mut after = before.clone();
    after.event.text = hidden(&before.event.text);
    EventRewrite {
        tokens: after.event.text.clone(),
        before: before.clone(),
        after,
    }
}

fn nothing_beside(rules: RulesRevision) -> SessionRewrite {
    SessionRewrite {
        rules,
        evidence: Vec::new(),
        texts: Vec::new(),
        concerns: Vec::new(),
    }
}

/// Ends the whole rescan that is due next, without any change.
async fn rescan_whole(store: &dyn Store, rules: RulesRevision) {
    let claimed = claim_rescan(store).await;
    let upto = EventSeq(claimed.upto - 1);
    let part = store.rewrite_events(&claimed.token, upto, &[], at(9_001));
    assert_eq!(part.await.unwrap(), FinishOutcome::StillDue);
    let claimed = claim_rescan(store).await;
    let beside = nothing_beside(rules);
    let whole = store.rewrite_session(&claimed.token, &beside, at(9_002));
    assert_eq!(whole.await.unwrap(), FinishOutcome::Complete);
}

async fn raise(store: &dyn Store, rules: RulesRevision) -> usize {
    store.raise_rescans(rules, at(100)).await.unwrap()
}

async fn found(store: &dyn Store, token: &str) -> usize {
    let query = CandidateQuery {
        all_of: vec![token.to_owned()],
        limit: 9,
    };
    let (tenant, filter) = (Tenant::local(), SearchFilter::default());
    let found = store.matches(&tenant, &[query], &filter).await;
    found.unwrap().len()
}

pub async fn a_rescan_is_raised_once_for_each_session_of_other_rules(store: &dyn Store) {
    three_events(store, "7f78aa01").await;
    three_events(store, "7f78aa02").await;
    assert_eq!(raise(store, RULES).await, 0);
    assert_eq!(raise(store, NEWER).await, 2);
    assert_eq!(raise(store, NEWER).await, 0);
    let jobs = store.jobs_of_all_tenants(JobKind::Redact).await.unwrap();
    let inputs: Vec<u64> = jobs.iter().map(|job| job.input).collect();
    assert_eq!(inputs, [4, 4]);
    rescan_whole(store, NEWER).await;
    rescan_whole(store, NEWER).await;
    assert_eq!(store.next_due(JobKind::Redact).await.unwrap(), None);
    assert_eq!(raise(store, NEWER).await, 0);
}

pub async fn a_rescan_of_one_session_is_raised_whichever_rules_redacted_it(store: &dyn Store) {
    let (one, other) = (
        three_events(store, "aaa1").await,
        three_events(store, "aaa2").await,
    );
    assert_eq!(store.raise_rescans(RULES, at(8_000)).await.unwrap(), 0);
    assert!(store.raise_rescan(&one, RULES, at(8_000)).await.unwrap());
    let unknown = session("unknown");
    assert!(
        !store
            .raise_rescan(&unknown, RULES, at(8_000))
            .await
            .unwrap()
    );
    let claimed = claim_rescan(store).await;
    assert_eq!(claimed.token.job(), &JobKey::Redact(one));
    let job = store.job(&JobKey::Redact(other)).await.unwrap();
    assert!(job.is_none_or(|job| !job.is_ahead()));
}

pub async fn an_append_by_other_rules_has_the_session_rescanned(store: &dyn Store) {
    let id = three_events(store, "7f78aa01").await;
    let by_newer = Append {
        rules: NEWER,
        ..append(&id, events("more", 1))
    };
    add(store, &by_newer).await;
    // Neither rules redacted all of it.
    assert_eq!(raise(store, RULES).await, 1);
    assert_eq!(raise(store, NEWER).await, 1);
    let by_older = Append {
        rules: RULES,
        ..append(&id, events("late", 1))
    };
    add(store, &by_older).await;
    rescan_whole(store, NEWER).await;
    assert_eq!(raise(store, NEWER).await, 1);
}

pub async fn a_rescan_for_newer_rules_starts_over(store: &dyn Store) {
    let id = three_events(store, "7f78aa01").await;
    raise(store, NEWER).await;
    let stale = claim_rescan(store).await;
    let part = store.rewrite_events(&stale.token, EventSeq(2), &[], at(9_001));
    assert_eq!(part.await.unwrap(), FinishOutcome::StillDue);
    let stale = claim_rescan(store).await;
    assert_eq!(stale.after, 2);
    let newest = RulesRevision(9);
    assert_eq!(raise(store, newest).await, 1);
    let lost = store.rewrite_events(&stale.token, EventSeq(3), &[], at(9_002));
    assert_eq!(lost.await.unwrap(), FinishOutcome::LeaseLost);
    let key = JobKey::Redact(id);
    let job = store.job(&key).await.unwrap().expect("the rescan");
    assert_eq!((job.done, job.input), (0, 4));
    rescan_whole(store, newest).await;
    assert_eq!(raise(store, newest).await, 0);
}

pub async fn a_rewritten_event_is_found_by_its_new_words_alone(store: &dyn Store) {
    let id = three_events(store, "7f78aa01").await;
    assert_eq!(found(store, "secret").await, 3);
    raise(store, NEWER).await;
    let claimed = claim_rescan(store).await;
    let before = entries(store, &id).await;
    let rewrites: Vec<EventRewrite> = before.iter().map(rewrite_of).collect();
    let rewriting = store.rewrite_events(&claimed.token, EventSeq(3), &rewrites, at(9_001));
    assert_eq!(rewriting.await.unwrap(), FinishOutcome::StillDue);
    let texts = entries(store, &id).await.into_iter();
    let texts: Vec<String> = texts.map(|entry| entry.event.text).collect();
    assert_eq!(texts, ["hidden 1", "hidden 2", "hidden 3"]);
    assert_eq!(found(store, "secret").await, 0);
    assert_eq!(found(store, "hidden").await, 3);
    assert!(store.erase_replaced().await.unwrap());
    assert_eq!(found(store, "hidden").await, 3);
}

pub async fn a_rewritten_event_moves_to_its_new_folder(store: &dyn Store) {
    let id = session("7f78aa01");
    let secret = "/srv/secret";
    let there = event("here").with_place(secret);
    add(store, &append(&id, vec![there])).await;
    let (tenant, project) = (Tenant::local(), crate::fixtures::project("tidepool"));
    let assigned = store.assign_root(&tenant, secret, &project, at(1));
    assigned.await.unwrap();
    raise(store, NEWER).await;
    let claimed = claim_rescan(store).await;
    let before = entries(store, &id).await.remove(0);
    let mut rewrite = rewrite_of(&before);
    rewrite.after.event.place = Some(Place {
        root: hidden(secret),
        branch: None,
    });
    let rewrites = [rewrite];
    let rewriting = store.rewrite_events(&claimed.token, EventSeq(1), &rewrites, at(9_001));
    let _ = rewriting.await.unwrap();
    let places = store.places(&tenant).await.unwrap();
    let roots: Vec<&str> = places
        .iter()
        .map(|(place, _)| place.root.as_str())
        .collect();
    assert_eq!(roots, ["/srv/hidden"]);
    assert_eq!(places[0].1.as_deref(), Some(project.key.as_str()));
    let records = store.roots(&tenant).await.unwrap();
    assert_eq!(records.len(), 1);
}

pub async fn an_extraction_that_read_a_rewritten_event_loses_its_lease(store: &dyn Store) {
    let id = three_events(store, "7f78aa01").await;
    let claims = store.claim(claim_of(JobKind::Extract, at(9_000), 1)).await;
    let reading = claims.unwrap().remove(0);
    raise(store, NEWER).await;
    let claimed = claim_rescan(store).await;
    let rewrites = [rewrite_of(&entries(store, &id).await[0])];
    let rewriting = store.rewrite_events(&claimed.token, EventSeq(3), &rewrites, at(9_001));
    let _ = rewriting.await.unwrap();
    let late = store.finish(&reading.token, 3, at(9_002)).await.unwrap();
    assert_eq!(late, FinishOutcome::LeaseLost);
    let again = store.claim(claim_of(JobKind::Extract, at(9_003), 1)).await;
    assert_eq!(again.unwrap().len(), 1);
}

/// A session whose first event taught `secret coffee`, and whose rescan is at what is stored beside its events.
async fn taught(
    store: &dyn Store,
    extraction: impl FnOnce(&SessionId) -> Extraction,
) -> (SessionId, ClaimedJob) {
    let id = three_events(store, "7f78aa01").await;
    let claims = store.claim(claim_of(JobKind::Extract, at(9_000), 1)).await;
    let reading = claims.unwrap().remove(0);
    let extraction = extraction(&id);
    let finishing = store.finish_extraction(&reading.token, &extraction, at(9_000));
    assert_eq!(finishing.await.unwrap(), FinishOutcome::Complete);
    raise(store, NEWER).await;
    let claimed = claim_rescan(store).await;
    let part = store.rewrite_events(&claimed.token, EventSeq(3), &[], at(9_001));
    assert_eq!(part.await.unwrap(), FinishOutcome::StillDue);
    (id, claim_rescan(store).await)
}

fn coffee(id: &SessionId) -> Extraction {
    let what = observation(
        &user_scope("ada"),
        "secret coffee",
        vec![evidence(id, &[1])],
    );
    extraction(id, (1, 3), vec![what])
}

pub async fn rewritten_evidence_makes_another_observation(store: &dyn Store) {
    let (id, claimed) = taught(store, coffee).await;
    let scope = user_scope("ada");
    let stored = store.session_texts(&id).await.unwrap();
    let before = stored.evidence[0].clone();
    assert_eq!(
        (before.text.as_str(), &before.scope),
        ("secret coffee", &scope)
    );
    let mut after = before.clone();
    after.text = hidden(&before.text);
    after.id = ObservationId::of(&scope, before.kind, &after.text);
    let concern = Scope {
        name: "eve".to_owned(),
        ..scope.clone()
    };
    let rewrite = SessionRewrite {
        evidence: vec![EvidenceRewrite {
            tokens: "hidden coffee".to_owned(),
            before,
            after: after.clone(),
        }],
        concerns: vec![concern.clone()],
        ..nothing_beside(NEWER)
    };
    let rewriting = store.rewrite_session(&claimed.token, &rewrite, at(9_002));
    assert_eq!(rewriting.await.unwrap(), FinishOutcome::Complete);
    let held = store.observations(&scope).await.unwrap();
    let shown: Vec<_> = held.iter().map(|o| (o.id, o.text.as_str())).collect();
    assert_eq!(shown, [(after.id, "hidden coffee")]);
    assert_eq!(held[0].evidence[0].events, [EventSeq(1)]);
    assert_eq!(found(store, "coffee").await, 1);
    let due = store
        .jobs_of_all_tenants(JobKind::Consolidate)
        .await
        .unwrap();
    let due: Vec<&JobKey> = due
        .iter()
        .filter(|job| job.is_ahead())
        .map(|job| &job.key)
        .collect();
    assert_eq!(
        due,
        [&JobKey::Consolidate(scope), &JobKey::Consolidate(concern)]
    );
}

/// An extraction with a secret in everything that is stored beside its observations.
fn with_secrets(id: &SessionId) -> Extraction {
    let scope = user_scope("ada");
    let mut all = extraction(id, (1, 3), Vec::new());
    if let Yield::Something { digest, .. } = &mut all.yielded {
        digest.summary = Some("secret summary".to_owned());
    }
    all.writes = vec![EntityWrite {
        entity: "coffee".to_owned(),
        change: EntityChange::Record {
            record: "secret record".to_owned(),
            content: "secret content".to_owned(),
        },
        over: None,
    }];
    all.quarantined = vec![QuarantinedObservation {
        observation: observation(&scope, "secret quarantine", vec![evidence(id, &[1])]),
        reason: QuarantineReason::FromOutside,
        decision: None,
    }];
    all
}

pub async fn every_text_beside_the_events_is_read_and_replaced(store: &dyn Store) {
    // The venue is that of the first append.
    let begun = append(&session("7f78aa01"), Vec::new());
    let begun = Append {
        session: SessionMeta {
            venue: Venue {
                room_id: Some("secret room".to_owned()),
                thread_id: Some("secret thread".to_owned()),
                team: Some("secret team".to_owned()),
                filed_in: Some("agent/secret".to_owned()),
            },
            ..begun.session.clone()
        },
        ..begun
    };
    add(store, &begun).await;
    let (id, claimed) = taught(store, with_secrets).await;
    let import = store
        .begin_import(&id.tenant, "secret what", at(1))
        .await
        .unwrap();
    let from_file = imported(&id, events("more", 1), "/home/secret/1.jsonl", import);
    let user = Some("secret user".to_owned());
    let from_file = Append {
        session: SessionMeta {
            user,
            forked_from: Some("secret fork".to_owned()),
            surface: Some("secret surface".to_owned()),
            ..from_file.session.clone()
        },
        ..from_file
    };
    add(store, &from_file).await;
    let stored = store.session_texts(&id).await.unwrap();
    let texts: Vec<TextRewrite> = stored
        .texts
        .iter()
        .filter(|(_, text)| text.contains("secret"))
        .map(|(field, text)| TextRewrite {
            field: *field,
            before: text.clone(),
            after: hidden(text),
        })
        .collect();
    let mut fields: Vec<TextField> = texts.iter().map(|text| text.field).collect();
    fields.sort();
    let wanted = [
        TextField::ForkedFrom,
        TextField::User,
        TextField::Surface,
        TextField::RoomId,
        TextField::ThreadId,
        TextField::Team,
        TextField::FiledIn,
        TextField::SourcePath,
        TextField::ImportWhat,
        TextField::Digest,
        TextField::StagedWrites,
        TextField::Quarantined,
    ];
    assert_eq!(fields, wanted);
    let rewrite = SessionRewrite {
        texts,
        ..nothing_beside(NEWER)
    };
    let rewriting = store.rewrite_session(&claimed.token, &rewrite, at(9_002));
    assert_eq!(rewriting.await.unwrap(), FinishOutcome::Complete);
    let stored = store.session_texts(&id).await.unwrap();
    assert!(
        stored
            .texts
            .iter()
            .all(|(_, text)| !text.contains("secret"))
    );
    let paths = store.sources_of(&id).await.unwrap();
    assert_eq!(paths[0].path, "/home/hidden/1.jsonl");
    let staged = store.staged(&id.tenant).await.unwrap();
    assert_eq!(staged[0].writes[0].record(), Some("hidden record"));
}

pub async fn a_text_that_has_changed_meanwhile_stays(store: &dyn Store) {
    let (id, claimed) = taught(store, coffee).await;
    let stored = store.session_texts(&id).await.unwrap();
    let mut before = stored.evidence[0].clone();
    before.text = "another text".to_owned();
    let mut after = before.clone();
    after.text = "nothing of it".to_owned();
    let rewrite = SessionRewrite {
        evidence: vec![EvidenceRewrite {
            before,
            after,
            tokens: String::new(),
        }],
        texts: vec![TextRewrite {
            field: TextField::Digest,
            before: "{}".to_owned(),
            after: "{\"no\": 1}".to_owned(),
        }],
        concerns: vec![user_scope("eve")],
        ..nothing_beside(NEWER)
    };
    let rewriting = store.rewrite_session(&claimed.token, &rewrite, at(9_002));
    assert_eq!(rewriting.await.unwrap(), FinishOutcome::Complete);
    assert_eq!(store.session_texts(&id).await.unwrap(), stored);
    let eve = JobKey::Consolidate(user_scope("eve"));
    assert_eq!(store.job(&eve).await.unwrap(), None);
}

pub async fn a_lost_lease_rewrites_nothing(store: &dyn Store) {
    let id = three_events(store, "7f78aa01").await;
    raise(store, NEWER).await;
    let claimed = claim_rescan(store).await;
    let before = entries(store, &id).await;
    let rewrites: Vec<EventRewrite> = before.iter().map(rewrite_of).collect();
    let late = at(90_000);
    let lost = store.rewrite_events(&claimed.token, EventSeq(3), &rewrites, late);
    assert_eq!(lost.await.unwrap(), FinishOutcome::LeaseLost);
    let beside = nothing_beside(NEWER);
    let lost = store.rewrite_session(&claimed.token, &beside, late).await;
    assert_eq!(lost.unwrap(), FinishOutcome::LeaseLost);
    assert_eq!(entries(store, &id).await, before);
    assert_eq!(raise(store, RULES).await, 0);
}
