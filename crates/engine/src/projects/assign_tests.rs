//! Whatever is known, in whatever order it came, settles the same.

use super::*;

const TIDEPOOL: &str = "github.com/ada/tidepool";

fn shown(remote: Option<&str>) -> RootFacts {
    RootFacts {
        shown_remote: remote.map(str::to_owned),
        ..RootFacts::default()
    }
}

fn began(at: i64) -> RootFacts {
    RootFacts {
        first_at: Timestamp(at),
        ..RootFacts::default()
    }
}

fn named(roots: &[(&str, RootFacts)]) -> BTreeMap<String, RootFacts> {
    let roots = roots.iter().cloned();
    roots
        .map(|(root, facts)| (root.to_owned(), facts))
        .collect()
}

fn projects(assigned: &BTreeMap<String, ProjectAssignment>) -> Vec<Project> {
    let projects: BTreeSet<Project> = assigned.values().map(|a| a.project.clone()).collect();
    projects.into_iter().collect()
}

fn keys(assigned: &BTreeMap<String, ProjectAssignment>) -> Vec<(&str, &str)> {
    let keys = assigned.iter();
    keys.map(|(root, a)| (root.as_str(), a.project.key.as_str()))
        .collect()
}

/// The facts as they stand once the folders have the projects that were assigned.
fn standing(
    roots: &BTreeMap<String, RootFacts>,
    assigned: &BTreeMap<String, ProjectAssignment>,
) -> BTreeMap<String, RootFacts> {
    let mut roots = roots.clone();
    for (root, facts) in &mut roots {
        if let Some(assigned) = assigned.get(root) {
            facts.project = Some(assigned.project.key.clone());
            facts.derived = assigned.derived;
        }
    }
    roots
}

/// What came of it before, when only `then` was known, changes nothing of what comes of it now.
#[track_caller]
fn check_whatever_was_known_before(then: &[(&str, RootFacts)], now: &[(&str, RootFacts)]) {
    let (then, now) = (named(then), named(now));
    let undisturbed = assign(&now, &[]);
    let early = assign(&then, &[]);
    let known = projects(&early);
    let late = assign(&standing(&now, &early), &known);
    assert_eq!(late, undisturbed);
    let settled = assign(&standing(&now, &late), &projects(&late));
    assert_eq!(settled, undisturbed, "settled twice");
}

#[test]
fn checkouts_of_one_remote_are_one_project_and_a_gone_one_is_guessed_by_its_name() {
    let roots = named(&[
        ("/home/ada/tidepool", shown(Some(TIDEPOOL))),
        ("/srv/build/tidepool", shown(Some(TIDEPOOL))),
        ("/old/laptop/tidepool", shown(None)),
        ("/home/ada/notes", shown(None)),
    ]);
    let assigned = assign(&roots, &[]);
    let expected = [
        ("/home/ada/notes", "notes"),
        ("/home/ada/tidepool", "ada-tidepool"),
        ("/old/laptop/tidepool", "ada-tidepool"),
        ("/srv/build/tidepool", "ada-tidepool"),
    ];
    assert_eq!(keys(&assigned), expected);
    assert!(assigned["/home/ada/notes"].project.guessed);
    assert!(!assigned["/old/laptop/tidepool"].project.guessed);
}

#[test]
fn folders_of_one_name_without_a_remote_stay_apart() {
    let roots = named(&[("/a/api", shown(None)), ("/b/api", shown(None))]);
    let assigned = assign(&roots, &[]);
    assert_ne!(
        assigned["/a/api"].project.key,
        assigned["/b/api"].project.key
    );
    assert_eq!(
        assign(&standing(&roots, &assigned), &projects(&assigned)),
        assigned
    );
}

#[test]
fn a_remote_that_one_session_shows_late_joins_all_checkouts() {
    check_whatever_was_known_before(
        &[
            ("/home/ada/tidepool", shown(None)),
            ("/old/tidepool", shown(None)),
        ],
        &[
            ("/home/ada/tidepool", shown(None)),
            ("/old/tidepool", shown(None)),
            ("/srv/tidepool", shown(Some(TIDEPOOL))),
        ],
    );
}

#[test]
fn a_name_that_becomes_ambiguous_is_no_longer_guessed_from() {
    let first = ("/home/ada/tidepool", shown(Some(TIDEPOOL)));
    let gone = ("/old/tidepool", shown(None));
    let other = ("/srv/tidepool", shown(Some("github.com/bob/tidepool")));
    check_whatever_was_known_before(&[first.clone(), gone.clone()], &[first, gone, other]);
}

#[test]
fn the_folder_with_the_earliest_session_has_the_plain_name_whenever_it_was_taken_in() {
    let (early, late) = (("/b/api", began(10)), ("/a/api", began(20)));
    check_whatever_was_known_before(std::slice::from_ref(&late), &[late.clone(), early.clone()]);
    let assigned = assign(&named(&[late, early]), &[]);
    assert_eq!(assigned["/b/api"].project.key, "api");
}

#[test]
fn a_repository_without_a_remote_gives_way_to_one_that_is_shown_later() {
    let local = |remote: Option<&str>| RootFacts {
        common_dir: Some("/home/ada/tidepool/.git".to_owned()),
        ..shown(remote)
    };
    let root = "/home/ada/tidepool";
    check_whatever_was_known_before(&[(root, local(None))], &[(root, local(Some(TIDEPOOL)))]);
}

#[test]
fn evidence_that_is_taken_back_takes_its_project_along() {
    let root = "/home/ada/tidepool";
    check_whatever_was_known_before(&[(root, shown(Some(TIDEPOOL)))], &[(root, shown(None))]);
    let before = assign(&named(&[(root, shown(Some(TIDEPOOL)))]), &[]);
    let known = projects(&before);
    let after = assign(&standing(&named(&[(root, shown(None))]), &before), &known);
    let gone: Vec<&str> = stale(&after, &known)
        .iter()
        .map(|p| p.identity.as_str())
        .collect();
    assert_eq!(gone, [TIDEPOOL]);
}

#[test]
fn what_the_folder_itself_showed_stays_when_it_is_gone() {
    let root = "/home/ada/tidepool";
    let seen = RootFacts {
        seen_remote: Some(TIDEPOOL.to_owned()),
        ..RootFacts::default()
    };
    let before = assign(&named(&[(root, seen)]), &[]);
    let gone = named(&[(root, shown(Some("github.com/ada/fork")))]);
    let after = assign(&standing(&gone, &before), &projects(&before));
    assert_eq!(after, before);
}

#[test]
fn a_project_that_a_person_named_keeps_its_folders_and_its_name() {
    let root = "/old/tidepool";
    let given = Project {
        key: "work".to_owned(),
        identity: root.to_owned(),
        guessed: true,
    };
    let facts = RootFacts {
        project: Some("work".to_owned()),
        ..shown(Some(TIDEPOOL))
    };
    let roots = named(&[(root, facts), ("/a/work", began(1))]);
    let assigned = assign(&roots, std::slice::from_ref(&given));
    assert_eq!(assigned[root].project.key, "work");
    assert_ne!(assigned["/a/work"].project.key, "work");
    assert_eq!(stale(&BTreeMap::new(), &[given]), Vec::<&Project>::new());
}
