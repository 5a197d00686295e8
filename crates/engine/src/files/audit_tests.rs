use super::*;
use crate::files::stamp::Person;

fn stamp() -> CommitStamp {
    CommitStamp {
        time_ms: 1_772_438_400_000,
        person: Person::named("ada"),
    }
}

/// A folder with two files, both committed.
fn written(path: &Path) {
    fs::create_dir_all(path.join("topics")).unwrap();
    fs::write(path.join("MEMORY.md"), "# tidepool\n\n- tides are cached\n").unwrap();
    fs::write(path.join("topics/harbour.md"), "the harbour is deep\n").unwrap();
    let folder = Folder::open(path, FilesConfig::default()).unwrap();
    let LockOutcome::Held(lock) = folder.try_lock(Duration::ZERO).unwrap() else {
        panic!("the lock is free");
    };
    lock.settle(&stamp()).unwrap();
}

fn loose_objects(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in fs::read_dir(path.join(".git/objects")).unwrap().flatten() {
        if folder.file_name().len() == 2 {
            found.extend(
                fs::read_dir(folder.path())
                    .unwrap()
                    .flatten()
                    .map(|e| e.path()),
            );
        }
    }
    found.sort();
    found
}

#[test]
fn a_flipped_byte_in_any_object_is_found_and_a_new_history_keeps_the_files() {
    let dir = tempfile::tempdir().unwrap();
    written(&dir.path().join("sound"));
    assert_eq!(
        check_history(&dir.path().join("sound")),
        Vec::<String>::new()
    );
    let objects = loose_objects(&dir.path().join("sound")).len();
    assert!(objects >= 4, "two files, trees and a commit");
    for nth in 0..objects {
        let path = dir.path().join(format!("broken-{nth}"));
        written(&path);
        let object = &loose_objects(&path)[nth];
        let mut bytes = fs::read(object).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        fs::remove_file(object).unwrap();
        fs::write(object, bytes).unwrap();
        assert_ne!(
            check_history(&path),
            Vec::<String>::new(),
            "{}",
            object.display()
        );

        let aside = dir.path().join(format!("aside-{nth}/git"));
        let renewed = restart_history(&path, &aside, &stamp(), Duration::ZERO).unwrap();
        assert_eq!(renewed, RenewOutcome::Begun(Some(aside.clone())));
        assert!(aside.join("HEAD").is_file(), "the broken history is kept");
        assert_eq!(check_history(&path), Vec::<String>::new());
        let text = fs::read_to_string(path.join("topics/harbour.md")).unwrap();
        assert_eq!(text, "the harbour is deep\n");
        let folder = Folder::open(&path, FilesConfig::default()).unwrap();
        assert_eq!(
            folder.head_files().unwrap().len(),
            2,
            "both files are committed again"
        );
    }
}

#[test]
fn a_missing_history_and_a_branch_that_leads_nowhere_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory");
    written(&path);
    fs::write(path.join(".git/refs/heads/other"), "1234567890".repeat(4)).unwrap();
    let findings = check_history(&path);
    assert!(
        findings.iter().any(|why| why.contains("refs/heads/other")),
        "{findings:?}"
    );
    fs::remove_dir_all(path.join(".git")).unwrap();
    let findings = check_history(&path);
    assert!(findings[0].contains("`.git` is missing"), "{findings:?}");
}

#[test]
fn scopes_are_decoded_from_folder_names() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = Tenant::local();
    let scopes = [
        Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::User,
            name: "Ada|x".to_owned(),
        },
        Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name: "../up".to_owned(),
        },
        Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name: "con".to_owned(),
        },
        Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name: "tidepool".to_owned(),
        },
    ];
    for scope in &scopes {
        fs::create_dir_all(folder(dir.path(), scope)).unwrap();
    }
    assert_eq!(scopes_on_disk(dir.path(), &tenant), scopes);
}
