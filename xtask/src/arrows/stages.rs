//! Checks the uses between the stages of the engine.
//!
//! The folders of `crates/engine/src/` are the stages of one pipeline. A stage may name only the stages that its row in
//! the table allows. A file beside `lib.rs` may be named by all, and so may name no stage itself.

use super::rules::{STAGE_NAMES, STAGES, StageRule};
use super::source::Source;

/// Findings in a file of the engine.
pub(super) fn check(source: &Source) -> Vec<String> {
    let Some(stage) = source.module.first() else {
        return Vec::new();
    };
    let place = &source.place;
    let Some(rule) = STAGES.iter().find(|rule| rule.name == stage) else {
        if place.ends_with(&format!("src/{stage}.rs")) {
            return check_stageless(source, stage);
        }
        return vec![format!(
            "{place}: {stage} is not in the table of stages; add it to \
             xtask/src/arrows/rules.rs and ARCHITECTURE.md"
        )];
    };
    let mut broken = check_stage(source, rule);
    for ban in STAGE_NAMES {
        if !ban.allowed_in.contains(&rule.name) {
            broken.extend(source.findings(ban));
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
            format!("{place}:{line}: {stage} may not use {to}: {}", rule.reason)
        })
        .collect()
}

fn check_stageless(source: &Source, module: &str) -> Vec<String> {
    let place = &source.place;
    targets(source)
        .into_iter()
        .map(|(line, target)| {
            let to = target.join("::");
            format!(
                "{place}:{line}: {module} may not use {to}: it belongs to no stage, so that every \
                 stage may use it, and it uses none"
            )
        })
        .collect()
}

/// The lines of a file that name a stage of the engine, with the path.
fn targets(source: &Source) -> Vec<(usize, Vec<String>)> {
    source
        .paths
        .iter()
        .filter_map(|named| Some((named.line, named.path_from_root()?)))
        .filter(|(_, target)| is_stage(target))
        .collect()
}

fn is_allowed(rule: &StageRule, target: &[String]) -> bool {
    let of = |name: &str| target.first().is_some_and(|first| first == name);
    of(rule.name) || rule.may_use.iter().any(|name| of(name))
}

fn is_stage(target: &[String]) -> bool {
    target
        .first()
        .is_some_and(|first| STAGES.iter().any(|rule| rule.name == first))
}
