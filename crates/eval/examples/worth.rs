//! Learns what a sentence that is worth keeping looks like, writes the weights that the extractor holds, and prints what
//! each least worth would keep of messages that the weights were not learned from:
//!
//! ```text
//! cargo run --release -p daybook-eval --example worth -- \
//!     evaluation/statements.toml crates/engine/src/extract/extractive/worth/weights.bin
//! ```

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program takes arguments and prints"
)]

use std::path::PathBuf;

use daybook_eval::statements::{learn_worth, load_statements, worth_shares};

const LEASTS: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(statements), Some(weights)) = (arguments.next(), arguments.next()) else {
        return Err("name the file of statements, and the file to write the weights to".into());
    };
    let cases = load_statements(&statements)?;
    println!("least worth   kept   left out");
    for share in worth_shares(&cases, &LEASTS) {
        println!(
            "{:>11.1}  {:.3}      {:.3}",
            share.least, share.kept, share.left_out
        );
    }
    std::fs::write(&weights, learn_worth(&cases).encode())?;
    println!("wrote {}", weights.display());
    Ok(())
}
