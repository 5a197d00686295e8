//! A small run of the bench `secrets`.

#![allow(clippy::disallowed_types, reason = "runs the built bench")]

use std::process::Command;

/// Families that the redactor knows well: a secret that is found was planted in a place that is not redacted.
const FAMILIES: [&str; 4] = ["github-classic", "slack-bot", "stripe", "vault"];

#[test]
fn no_place_keeps_a_secret_of_a_well_known_form() {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_daybook-bench"));
    bench.args(["secrets", "--seed", "1", "--cases", "130"]);
    for family in FAMILIES {
        bench.args(["--family", family]);
    }
    let output = bench.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
