use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::files::folder_test_support::TestFolder;
use crate::files::path::FilePath;
use crate::files::skipped::TOO_LARGE;
use crate::files::unwritten_pages;
use crate::files::write::WriteOutcome;
use crate::strange_files_test_support::{in_time, make_pipe, make_sparse};

/// Puts an obstacle at the path of a file that was removed before.
type MakeObstacle = fn(&TestFolder, &Path);

const OBSTACLES: [(&str, MakeObstacle, FileRefusal); 5] = [
    ("pipe", |_, place| make_pipe(place), FileRefusal::Pipe),
    (
        "link to a file",
        |memory, place| {
            memory.save("elsewhere", "secret");
            symlink(memory.at("elsewhere"), place).unwrap();
        },
        FileRefusal::Link,
    ),
    (
        "link to a device",
        |_, place| symlink("/dev/zero", place).unwrap(),
        FileRefusal::Link,
    ),
    (
        "folder",
        |_, place| {
            fs::create_dir(place).unwrap();
            fs::write(place.join("theirs.md"), "theirs").unwrap();
        },
        FileRefusal::Folder,
    ),
    (
        "endless file",
        |_, place| make_sparse(place, 1 << 40),
        TOO_LARGE,
    ),
];

fn clear(place: &Path) {
    match fs::symlink_metadata(place).unwrap().is_dir() {
        true => fs::remove_dir_all(place).unwrap(),
        false => fs::remove_file(place).unwrap(),
    }
}

fn whys(memory: &TestFolder) -> Vec<(PathBuf, String)> {
    let refused = list_refused(memory.folder.root(), MOST_ENTRIES).into_iter();
    refused.map(|refused| (refused.path, refused.why)).collect()
}

#[test]
fn a_page_that_became_something_else_is_left_alone_and_returns_when_its_place_is_free() {
    for file in [
        "MEMORY.md",
        "daily/2026-01-02.md",
        "INDEX.md",
        "entities/tide.md",
    ] {
        for (name, obstacle, why) in OBSTACLES {
            let memory = TestFolder::new();
            let _ = memory
                .write(&[(file, Some("old")), ("sound.md", Some("old"))])
                .unwrap();
            memory.remove(file);
            let place = memory.at(file);
            obstacle(&memory, &place);
            let memory = in_time(move || {
                let settled = memory.settle().unwrap();
                assert_eq!(
                    settled.edits.is_some(),
                    name == "link to a file",
                    "{file}: {name}"
                );
                let outcome = memory.write(&[(file, Some("new")), ("sound.md", Some("new"))]);
                let WriteOutcome::Written(written) = outcome.unwrap() else {
                    panic!("{file}: {name}");
                };
                assert_eq!(written.kept, [FilePath::new(file).unwrap()]);
                memory
            });
            assert_eq!(whys(&memory), [(place.clone(), why.to_string())]);
            assert_eq!(memory.read("sound.md").unwrap(), "new");
            clear(&place);
            assert_eq!(whys(&memory), []);
            assert_eq!(memory.settle().unwrap().edits, None, "{file}: {name}");
            assert_eq!(memory.read(file).unwrap(), "new", "{file}: {name}");
        }
    }
}

#[test]
fn an_obstacle_in_place_of_a_folder_of_pages_affects_no_other_page() {
    for (name, obstacle, why) in OBSTACLES {
        if name == "folder" {
            continue;
        }
        let memory = TestFolder::new();
        let daily = "daily/2026-01-02.md";
        let _ = memory
            .write(&[(daily, Some("old")), ("MEMORY.md", Some("old"))])
            .unwrap();
        fs::remove_dir_all(memory.at("daily")).unwrap();
        obstacle(&memory, &memory.at("daily"));
        let outcome = memory.write(&[(daily, Some("new")), ("MEMORY.md", Some("new"))]);
        assert!(matches!(outcome, Ok(WriteOutcome::Written(_))), "{name}");
        assert_eq!(memory.read("MEMORY.md").unwrap(), "new");
        let why = if why == TOO_LARGE {
            FileRefusal::NotAFolder
        } else {
            why
        };
        assert_eq!(whys(&memory), [(memory.at("daily"), why.to_string())]);
        clear(&memory.at("daily"));
        let _ = memory.settle().unwrap();
        assert_eq!(memory.read(daily).unwrap(), "new", "{name}");
    }
}

#[test]
fn what_a_person_deletes_stays_deleted() {
    let memory = TestFolder::new();
    let _ = memory.write(&[("MEMORY.md", Some("text"))]).unwrap();
    memory.remove("MEMORY.md");
    assert!(memory.settle().unwrap().edits.is_some());
    assert_eq!(memory.read("MEMORY.md"), None);
}

#[test]
fn a_page_that_was_not_written_can_be_tried_again_once_its_place_is_free() {
    let memory = TestFolder::new();
    let _ = memory.write(&[("MEMORY.md", Some("text"))]).unwrap();
    let has_writable = || unwritten_pages::has_writable(&memory.folder).unwrap();
    assert!(!has_writable());
    memory.remove("MEMORY.md");
    make_pipe(&memory.at("MEMORY.md"));
    let page = unwritten_pages::UnwrittenPage {
        page: FilePath::new("MEMORY.md").unwrap(),
        why: "it is a pipe".to_owned(),
    };
    unwritten_pages::record_unwritten(&memory.folder, &[page]).unwrap();
    assert!(unwritten_pages::has_unwritten(memory.folder.root()));
    assert!(!has_writable());
    memory.remove("MEMORY.md");
    assert!(has_writable());
    unwritten_pages::record_unwritten(&memory.folder, &[]).unwrap();
    assert!(!unwritten_pages::has_unwritten(memory.folder.root()));
}

#[test]
fn what_stands_at_the_top_of_a_large_folder_is_checked_first() {
    let memory = TestFolder::new();
    for day in 10..30 {
        memory.save(&format!("daily/2026-01-{day}.md"), "harbour");
    }
    symlink(memory.at("daily/2026-01-10.md"), memory.at("zz.md")).unwrap();
    symlink(
        memory.at("daily/2026-01-10.md"),
        memory.at("daily/2026-01-31.md"),
    )
    .unwrap();
    let of = |most: usize| list_refused(memory.folder.root(), most).len();
    assert_eq!(of(MOST_ENTRIES), 2);
    assert_eq!(of(2), 1);
}
