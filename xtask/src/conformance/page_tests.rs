//! The check on pages and sources of a few lines.

use super::*;

fn file(place: &str, text: &str) -> SourceFile {
    SourceFile {
        place: place.to_owned(),
        text: text.to_owned(),
    }
}

/// A page with these rows in the sections D and M.
fn page(daycare: &[&str], mindroom: &[&str]) -> String {
    let head = "| no. | there | here |\n|---|---|---|\n";
    let (daycare, mindroom) = (daycare.join("\n"), mindroom.join("\n"));
    format!(
        "# Page\n\n## D: Daycare\n\n{head}{daycare}\n\n## M: MindRoom\n\n{head}{mindroom}\n\n## Notes\n"
    )
}

const TESTS: &str = concat!(
    "#[test]\nfn it_holds() {}\n\n    #[tokio::test(start_paused = true)]\n    // A remark.\n    async fn it_waits() {}\n",
    "#[test] fn twice() {}\nfn helper() {}\n",
);
const SUITE: &str = "promises! { $make, job_store:\n    it_is_granted_once,\n    twice,\n}\n";

#[track_caller]
fn check(page: &str, source: &str, expected: &[&str]) {
    let files = [
        file("crates/a/src/x_tests.rs", TESTS),
        file("crates/b/src/suites.rs", SUITE),
        file("crates/c/src/lib.rs", source),
    ];
    let broken = report(page, &files).broken;
    let places = ["docs/conformance.md:", "crates/c/src/lib.rs:"];
    let short = |text: &String| {
        places
            .iter()
            .find_map(|it| text.strip_prefix(it))
            .unwrap_or(text)
            .to_owned()
    };
    assert_eq!(broken.iter().map(short).collect::<Vec<_>>(), expected);
}

const WHOLE: [&str; 3] = [
    "| D1 | It holds. | shown by `it_holds`, `it_waits`; in part |",
    "| D2 | It is different. | otherwise: a reason (shown by `it_is_granted_once`) |",
    "| D3 | It is absent. | not built |",
];

#[test]
fn a_whole_page_has_no_finding() {
    check(
        &page(&WHOLE, &["| M1 | So. | not built: too much |"]),
        "// As D2 and M1.",
        &[],
    );
}

#[test]
fn a_number_that_is_missing_or_doubled_is_named() {
    let gap = [
        WHOLE[0],
        "| D3 | It is absent. | not built |",
        "| D4 | More. | not built |",
    ];
    check(&page(&gap, &[]), "", &["8: D2 is missing before D3"]);
    let doubled = [WHOLE[0], "| D1 | Again. | not built |"];
    check(
        &page(&doubled, &[]),
        "",
        &["8: D1 stands where D2 is expected"],
    );
    let elsewhere = [WHOLE[0], "| M2 | Of another. | not built |"];
    check(
        &page(&elsewhere, &[]),
        "",
        &["8: M2 stands where D2 is expected"],
    );
    check("# Page\n", "", &["1: the page has no numbered row"]);
}

#[test]
fn a_row_or_status_of_another_form_is_named() {
    for (row, why) in [
        ("| D1 | It. | done |", "D1: the status `done` is none of"),
        (
            "| D1 | It. | otherwise: |",
            "D1: the status `otherwise:` is none of",
        ),
        (
            "| D1 | It. | shown by it_holds |",
            "D1: `shown by` names no test",
        ),
        ("| D1 | It. |", "D1 has 2 cells and not three"),
        ("| D1 |  | not built |", "D1 names no behaviour"),
        ("| first | It. | not built |", "first is no number"),
    ] {
        let parsed = page::parse(&page(&[row], &[]));
        let found = parsed
            .broken
            .first()
            .map(|(line, why)| (*line, why.as_str()));
        assert!(
            found.is_some_and(|(line, found)| line == 7 && found.starts_with(why)),
            "{row}: {found:?}"
        );
    }
}

#[test]
fn a_test_that_does_not_exist_or_is_not_alone_is_named() {
    let row = |name: &str| page(&[&format!("| D1 | It. | shown by `{name}` |")], &[]);
    check(
        &row("it_held"),
        "",
        &["7: D1: `it_held`: no test has that name"],
    );
    check(
        &row("helper"),
        "",
        &["7: D1: `helper`: no test has that name"],
    );
    let why = "several tests have that name; write a module's name before it, as in `module::name`";
    check(&row("twice"), "", &[&format!("7: D1: `twice`: {why}")]);
    check(&row("job_store::twice"), "", &[]);
    check(&row("x_tests::twice"), "", &[]);
    check(
        &row("y_tests::twice"),
        "",
        &["7: D1: `y_tests::twice`: no test has that name"],
    );
}

#[test]
fn a_citation_of_a_number_that_is_not_there_is_named() {
    let page = page(&WHOLE, &["| M1 | So. | not built |"]);
    check(
        &page,
        "let x = 1; // See D4, and D1 to D9.",
        &[
            "1: docs/conformance.md has no D4",
            "1: docs/conformance.md has no D9",
        ],
    );
    check(
        &page,
        "//! M2: as there.",
        &["1: docs/conformance.md has no M2"],
    );
    // Not in comments, of no section, or part of something else.
    check(
        &page,
        "let D7 = \"M3\"; // E5, D11:26, xD8, #D9, D1234",
        &[],
    );
}

#[test]
fn a_test_that_bears_a_number_stands_in_its_row() {
    let page = page(&WHOLE, &["| M1 | So. | not built |"]);
    let test = |name: &str| format!("#[test]\nfn {name}() {{}}");
    check(
        &page,
        &test("d5_it_is_new"),
        &["2: docs/conformance.md has no D5"],
    );
    let missing = |number: &str, name: &str| {
        format!("2: docs/conformance.md does not name `{name}` at {number}")
    };
    let name = "d1_to_d3_and_m1_all";
    let expected = ["D1", "D2", "D3", "M1"].map(|number| missing(number, name));
    check(&page, &test(name), &expected.each_ref().map(String::as_str));
    let named = WHOLE[2].replace("not built", "otherwise: so (shown by `d3_it_is_absent`)");
    check(
        &page.replace(WHOLE[2], &named),
        &test("d3_it_is_absent"),
        &[],
    );
}

#[test]
fn a_source_that_readers_do_not_have_is_named() {
    let page = page(&WHOLE, &[]);
    for line in [
        "//! As in seed 003.",
        "// Seeds 000 and 001.",
        "\"as in seed 004\"",
        "/// The state (spec/working-memory.md 1.3).",
        "/// Two chunks (spec D.9).",
        "// two-phase 2.5",
        "// DC20 and MR3",
        "// M.4 says",
    ] {
        let files = [file("crates/c/src/lib.rs", line)];
        let found = report(&page, &files).broken;
        let absent = found
            .iter()
            .any(|it| it.contains("a source that readers do not have"));
        assert!(absent, "{line}: {found:?}");
    }
    check(
        &page,
        "// seed 7, a two-phase commit, the spec of git, RFC 1.4\nlet m = M.4;",
        &[],
    );
}

#[test]
fn what_is_not_built_must_be_planned() {
    let rows = |rows: &[&str]| {
        let text = rows.join("\n");
        page::parse(&format!(
            "## C: Codex\n\n| no. | there | here |\n|---|---|---|\n{text}\n"
        ))
    };
    let before: Vec<String> = (1..48)
        .map(|n| format!("| C{n} | So. | shown by `it_holds` |"))
        .collect();
    let mut all: Vec<&str> = before.iter().map(String::as_str).collect();
    all.push("| C48 | A reset. | not built |");
    assert_eq!(systems::broken(&rows(&all)), []);
    all[6] = "| C7 | So. | not built: too much |";
    let broken = systems::broken(&rows(&all));
    assert!(
        broken.len() == 1 && broken[0].1.starts_with("it is not built"),
        "{broken:?}"
    );
}

#[test]
fn the_summary_counts_each_system_and_names_what_is_not_shown() {
    let text = page(&WHOLE, &["| M1 | So. | otherwise: it is better |"]);
    let summary = systems::summary(&page::parse(&text));
    let line = |name: &str| {
        let line = summary
            .lines()
            .find(|line| line.starts_with(name))
            .expect("it is listed");
        line[name.len()..]
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        line("Daycare, collection of sessions"),
        ["3", "1", "1", "1"]
    );
    assert_eq!(line("MindRoom"), ["1", "0", "1", "0"]);
    assert!(
        summary.contains("\nMindRoom, done otherwise:\n  M1: it is better"),
        "{summary}"
    );
    assert!(
        summary.contains("  D2: a reason (shown by `it_is_granted_once`)"),
        "{summary}"
    );
}

#[test]
fn this_workspace_conforms() {
    let report = super::check(&crate::root()).unwrap();
    assert_eq!(report.broken, [""; 0], "{}", report.summary);
}
