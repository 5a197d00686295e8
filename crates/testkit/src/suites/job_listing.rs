//! The promises of a listing of jobs and gaps: its order, its pages, and one tenant alone.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::page::read_all;
use daybook_domain::seams::Store;
use daybook_domain::{
    DueMark, FailureClass, Job, JobKey, JobKind, LearnedState, LeaseToken, Page, PageRequest,
    Priority, Session, SessionGroup, SessionId, Tenant, group_sessions,
};

use crate::fixtures::{append, at, claim_of, events, failed, meta, session, user_scope};

fn key(agent: &str, host_id: &str) -> JobKey {
    JobKey::Extract(SessionId {
        agent: agent.to_owned(),
        ..session(host_id)
    })
}

/// The same job of another tenant.
fn theirs(job: &JobKey) -> JobKey {
    let tenant = Tenant("theirs".to_owned());
    let (_, owner, name) = job.parts();
    JobKey::from_parts(job.kind(), &tenant.0, owner, name).expect("parts of a key")
}

async fn mark(store: &dyn Store, job: &JobKey, input: u64) {
    let mark = DueMark::at_once(input, at(input), Priority::Normal);
    store.mark(job, mark).await.unwrap();
}

/// Five jobs of sessions in order, each also for another tenant: two agents have sessions of the same name.
async fn five_jobs(store: &dyn Store) -> [JobKey; 5] {
    let jobs = [
        key("claude-code", "a"),
        key("claude-code", "b"),
        key("claude-code", "c"),
        key("codex", "a"),
        key("codex", "b"),
    ];
    for job in jobs.iter().rev() {
        mark(store, job, 3).await;
        mark(store, &theirs(job), 4).await;
    }
    mark(store, &JobKey::Consolidate(user_scope("ada")), 1).await;
    jobs
}

async fn page(store: &dyn Store, after: Option<&JobKey>, limit: usize) -> Page<Job, JobKey> {
    let after = after.cloned();
    let request = PageRequest { after, limit };
    let tenant = Tenant::local();
    store
        .jobs(&tenant, JobKind::Extract, request)
        .await
        .unwrap()
}

fn keys(page: &Page<Job, JobKey>) -> Vec<JobKey> {
    page.items.iter().map(|job| job.key.clone()).collect()
}

pub async fn jobs_are_listed_page_by_page_in_the_order_of_their_keys(store: &dyn Store) {
    let jobs = five_jobs(store).await;
    let first = page(store, None, 2).await;
    assert_eq!(keys(&first), jobs[..2]);
    assert_eq!(first.next.as_ref(), Some(&jobs[1]));
    let second = page(store, first.next.as_ref(), 2).await;
    assert_eq!(keys(&second), jobs[2..4]);
    let third = page(store, second.next.as_ref(), 2).await;
    assert_eq!((keys(&third), third.next), (jobs[4..].to_vec(), None));
}

pub async fn a_page_that_ends_with_the_last_job_is_the_last(store: &dyn Store) {
    let jobs = five_jobs(store).await;
    let all = page(store, None, 5).await;
    assert_eq!((keys(&all), all.next), (jobs.to_vec(), None));
    let behind = page(store, Some(&jobs[4]), 5).await;
    assert_eq!((keys(&behind), behind.next), (Vec::new(), None));
    let one = page(store, None, 0).await;
    assert_eq!(
        (keys(&one), one.next.as_ref()),
        (jobs[..1].to_vec(), Some(&jobs[0]))
    );
}

pub async fn a_listing_shows_nothing_of_another_tenant(store: &dyn Store) {
    let jobs = five_jobs(store).await;
    let other = Tenant("theirs".to_owned());
    let request = PageRequest::first(100);
    let theirs_alone = store.jobs(&other, JobKind::Extract, request).await.unwrap();
    assert_eq!(keys(&theirs_alone), jobs.each_ref().map(theirs));
    assert!(theirs_alone.items.iter().all(|job| job.input == 4));
    let nobodys = Tenant("nobody".to_owned());
    let none = store
        .jobs(&nobodys, JobKind::Extract, PageRequest::first(9))
        .await;
    assert!(none.unwrap().items.is_empty());
    let local = Tenant::local();
    let scopes = store.jobs(&local, JobKind::Consolidate, PageRequest::first(9));
    let scope = JobKey::Consolidate(user_scope("ada"));
    assert_eq!(keys(&scopes.await.unwrap()), [scope]);
}

pub async fn what_comes_between_two_pages_moves_neither(store: &dyn Store) {
    let jobs = five_jobs(store).await;
    let first = page(store, None, 3).await;
    let (before, behind) = (key("claude-code", "aa"), key("codex", "aa"));
    mark(store, &before, 1).await;
    mark(store, &behind, 1).await;
    let second = page(store, first.next.as_ref(), 9).await;
    assert_eq!(keys(&second), [jobs[3].clone(), behind, jobs[4].clone()]);
}

pub async fn gaps_are_listed_page_by_page_by_job_and_position(store: &dyn Store) {
    let jobs = five_jobs(store).await;
    for job in jobs.iter().chain(&jobs.each_ref().map(theirs)) {
        store.cancel(job, at(9), "engine/1").await.unwrap().unwrap();
    }
    // A second gap of the same job.
    mark(store, &jobs[1], 7).await;
    store
        .cancel(&jobs[1], at(9), "engine/1")
        .await
        .unwrap()
        .unwrap();
    let tenant = Tenant::local();
    let request = PageRequest::first(2);
    let first = store
        .gaps(&tenant, JobKind::Extract, request)
        .await
        .unwrap();
    assert_eq!(first.next, Some((jobs[1].clone(), 1)));
    let request = PageRequest {
        after: first.next,
        limit: 2,
    };
    let second = store
        .gaps(&tenant, JobKind::Extract, request)
        .await
        .unwrap();
    let places: Vec<(&JobKey, u64)> = second
        .items
        .iter()
        .map(|gap| (&gap.job, gap.from))
        .collect();
    assert_eq!(places, [(&jobs[1], 4), (&jobs[2], 1)]);
    let all = read_all(|page| store.gaps(&tenant, JobKind::Extract, page))
        .await
        .unwrap();
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|gap| gap.job.tenant() == &tenant));
    let of_one = store.gaps_of(&jobs[1]).await.unwrap();
    let ranges: Vec<(u64, u64)> = of_one.iter().map(|gap| (gap.from, gap.to)).collect();
    assert_eq!(ranges, [(1, 3), (4, 7)]);
    assert_eq!(store.gaps_of(&theirs(&jobs[0])).await.unwrap().len(), 1);
    let scopes = store.gaps(&tenant, JobKind::Consolidate, PageRequest::first(9));
    assert!(scopes.await.unwrap().items.is_empty());
}

/// Claims the jobs that are due, and ends the one of each named session.
async fn end_claims(store: &dyn Store, ends: &[(&JobKey, ClaimEnd)]) {
    let claimed = store.claim(claim_of(JobKind::Extract, at(900), 99)).await;
    let claimed = claimed.unwrap();
    for (job, end) in ends {
        let token = claimed.iter().map(|claim| &claim.token);
        let token: &LeaseToken = token.into_iter().find(|one| one.job() == *job).unwrap();
        match end {
            ClaimEnd::Finished(upto) => {
                let _ = store.finish(token, *upto, at(901)).await.unwrap();
            }
            ClaimEnd::Failed(class) => {
                let _ = store.fail(token, &failed(*class), at(901)).await.unwrap();
            }
        }
    }
}

enum ClaimEnd {
    Finished(u64),
    Failed(FailureClass),
}

pub async fn jobs_whose_input_is_ahead_are_listed_alone(store: &dyn Store) {
    let jobs = five_jobs(store).await;
    let ends = [
        (&jobs[0], ClaimEnd::Finished(3)),
        (&jobs[2], ClaimEnd::Finished(2)),
        (&jobs[3], ClaimEnd::Failed(FailureClass::Outage)),
        (&jobs[4], ClaimEnd::Finished(3)),
    ];
    end_claims(store, &ends).await;
    let local = Tenant::local();
    let page = async |after: Option<&JobKey>, limit| {
        let after = after.cloned();
        let request = PageRequest { after, limit };
        let page = store.open_jobs(&local, JobKind::Extract, request).await;
        page.unwrap()
    };
    let first = page(None, 2).await;
    assert_eq!(keys(&first), jobs[1..3]);
    assert_eq!(first.next.as_ref(), Some(&jobs[2]));
    let second = page(first.next.as_ref(), 2).await;
    assert_eq!((keys(&second), second.next), (jobs[3..4].to_vec(), None));
    assert!(second.items[0].last_failure.is_some());
    let theirs = Tenant("theirs".to_owned());
    let theirs = read_all(|page| store.open_jobs(&theirs, JobKind::Extract, page)).await;
    assert_eq!(theirs.unwrap().len(), 5);
    let scopes = read_all(|page| store.open_jobs(&local, JobKind::Consolidate, page)).await;
    assert_eq!(scopes.unwrap().len(), 1);
}

pub async fn sessions_are_grouped_by_what_rules_ask_for_and_how_far_they_were_learned_from(
    store: &dyn Store,
) {
    let of = |agent: &str, host_id: &str| SessionId {
        agent: agent.to_owned(),
        ..session(host_id)
    };
    let ids = ["a", "b", "c", "d", "e"].map(|host_id| of("claude-code", host_id));
    let (codex, theirs) = (of("codex", "a"), {
        let tenant = Tenant("theirs".to_owned());
        SessionId {
            tenant,
            ..session("a")
        }
    });
    for (n, id) in ids.iter().chain([&codex, &theirs]).enumerate() {
        store
            .append(&append(id, events("s", n as u64 + 1)))
            .await
            .unwrap();
    }
    let mut switched_off = append(&of("claude-code", "f"), events("s", 9));
    switched_off.session = meta(&switched_off.session.id);
    switched_off.session.memory_off = true;
    store.append(&switched_off).await.unwrap();
    let keys = ids.clone().map(JobKey::Extract);
    let ends = [
        (&keys[0], ClaimEnd::Finished(1)),
        (&keys[1], ClaimEnd::Finished(2)),
        (&keys[2], ClaimEnd::Failed(FailureClass::Content)),
        (&keys[3], ClaimEnd::Failed(FailureClass::AtCap)),
    ];
    end_claims(store, &ends).await;

    let local = Tenant::local();
    let groups = store.session_groups(&local, at(4)).await.unwrap();
    let mut counts: Vec<_> = groups
        .iter()
        .map(|group| {
            let sample = &group.sample;
            let counts = (group.sessions, group.events, group.rested);
            (
                sample.id.agent.as_str(),
                sample.memory_off,
                group.learned,
                counts,
            )
        })
        .collect();
    counts.sort();
    let expected = [
        // The third rested since its third second, the fourth and the fifth were active in the fourth and later.
        ("claude-code", false, LearnedState::Learned, (2, 3, 0)),
        ("claude-code", false, LearnedState::Waiting, (2, 9, 0)),
        ("claude-code", false, LearnedState::Failing, (1, 3, 1)),
        ("claude-code", true, LearnedState::Unmarked, (1, 9, 0)),
        ("codex", false, LearnedState::Waiting, (1, 6, 0)),
    ];
    assert_eq!(counts, expected);
    assert_eq!(sorted(groups), sorted(grouped_one_by_one(store).await));
    let nobody = Tenant("nobody".to_owned());
    assert_eq!(store.session_groups(&nobody, at(4)).await.unwrap(), []);
}

/// The groups that the rule of the domain makes of the listings; any session of a group may stand for it.
async fn grouped_one_by_one(store: &dyn Store) -> Vec<SessionGroup> {
    let local = Tenant::local();
    let jobs = read_all(|page| store.jobs(&local, JobKind::Extract, page)).await;
    let jobs = jobs.unwrap();
    let sessions = read_all(|page| store.sessions(&local, page)).await.unwrap();
    let with_state = sessions.into_iter().map(|session: Session| {
        let key = JobKey::Extract(session.id.clone());
        let job = jobs.iter().find(|job| job.key == key);
        (session, LearnedState::of(job))
    });
    group_sessions(with_state, at(4))
}

fn sorted(groups: Vec<SessionGroup>) -> Vec<(String, bool, LearnedState, [u64; 3])> {
    let counted = groups.into_iter().map(|group| {
        let counts = [group.sessions, group.events, group.rested];
        let sample = group.sample;
        (sample.id.agent, sample.memory_off, group.learned, counts)
    });
    let mut counted: Vec<_> = counted.collect();
    counted.sort();
    counted
}
