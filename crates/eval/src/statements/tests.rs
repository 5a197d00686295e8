//! The committed statements to tune on. The floors are what was reached, a little lower: `daybook eval statements`
//! reports on the others.

use std::path::Path;

use super::*;
use crate::Split;

#[test]
fn of_the_statements_to_tune_on_the_lasting_ones_are_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation/statements.toml");
    let cases = load_statements(&path).unwrap();
    let report = run_statements(&cases, Some(Split::Tune));
    for (language, score) in &report.languages {
        println!("{language}: {score:?}");
    }
    for record in &report.wrong {
        println!(
            "{}: {}\n   missed {:?}\n   noise {:?}",
            record.language, record.text, record.missed, record.noise
        );
    }
}
