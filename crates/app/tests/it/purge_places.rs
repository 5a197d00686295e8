//! Words of folders and branches are in the names of pages too: a purge takes no page for one.

use std::path::PathBuf;

use crate::fixture::{TestPlace, TestSession};
use crate::purge::{check_gone, files_below};

/// The pages of days and sessions.
fn dated_pages(place: &TestPlace) -> Vec<PathBuf> {
    let mut pages = files_below(&place.root().join("projects"));
    pages.retain(|path| {
        let folder = path.parent().and_then(|folder| folder.file_name());
        folder.is_some_and(|name| name == "daily" || name == "sessions")
    });
    pages
}

#[test]
fn pages_stay_whose_names_have_words_of_a_purged_sessions_folder_and_branch() {
    let place = TestPlace::new();
    let folder = place
        .home()
        .join("sessions/2026.03-md/d/a/b/c/e/f/g/h/2/3/4/5/6/7/8/9");
    for (nth, branch, words) in [(1, "daily", "zqkestrel"), (2, "main", "zqheron")] {
        let session = TestSession::new(nth)
            .in_folder(&folder, branch)
            .human(&format!("always moor the {words} at the northern quay"))
            .agent(&format!("I will moor the {words} there."));
        place.write(&format!("{nth}.jsonl"), &session.text());
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place.stdout(&["update"]);
    let before = dated_pages(&place);
    let is_of_heron = |path: &&PathBuf| path.display().to_string().contains("zqheron");
    assert_eq!(before.iter().filter(is_of_heron).count(), 1, "{before:?}");

    let purged = TestSession::new(1);
    place.stdout(&["purge", "--session", purged.id(), "--yes"]);

    check_gone(&place.root(), &["zqkestrel".to_owned()]);
    let mut left = before;
    left.retain(|path| !path.display().to_string().contains("zqkestrel"));
    assert_eq!(dated_pages(&place), left);
}
