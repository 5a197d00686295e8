//! Answers hook calls of hosts: `daybook hook <host>`.
//!
//! A hook must never harm its host. It writes to no database: it puts a hook event into the spool. At the start of a
//! session it answers with the context, read from files; at a prompt with the lines that likely answer it, for which it
//! reads the embedded store for a short time. It waits for no lock and no other thread, and for its payload for at most a
//! second. It always exits with success.
//!
//! Not here: reading transcripts and extraction, which `daybook update` and every long-running process do.

mod context;
#[cfg(test)]
mod fuzz_tests;
mod input;
mod payload;
mod prompt;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use daybook_domain::time::Clock;
use daybook_domain::{Caller, Scope, ScopeKind, Tenant, Venue};
use daybook_engine::files::layout::run_folder;
use daybook_engine::hook_events::project_cache::ProjectCache;
use daybook_engine::hook_events::spool::{EnqueueOutcome, SPOOL_EVENTS, Spool};
use daybook_engine::hook_events::{HookEvent, HookEventKind};
use daybook_engine::recall::host_text::HostText;
use daybook_engine::stage::inside;
use daybook_text::names::redact_id;
use daybook_text::redact::Redactor;
use serde_json::json;
use tracing::debug_span;
use tracing::field::Empty;

use payload::HookPayload;

use crate::clock::SystemClock;
use crate::folders::data_folder;
use crate::folders::hosts::AgentHost;
use crate::service::current_place::CurrentPlace;
use crate::service::host_files::loaded_by_host;
use crate::settings::Settings;
use crate::terminal::messages::print_error;
use crate::terminal::suggest;
use crate::wiring::redaction;

/// Answers one call. Its payload is `argument`, else standard input; `set` overrides settings.
pub(crate) fn answer(
    host: AgentHost,
    argument: Option<String>,
    root: Result<PathBuf>,
    set: &[String],
) {
    let answer = root.and_then(|root| {
        let payload = argument.map_or_else(input::read, Ok)?;
        let settings = Settings::load(&root, set);
        if let Ok(settings) = &settings {
            install_redactor(&root, settings);
        }
        let usual = settings.as_ref().ok().map(|settings| &settings.venue);
        HookCall::parse(host, &payload, usual)?
            .map_or(Ok(None), |call| call.answer(&root, settings))
    });
    match answer {
        // For a program, as it is.
        Ok(Some(text)) => anstream::println!("{text}"),
        Ok(None) => {}
        Err(error) => print_error(&format!("{error:#}")),
    }
}

/// Installs the redactor of the data folder. Where its rules cannot be used, the standard ones apply: a hook stores names
/// alone, and the command that processes its event stops at the same fault.
fn install_redactor(root: &Path, settings: &Settings) {
    if let Err(error) = redaction::install_for_hook(root, settings) {
        print_error(&format!("{error:#}"));
    }
}

/// A parsed hook call.
struct HookCall {
    host: AgentHost,
    event: HookEvent,
    /// The host's name of the event.
    event_name: String,
    output: HookOutput,
}

/// What a hook puts in front of the agent.
enum HookOutput {
    Nothing,
    /// The context for the place where a session starts.
    Context,
    /// The lines that likely answer a prompt.
    PromptLines(String),
}

/// The session of a call, and what its answer is made from.
struct HookSession<'a> {
    host: AgentHost,
    /// The host's id of it.
    id: &'a str,
    /// The folder that its agent works in, if the host sends one.
    folder: Option<&'a Path>,
    /// Where it is held.
    venue: &'a Venue,
    root: &'a Path,
    settings: &'a Settings,
}

impl HookSession<'_> {
    fn folder(&self) -> Result<PathBuf> {
        match self.folder {
            Some(folder) => Ok(folder.to_owned()),
            None => Ok(std::env::current_dir()?),
        }
    }

    /// The place and project of the folder, from a cache file that other processes write.
    fn current_place(&self) -> Result<CurrentPlace> {
        let known = ProjectCache::read(&run_folder(self.root, &self.settings.tenant));
        let standing = known.locate(&self.folder()?);
        let project = standing.project.map(|name| Scope {
            tenant: self.settings.tenant.clone(),
            kind: ScopeKind::Project,
            name,
        });
        Ok(CurrentPlace {
            place: standing.place,
            project,
        })
    }

    /// The scopes that apply to the session, whose place is known.
    fn scopes(&self, at: &CurrentPlace) -> Vec<Scope> {
        let team = self.venue.team.as_ref();
        let caller = Caller {
            agent: Some(self.host.agent().to_owned()),
            room: self.venue.room_id.clone(),
            team: team.map(|team| self.settings.teams.id_of(team)),
            project: at.project.as_ref().map(|scope| scope.name.clone()),
            ..Caller::default()
        };
        caller.scopes(self.settings.scope_policy())
    }

    /// The files that its host loads by itself.
    fn loaded_by_host(&self, at: &CurrentPlace) -> Result<HostText> {
        let top = Path::new(&at.place.root);
        Ok(loaded_by_host(&self.folder()?, top, Some(self.host)))
    }
}

impl HookCall {
    /// Parses a payload; `None` for events that do not matter to memory. A session is held where the payload says, else
    /// where settings say.
    fn parse(host: AgentHost, payload: &str, usual: Option<&Venue>) -> Result<Option<Self>> {
        let payload = HookPayload::parse(payload)?;
        let Some(kind) = payload.event_kind() else {
            return Ok(None);
        };
        let output = match (kind, payload.prompt()) {
            // A resumed session still has its context.
            (HookEventKind::Start, _) if payload.source.as_deref() != Some("resume") => {
                HookOutput::Context
            }
            (HookEventKind::Prompt, Some(prompt)) if shows_prompt_lines(host) => {
                HookOutput::PromptLines(prompt.to_owned())
            }
            (
                HookEventKind::Start
                | HookEventKind::Prompt
                | HookEventKind::Stop
                | HookEventKind::Compact
                | HookEventKind::End,
                _,
            ) => HookOutput::Nothing,
        };
        let venue = match payload.venue()? {
            named if named.is_empty() => usual.cloned().unwrap_or_default(),
            named => named,
        };
        let event = HookEvent {
            agent: host.agent().to_owned(),
            session: redact_id(&Redactor::current(), &payload.session).into_owned(),
            kind,
            transcript: payload.transcript.clone(),
            folder: payload.folder.clone(),
            venue,
            at: SystemClock.now(),
        };
        Ok(Some(Self {
            host,
            event,
            event_name: payload.event,
            output,
        }))
    }

    /// Records the event, and returns the text for standard output.
    fn answer(&self, root: &Path, settings: Result<Settings>) -> Result<Option<String>> {
        let (agent, session) = (self.host.agent(), &self.event.session);
        let session = format_args!("{agent}:{session}");
        let span = debug_span!("hook", %session, outcome = Empty);
        inside(
            span,
            || self.record_and_answer(root, settings),
            |span, text| {
                let outcome = if text.is_some() { "told" } else { "kept" };
                span.record("outcome", outcome);
            },
        )
    }

    fn record_and_answer(&self, root: &Path, settings: Result<Settings>) -> Result<Option<String>> {
        let recorded = tenant_of(root, &settings).and_then(|tenant| self.record(root, &tenant));
        let is_given =
            |settings: &Settings| settings.inject && settings.has_memory_for(self.host.agent());
        let text = match (&self.output, settings) {
            (_, Ok(settings)) if !is_given(&settings) => Ok(None),
            (HookOutput::Nothing, _) | (HookOutput::PromptLines(_), Err(_)) => Ok(None),
            (HookOutput::Context, Err(error)) => Err(error),
            (HookOutput::Context, Ok(settings)) => {
                context::context_text(&self.session(root, &settings))
            }
            (HookOutput::PromptLines(prompt), Ok(settings)) => {
                Ok(prompt::prompt_text(&self.session(root, &settings), prompt))
            }
        };
        // An answer for the agent matters more than the report of a full spool.
        match (text?, recorded) {
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Ok(None),
            (Some(text), _) => Ok(Some(self.host_json(&text))),
        }
    }

    fn session<'a>(&'a self, root: &'a Path, settings: &'a Settings) -> HookSession<'a> {
        HookSession {
            host: self.host,
            id: &self.event.session,
            folder: self.event.folder.as_deref().map(Path::new),
            venue: &self.event.venue,
            root,
            settings,
        }
    }

    /// The answer in the JSON that the host reads, for the events that have one.
    fn host_json(&self, text: &str) -> String {
        let answer = match self.host {
            AgentHost::Cursor => json!({ "additional_context": text }),
            AgentHost::CopilotCli => json!({ "additionalContext": text }),
            AgentHost::ClaudeCode
            | AgentHost::Codex
            | AgentHost::GeminiCli
            | AgentHost::QwenCode
            | AgentHost::VsCode
            | AgentHost::OpenCode
            | AgentHost::Goose
            | AgentHost::Zed
            | AgentHost::Windsurf => json!({
                "hookSpecificOutput": {
                    "hookEventName": self.event_name,
                    "additionalContext": text,
                }
            }),
        };
        answer.to_string()
    }

    /// Puts the event into the spool.
    fn record(&self, root: &Path, tenant: &Tenant) -> Result<()> {
        data_folder::create(root)?;
        let folder = run_folder(root, tenant);
        std::fs::create_dir_all(&folder)?;
        match Spool::of(&folder).enqueue(&self.event, std::process::id())? {
            EnqueueOutcome::Queued => Ok(()),
            EnqueueOutcome::Full => bail!(
                "{SPOOL_EVENTS} hook events are queued already; `{}` processes them, and `{}` finds out what \
                 is wrong",
                suggest::command("update"),
                suggest::command("doctor"),
            ),
        }
    }
}

/// Whether the host puts what a hook answers to a prompt before the agent. Cursor and Copilot CLI take no such answer, so
/// reading memory for one would only cost time.
fn shows_prompt_lines(host: AgentHost) -> bool {
    !matches!(host, AgentHost::Cursor | AgentHost::CopilotCli)
}

/// The tenant of the event. If settings cannot be read, the event is kept where there is one tenant alone; where there
/// are several, its tenant is unknown, and it is refused.
fn tenant_of(root: &Path, settings: &Result<Settings>) -> Result<Tenant> {
    match settings {
        Ok(settings) => Ok(settings.tenant.clone()),
        Err(_) if !root.join("tenants").exists() && !root.join("tokens").exists() => {
            Ok(Tenant::local())
        }
        Err(error) => bail!("{error:#}"),
    }
}
