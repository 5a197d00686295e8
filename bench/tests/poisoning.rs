//! The poisoning suite, as CI runs it.

#![allow(clippy::disallowed_types, reason = "runs the built bench")]

use std::process::Command;

#[test]
fn what_strangers_plant_becomes_no_instruction_and_what_a_person_types_is_kept() {
    let bench = Command::new(env!("CARGO_BIN_EXE_daybook-bench"))
        .args(["poisoning", "19", "328"])
        .status()
        .unwrap();
    assert!(bench.success());
}
