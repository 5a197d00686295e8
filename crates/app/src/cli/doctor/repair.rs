//! `daybook doctor --repair`: repairs what can be repaired safely.
//!
//! A copy of everything damaged is kept first, in a folder of the data folder. Each step takes the locks that
//! other writers take and is safe to interrupt and to repeat: a database is replaced in one transaction, a
//! history is begun again under the folder's writer lock. Nothing that can be read is deleted.
//!
//! Not here: finding damage, and the rules of repairing it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daybook_domain::page::read_all;
use daybook_domain::seams::JobControl;
use daybook_domain::{JobKey, Scope, StoreError, Tenant};
use daybook_engine::files::audit::{RenewOutcome, check_history, restart_history, scopes_on_disk};
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::jobs::{self, UpdateReport, WorkerContext};
use daybook_engine::stop::Stop;
use daybook_store::sqlite::{Salvage, Salvaged, keep_copy};
use daybook_text::indexed_tokens;

use super::reread::reread_events;
use super::{CommonArgs, database, examine, exit_code, files, print};
use crate::cli::can_ask;
use crate::cli::import::line;
use crate::folders::data_folder;
use crate::process::block_on;
use crate::service::recall::reindex_edited_files;
use crate::settings::{MemoryPlace, Settings};
use crate::terminal::output::{count, eprint_line, json as print_json, print_line};
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::{DATABASE, Daybook, MemoryDatabase, tenant_of};

/// How often a salvage begins again because another process wrote meanwhile.
const TRIES: u32 = 5;
/// Longest wait for a folder's writer lock.
const WAIT: Duration = Duration::from_secs(10);
/// Most losses that are printed; the account in the copy's folder lists all.
const NAMED: usize = 20;

/// The steps of a repair.
#[derive(Default)]
struct RepairPlan {
    database: bool,
    histories: Vec<Scope>,
    missing: Vec<Scope>,
    unknown: Vec<Scope>,
}

impl RepairPlan {
    fn is_empty(&self) -> bool {
        !self.database
            && self.histories.is_empty()
            && self.missing.is_empty()
            && self.unknown.is_empty()
    }

    /// One line for each step.
    fn steps(&self) -> Vec<String> {
        let mut steps = Vec::new();
        if self.database {
            steps.push(
                "save every readable row of the database into a fresh one, with a new index"
                    .to_owned(),
            );
        }
        let each = |scopes: &[Scope], what: &str| -> Vec<String> {
            scopes
                .iter()
                .map(|scope| format!("{scope}: {what}"))
                .collect()
        };
        steps.extend(each(
            &self.histories,
            "begin a new history from the existing files",
        ));
        steps.extend(each(
            &self.missing,
            "make its folder again from the database",
        ));
        steps.extend(each(&self.unknown, "make its files known to the database"));
        steps
    }
}

/// Whether the database could not be opened because it is damaged or gone, so that a repair helps.
pub(super) fn can_salvage(error: &anyhow::Error, root: &Path, tenant: &Tenant) -> bool {
    let is_gone = !root.join(DATABASE).exists() && !scopes_on_disk(root, tenant).is_empty();
    is_gone || is_corrupt(error)
}

fn is_corrupt(error: &anyhow::Error) -> bool {
    let is_corrupt = |cause: &StoreError| matches!(cause, StoreError::Corrupt(_));
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref())
        .any(is_corrupt)
}

/// Repairs, after asking.
pub(super) fn run(common: &CommonArgs, yes: bool, dry_run: bool) -> Result<ExitCode> {
    let root = data_folder::locate(common.root.as_deref())?;
    fs::metadata(&root)
        .with_context(|| format!("{} cannot be read", data_folder::display_path(&root)))?;
    if Settings::load(&root, &common.set)?.store != MemoryPlace::Folder {
        bail!(
            "this memory is kept on a server: repair it with the server's own tools, then run \
             `daybook checkout`"
        );
    }
    let plan = plan(common, &root)?;
    if plan.is_empty() || dry_run {
        return show(&plan, common);
    }
    if !confirm(&plan, common, yes)? {
        eprint_line!("Nothing was changed.");
        return Ok(ExitCode::SUCCESS);
    }
    let copy = make_copy_folder(&root)?;
    let mut account = run_steps(common, &root, plan.database, &copy)?;
    account.insert(
        0,
        format!(
            "What was damaged is kept in {}",
            data_folder::display_path(&copy)
        ),
    );
    fs::write(copy.join("account.txt"), account.join("\n") + "\n")?;
    let findings = examine(common);
    if common.json {
        print_json(&serde_json::json!({"repaired": account, "findings": findings}))?;
    } else {
        let shown = account.len().min(NAMED);
        account[..shown]
            .iter()
            .for_each(|said| print_line!("{said}"));
        if account.len() > shown {
            print_line!(
                "… and {} more lines in account.txt there",
                account.len() - shown
            );
        }
        print(&findings, common)?;
    }
    Ok(exit_code(&findings))
}

fn plan(common: &CommonArgs, root: &Path) -> Result<RepairPlan> {
    let on_disk = scopes_on_disk(root, &tenant_of(root, &common.set));
    let mut plan = RepairPlan {
        histories: broken_histories(root, &on_disk),
        ..RepairPlan::default()
    };
    if !root.join(DATABASE).exists() {
        plan.unknown = on_disk;
        return Ok(plan);
    }
    match Daybook::open(root.to_owned(), &common.set) {
        Err(error) if is_corrupt(&error) => plan.database = true,
        Err(error) => return Err(error),
        Ok(daybook) => {
            if let MemoryDatabase::File(file) = &daybook.database {
                plan.database = !database::damage_of(file).is_empty();
            }
            if plan.database
                && block_on(async { Ok(daybook.database.portable().is_closed().await?) })?
            {
                bail!("this memory was moved elsewhere; what is left here is not repaired");
            }
            // Of a damaged database these are looked up when it is sound again.
            if let Ok((unknown, missing)) = files::unknown_and_missing(&daybook, &on_disk) {
                (plan.unknown, plan.missing) = (unknown, missing);
            }
        }
    }
    Ok(plan)
}

fn broken_histories(root: &Path, on_disk: &[Scope]) -> Vec<Scope> {
    let is_broken = |scope: &&Scope| !check_history(&folder(root, scope)).is_empty();
    on_disk.iter().filter(is_broken).cloned().collect()
}

fn show(plan: &RepairPlan, common: &CommonArgs) -> Result<ExitCode> {
    let steps = plan.steps();
    if common.json {
        print_json(&serde_json::json!({"steps": steps}))?;
    } else if steps.is_empty() {
        print_line!("Nothing to repair. `daybook doctor` lists what is checked.");
    } else {
        print_line!("A repair would keep a copy of what is damaged, and then:");
        steps.iter().for_each(|step| print_line!("  {step}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn confirm(plan: &RepairPlan, common: &CommonArgs, yes: bool) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !can_ask(common) {
        bail!(
            "there is no terminal to ask on; pass --yes to repair, or --dry-run to see the steps"
        );
    }
    eprint_line!("A copy of what is damaged is kept. Then:");
    plan.steps()
        .iter()
        .for_each(|step| eprint_line!("  {step}"));
    loop {
        match line("Repair?  [Y]es / [n]o   ")?.to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => eprint_line!("Please answer y or n."),
        }
    }
}

/// `repair-2026-03-02`, or with a number behind it.
fn make_copy_folder(root: &Path) -> Result<PathBuf> {
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let mut n = 1;
    loop {
        let name = match n {
            1 => format!("repair-{day}"),
            n => format!("repair-{day}-{n}"),
        };
        let path = root.join(name);
        if !path.exists() {
            data_folder::create(&path)?;
            return Ok(path);
        }
        n += 1;
    }
}

/// Runs all steps. Returns the account of them, a line for each.
fn run_steps(common: &CommonArgs, root: &Path, database: bool, copy: &Path) -> Result<Vec<String>> {
    let mut account = Vec::new();
    if database {
        let path = root.join(DATABASE);
        keep_copy(&path, &copy.join(DATABASE))?;
        account.extend(account_of(&salvage(&path, copy)?));
    }
    data_folder::create(root)?;
    let daybook = Daybook::open(root.to_owned(), &common.set)?;
    block_on(async {
        let (mut worker, _present) = daybook.attended_worker().await?;
        worker.limits.proposals = false;
        let on_disk = scopes_on_disk(root, &daybook.tenant);
        for scope in broken_histories(root, &on_disk) {
            account.push(renew_history(&worker, root, &scope, copy)?);
        }
        account.extend(restore_folders(&daybook, &worker, &on_disk, copy).await?);
        Ok(())
    })?;
    Ok(account)
}

fn salvage(path: &Path, copy: &Path) -> Result<Salvaged> {
    let mut tries = 0;
    loop {
        let mut salvage = Salvage::begin(path, copy)?;
        let sources = salvage.sources()?;
        let known = block_on(reread_events(&sources))?;
        salvage.restore_events(&known)?;
        match salvage.finish(&indexed_tokens) {
            Err(StoreError::Busy(_)) if tries < TRIES => tries += 1,
            done => {
                let done = done.context("the database could not be replaced, and is as it was")?;
                // What was saved is in place; only the copy of the damage stays.
                for suffix in ["", "-wal", "-shm"] {
                    let _ = fs::remove_file(copy.join(format!("salvaged.db{suffix}")));
                }
                return Ok(done);
            }
        }
    }
}

fn account_of(salvaged: &Salvaged) -> Vec<String> {
    let mut account = vec![format!(
        "{} of the database saved, {} read again from transcripts, {} kept in part, {} lost",
        count(salvaged.rows, "row"),
        count(salvaged.restored, "event"),
        salvaged.mended.len(),
        salvaged.lost.len()
    )];
    account.extend(
        salvaged
            .lost
            .iter()
            .map(|damage| format!("lost: {}", describe_damage(damage))),
    );
    account.extend(
        salvaged
            .mended
            .iter()
            .map(|damage| format!("kept in part: {}", describe_damage(damage))),
    );
    account
}

/// Damage with the session and place of an event.
fn describe_damage(damage: &daybook_store::damage::Damage) -> String {
    let number = damage
        .key
        .as_deref()
        .and_then(|key| key.parse::<i64>().ok());
    match number.filter(|_| damage.table == "events") {
        Some(no) => format!(
            "{damage} (event {} of session {})",
            no & 0xffff_ffff,
            no >> 32
        ),
        None => damage.to_string(),
    }
}

fn renew_history(
    worker: &WorkerContext,
    root: &Path,
    scope: &Scope,
    copy: &Path,
) -> Result<String> {
    let path = folder(root, scope);
    let relative = path.strip_prefix(root).unwrap_or(&path);
    let aside = copy.join(relative).join("git");
    Ok(
        match restart_history(&path, &aside, &worker.stamp(), WAIT)? {
            RenewOutcome::Begun(Some(aside)) => format!(
                "{scope}: a new history was begun; the broken one is {}",
                data_folder::display_path(&aside)
            ),
            RenewOutcome::Begun(None) => format!("{scope}: a new history was begun"),
            RenewOutcome::Busy => {
                format!("{scope}: another process writes its files; repair again later")
            }
        },
    )
}

/// Writes missing folders again, and registers unknown ones in the database. The files of the latter are not written
/// here: sessions that are imported again find their entries in them.
async fn restore_folders(
    daybook: &Daybook,
    worker: &WorkerContext,
    on_disk: &[Scope],
    copy: &Path,
) -> Result<Vec<String>> {
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let is_known = |scope: &&Scope| known.iter().any(|state| &&state.scope == scope);
    let unknown: Vec<&Scope> = on_disk.iter().filter(|scope| !is_known(scope)).collect();
    let missing = daybook_engine::files::audit::missing_folders(
        &*daybook.store,
        &daybook.root,
        &daybook.tenant,
    )
    .await?;
    let mut before = Vec::new();
    for scope in &missing {
        before.push(own_entries(daybook, scope)?);
        Folder::open(folder(&daybook.root, scope), FilesConfig::default())?;
    }
    for scope in &missing {
        let now = worker.clock.now();
        worker.store.touch_scope(scope, now).await?;
        // It may wait because its folder was missing.
        JobControl::retry(&*worker.store, &JobKey::Consolidate(scope.clone()), now).await?;
    }
    let mut report = UpdateReport::default();
    if !missing.is_empty() {
        report = jobs::write_due(worker, &Stop::default(), &HiddenUpdate).await?;
    }
    for scope in &unknown {
        let now = worker.clock.now();
        worker.store.touch_scope(scope, now).await?;
    }
    reindex_edited_files(daybook).await?;
    let mut account: Vec<String> = report
        .broken()
        .map(|failed| format!("{}: {}", failed.job, failed.failure.message))
        .collect();
    account.extend(
        unknown
            .iter()
            .map(|scope| format!("{scope}: its files are known again")),
    );
    for (scope, before) in missing.iter().zip(before) {
        let lost: Vec<_> = before
            .difference(&own_entries(daybook, scope)?)
            .cloned()
            .collect();
        account.push(account_of_folder(daybook, scope, &lost, copy)?);
    }
    Ok(account)
}

/// File, heading and text of entries that a person wrote: those without an observation.
fn own_entries(daybook: &Daybook, scope: &Scope) -> Result<BTreeSet<(String, String, String)>> {
    match &daybook.database {
        MemoryDatabase::File(file) => Ok(file.unobserved_entries(scope)?),
        #[cfg(feature = "postgres")]
        MemoryDatabase::Server(_) => Ok(BTreeSet::new()),
    }
}

fn account_of_folder(
    daybook: &Daybook,
    scope: &Scope,
    lost: &[(String, String, String)],
    copy: &Path,
) -> Result<String> {
    let made = format!("{scope}: its folder was made again; its older history is lost");
    if lost.is_empty() {
        return Ok(made);
    }
    let path = folder(&daybook.root, scope);
    let relative = path.strip_prefix(&daybook.root).unwrap_or(&path);
    let kept = copy.join(relative).join("entries.md");
    if let Some(parent) = kept.parent() {
        fs::create_dir_all(parent)?;
    }
    let lines = lost
        .iter()
        .map(|(file, heading, text)| format!("- {file}, {heading}: {text}\n"));
    fs::write(&kept, lines.collect::<String>())?;
    Ok(format!(
        "{made}; {} that you wrote there are lost from it, and their words as the index had them are in {}",
        count(lost.len() as u64, "entry"),
        data_folder::display_path(&kept)
    ))
}
