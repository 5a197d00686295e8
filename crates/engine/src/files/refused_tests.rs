use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::files::path::FilePath;
use crate::files::testbed::Testbed;
use crate::files::unwritten;
use crate::files::write::WriteOutcome;
use crate::strange_files_test_support::{in_time, make_pipe, make_sparse};

/// Puts something in the place of a file, which is gone before.
type Obstacle = fn(&Testbed, &Path);

const OBSTACLES: [(&str, Obstacle, Refusal); 5] = [
    ("pipe", |_, place| make_pipe(place), Refusal::Pipe),
    (
        "link to a file",
        |bed, place| {
            bed.save("elsewhere", "secret");
            symlink(bed.at("elsewhere"), place).unwrap();
        },
        Refusal::Link,
    ),
    (
        "link to a device",
        |_, place| symlink("/dev/zero", place).unwrap(),
        Refusal::Link,
    ),
    (
        "folder",
        |_, place| {
            fs::create_dir(place).unwrap();
            fs::write(place.join("theirs.md"), "theirs").unwrap();
        },
        Refusal::Folder,
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

fn whys(bed: &Testbed) -> Vec<(PathBuf, String)> {
    let refused = refused_in(bed.folder.root()).into_iter();
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
            let bed = Testbed::new();
            let _ = bed
                .write(&[(file, Some("old")), ("sound.md", Some("old"))])
                .unwrap();
            bed.remove(file);
            let place = bed.at(file);
            obstacle(&bed, &place);
            let bed = in_time(move || {
                let settled = bed.settle().unwrap();
                assert_eq!(
                    settled.edits.is_some(),
                    name == "link to a file",
                    "{file}: {name}"
                );
                let outcome = bed.write(&[(file, Some("new")), ("sound.md", Some("new"))]);
                let WriteOutcome::Written(written) = outcome.unwrap() else {
                    panic!("{file}: {name}");
                };
                assert_eq!(written.kept, [FilePath::new(file).unwrap()]);
                bed
            });
            assert_eq!(whys(&bed), [(place.clone(), why.to_string())]);
            assert_eq!(bed.read("sound.md").unwrap(), "new");
            clear(&place);
            assert_eq!(whys(&bed), []);
            assert_eq!(bed.settle().unwrap().edits, None, "{file}: {name}");
            assert_eq!(bed.read(file).unwrap(), "new", "{file}: {name}");
        }
    }
}

#[test]
fn what_stands_in_the_place_of_a_folder_of_pages_costs_no_other_page() {
    for (name, obstacle, why) in OBSTACLES {
        if name == "folder" {
            continue;
        }
        let bed = Testbed::new();
        let daily = "daily/2026-01-02.md";
        let _ = bed
            .write(&[(daily, Some("old")), ("MEMORY.md", Some("old"))])
            .unwrap();
        fs::remove_dir_all(bed.at("daily")).unwrap();
        obstacle(&bed, &bed.at("daily"));
        let outcome = bed.write(&[(daily, Some("new")), ("MEMORY.md", Some("new"))]);
        assert!(matches!(outcome, Ok(WriteOutcome::Written(_))), "{name}");
        assert_eq!(bed.read("MEMORY.md").unwrap(), "new");
        let why = if why == TOO_LARGE {
            Refusal::NotAFolder
        } else {
            why
        };
        assert_eq!(whys(&bed), [(bed.at("daily"), why.to_string())]);
        clear(&bed.at("daily"));
        let _ = bed.settle().unwrap();
        assert_eq!(bed.read(daily).unwrap(), "new", "{name}");
    }
}

#[test]
fn what_a_person_deletes_stays_deleted() {
    let bed = Testbed::new();
    let _ = bed.write(&[("MEMORY.md", Some("text"))]).unwrap();
    bed.remove("MEMORY.md");
    assert!(bed.settle().unwrap().edits.is_some());
    assert_eq!(bed.read("MEMORY.md"), None);
}

#[test]
fn a_page_that_was_not_written_can_be_tried_again_once_its_place_is_free() {
    let bed = Testbed::new();
    let _ = bed.write(&[("MEMORY.md", Some("text"))]).unwrap();
    let is_mended = || unwritten::is_mended(&bed.folder).unwrap();
    assert!(!is_mended());
    bed.remove("MEMORY.md");
    make_pipe(&bed.at("MEMORY.md"));
    let page = unwritten::Unwritten {
        page: FilePath::new("MEMORY.md").unwrap(),
        why: "it is a pipe".to_owned(),
    };
    unwritten::note_unwritten(&bed.folder, &[page]).unwrap();
    assert!(unwritten::has_unwritten(bed.folder.root()));
    assert!(!is_mended());
    bed.remove("MEMORY.md");
    assert!(is_mended());
    unwritten::note_unwritten(&bed.folder, &[]).unwrap();
    assert!(!unwritten::has_unwritten(bed.folder.root()));
}
