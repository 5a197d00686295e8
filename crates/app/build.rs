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

/// The transcripts of `import --sample`, which `src/folders/sample.rs` holds.
const SAMPLE: &str = "sample";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    for place in [DESCRIPTION, SAMPLE] {
        println!("cargo:rerun-if-changed={place}");
        compress(Path::new(place), Path::new(&env::var("OUT_DIR")?))?;
    }
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let chooses_linker = env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|it| it.contains("link"));
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !chooses_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
    Ok(())
}

/// Compresses a file, or every file of a folder, to the same place below `out` with one more extension.
fn compress(place: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    if place.is_dir() {
        fs::create_dir_all(out.join(place))?;
        for entry in fs::read_dir(place)? {
            compress(&entry?.path(), out)?;
        }
        return Ok(());
    }
    let mut name = out.join(place).into_os_string();
    name.push(".zlib");
    let mut encoder = ZlibEncoder::new(fs::File::create(name)?, Compression::best());
    encoder.write_all(&fs::read(place)?)?;
    encoder.finish()?;
    Ok(())
}
