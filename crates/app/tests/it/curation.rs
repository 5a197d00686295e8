//! Curation: `MEMORY.md` grows by passes, and the diary by every session.

use std::fs;
use std::path::Path;

use crate::fixture::{TestPlace, TestSession, teaching_session};

fn read(place: &TestPlace, file: &str) -> String {
    let memory = place.root().join("projects/tidepool/memory");
    fs::read_to_string(memory.join(file)).unwrap_or_default()
}

fn entries(place: &TestPlace) -> Vec<String> {
    let text = read(place, "MEMORY.md");
    let lines = text.lines().filter(|line| line.starts_with("- "));
    lines.map(str::to_owned).collect()
}

fn import(place: &TestPlace) {
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
}

fn with_settings(settings: &str) -> TestPlace {
    let place = TestPlace::new();
    fs::create_dir_all(place.root()).unwrap();
    fs::write(place.root().join("daybook.toml"), settings).unwrap();
    place.write("a.jsonl", &teaching_session(1).text());
    import(&place);
    place
}

fn another() -> TestSession {
    TestSession::new(2)
        .human("we decided to serve the harbour charts from a second host, please never cache them")
        .agent("Done: the charts come from the second host.")
        .human("always name the harbour in the log line")
        .in_folder(Path::new("/nowhere/ada/tidepool"), "charts")
}

#[test]
fn without_curation_every_import_makes_memory_md_anew() {
    let place = with_settings("profile = \"mindroom\"\n");
    assert!(read(&place, "MEMORY.md").contains("## Where we left off"));
    place.write("b.jsonl", &another().text());
    import(&place);
    assert!(read(&place, "MEMORY.md").contains("name the harbour"));
}

#[test]
fn a_pass_adds_so_many_lines_and_a_day_has_one() {
    let place = with_settings("profile = \"mindroom\"\ncuration = \"on\"\ncuration_lines = 2\n");
    let first = entries(&place);
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(!read(&place, "MEMORY.md").contains("Where we left off"));
    let days = fs::read_dir(place.root().join("projects/tidepool/memory/daily")).unwrap();
    assert!(days.count() > 0, "the diary does not wait for a pass");
    place.write("b.jsonl", &another().text());
    import(&place);
    assert_eq!(entries(&place), first);
    let found = place.json(&["recall", "what must the log line name?"]);
    assert!(found.to_string().contains("name the harbour"), "{found}");

    // Another pass a day, and room for all that waited.
    let settings = "curation = \"on\"\ncuration_passes = 2\n";
    fs::write(place.root().join("daybook.toml"), settings).unwrap();
    place.stdout(&["update"]);
    let both = entries(&place);
    assert!(
        both.len() > 2 && first.iter().all(|line| both.contains(line)),
        "{both:?}"
    );
}

#[test]
fn a_persons_lines_stay_in_a_curated_file() {
    let place = with_settings("curation = \"on\"\ncuration_lines = 1\ncuration_passes = 9\n");
    let memory = place.root().join("projects/tidepool/memory/MEMORY.md");
    let own = format!(
        "{}- ada's own line about the pilot boat\n",
        read(&place, "MEMORY.md")
    );
    fs::write(&memory, own).unwrap();
    place.write("b.jsonl", &another().text());
    import(&place);
    let text = read(&place, "MEMORY.md");
    assert_eq!(
        text.matches("own line about the pilot boat").count(),
        1,
        "{text}"
    );
    assert!(entries(&place).len() > 2, "{text}");
}
