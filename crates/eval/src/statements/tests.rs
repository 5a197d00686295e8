//! The committed statements to report on: the cues and weights of the extractor were made from the others. The floors are
//! what was reached, a little lower.

use std::path::Path;

use super::*;
use crate::Split;

/// Of each language the least share of what is worth keeping that is kept, and of lines that are worth keeping.
const FLOORS: [(&str, f64, f64); 4] = [
    ("en", 0.62, 0.82),
    ("de", 0.7, 0.85),
    ("es", 0.7, 0.82),
    ("zh", 0.6, 0.8),
];
/// Least share of messages with nothing to keep of which nothing is kept.
const LEFT_OUT: f64 = 0.85;

#[test]
fn of_statements_that_taught_nothing_the_lasting_ones_are_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation/statements.toml");
    let cases = load_statements(&path).unwrap();
    let report = run_statements(&cases, Some(Split::Report));
    let share = |of: usize, all: usize| of as f64 / all as f64;
    for (language, kept, right) in FLOORS {
        let score = report.languages[language];
        assert!(
            share(score.kept, score.worth_keeping) >= kept,
            "{language}: {score:?}"
        );
        assert!(
            share(score.right_lines, score.lines) >= right,
            "{language}: {score:?}"
        );
        assert!(
            share(score.left_out, score.passing) >= LEFT_OUT,
            "{language}: {score:?}"
        );
    }
}

#[test]
fn words_to_keep_are_words_of_their_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("statements.toml");
    let text = "[[statement]]\nsplit = \"tune\"\nlanguage = \"en\"\ntext = \"tabs\"\nkeep = [\"spaces\"]\n";
    std::fs::write(&file, text).unwrap();
    let error = load_statements(&file).unwrap_err().to_string();
    assert!(error.contains("spaces"), "{error}");
}

#[test]
fn weights_tell_sentences_of_messages_that_did_not_teach_them() {
    let message = |n: usize| match n % 2 {
        0 => format!(
            "[[statement]]\nsplit = \"tune\"\nlanguage = \"en\"\ntext = \"the team {n} owns the module {n}\"\nkeep = [\"owns\"]\n"
        ),
        _ => format!(
            "[[statement]]\nsplit = \"tune\"\nlanguage = \"en\"\ntext = \"the build {n} was red this morning\"\nkeep = []\n"
        ),
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("statements.toml");
    std::fs::write(&file, (0..40).map(message).collect::<String>()).unwrap();
    let shares = worth_shares(&load_statements(&file).unwrap(), &[0.0, 1_000.0]);
    assert_eq!((shares[0].kept, shares[0].left_out), (1.0, 1.0));
    assert_eq!((shares[1].kept, shares[1].left_out), (0.0, 1.0));
}
