//! Learns what a sentence that is worth keeping looks like, writes the weights that the extractor holds, and prints what
//! each least worth would keep of messages that the weights were not learned from:
//!
//! ```text
//! W=crates/engine/src/extract/extractive/worth
//! cargo run --release -p daybook-eval --example worth -- evaluation/statements.toml evaluation/messages.toml $W/work.bin
//! cargo run --release -p daybook-eval --example worth -- evaluation/statements.toml evaluation/messages.toml evaluation/personal.toml $W/chat.bin
//! ```

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program takes arguments and prints"
)]

use std::path::PathBuf;

use daybook_eval::statements::{StatementCases, learn_worth, load_statements, worth_shares};

const LEASTS: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let weights = files.pop().filter(|_| !files.is_empty());
    let weights =
        weights.ok_or("name files of statements, and the file to write the weights to")?;
    let mut cases = StatementCases::default();
    for file in files {
        cases = cases.with(load_statements(&file)?);
    }
    println!("least worth   kept   left out");
    for share in worth_shares(&cases, &LEASTS) {
        println!(
            "{:>11.1}  {:.3}      {:.3}",
            share.least, share.kept, share.left_out
        );
    }
    std::fs::write(&weights, learn_worth(&cases).encode()?)?;
    println!("wrote {}", weights.display());
    Ok(())
}
