//! Checks the size of the release binary.
//!
//! To find what made it grow: `CARGO_PROFILE_RELEASE_STRIP=none cargo build --release`, then `nm --size-sort`.
//!
//! Not here: the build, which takes minutes and runs before.

use std::path::Path;

use anyhow::Context as _;

use crate::CheckReport;

const MIB: u64 = 1 << 20;
/// Most bytes of the binary, with vectors and the vocabularies of exact token counts, where the commands are built alone: the
/// benches share libraries with it and ask more of them.
const MOST_BYTES: u64 = 40 * MIB;

/// Checks the binary that `cargo build --release` built for the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let name = format!("daybook{}", std::env::consts::EXE_SUFFIX);
    let path = root.join(target).join("release").join(name);
    let file = std::fs::metadata(&path).with_context(|| {
        format!(
            "cannot find {}; run cargo build --release first",
            path.display()
        )
    })?;
    Ok(report(file.len()))
}

fn report(bytes: u64) -> CheckReport {
    let size = format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB);
    let broken = (bytes > MOST_BYTES).then(|| {
        format!(
            "the release binary takes {size}; at most {} MiB are allowed",
            MOST_BYTES / MIB
        )
    });
    CheckReport {
        summary: format!("{size} of {} MiB allowed", MOST_BYTES / MIB),
        broken: broken.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_may_take_what_is_allowed_and_no_more() {
        let full = report(MOST_BYTES);
        assert_eq!(full.summary, "40.0 MiB of 40 MiB allowed");
        assert_eq!(full.broken, [""; 0]);
        assert_eq!(
            report(MOST_BYTES + MIB * 3 / 2).broken,
            ["the release binary takes 41.5 MiB; at most 40 MiB are allowed"]
        );
    }
}
