//! `daybook sessions`: lists the imported sessions, turns memory of one off or on, and moves one to another project.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use daybook_domain::page::{read_all, read_first};
use daybook_domain::{ExtractionRecord, Job, JobKey, Session, SessionId, Timestamp};
use daybook_engine::jobs::project_repairs::move_session;
use serde_json::{Value, json};

use super::CommonArgs;
use super::projects::{change, check_exists, check_name};
use super::scope_args::CallerArgs;
use crate::process::block_on;
use crate::service::caller::{reach_of, reaches_session};
use crate::service::overview::by_session;
use crate::service::sessions::state;
use crate::terminal::common_args::at_least_one;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line, rfc3339};
use crate::terminal::suggest;
use crate::terminal::wrap::{one_line, wrapped};
use crate::wiring::Daybook;

/// Columns before what a session was about.
const INDENT: usize = 10;

/// List the imported sessions; turn memory of one off or on; move one to another project.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsCommand {
    #[command(subcommand)]
    what: Option<SessionsSubcommand>,
    /// Most sessions, newest first
    #[arg(short = 'n', long, default_value_t = 50, value_parser = at_least_one)]
    limit: usize,
    #[command(flatten)]
    caller: CallerArgs,
    /// Make no memory from this session: its pending and later events are never extracted
    #[arg(long, value_name = "SESSION", conflicts_with = "on")]
    off: Option<String>,
    /// Make memory from this session again, from its events from now on; of a session that a call had
    /// polluted, from all, and no later call pollutes it
    #[arg(long, value_name = "SESSION")]
    on: Option<String>,
}

#[derive(Subcommand)]
enum SessionsSubcommand {
    /// Move a session, with what was learned from it, to another project than its folder's
    Move {
        /// The session, by its label or the beginning of its id
        session: String,
        /// The project that it belongs to
        project: String,
        /// Create the project if it does not exist
        #[arg(long)]
        new: bool,
    },
}

impl SessionsCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        if let Some(SessionsSubcommand::Move {
            session,
            project,
            new,
        }) = &self.what
        {
            return move_to(common, &daybook, session, (project, *new));
        }
        if let Some(name) = &self.off {
            return block_on(switch(common, &daybook, name, false));
        }
        if let Some(name) = &self.on {
            return block_on(switch(common, &daybook, name, true));
        }
        let ((sessions, has_more), jobs, digests) = block_on(async {
            let mut sessions = self.listed(&daybook).await?;
            let has_more = sessions.len() > self.limit;
            sessions.truncate(self.limit);
            let (mut jobs, mut records) = (Vec::new(), Vec::new());
            for session in &sessions {
                jobs.extend(
                    daybook
                        .store
                        .job(&JobKey::Extract(session.id.clone()))
                        .await?,
                );
                records.extend(daybook.store.extractions_of(&session.id).await?);
            }
            let listed = (sessions, has_more);
            Ok((listed, by_session(jobs), last_digests(records)))
        })?;
        let switches = daybook.switches();
        if common.json {
            let rows: Vec<Value> = sessions
                .iter()
                .map(|session| {
                    let job = jobs.get(&session.id);
                    let state = state(session, job, &switches);
                    as_json(session, job, &state, digests.get(&session.id))
                })
                .collect();
            print_json(&json!({ "sessions": rows }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for session in &sessions {
            let state = state(session, jobs.get(&session.id), &switches);
            let digest = digests
                .get(&session.id)
                .and_then(|record| record.digest.as_ref());
            let task = digest
                .and_then(|digest| digest.task.as_ref())
                .map(|task| task.text.clone());
            let branch = digest.and_then(|digest| digest.branch.clone());
            print_line!(
                "{}  {}",
                bold(&format!("{:<8}", session.label)),
                wrapped(
                    &format!(
                        "{}  {} · {} · {} · {state}",
                        day(&daybook, session.last_at),
                        session.id.agent,
                        branch.unwrap_or_else(|| "no branch".to_owned()),
                        count(session.events.0, "event"),
                    ),
                    INDENT
                )
            );
            if let Some(task) = task {
                print_line!("{:INDENT$}{}", "", dim(&one_line(&task, INDENT)));
            }
        }
        if has_more {
            let limit = (self.limit * 2).to_string();
            let more = suggest::command_of(&["sessions", "--limit", &limit]);
            print_line!("{}", dim(&format!("There are older ones: `{more}`")));
        }
        if sessions.is_empty() {
            let import = suggest::command("import");
            print_line!("No session was imported yet; `{import}` imports them.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl SessionsCommand {
    /// The newest sessions that the caller reaches, and one more if there is one.
    async fn listed(&self, daybook: &Daybook) -> Result<Vec<Session>> {
        let (store, tenant) = (&daybook.store, &daybook.tenant);
        let most = self.limit.saturating_add(1);
        let Some(caller) = self.caller.named() else {
            return Ok(read_first(most, |page| store.sessions(tenant, page)).await?);
        };
        let reach = reach_of(daybook, Some(&caller)).await?;
        let mut listed = Vec::new();
        for session in read_all(|page| store.sessions(tenant, page)).await? {
            if listed.len() == most {
                break;
            }
            if reaches_session(daybook, &reach, &session).await? {
                listed.push(session);
            }
        }
        Ok(listed)
    }
}

fn move_to(
    common: &CommonArgs,
    daybook: &Daybook,
    name: &str,
    (project, may_create): (&str, bool),
) -> Result<ExitCode> {
    let session = block_on(find_one(daybook, name))?;
    match may_create {
        true => check_name(project)?,
        false => block_on(check_exists(daybook, project))?,
    }
    change(common, daybook, async |worker| {
        Ok(move_session(worker, &session, project).await?)
    })?;
    if common.json {
        let id = session.id.to_string();
        print_json(&json!({ "session": id, "project": project }))?;
    } else {
        print_line!("{} belongs to {project} now.", session.label);
    }
    Ok(ExitCode::SUCCESS)
}

async fn switch(common: &CommonArgs, daybook: &Daybook, name: &str, on: bool) -> Result<ExitCode> {
    let session = find_one(daybook, name).await?;
    set_memory(common, daybook, &session, (name, on)).await
}

/// The session that a person names.
pub(super) async fn find_one(daybook: &Daybook, name: &str) -> Result<Session> {
    let mut found = daybook.store.find_sessions(&daybook.tenant, name).await?;
    match (found.len(), found.pop()) {
        (1, Some(session)) => Ok(session),
        (n, _) => bail!(
            "{} {name}. List sessions with `{}`.",
            match n {
                0 => "No session matches".to_owned(),
                n => format!("{} match", count(n as u64, "session")),
            },
            suggest::command("sessions"),
        ),
    }
}

async fn set_memory(
    common: &CommonArgs,
    daybook: &Daybook,
    session: &Session,
    (name, on): (&str, bool),
) -> Result<ExitCode> {
    let (switches, now) = (daybook.switches(), daybook.clock.now());
    daybook
        .store
        .switch_memory(&session.id, on, &switches, now)
        .await?;
    if common.json {
        print_json(&json!({ "session": session.id.to_string(), "memory": on }))?;
    } else if on {
        match session.pollution {
            Some(_) => print_line!(
                "What was learned from {} shows again, and its other events are learned from.",
                session.id
            ),
            None => print_line!("Events of {} from now on are learned from.", session.id),
        }
    } else {
        print_line!(
            "Nothing more is learned from {}. What was learned before stays; `{}` ends it.",
            session.id,
            suggest::command_of(&["sessions", "--on", name]),
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn last_digests(records: Vec<ExtractionRecord>) -> BTreeMap<SessionId, ExtractionRecord> {
    let mut last = BTreeMap::new();
    for record in records {
        let newer_has_task = record
            .digest
            .as_ref()
            .is_some_and(|digest| digest.task.is_some());
        if newer_has_task || !last.contains_key(&record.session) {
            last.insert(record.session.clone(), record);
        }
    }
    last
}

fn as_json(
    session: &Session,
    job: Option<&Job>,
    state: &str,
    last: Option<&ExtractionRecord>,
) -> Value {
    let digest = last.and_then(|record| record.digest.as_ref());
    json!({
        "id": session.id.to_string(),
        "label": session.label,
        "kind": session.kind,
        "first": rfc3339(session.first_at),
        "last": rfc3339(session.last_at),
        "events": session.events.0,
        "extracted": job.map_or(0, |job| job.done),
        "state": state,
        "pollution": session.pollution,
        "user": session.user,
        "room_id": session.venue.room_id,
        "thread_id": session.venue.thread_id,
        "team": session.venue.team,
        "filed_in": session.venue.filed_in,
        "task": digest.and_then(|digest| digest.task.as_ref()).map(|task| &task.text),
        "branch": digest.and_then(|digest| digest.branch.as_ref()),
    })
}

/// `27 Jan 2026`, padded.
pub(crate) fn day(daybook: &Daybook, at: Timestamp) -> String {
    let known = jiff::Timestamp::from_millisecond(at.0)
        .ok()
        .filter(|_| at != Timestamp::ZERO);
    let text = known.map_or_else(
        || "undated".to_owned(),
        |at| {
            at.to_zoned(daybook.settings.zone.clone())
                .strftime("%-d %b %Y")
                .to_string()
        },
    );
    format!("{text:>11}")
}
