//! Causes of what failed, in small dialogues.

use super::tests::check;

const FAILED: &str = "human: make the importer idempotent
call Bash: cd /work && make test 2>&1 | tail -20
failed: Exit code 1
  make test
  importer_test.rs:9: expected 1 entry, got 2
";

#[test]
fn a_check_that_failed_and_passed_after_an_edit_is_a_fix() {
    check(
        &format!(
            "{FAILED}assistant: The issue is that `import` writes a row before it looks for its id.
call Edit: {{\"file_path\":\"src/importer.rs\",\"new_string\":\"x\"}}
ok: done
call Bash: make test
ok: ok"
        ),
        &[
            "fix 3,8: The issue is that `import` writes a row before it looks for its id. | `make test` failed: \"importer_test.rs:9: expected 1 entry, got 2\"; passed after an edit of importer.rs",
        ],
    );
}

#[test]
fn a_cause_stands_without_its_announcement() {
    for (said, cause) in [
        (
            "The issue is clear now - `import` writes a row before it looks for its id.",
            "`import` writes a row before it looks for its id.",
        ),
        (
            "I see the problem: the issue is that `import` writes a row before it looks for its id.",
            "The issue is that `import` writes a row before it looks for its id.",
        ),
    ] {
        check(
            &format!(
                "{FAILED}assistant: {said}
call Edit: {{\"file_path\":\"src/importer.rs\",\"new_string\":\"x\"}}
ok: done
call Bash: make test
ok: ok"
            ),
            &[&format!(
                "fix 3,8: {cause} | `make test` failed: \"importer_test.rs:9: expected 1 entry, got 2\"; passed after an edit of importer.rs"
            )],
        );
    }
}

#[test]
fn failed_and_then_succeeded_is_no_lesson() {
    check(&format!("{FAILED}call Bash: make test\nok: ok"), &[]);
    check(
        "human: build it\ncall Bash: cargo build\nfailed: Exit code 101\n  error[E0425]: cannot find value `ledgr` in this scope\ncall Edit: {\"file_path\":\"a.rs\",\"new_string\":\"x\"}\nok: done\ncall Bash: cargo build\nok: Finished",
        &[],
    );
    check(
        "human: find it\ncall Bash: grep -r ledger .\nfailed: Exit code 1: not found\ncall Edit: {\"file_path\":\"a.rs\",\"new_string\":\"x\"}\nok: done\ncall Bash: grep -r ledger .\nok: a.rs",
        &[],
    );
}

#[test]
fn a_cause_that_was_taken_back_is_no_fix() {
    let found = "human: the wrong currency is printed, that's a bug in the report
assistant: The issue is that `report` takes the currency of the first row. I'll sort it.
call Edit: {\"file_path\":\"report.rs\",\"new_string\":\"x\"}
ok: done
call Bash: make test
ok: ok
assistant: All tests pass.";
    check(
        &format!("{found}\nhuman: thanks, now sort them"),
        &[
            "fix 1,2,8: The issue is that `report` takes the currency of the first row. | “the wrong currency is printed, that's a bug in the report”",
        ],
    );
    check(
        &format!(
            "{found}\nhuman: but each row carries its currency, why don't you take it from there?\nassistant: You're right, the row already says which currency it is in. Let me revert my change."
        ),
        &[
            "correction 8: each row carries its currency, why don't you take it from there? | agent: the row already says which currency it is in.",
        ],
    );
}

#[test]
fn one_complaint_has_one_cause_in_the_words_of_the_report() {
    check(
        "human: the wrong currency is printed, that's a bug in the report
assistant: The issue is that `report` takes the currency of the first row. I'll sort it.
call Edit: {\"file_path\":\"report.rs\",\"new_string\":\"x\"}
ok: done
call Bash: make test
ok: ok
assistant: Fixed. The issue was that `report` took the currency of the first row for the whole page.
human: thanks, now sort them",
        &[
            "fix 1,7: The issue was that `report` took the currency of the first row for the whole page. | “the wrong currency is printed, that's a bug in the report”",
        ],
    );
}

#[test]
fn a_failed_check_without_a_cause_teaches_nothing() {
    check(
        "human: make the importer idempotent
call Bash: make lint
failed: Exit code 1
  importer.rs:9:2: the returned error must be wrapped (wrap)
call Edit: {\"file_path\":\"importer.rs\",\"new_string\":\"x\"}
ok: done
call Bash: make lint
ok: clean
assistant: Done.",
        &[],
    );
}
