//! `daybook remember`: keep something in your own words.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs;
use daybook_engine::stop::Stop;
use serde_json::json;

use super::Common;
use crate::here::here;
use crate::output::{json as print_json, warn};
use crate::progress::Learning;
use crate::wiring::{Daybook, block_on};

/// Keep something in your own words.
#[derive(Args)]
pub(crate) struct Remember {
    /// What to remember; read from standard input when left out
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// It holds everywhere, not only in this folder's project
    #[arg(long)]
    everywhere: bool,
    /// Whose memory, such as project/tidepool or team/ops
    #[arg(long, value_name = "SCOPE", conflicts_with = "everywhere")]
    scope: Option<String>,
}

impl Remember {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let words = self.read()?;
        let daybook = Daybook::open_or_create(common)?;
        let folder = std::env::current_dir().context("this folder cannot be read")?;
        block_on(async {
            let here = here(&daybook, &folder).await?;
            let scope = match (&self.scope, self.everywhere, &here.project) {
                (Some(name), _, _) => named(&daybook, name)?,
                (None, false, Some(project)) => project.clone(),
                (None, _, _) => Scope {
                    tenant: daybook.tenant.clone(),
                    kind: ScopeKind::User,
                    name: daybook.settings.person.clone(),
                },
            };
            let (shop, _present) = daybook.worker().await?;
            let place = here.project.is_some().then_some(here.place);
            let redactor = Redactor::standard();
            let (kept, secrets) = jobs::remember(&shop, &redactor, &words, scope, place).await?;
            // Written into the files at once where nothing else holds them; else by the next update.
            jobs::work(&shop, &Stop::default(), &Learning::quiet()).await?;
            if common.json {
                print_json(&json!({
                    "id": kept.id.to_string(),
                    "scope": kept.scope.to_string(),
                    "text": kept.text,
                    "secrets_hidden": secrets,
                }))?;
            } else {
                anstream::println!("Remembered in {}.", kept.scope);
                if secrets > 0 {
                    anstream::println!("{}", warn("A secret in it was hidden before it was kept."));
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn read(&self) -> Result<String> {
        if !self.words.is_empty() {
            return Ok(self.words.join(" "));
        }
        let mut stdin = std::io::stdin();
        if stdin.is_terminal() {
            bail!("say what to remember: daybook remember \"…\"");
        }
        let mut words = String::new();
        stdin
            .read_to_string(&mut words)
            .context("standard input cannot be read")?;
        Ok(words)
    }
}

fn named(daybook: &Daybook, name: &str) -> Result<Scope> {
    let (kind, name) = name
        .split_once('/')
        .and_then(|(kind, name)| Some((ScopeKind::from_word(kind)?, name)))
        .filter(|(_, name)| !name.is_empty())
        .with_context(|| {
            format!("\"{name}\" is not a scope; write for example project/tidepool or user/ada")
        })?;
    Ok(Scope {
        tenant: daybook.tenant.clone(),
        kind,
        name: name.to_owned(),
    })
}
