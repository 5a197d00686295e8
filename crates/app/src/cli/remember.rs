//! `daybook remember`: keep something in your own words.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_domain::Origin;
use daybook_engine::stop::Stop;

use super::Common;
use crate::desk::{Whose, keep, kept_json};
use crate::output::{json as print_json, warn};
use crate::suggest;
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
        let whose = match (&self.scope, self.everywhere) {
            (Some(name), _) => Whose::Named(name.clone()),
            (None, true) => Whose::Person,
            (None, false) => Whose::Here,
        };
        let (by, stop) = (Origin::Human, Stop::default());
        let kept = block_on(keep(&daybook, &words, &whose, &folder, by, &stop))?;
        if common.json {
            print_json(&kept_json(&kept))?;
        } else {
            anstream::println!("Remembered in {}.", kept.observation.scope);
            if kept.secrets > 0 {
                anstream::println!("{}", warn("A secret in it was hidden before it was kept."));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn read(&self) -> Result<String> {
        if !self.words.is_empty() {
            return Ok(self.words.join(" "));
        }
        let mut stdin = std::io::stdin();
        if stdin.is_terminal() {
            bail!(
                "say what to remember: {} \"…\"",
                suggest::command("remember")
            );
        }
        let mut words = String::new();
        stdin
            .read_to_string(&mut words)
            .context("standard input cannot be read")?;
        Ok(words)
    }
}
