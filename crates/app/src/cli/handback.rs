//! `daybook export --profile NAME --to FOLDER`: writes the files of another system's home.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_engine::homes::HomeKind;
use daybook_engine::jobs::homes::{
    HandBack, HandBackRefusal, PlanOutcome, WrittenHandBack, plan_hand_back, write_hand_back,
};
use serde_json::json;

use super::CommonArgs;
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::service::RequestError;
use crate::terminal::output::{count, json as print_json, print_line};
use crate::wiring::Daybook;

/// Most files that are named one by one.
const NAMED: usize = 12;

/// The system whose files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HandBackProfile {
    /// Codex
    Codex,
    /// MindRoom
    Mindroom,
    /// Daycare
    Daycare,
}

impl HandBackProfile {
    fn kind(self) -> HomeKind {
        match self {
            Self::Codex => HomeKind::Codex,
            Self::Mindroom => HomeKind::Mindroom,
            Self::Daycare => HomeKind::Daycare,
        }
    }
}

/// What to hand back, and where to.
#[derive(Args)]
pub(crate) struct HandBackArgs {
    /// Instead of a file, the home of this system: its files are written
    #[arg(long, value_name = "NAME", requires = "to")]
    profile: Option<HandBackProfile>,
    /// The folder to write: a new or empty one, or an earlier export that is unchanged
    #[arg(long, value_name = "FOLDER", requires = "profile")]
    to: Option<PathBuf>,
    /// The home that was taken over, where there are several
    #[arg(long, value_name = "HOME", requires = "profile")]
    from: Option<PathBuf>,
    /// Move whatever is in the folder aside, to a name ending in .before-1, and write it all the same
    #[arg(long, requires = "profile")]
    force: bool,
}

impl HandBackArgs {
    /// Hands memory back; `None` where that was not asked for.
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<Option<ExitCode>> {
        let (Some(profile), Some(to)) = (self.profile, &self.to) else {
            return Ok(None);
        };
        let daybook = Daybook::open_existing(common)?;
        let kind = profile.kind();
        let plan = block_on(async {
            let (worker, _present) = daybook.attended_worker().await?;
            let planned = plan_hand_back(&worker, kind, self.from.as_deref()).await?;
            self.chosen(kind, planned)
        })?;
        let written = match write_hand_back(&plan, to, self.force) {
            Ok(written) => written,
            Err(refusal @ (HandBackRefusal::NotOurs { .. } | HandBackRefusal::Changed { .. })) => {
                bail!(RequestError::Conflict(format!(
                    "{refusal}; name another folder, or move it aside with --force"
                )))
            }
            Err(refusal @ (HandBackRefusal::InHome(_) | HandBackRefusal::NotAFolder(_))) => {
                bail!(RequestError::Invalid(refusal.to_string()))
            }
            Err(error @ HandBackRefusal::Io { .. }) => {
                return Err(error).context("nothing was exported");
            }
        };
        match common.json {
            true => print_as_json(kind, &plan, to, &written)?,
            false => print_summary(kind, &plan, to, &written),
        }
        Ok(Some(ExitCode::SUCCESS))
    }

    fn chosen(&self, kind: HomeKind, planned: PlanOutcome) -> Result<HandBack> {
        match planned {
            PlanOutcome::Planned(plan) => Ok(plan),
            PlanOutcome::Several(homes) => {
                let homes: Vec<String> = homes.iter().map(|home| display_path(home)).collect();
                bail!(RequestError::Invalid(format!(
                    "{} homes of {} were taken over: {}; name one with --from",
                    homes.len(),
                    kind.name(),
                    homes.join(", "),
                )))
            }
            PlanOutcome::NotTakenOver => {
                let from = self.from.as_deref().unwrap_or(Path::new(""));
                bail!(RequestError::Invalid(format!(
                    "{} was not taken over as a home of {}; `daybook import` takes it over",
                    display_path(from),
                    kind.name(),
                )))
            }
        }
    }
}

/// Counts of the files by what changed.
fn changed_files(plan: &HandBack) -> (u64, Vec<(&String, String)>) {
    let mut changed = Vec::new();
    for (path, file) in &plan.files {
        let change = file.change;
        if change.is_none() {
            continue;
        }
        let mut words = Vec::new();
        if change.reworded > 0 {
            words.push(format!("{} edited", change.reworded));
        }
        if change.removed > 0 {
            words.push(format!("{} forgotten", change.removed));
        }
        if change.is_added_to {
            words.push("new memories added".to_owned());
        }
        changed.push((path, words.join(", ")));
    }
    let same = plan.files.len() - changed.len();
    (same as u64, changed)
}

fn print_summary(kind: HomeKind, plan: &HandBack, to: &Path, written: &WrittenHandBack) {
    let (same, changed) = changed_files(plan);
    let files = count(written.files, "file");
    print_line!("{files} of {} written to {}", kind.name(), display_path(to));
    match &plan.home {
        Some(home) => print_line!("   {same} are the same bytes as in {}", display_path(home)),
        None => print_line!(
            "   no home of {} is there to hand back: all of it is new",
            kind.name()
        ),
    }
    for (path, words) in changed.iter().take(NAMED) {
        print_line!("   {path}: {words}");
    }
    print_rest(changed.len());
    for (path, why) in plan.left.iter().take(NAMED) {
        print_line!("   left out: {path} ({why})");
    }
    print_rest(plan.left.len());
    if plan.unplaced > 0 {
        print_line!(
            "   {} of agents, teams, rooms or other users left out: {} has no place for them",
            count(plan.unplaced, "memory"),
            kind.name()
        );
    }
    if let Some(aside) = &written.aside {
        print_line!("   what was there is in {} now", display_path(aside));
    }
}

fn print_rest(all: usize) {
    if let Some(more) = all.checked_sub(NAMED + 1) {
        print_line!(
            "   … and {}; --json lists all",
            count(more as u64 + 1, "more file")
        );
    }
}

fn print_as_json(
    kind: HomeKind,
    plan: &HandBack,
    to: &Path,
    written: &WrittenHandBack,
) -> Result<()> {
    let (same, changed) = changed_files(plan);
    let changed = changed.into_iter().map(|(path, _)| {
        let change = plan.files[path].change;
        json!({
            "path": path,
            "edited": change.reworded,
            "forgotten": change.removed,
            "added_to": change.is_added_to,
        })
    });
    let left = plan
        .left
        .iter()
        .map(|(path, why)| json!({"path": path, "why": why}));
    print_json(&json!({
        "profile": kind.as_str(),
        "to": to,
        "home": plan.home,
        "files": written.files,
        "same": same,
        "changed": changed.collect::<Vec<_>>(),
        "left_out": left.collect::<Vec<_>>(),
        "added": plan.added,
        "unplaced": plan.unplaced,
        "aside": written.aside,
    }))
}
