//! Asks the linker of a release to fold functions whose code is the same, by which the binary is some megabytes smaller.
//! That is asked of the linker that comes with the toolchain alone, since others may not know the option.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script learns of its build from the environment"
)]

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let chooses_linker = env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|it| it.contains("link"));
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !chooses_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
