//! The small benches, as CI runs them.

#![allow(clippy::disallowed_types, reason = "runs the built bench")]

use std::process::Command;

/// Alone, because a test beside it would take the processor from one side of a ratio.
#[test]
#[ignore = "measures time; run it alone: cargo everything --test regression -- --ignored"]
fn nothing_takes_twice_as_long_as_it_should() {
    let bench = Command::new(env!("CARGO_BIN_EXE_daybook-bench"))
        .arg("regression")
        .status()
        .unwrap();
    assert!(bench.success());
}
