//! Compresses the word lists, which are a hundred kilobytes of text, so that the binary is smaller.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script learns of its build from the environment"
)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The cue words of each language, which `src/lexicon.rs` holds.
const LEXICONS: &str = "src/lexicon";

/// The level that makes them smallest.
const BEST: u8 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={LEXICONS}");
    let out = env::var("OUT_DIR")?;
    for entry in fs::read_dir(LEXICONS)? {
        let entry = entry?;
        let mut name = Path::new(&out).join(entry.file_name()).into_os_string();
        name.push(".zlib");
        fs::write(name, compress_to_vec_zlib(&fs::read(entry.path())?, BEST))?;
    }
    Ok(())
}
