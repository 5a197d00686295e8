//! Whether the release binary is small enough.
//!
//! What grew it is found with `CARGO_PROFILE_RELEASE_STRIP=none cargo build --release` and `nm --size-sort`.
//!
//! Not here: building it, which takes minutes and is done before.

use std::path::Path;

use anyhow::Context as _;

use crate::Report;

const MIB: u64 = 1 << 20;
/// Most that the binary may take, with vectors and the tokens of exact counts.
const MOST: u64 = 42 * MIB;

/// Checks the binary that `cargo build --release` left for the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let name = format!("daybook{}", std::env::consts::EXE_SUFFIX);
    let path = root.join(target).join("release").join(name);
    let file = std::fs::metadata(&path).with_context(|| {
        format!(
            "cannot find {}; build it with cargo build --release",
            path.display()
        )
    })?;
    Ok(judge(file.len()))
}

fn judge(bytes: u64) -> Report {
    let size = format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB);
    let broken = (bytes > MOST).then(|| {
        format!(
            "the release binary takes {size}, and {} MiB are allowed",
            MOST / MIB
        )
    });
    Report {
        looked_at: format!("{size}, of {} MiB that are allowed", MOST / MIB),
        broken: broken.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_may_take_what_is_allowed_and_no_more() {
        let full = judge(MOST);
        assert_eq!(full.looked_at, "42.0 MiB, of 42 MiB that are allowed");
        assert_eq!(full.broken, [""; 0]);
        assert_eq!(
            judge(MOST + MIB * 3 / 2).broken,
            ["the release binary takes 43.5 MiB, and 42 MiB are allowed"]
        );
    }
}
