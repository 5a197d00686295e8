//! Makes the binary smaller: what it holds of text it holds compressed, and the linker of a release is asked to fold functions
//! whose code is the same, which is some megabytes. That is asked of the linker that comes with the toolchain alone, since
//! others may not know the option.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script learns of its build from the environment"
)]

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The description of the HTTP interface, which `src/http/openapi.rs` holds.
const DESCRIPTION: &str = "openapi.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={DESCRIPTION}");
    let compressed = Path::new(&env::var("OUT_DIR")?)
        .join(DESCRIPTION)
        .with_extension("zlib");
    let mut encoder = ZlibEncoder::new(fs::File::create(compressed)?, Compression::best());
    encoder.write_all(&fs::read(DESCRIPTION)?)?;
    encoder.finish()?;
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let chooses_linker = env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|it| it.contains("link"));
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !chooses_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
    Ok(())
}
