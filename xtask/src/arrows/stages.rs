//! Which stage of the engine looks at which other.
//!
//! The folders of `crates/engine/src/` are the stages of one road. A stage may name only those
//! that its row in the table allows. A leaf, and a file that stands beside `lib.rs`, may be named
//! by all, and so names no stage itself.

use super::rules::{LEAVES, STAGE_TEXT, STAGES, StageRule};
use super::source::Source;

/// Findings in a file of the engine.
pub(super) fn check(source: &Source) -> Vec<String> {
    let Some(stage) = source.module.first() else {
        return Vec::new();
    };
    let place = &source.place;
    let Some(rule) = STAGES.iter().find(|rule| rule.name == stage) else {
        if place.ends_with(&format!("src/{stage}.rs")) {
            return check_leaf(source, stage, "it belongs to no stage");
        }
        return vec![format!(
            "{place}: {stage} is not in the table of stages; add it to \
             xtask/src/arrows/rules.rs and ARCHITECTURE.md"
        )];
    };
    let leaf = LEAVES
        .iter()
        .find(|(leaf, _)| leads_into(&source.module, leaf));
    let mut broken = match leaf {
        Some((leaf, because)) => check_leaf(source, leaf, because),
        None => check_stage(source, rule),
    };
    for banned in STAGE_TEXT {
        if !banned.but_not_in.contains(&rule.name) {
            broken.extend(source.findings(banned));
        }
    }
    broken
}

fn check_stage(source: &Source, rule: &StageRule) -> Vec<String> {
    let (place, stage) = (&source.place, rule.name);
    targets(source)
        .into_iter()
        .filter(|(_, target)| !is_allowed(rule, target))
        .map(|(line, target)| {
            let to = target.join("::");
            format!("{place}:{line}: {stage} may not use {to}: {}", rule.because)
        })
        .collect()
}

fn check_leaf(source: &Source, leaf: &str, because: &str) -> Vec<String> {
    let place = &source.place;
    targets(source)
        .into_iter()
        .filter(|(_, target)| !leads_into(target, leaf))
        .map(|(line, target)| {
            let to = target.join("::");
            format!(
                "{place}:{line}: {leaf} may not use {to}: every stage may use it, so it uses \
                 none ({because})"
            )
        })
        .collect()
}

/// What of the engine's stages a file names, and in which line.
fn targets(source: &Source) -> Vec<(usize, Vec<String>)> {
    let resolve = |segments: &[String]| resolved(&source.module, segments);
    source
        .paths
        .iter()
        .filter_map(|named| Some((named.line, resolve(&named.segments)?)))
        .filter(|(_, target)| is_stage(target))
        .collect()
}

fn is_allowed(rule: &StageRule, target: &[String]) -> bool {
    let of = |name: &str| target.first().is_some_and(|first| first == name);
    let leaf = LEAVES.iter().any(|(leaf, _)| leads_into(target, leaf));
    leaf || of(rule.name) || rule.may_use.iter().any(|name| of(name))
}

fn is_stage(target: &[String]) -> bool {
    target
        .first()
        .is_some_and(|first| STAGES.iter().any(|rule| rule.name == first))
}

fn leads_into(path: &[String], leaf: &str) -> bool {
    let leaf: Vec<&str> = leaf.split("::").collect();
    path.len() >= leaf.len() && path.iter().zip(leaf).all(|(a, b)| a == b)
}

/// The path from the crate's root on; `None` when it leads out of the crate or to a name that is
/// already in reach.
fn resolved(module: &[String], segments: &[String]) -> Option<Vec<String>> {
    let ups = segments.iter().take_while(|s| *s == "super").count();
    let first = segments.first()?.as_str();
    let base = match first {
        "crate" => &[],
        "self" => module,
        "super" => module.get(..module.len().checked_sub(ups)?)?,
        _ => return None,
    };
    let named = segments.get(ups.max(1)..)?;
    Some(base.iter().chain(named).cloned().collect())
}
