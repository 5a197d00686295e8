//! What a person does in the window: mend a line, forget it, take a change back, decide, remove.
//!
//! Each goes through the functions that the command line uses, as the person's own word.

use std::sync::Arc;

use anyhow::{Result, bail};
use daybook_domain::{JobKey, JobKind, Session};
use daybook_engine::files::path::FilePath;
use daybook_engine::jobs::persons_word::PersonsChange;
use daybook_engine::jobs::purge::PurgeSelection;
use daybook_engine::jobs::{self, ENGINE, quarantine};
use daybook_engine::stop::Stop;
use strum::VariantArray;

use super::files::{FileQuery, resolve};
use super::{links, sessions};
use crate::process::run_on_new_thread;
use crate::purge::{self, Silent};
use crate::service::RequestError;
use crate::service::file_changes::write_file;
use crate::service::history::find_state;
use crate::service::memories::{by_id, place};
use crate::service::memory_changes::{RequestedBy, edit_by_id, forget, make_change};
use crate::service::scope_choice::{ScopeChoice, open_folder};
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::Daybook;

/// What was done, by the name that the address of the next page carries, and in words.
const SAID: [(&str, &str); 15] = [
    (
        "corrected",
        "Corrected, in every file that shows it. The history has the way back.",
    ),
    ("hidden", "Saved. A secret in it was hidden."),
    (
        "forgotten",
        "Forgotten, and not learned again from the same words. The history has the way back.",
    ),
    ("pinned", "Pinned: it stays in MEMORY.md."),
    ("unpinned", "No longer pinned."),
    ("saved", "Saved. Your words stay as you wrote them."),
    ("same", "Everything was so already."),
    ("undone", "Taken back. What was changed again since stays."),
    ("restored", "Restored. The history has the way back."),
    ("accepted", "Remembered as your own statement."),
    ("rejected", "It stays out for good."),
    ("off", "Nothing more is learned from this session."),
    ("on", "This session is learned from again."),
    (
        "removed",
        "Removed for good, from every file and past state. `purged/receipts.jsonl` has the receipt.",
    ),
    ("retried", "It is due now."),
];

/// The words for what was done; `None` for a name of none.
pub(crate) fn said(name: &str) -> Option<&'static str> {
    SAID.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, words)| *words)
}

/// What a form sends; fields that it does not have are empty.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct SentForm {
    pub(crate) proof: String,
    scope: String,
    file: String,
    since: String,
    text: String,
    id: String,
    words: String,
    line: String,
    answer: String,
    memory: String,
    sure: String,
    job: String,
    at: String,
}

/// Does what the form at `action` asks for. Returns the address of the page to show next.
pub(crate) async fn act(daybook: &Arc<Daybook>, action: &str, form: &SentForm) -> Result<String> {
    match action {
        "correct" => correct(daybook, form).await,
        "forget" => forget_one(daybook, form).await,
        "pin" | "unpin" => pin(daybook, form, action == "pin").await,
        "edit" => save_file(daybook, form).await,
        "undo" | "restore" => bring_back(daybook, form, action == "undo").await,
        "quarantine" => decide(daybook, form).await,
        "session-memory" => switch_memory(daybook, form).await,
        "purge-session" => purge_session(daybook, form).await,
        "retry" => retry(daybook, form).await,
        _ => bail!(RequestError::NotFound(format!(
            "there is no action {action}"
        ))),
    }
}

fn choice(form: &SentForm) -> ScopeChoice {
    ScopeChoice {
        scope: Some(form.scope.clone()).filter(|name| !name.is_empty()),
        ..ScopeChoice::default()
    }
}

async fn correct(daybook: &Daybook, form: &SentForm) -> Result<String> {
    let named = (form.id.as_str(), form.words.as_str());
    let (made, secrets) = edit_by_id(daybook, &choice(form), named, RequestedBy::Person).await?;
    let said = match (made.commit, secrets) {
        (None, _) => "same",
        (Some(_), 0) => "corrected",
        (Some(_), _) => "hidden",
    };
    why_page(daybook, form, said).await
}

/// The page of a memory by the place where it is now: other words give it another id.
async fn why_page(daybook: &Daybook, form: &SentForm, said: &str) -> Result<String> {
    let memory = by_id(daybook, &choice(form), &form.id).await;
    let line = match &memory {
        Ok(memory) => memory.lines.first().map_or(form.id.clone(), place),
        Err(_) => form.id.clone(),
    };
    Ok(links::page(
        "why",
        &[("scope", &form.scope), ("line", &line), ("said", said)],
    ))
}

async fn forget_one(daybook: &Daybook, form: &SentForm) -> Result<String> {
    let memory = by_id(daybook, &choice(form), &form.id).await?;
    forget(daybook, &[memory], RequestedBy::Person).await?;
    Ok(links::page(
        "file",
        &[("scope", &form.scope), ("said", "forgotten")],
    ))
}

async fn pin(daybook: &Daybook, form: &SentForm, pin: bool) -> Result<String> {
    let memory = by_id(daybook, &choice(form), &form.id).await?;
    let scope = memory.scope.clone();
    let wanted = match pin {
        true => PersonsChange::Pin(memory),
        false => PersonsChange::Unpin(memory),
    };
    make_change(daybook, &scope, &wanted, RequestedBy::Person).await?;
    why_page(daybook, form, if pin { "pinned" } else { "unpinned" }).await
}

async fn save_file(daybook: &Daybook, form: &SentForm) -> Result<String> {
    let query = FileQuery {
        scope: form.scope.clone(),
        file: form.file.clone(),
        ..FileQuery::default()
    };
    let (scope, file): (_, FilePath) = resolve(daybook, &query).await?;
    // Browsers send line breaks of text areas as CR LF.
    let text = form.text.replace("\r\n", "\n");
    let since = Some(form.since.as_str()).filter(|since| !since.is_empty());
    let made = write_file(daybook, &scope, (&file, &text), since, RequestedBy::Person).await?;
    let said = match (made.change.commit, made.secrets_hidden) {
        (None, _) => "same",
        (Some(_), 0) => "saved",
        (Some(_), _) => "hidden",
    };
    Ok(links::page(
        "file",
        &[("scope", &form.scope), ("file", &form.file), ("said", said)],
    ))
}

async fn bring_back(daybook: &Daybook, form: &SentForm, undo: bool) -> Result<String> {
    let scope = choice(form).one(daybook, None).await?;
    let folder = open_folder(daybook, &scope).await?;
    let commit = find_state(daybook, (&scope, &folder), &form.at)?;
    let wanted = match undo {
        true => PersonsChange::Undo(commit),
        false => PersonsChange::Restore(commit),
    };
    let made = make_change(daybook, &scope, &wanted, RequestedBy::Person).await?;
    let said = match (made.commit, undo) {
        (None, _) => "same",
        (Some(_), true) => "undone",
        (Some(_), false) => "restored",
    };
    Ok(links::page(
        "history",
        &[("scope", &form.scope), ("said", said)],
    ))
}

async fn decide(daybook: &Daybook, form: &SentForm) -> Result<String> {
    let store = &*daybook.store;
    let waiting = quarantine::waiting(store, &daybook.tenant).await?;
    let one = waiting
        .iter()
        .find(|one| one.observation.id.to_string() == form.id);
    let Some(one) = one else {
        bail!(RequestError::NotFound("it was decided already".to_owned()));
    };
    let said = match form.answer.as_str() {
        "accept" => {
            quarantine::accept(store, &one.observation, daybook.clock.now()).await?;
            let (mut worker, _lock) = daybook.attended_worker().await?;
            worker.limits.proposals = false;
            jobs::write_due(&worker, &Stop::default(), &HiddenUpdate).await?;
            "accepted"
        }
        "reject" => {
            quarantine::reject(store, &one.observation).await?;
            "rejected"
        }
        _ => bail!(RequestError::Invalid(
            "an answer is accept or reject".to_owned()
        )),
    };
    Ok(links::page("", &[("said", said)]))
}

async fn switch_memory(daybook: &Daybook, form: &SentForm) -> Result<String> {
    let session = sessions::find(daybook, &form.id).await?;
    let on = form.memory == "on";
    let (switches, now) = (daybook.switches(), daybook.clock.now());
    daybook
        .store
        .switch_memory(&session.id, on, &switches, now)
        .await?;
    let said = if on { "on" } else { "off" };
    Ok(links::page("session", &[("id", &form.id), ("said", said)]))
}

async fn purge_session(daybook: &Arc<Daybook>, form: &SentForm) -> Result<String> {
    let session: Session = sessions::find(daybook, &form.id).await?;
    if form.sure.trim() != session.label {
        let message = format!(
            "nothing was removed: write {} to remove the session for good",
            session.label
        );
        bail!(RequestError::Invalid(message));
    }
    let plan = purge::plan_purge(daybook, &PurgeSelection::Session(session.id)).await?;
    run_on_new_thread(|| purge::purge(daybook, plan, (&Stop::default(), &Silent)))?;
    Ok(links::page("sessions", &[("said", "removed")]))
}

async fn retry(daybook: &Daybook, form: &SentForm) -> Result<String> {
    let key = job(daybook, &form.job).await?;
    let (store, now) = (&daybook.store, daybook.clock.now());
    store.revive_gaps(Some(&key), ENGINE, now).await?;
    store.retry(&key, now).await?;
    Ok(links::page("work", &[("said", "retried")]))
}

async fn job(daybook: &Daybook, name: &str) -> Result<JobKey> {
    for &kind in JobKind::VARIANTS {
        let jobs = daybook.jobs(kind).await?.into_iter();
        if let Some(job) = jobs.map(|job| job.key).find(|key| key.to_string() == name) {
            return Ok(job);
        }
    }
    bail!(RequestError::NotFound(format!("there is no job {name}")))
}
