//! The comparison of the readers with labels of real transcripts, as CI runs it. Without the transcripts it says so.

#![allow(clippy::disallowed_types, reason = "runs the built bench")]

use std::process::Command;

#[test]
fn typed_words_are_found_and_nothing_else_is_taken_for_them() {
    let bench = Command::new(env!("CARGO_BIN_EXE_daybook-bench"))
        .arg("typed")
        .status()
        .unwrap();
    assert!(bench.success());
}
