//! Memory files in note takers and on hosts of git repositories: the folder itself, and the linked copy of it.

use std::fs;
use std::path::Path;

use crate::fixture::{TestPlace, teaching_session};

fn imported_place() -> TestPlace {
    let place = TestPlace::new();
    for number in 1..=2 {
        place.write(&format!("{number}.jsonl"), &teaching_session(number).text());
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place
}

/// The Markdown files below a folder, with their paths in it.
fn pages(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(folder).expect("it is inside");
                let text = fs::read_to_string(&path).expect("a page");
                found.push((name.display().to_string(), text));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn citations_of_the_copy_lead_to_pages_that_are_there() {
    let place = imported_place();
    let vault = place.home().join("vault");
    let to = vault.display().to_string();
    let said = place.stdout(&["export", "--vault", &to]);
    assert!(said.contains("README.md links them"), "{said}");
    let all = pages(&vault);
    let mut links = 0;
    for (name, text) in &all {
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let folder = vault.join(name);
            let folder = folder.parent().expect("a folder");
            assert!(
                folder.join(link.replace("%20", " ")).is_file(),
                "{name}: {link}"
            );
            links += 1;
        }
        for heading in text.lines().filter(|line| line.starts_with('#')) {
            assert!(
                !heading.contains('^') && !heading.contains("<!--"),
                "{name}: {heading}"
            );
        }
    }
    assert!(links > 5, "{links} links in {all:?}");
    let curated = all
        .iter()
        .find(|(name, _)| name.ends_with("tidepool/MEMORY.md"));
    let (_, curated) = curated.expect("a page");
    assert!(curated.contains("](sessions/"), "{curated}");
}

#[test]
fn a_copy_is_replaced_and_what_a_person_put_beside_it_stays() {
    let place = imported_place();
    let vault = place.home().join("vault");
    let to = vault.display().to_string();
    place.stdout(&["export", "--vault", &to]);
    let before = pages(&vault);
    fs::create_dir(vault.join(".obsidian")).expect("a folder");
    fs::write(vault.join(".obsidian/app.json"), "{}").expect("a file");
    fs::write(vault.join("mine.md"), "my own page\n").expect("a file");
    let said = place.json(&["export", "--vault", &to, "--frontmatter"]);
    assert_eq!(said["pages"].as_u64(), Some(before.len() as u64 - 1));
    assert_eq!(
        fs::read_to_string(vault.join("mine.md")).expect("a page"),
        "my own page\n"
    );
    for (name, text) in pages(&vault) {
        let is_ours = name != "mine.md" && name != "README.md";
        assert_eq!(
            text.starts_with("---\nscope: \""),
            is_ours,
            "{name}: {text}"
        );
    }
    let used = place.home().join("used");
    fs::create_dir(&used).expect("a folder");
    fs::write(used.join("mine.md"), "mine\n").expect("a file");
    let output = place.run(&["export", "--vault", &used.display().to_string()]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && error.contains("holds other files"),
        "{error}"
    );
    assert_eq!(pages(&used).len(), 1);
}

#[test]
fn the_memory_folder_is_a_vault_whose_settings_stay_out_of_memory() {
    let place = imported_place();
    let memory = place.root().join("projects/tidepool/memory");
    for (name, text) in [
        (".obsidian/app.json", "{\"alwaysUpdateLinks\": true}"),
        (".obsidian/workspace.json", "{\"main\": {}}"),
        (".trash/old.md", "the zebra stays in the garden\n"),
    ] {
        let path = memory.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let before = place.memory();
    place.stdout(&["update", "--all"]);
    assert_eq!(place.memory(), before);
    let history = place.stdout(&["history", "--project", "tidepool"]);
    assert!(
        !history.contains("obsidian") && !history.contains("old.md"),
        "{history}"
    );
    let answers = place.json(&["recall", "where does the zebra stay?"]);
    assert!(!answers.to_string().contains("zebra stays"), "{answers}");
}

#[test]
fn marks_of_headings_are_in_comments_and_a_page_of_an_older_form_is_taken_over() {
    let place = imported_place();
    let path = place.root().join("projects/tidepool/memory/MEMORY.md");
    let text = fs::read_to_string(&path).expect("a page");
    let heading = text.lines().next().expect("a heading");
    assert!(
        heading.contains(" <!-- ^") && heading.ends_with(" -->"),
        "{heading}"
    );
    let older = heading.replace(" <!-- ^", " ^").replace(" -->", "");
    fs::write(&path, text.replace(heading, &older)).expect("a page");
    place.write("3.jsonl", &teaching_session(3).text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let now = fs::read_to_string(&path).expect("a page");
    assert_eq!(
        now.lines().filter(|line| line.starts_with("# ")).count(),
        1,
        "{now}"
    );
    let heading = now.lines().next().expect("a heading");
    assert!(
        heading.contains("3 sessions") && heading.ends_with(" -->"),
        "{heading}"
    );
}
