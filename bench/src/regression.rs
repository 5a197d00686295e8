//! Small versions of the main questions, for each change: is anything twice as slow as it should be?
//!
//! Each check times the engine and a baseline in turn and compares their ratio with the usual one, so that a slow or busy
//! machine changes both. The usual ratios are those of a development build, which CI has at hand. A check that takes too
//! long is measured again, at most [`ROUNDS`] times, and its least ratio counts: a moment of noise fails nothing.

use anyhow::{Result, bail};

use crate::process::Timing;
use crate::{append, import, jobs, recall_scale, working};

/// How often a check is measured at most.
const ROUNDS: usize = 12;
/// A check fails at so many times its usual ratio.
const TOO_SLOW: f64 = 2.0;

struct Check {
    name: &'static str,
    baseline: &'static str,
    /// The engine's time, in times of the baseline's.
    usual: f64,
    measure: fn() -> Result<Timing>,
}

const CHECKS: [Check; 5] = [
    Check {
        name: "append of an event",
        baseline: "bare commit of its pages",
        usual: 3.0,
        measure: append::small,
    },
    Check {
        name: "claim and finish of a job",
        baseline: "two bare updates",
        usual: 10.0,
        measure: jobs::small,
    },
    Check {
        name: "import of 8 transcripts",
        baseline: "parse and index",
        usual: 3.0,
        measure: import::small,
    },
    Check {
        name: "recall among 3,000 memories",
        baseline: "plain FTS5",
        usual: 14.0,
        measure: recall_scale::small,
    },
    Check {
        name: "dispatch to a thread",
        baseline: "bare insert of its text",
        usual: 22.0,
        measure: working::small,
    },
];

/// Measures each check, and fails when one takes [`TOO_SLOW`] times what it usually takes.
pub(crate) fn check() -> Result<()> {
    let mut slow = Vec::new();
    for check in &CHECKS {
        let mut ratio = f64::INFINITY;
        for _ in 0..ROUNDS {
            let timing = (check.measure)()?;
            ratio = ratio.min(timing.engine.as_secs_f64() / timing.baseline.as_secs_f64());
            if ratio <= check.usual * TOO_SLOW {
                break;
            }
        }
        let Check {
            name,
            baseline,
            usual,
            ..
        } = check;
        println!("  {name:28} {ratio:6.1} times {baseline}   (usual: {usual:.0})");
        if ratio > usual * TOO_SLOW {
            slow.push(*name);
        }
    }
    if !slow.is_empty() {
        bail!(
            "more than {TOO_SLOW} times the usual ratio: {}",
            slow.join(", ")
        );
    }
    Ok(())
}
