//! What hosts call in the middle of their agent's work: `daybook hook <host>`.
//!
//! A hook must never harm its host. It opens no database: it leaves a notice in the spool and, when
//! a session begins, answers with what is remembered, read from files. It waits for nobody: for no
//! lock, for no other thread, and for its payload only so long. It always ends with success.
//!
//! Not here: reading transcripts, learning (`daybook update` and every other process do that).

#[cfg(test)]
mod fuzz_tests;
mod input;
mod loaded;
mod payload;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use daybook_domain::time::Clock;
use daybook_domain::{Scope, ScopeKind, Tenant};
use daybook_engine::files::layout::run_folder;
use daybook_engine::notices::spool::{NOTICES, Put, Spool};
use daybook_engine::notices::whereabouts::Whereabouts;
use daybook_engine::notices::{Moment, Notice};
use daybook_engine::recall::context::assemble;
use daybook_engine::stage::inside;
use serde_json::json;
use tracing::debug_span;
use tracing::field::Empty;

pub(crate) use loaded::loaded;
use payload::Payload;

use crate::briefing;
use crate::clock::SystemClock;
use crate::logging::complain;
use crate::settings::Settings;
use crate::suggest;

/// A program whose agent calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Host {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
}

impl Host {
    /// The agent's name in session ids.
    fn agent(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

/// Answers one call. Its payload is `argument`, else standard input; `set` are settings over all others.
pub(crate) fn answer(host: Host, argument: Option<String>, root: Result<PathBuf>, set: &[String]) {
    let answer = root.and_then(|root| {
        let payload = argument.map_or_else(input::read, Ok)?;
        Call::read(host, &payload)?.map_or(Ok(None), |call| call.answer(&root, set))
    });
    match answer {
        Ok(Some(text)) => anstream::println!("{text}"),
        Ok(None) => {}
        Err(error) => complain(&format!("{error:#}")),
    }
}

/// One call, understood.
struct Call {
    host: Host,
    notice: Notice,
    /// Memory is wanted in front of the agent.
    tell: bool,
}

impl Call {
    /// `None` for moments that mean nothing to memory.
    fn read(host: Host, payload: &str) -> Result<Option<Self>> {
        let payload = Payload::parse(payload)?;
        let Some(moment) = payload.moment() else {
            return Ok(None);
        };
        // A session that is resumed still has what it was told.
        let tell = moment == Moment::Start && payload.source.as_deref() != Some("resume");
        let notice = Notice {
            agent: host.agent().to_owned(),
            session: payload.session,
            moment,
            transcript: payload.transcript,
            folder: payload.folder,
            at: SystemClock.now(),
        };
        Ok(Some(Self { host, notice, tell }))
    }

    /// What the host is to read on standard output.
    fn answer(&self, root: &Path, set: &[String]) -> Result<Option<String>> {
        let (agent, session) = (self.host.agent(), &self.notice.session);
        let session = format_args!("{agent}:{session}");
        let span = debug_span!("hook", %session, outcome = Empty);
        inside(
            span,
            || self.keep_and_tell(root, set),
            |span, told| {
                let outcome = if told.is_some() { "told" } else { "kept" };
                span.record("outcome", outcome);
            },
        )
    }

    fn keep_and_tell(&self, root: &Path, set: &[String]) -> Result<Option<String>> {
        let kept = self.keep(root, set);
        let told = if self.tell {
            self.told(root, set)
        } else {
            Ok(None)
        };
        // Memory in front of the agent matters more than a spool that is full.
        match (told?, kept) {
            (None, Err(error)) => Err(error),
            (told, _) => Ok(told),
        }
    }

    fn keep(&self, root: &Path, set: &[String]) -> Result<()> {
        crate::root::create(root)?;
        let folder = run_folder(root, &tenant_of(root, set)?);
        std::fs::create_dir_all(&folder)?;
        match Spool::of(&folder).put(&self.notice, std::process::id())? {
            Put::Kept => Ok(()),
            Put::Full => bail!(
                "{NOTICES} notices of hooks wait already; `{}` takes them in, and `{}` says what is \
                 wrong",
                suggest::command("update"),
                suggest::command("doctor"),
            ),
        }
    }

    fn told(&self, root: &Path, set: &[String]) -> Result<Option<String>> {
        let settings = Settings::load(root, set)?;
        let folder = match &self.notice.folder {
            Some(folder) => PathBuf::from(folder),
            None => std::env::current_dir()?,
        };
        let tenant = settings.tenant.clone();
        let standing = Whereabouts::read(&run_folder(root, &tenant)).standing(&folder);
        let project = standing.project.map(|name| Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name,
        });
        let briefing = briefing::read(root, &tenant, &settings.person, project.as_ref());
        for refused in &briefing.refused {
            complain(&refused.to_string());
        }
        let loaded = loaded(&folder, Path::new(&standing.place.root), Some(self.host));
        let branch = standing.place.branch.as_deref();
        let told = assemble(
            &briefing.applies,
            branch,
            &loaded,
            &suggest::program(),
            settings.context_tokens,
        );
        if told.text.is_empty() {
            return Ok(None);
        }
        Ok(Some(
            json!({
                "hookSpecificOutput": {
                    "hookEventName": "SessionStart",
                    "additionalContext": told.text,
                }
            })
            .to_string(),
        ))
    }
}

/// Whose notice it is. Settings that cannot be read lose no notice where there is one tenant alone; where
/// there are several, its tenant is unknown, and it is refused.
fn tenant_of(root: &Path, set: &[String]) -> Result<Tenant> {
    match Settings::load(root, set) {
        Ok(settings) => Ok(settings.tenant),
        Err(_) if !root.join("tenants").exists() && !root.join("tokens").exists() => {
            Ok(Tenant::local())
        }
        Err(error) => Err(error),
    }
}
