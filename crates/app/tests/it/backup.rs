//! Backups: complete, checked, private, and made while other processes work.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::fixture::{TestPlace, daybook, teaching_session};

fn taught_place() -> TestPlace {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    place.stdout(&["remember", "the pilot boat leaves at nine"]);
    fs::write(place.root().join("daybook.toml"), "idle = \"3m\"\n").unwrap();
    place
}

fn backed_up(place: &TestPlace) -> String {
    let file = place.home().join("all.tar").display().to_string();
    place.stdout(&["backup", &file]);
    file
}

fn fails(place: &TestPlace, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

/// Every file below, with its bytes, but for what locks and notes leave behind.
fn files(folder: &Path, below: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &name, found);
        } else {
            found.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
}

fn folders(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for kind in ["users", "projects"] {
        files(&root.join(kind), kind, &mut found);
    }
    assert!(found.iter().any(|(name, _)| name.contains(".git/objects")));
    found
}

#[test]
fn a_restored_folder_is_the_one_that_was_backed_up() {
    let place = taught_place();
    let before = (
        place.json(&["sessions"]),
        place.json(&["recall", "pilot boat"]),
    );
    let held = folders(&place.root());
    let file = backed_up(&place);
    place.stdout(&["remember", "said after the backup"]);
    let elsewhere = place.home().join("elsewhere");
    let at = elsewhere.display().to_string();
    place.stdout(&["restore", &file, "--root", &at]);
    let json = |command: &[&str]| {
        let mut all = command.to_vec();
        all.extend(["--json", "--root", &at]);
        serde_json::from_str::<serde_json::Value>(&place.stdout(&all)).unwrap()
    };
    assert_eq!(
        (json(&["sessions"]), json(&["recall", "pilot boat"])),
        before
    );
    assert_eq!(folders(&elsewhere), held);
    assert_eq!(
        fs::read(elsewhere.join("daybook.toml")).unwrap(),
        b"idle = \"3m\"\n"
    );
    place.stdout(&["doctor", "--root", &at]);
    place.stdout(&["remember", "life goes on", "--root", &at]);
}

#[test]
fn a_backup_is_its_owners_alone_and_overwrites_nothing() {
    let place = taught_place();
    let file = backed_up(&place);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let before = fs::read(&file).unwrap();
    assert!(fails(&place, &["backup", &file]).contains("exists already"));
    assert!(fails(&place, &["restore", &file]).contains("not empty"));
    assert_eq!(fs::read(&file).unwrap(), before);
    let left: Vec<String> = fs::read_dir(place.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".tmp"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_damaged_backup_is_refused_and_leaves_nothing() {
    let place = taught_place();
    let file = backed_up(&place);
    let whole = fs::read(&file).unwrap();
    let words = b"pilot boat leaves";
    let at = whole.windows(words.len()).position(|part| part == words);
    let mut damaged = fs::File::options()
        .read(true)
        .write(true)
        .open(&file)
        .unwrap();
    damaged
        .seek(SeekFrom::Start(at.expect("text is readable") as u64))
        .unwrap();
    damaged.write_all(b"q").unwrap();
    let mut read = Vec::new();
    damaged.rewind().unwrap();
    damaged.read_to_end(&mut read).unwrap();
    assert_eq!(read.len(), whole.len());
    let elsewhere = place.home().join("elsewhere");
    let check = |says: &str| {
        let output = daybook(&elsewhere, place.home(), &["restore", &file])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(says), "{said}");
        assert_eq!(
            fs::read_dir(&elsewhere).unwrap().count(),
            0,
            "something is left"
        );
    };
    check("is not what was written");
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    check("cannot be restored");
    fs::write(&file, b"anything").unwrap();
    check("cannot be restored");
}

#[test]
fn a_backup_is_whole_while_others_work() {
    let place = taught_place();
    let mut writer = place
        .daybook(&["worker"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for n in 2..6 {
        place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
        let folder = place.transcripts().display().to_string();
        place.stdout(&["import", &folder]);
        let file = place.home().join(format!("{n}.tar")).display().to_string();
        place.stdout(&["backup", &file]);
        let elsewhere = place.home().join(format!("at-{n}")).display().to_string();
        place.stdout(&["restore", &file, "--root", &elsewhere]);
        place.stdout(&["update", "--root", &elsewhere]);
        place.stdout(&["doctor", "--root", &elsewhere]);
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
}
