//! The committed statements to tune on. The floors are what was reached, a little lower: `daybook eval statements`
//! reports on the others.

use std::path::Path;

use super::*;
use crate::Split;

/// Of each language the least share of what is worth keeping that is kept, and of lines that are worth keeping.
const FLOORS: [(&str, f64, f64); 4] = [
    ("en", 0.6, 0.85),
    ("de", 0.5, 0.85),
    ("es", 0.5, 0.85),
    ("zh", 0.6, 0.8),
];
/// Least share of messages with nothing to keep of which nothing is kept.
const LEFT_OUT: f64 = 0.85;

#[test]
fn of_the_statements_to_tune_on_the_lasting_ones_are_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation/statements.toml");
    let cases = load_statements(&path).unwrap();
    let report = run_statements(&cases, Some(Split::Tune));
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
