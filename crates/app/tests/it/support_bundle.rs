//! `daybook support-bundle`: nothing that a person, an agent or a file system named is in it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;

use serde_json::Value;

use crate::fixture::{TestPlace, TestSession};

/// Words that are planted where people, agents and file systems name things, each found nowhere else.
const PLANTED: [&str; 14] = [
    "zanzibarian",   // the words of a person
    "quokkafield",   // a project's folder
    "wombatson",     // a person
    "flamingoes",    // a branch
    "axolotlish",    // what a tool printed
    "narwhalfile",   // a file that cannot be read
    "pangolinkey",   // a model's key
    "capybara.host", // a provider's address
    "meerkatmodel",  // a model
    "lemurnote",     // what a person asked to remember
    "ocelotedit",    // what a person wrote into a memory file
    "tapirtenant",   // a session's id
    "sk-ant-api03-platypusplatypusplatypusplatypus",
    "ibexagent", // an agent
];

fn planted_place() -> TestPlace {
    let place = TestPlace::new();
    let folder = std::path::Path::new("/nowhere/wombatson/quokkafield");
    let session = TestSession::new(1)
        .in_folder(folder, "flamingoes")
        .human("please always write zanzibarian tests first, my key is sk-ant-api03-platypusplatypusplatypusplatypus")
        .command("ls", "axolotlish", true)
        .agent("done");
    let text = session
        .text()
        .replace(session.id(), "tapirtenant-1c2d-4e3f-8a4b-000000000001");
    place.write("tapirtenant.jsonl", &text);
    place.write("narwhalfile.jsonl", "{\"narwhalfile\": \n not json");
    let settings = "extract_model = \"capybara/meerkatmodel\"\n\
        memory_off = [\"agent/ibexagent\"]\n\
        [providers.capybara]\nwire = \"openai\"\nbase_url = \"http://127.0.0.1:9/capybara.host/v1\"\n\
        key = { env = \"PANGOLINKEY\" }\ntries = 1\n";
    fs::create_dir_all(place.root()).expect("a folder");
    fs::write(place.root().join("daybook.toml"), settings).expect("settings");
    place.run(&[
        "import",
        &place.transcripts().display().to_string(),
        "--yes",
    ]);
    place.run(&["remember", "lemurnote is kept"]);
    let memory = place.root().join("users/ada/memory/MEMORY.md");
    let text = fs::read_to_string(&memory).expect("it was written");
    fs::write(&memory, text + "\n- ocelotedit\n").expect("an edit");
    place
}

/// The files of a bundle by their names, each with its text.
fn bundle(place: &TestPlace) -> BTreeMap<String, String> {
    let file = place.home().join("bundle.tar");
    let name = file.display().to_string();
    let printed = place.json(&["support-bundle", &name]);
    assert_eq!(printed["file"], name.as_str());
    let mut archive = tar::Archive::new(File::open(&file).expect("the bundle"));
    let parts = archive.entries().expect("a tar file").map(|entry| {
        let mut entry = entry.expect("a part");
        let name = entry.path().expect("a name").display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("UTF-8");
        (name, text)
    });
    let parts: BTreeMap<String, String> = parts.collect();
    fs::remove_file(&file).expect("it was written");
    parts
}

fn json(parts: &BTreeMap<String, String>, name: &str) -> Value {
    serde_json::from_str(&parts[name]).expect("JSON")
}

#[test]
fn a_bundle_holds_counts_and_none_of_the_words_names_paths_and_secrets() {
    let place = planted_place();
    let parts = bundle(&place);
    let names: Vec<&str> = parts.keys().map(String::as_str).collect();
    let expected = [
        "about.txt",
        "checks.json",
        "counts.json",
        "jobs.json",
        "metrics.txt",
        "settings.json",
        "timings.json",
        "versions.json",
    ];
    assert_eq!(names, expected);
    let home = place.home().display().to_string();
    for (name, text) in &parts {
        let text = text.to_lowercase();
        for word in PLANTED.iter().chain([&home.as_str()]) {
            assert!(
                !text.contains(&word.to_lowercase()),
                "{name} holds {word}: {text}"
            );
        }
    }
    let counts = json(&parts, "counts.json");
    assert_eq!(counts["sessions"]["all"], 2, "{counts}");
    assert!(
        counts["transcripts"]["secrets"].as_u64() >= Some(1),
        "{counts}"
    );
    let settings = json(&parts, "settings.json");
    let of = |name: &str| {
        let settings = settings.as_array().expect("a list");
        let found = settings.iter().find(|it| it["name"] == name);
        found
            .unwrap_or_else(|| panic!("no {name}: {settings:?}"))
            .clone()
    };
    assert_eq!(of("extract_model")["source"], "file");
    assert!(of("extract_model")["value"].is_null() && of("person")["value"].is_null());
    assert!(of("idle")["value"].is_string());
    assert!(parts["metrics.txt"].contains("daybook_sessions"));
}

#[test]
fn a_failed_job_is_a_number_that_its_data_folder_alone_resolves() {
    let place = planted_place();
    let jobs = json(&bundle(&place), "jobs.json");
    let failed = &jobs["failed"][0];
    assert_eq!(failed["class"], "outage", "{jobs}");
    let number = failed["job"].as_str().expect("a number");
    let named = place.json(&["support-bundle", "--job", number]);
    let name = named["job"].as_str().expect("a name");
    assert!(name.starts_with("extract/claude-code:"), "{named}");
    let other = planted_place();
    let elsewhere = other.run(&["support-bundle", "--job", number]);
    assert!(!elsewhere.status.success());
}

#[test]
fn a_bundle_of_a_broken_data_folder_says_what_could_not_be_read() {
    let place = planted_place();
    fs::write(place.root().join("daybook.db"), b"zanzibarian").expect("damage");
    let parts = bundle(&place);
    assert_eq!(json(&parts, "counts.json")["failed"], "corrupt");
    assert!(parts.values().all(|text| !text.contains("zanzibarian")));
    let over = place.home().join("there.tar");
    fs::write(&over, "mine").expect("a file");
    let refused = place.run(&["support-bundle", &over.display().to_string()]);
    assert!(!refused.status.success());
    assert_eq!(fs::read_to_string(&over).expect("it is there"), "mine");
}
