//! `daybook remember`: keeps a note in a person's own words.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_domain::Origin;
use daybook_engine::stop::Stop;

use super::CommonArgs;
use super::scope_args::CallerArgs;
use crate::process::block_on;
use crate::service::notes::{NoteAuthor, NoteScope, note_json, save_note};
use crate::terminal::output::{json as print_json, print_line, warn};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Keep something in your own words.
#[derive(Args)]
pub(crate) struct RememberCommand {
    /// What to remember; read from standard input when left out
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// It holds everywhere, not only in this folder's project
    #[arg(long)]
    everywhere: bool,
    /// Whose memory, such as project/tidepool or team/ops
    #[arg(long, value_name = "SCOPE", conflicts_with = "everywhere")]
    scope: Option<String>,
    #[command(flatten)]
    caller: CallerArgs,
}

impl RememberCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let text = self.text()?;
        let daybook = Daybook::open_or_create(common)?;
        let folder = std::env::current_dir().context("this folder cannot be read")?;
        let scope = match (&self.scope, self.everywhere) {
            (Some(name), _) => NoteScope::Named(name.clone()),
            (None, true) => NoteScope::Person,
            (None, false) => NoteScope::Current,
        };
        let origin = Origin::Human;
        let caller = self.caller.named();
        let by = NoteAuthor {
            origin,
            caller: caller.as_ref(),
        };
        let stop = Stop::default();
        let note = block_on(save_note(&daybook, &text, &scope, Some(&folder), by, &stop))?;
        if common.json {
            print_json(&note_json(&note))?;
        } else {
            print_line!("Remembered in {}.", note.scope);
            if note.secrets > 0 {
                print_line!("{}", warn("A secret in it was hidden before it was kept."));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn text(&self) -> Result<String> {
        if !self.text.is_empty() {
            return Ok(self.text.join(" "));
        }
        let mut stdin = std::io::stdin();
        if stdin.is_terminal() {
            bail!(
                "no text was given; write what to remember: {} \"…\"",
                suggest::command("remember")
            );
        }
        let mut text = String::new();
        stdin
            .read_to_string(&mut text)
            .context("standard input cannot be read")?;
        Ok(text)
    }
}
