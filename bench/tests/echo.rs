//! The experiment about memory's own words, as CI runs it.

#![allow(clippy::disallowed_types, reason = "runs the built bench")]

use std::process::Command;

#[test]
fn memory_does_not_grow_from_its_own_words() {
    let bench = Command::new(env!("CARGO_BIN_EXE_daybook-bench"))
        .arg("echo")
        .status()
        .unwrap();
    assert!(bench.success());
}
