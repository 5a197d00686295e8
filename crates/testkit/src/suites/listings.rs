//! The promises of listings in pages, and of the narrow questions beside them: order, pages, one tenant alone.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::page::read_first;
use daybook_domain::seams::{ScopeState, Store};
use daybook_domain::source::{ImportNo, TranscriptSource};
use daybook_domain::{Page, PageRequest, Project, Scope, ScopeKind, SessionId, StoreError, Tenant};

use crate::fixtures::{EventFixture, append, at, event, project, session, source};

fn other_tenant() -> Tenant {
    Tenant("theirs".to_owned())
}

/// Reads a listing in pages of two items, and checks that each but the last is full.
async fn in_twos<T, K, F>(mut read: impl FnMut(PageRequest<K>) -> F) -> Vec<T>
where
    F: Future<Output = Result<Page<T, K>, StoreError>>,
{
    let (mut all, mut request) = (Vec::new(), PageRequest::first(2));
    loop {
        let page = read(request).await.unwrap();
        let length = page.items.len();
        all.extend(page.items);
        let Some(next) = page.next else {
            assert!(length <= 2, "{length} items");
            return all;
        };
        assert_eq!(length, 2);
        request = PageRequest {
            after: Some(next),
            limit: 2,
        };
    }
}

/// Five files, two of them failing, and one of another tenant at the path of the third.
async fn five_files(store: &dyn Store) -> [TranscriptSource; 5] {
    let failing = |path: &str| TranscriptSource {
        failure: Some("no end".to_owned()),
        ..source(path, &session("a"), 3)
    };
    let whole = |path: &str| source(path, &session("a"), 2);
    let files = [
        whole("/logs/a"),
        failing("/logs/b"),
        whole("/logs/b.old"),
        whole("/logs/é"),
        failing("/logs/ü"),
    ];
    for file in files.iter().rev() {
        store
            .put_source(&Tenant::local(), file, None)
            .await
            .unwrap();
    }
    let theirs = SessionId {
        tenant: other_tenant(),
        ..session("a")
    };
    let theirs = source("/logs/b.old", &theirs, 9);
    store
        .put_source(&other_tenant(), &theirs, None)
        .await
        .unwrap();
    files
}

pub async fn files_are_listed_page_by_page_by_path(store: &dyn Store) {
    let files = five_files(store).await;
    let local = Tenant::local();
    assert_eq!(in_twos(|page| store.sources(&local, page)).await, files);
    let theirs = other_tenant();
    let theirs = in_twos(|page| store.sources(&theirs, page)).await;
    assert_eq!((theirs.len(), theirs[0].size), (1, 9));
}

pub async fn files_whose_import_failed_are_listed_alone(store: &dyn Store) {
    let [_, mut first, .., second] = five_files(store).await;
    let local = Tenant::local();
    let failing = in_twos(|page| store.failing_sources(&local, page)).await;
    assert_eq!(failing, [first.clone(), second.clone()]);
    let one = PageRequest::first(1);
    let page = store.failing_sources(&local, one).await.unwrap();
    assert_eq!(page.next.as_deref(), Some("/logs/b"));
    first.failure = None;
    store.put_source(&local, &first, None).await.unwrap();
    let failing = in_twos(|page| store.failing_sources(&local, page)).await;
    assert_eq!(failing, [second]);
    let theirs = other_tenant();
    let theirs = in_twos(|page| store.failing_sources(&theirs, page)).await;
    assert_eq!(theirs, []);
}

pub async fn files_with_secrets_are_listed_alone(store: &dyn Store) {
    let [first, .., last] = five_files(store).await;
    let local = Tenant::local();
    let hidden = |file: &TranscriptSource, secrets| TranscriptSource {
        secrets,
        ..file.clone()
    };
    let with_secrets = [hidden(&first, 1), hidden(&last, 40)];
    for file in &with_secrets {
        store.put_source(&local, file, None).await.unwrap();
    }
    let listed = in_twos(|page| store.sources_with_secrets(&local, page)).await;
    assert_eq!(listed, with_secrets);
    let one = PageRequest::first(1);
    let page = store.sources_with_secrets(&local, one).await.unwrap();
    assert_eq!(page.next, Some(first.path));
    let theirs = other_tenant();
    let theirs = in_twos(|page| store.sources_with_secrets(&theirs, page)).await;
    assert_eq!(theirs, []);
}

pub async fn files_are_found_by_their_paths(store: &dyn Store) {
    let [a, _, old, ..] = five_files(store).await;
    let paths = ["/logs/b.old", "/logs/none", "/logs/a", "/logs/b.old"];
    let found = async |tenant: &Tenant, paths: &[&str]| store.sources_at(tenant, paths).await;
    let local = Tenant::local();
    assert_eq!(found(&local, &paths).await.unwrap(), [a, old]);
    assert_eq!(found(&local, &[]).await.unwrap(), []);
    let theirs = found(&other_tenant(), &paths).await.unwrap();
    assert_eq!((theirs.len(), theirs[0].size), (1, 9));
}

pub async fn files_of_a_session_are_found_by_path(store: &dyn Store) {
    let files = five_files(store).await;
    let found = store.sources_of(&session("a")).await.unwrap();
    assert_eq!(found, files);
    let moved = source("/logs/b", &session("b"), 3);
    store
        .put_source(&Tenant::local(), &moved, None)
        .await
        .unwrap();
    let found = store.sources_of(&session("b")).await.unwrap();
    assert_eq!(found, [moved]);
    assert_eq!(store.sources_of(&session("a")).await.unwrap().len(), 4);
    assert_eq!(store.sources_of(&session("c")).await.unwrap(), []);
}

pub async fn a_root_has_a_project_once_one_is_assigned(store: &dyn Store) {
    let root = "/home/ada/engine";
    let of = async |tenant: &Tenant| store.project_of_root(tenant, root).await.unwrap();
    let local = Tenant::local();
    assert_eq!(of(&local).await, None);
    let engine = project("engine");
    store
        .assign_root(&local, root, &engine, at(1))
        .await
        .unwrap();
    assert_eq!(of(&local).await.as_deref(), Some("engine"));
    assert_eq!(of(&other_tenant()).await, None);
}

pub async fn sessions_are_listed_page_by_page_by_their_last_activity(store: &dyn Store) {
    // Three were active at once: these are in the order of agent and name.
    let of = |agent: &str, host_id: &str| SessionId {
        agent: agent.to_owned(),
        ..session(host_id)
    };
    let newest_first = [
        (of("codex", "a"), 9),
        (of("claude-code", "b"), 5),
        (of("claude-code", "c"), 5),
        (of("codex", "b"), 5),
        (of("claude-code", "a"), 1),
    ];
    for (id, seconds) in newest_first.iter().rev() {
        let theirs = SessionId {
            tenant: other_tenant(),
            ..id.clone()
        };
        for id in [id, &theirs] {
            let event = event("word").with_time(at(*seconds));
            store.append(&append(id, vec![event])).await.unwrap();
        }
    }
    let expected: Vec<&SessionId> = newest_first.iter().map(|(id, _)| id).collect();
    let local = Tenant::local();
    let listed = in_twos(|page| store.sessions(&local, page)).await;
    let ids: Vec<&SessionId> = listed.iter().map(|session| &session.id).collect();
    assert_eq!(ids, expected);
    let first = store.sessions(&local, PageRequest::first(3)).await.unwrap();
    assert_eq!(first.next, Some((at(5), expected[2].clone())));
    // One that becomes active between two pages moves before the pages that were read.
    let now = event("again").with_time(at(20));
    let last = append(expected[4], vec![now]);
    store.append(&last).await.unwrap();
    let request = PageRequest {
        after: first.next,
        limit: 3,
    };
    let second = store.sessions(&local, request).await.unwrap();
    let ids: Vec<&SessionId> = second.items.iter().map(|session| &session.id).collect();
    assert_eq!((ids, second.next), (vec![expected[3]], None));
    let newest = read_first(1, |page| store.sessions(&local, page)).await;
    assert_eq!(newest.unwrap()[0].id, *expected[4]);
}

pub async fn imports_are_listed_page_by_page_the_newest_first(store: &dyn Store) {
    let local = Tenant::local();
    let mut numbers: Vec<ImportNo> = Vec::new();
    for n in 0..5 {
        for tenant in [&local, &other_tenant()] {
            let no = store.begin_import(tenant, "all", at(n)).await.unwrap();
            numbers.extend(Some(no).filter(|_| tenant == &local));
        }
    }
    numbers.reverse();
    let listed = in_twos(|page| store.imports(&local, page)).await;
    let listed: Vec<ImportNo> = listed.iter().map(|import| import.no).collect();
    assert_eq!(listed, numbers);
    let first = store.imports(&local, PageRequest::first(4)).await.unwrap();
    assert_eq!(first.next, Some(numbers[3]));
    // One that begins between two pages moves neither.
    store.begin_import(&local, "again", at(9)).await.unwrap();
    let request = PageRequest {
        after: first.next,
        limit: 4,
    };
    let second = store.imports(&local, request).await.unwrap();
    let second: Vec<ImportNo> = second.items.iter().map(|import| import.no).collect();
    assert_eq!(second, numbers[4..]);
}

pub async fn scopes_are_listed_page_by_page_in_their_order(store: &dyn Store) {
    let of = |kind: ScopeKind, name: &str| Scope {
        tenant: Tenant::local(),
        kind,
        name: name.to_owned(),
    };
    let scopes = [
        of(ScopeKind::User, "ada"),
        of(ScopeKind::User, "bob"),
        of(ScopeKind::Agent, ""),
        of(ScopeKind::Team, "ada"),
        of(ScopeKind::Room, "zoo"),
        of(ScopeKind::Project, "engine"),
        of(ScopeKind::Project, "é"),
    ];
    for scope in scopes.iter().rev() {
        let theirs = Scope {
            tenant: other_tenant(),
            ..scope.clone()
        };
        store.touch_scope(scope, at(1)).await.unwrap();
        store.touch_scope(&theirs, at(1)).await.unwrap();
        store.touch_scope(&theirs, at(2)).await.unwrap();
    }
    let local = Tenant::local();
    let listed = in_twos(|page| store.scopes(&local, page)).await;
    let expected = scopes.each_ref().map(|scope| ScopeState {
        scope: scope.clone(),
        revision: 1,
        observations: 0,
    });
    assert_eq!(listed, expected);
    let first = store.scopes(&local, PageRequest::first(3)).await.unwrap();
    assert_eq!(first.next.as_ref(), Some(&scopes[2]));
    let all = store.scopes(&local, PageRequest::first(7)).await.unwrap();
    assert_eq!((all.items.len(), all.next), (7, None));
}

pub async fn projects_are_listed_page_by_page_by_key_and_identity(store: &dyn Store) {
    let of = |key: &str, identity: &str| Project {
        key: key.to_owned(),
        identity: identity.to_owned(),
        guessed: false,
    };
    let projects = [
        of("a", "example.org/z"),
        of("b", "/home/ada/b"),
        of("b", "example.org/b"),
        of("b", "example.org/c"),
        of("c", "example.org/a"),
    ];
    for (n, project) in projects.iter().enumerate().rev() {
        for tenant in [Tenant::local(), other_tenant()] {
            let root = format!("/home/ada/{n}");
            let assigned = store.assign_root(&tenant, &root, project, at(1)).await;
            assigned.unwrap();
        }
    }
    let forgotten = store
        .forget_identity(&other_tenant(), "example.org/c")
        .await;
    assert!(forgotten.unwrap());
    let local = Tenant::local();
    assert_eq!(in_twos(|page| store.projects(&local, page)).await, projects);
    let first = store.projects(&local, PageRequest::first(2)).await.unwrap();
    let key = ("b".to_owned(), "/home/ada/b".to_owned());
    assert_eq!(first.next, Some(key));
    let theirs = other_tenant();
    let theirs = in_twos(|page| store.projects(&theirs, page)).await;
    assert_eq!(theirs.len(), 4);
}
