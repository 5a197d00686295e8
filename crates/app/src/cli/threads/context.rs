//! `daybook threads context`: prints the messages for an agent's model.

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use daybook_working::context::ContextStyle;

use super::ThreadName;
use crate::background::catch_up;
use crate::terminal::output::json as print_json;
use crate::threads::{self, MessageFormat, ThreadContextQuery};
use crate::wiring::Daybook;

/// Print the messages for an agent's model, within its window. Always JSON.
#[derive(Args)]
pub(super) struct ThreadContextCommand {
    #[command(flatten)]
    of: ThreadName,
    /// The model's whole window
    #[arg(long, value_name = "TOKENS")]
    max_tokens: u32,
    /// Tokens of the window that are kept free for the answer
    #[arg(long, value_name = "TOKENS", default_value_t = 1024)]
    answer_tokens: u32,
    /// Tokens of the window that the schemas of tools take
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    tools_tokens: u32,
    /// The system prompt, or @ and the file that holds it
    #[arg(long, value_name = "TEXT|@FILE")]
    system: Option<String>,
    /// Include what memory holds about this question
    #[arg(long, value_name = "QUESTION")]
    recall: Option<String>,
    /// The format of the messages
    #[arg(long, value_enum, default_value_t = WireArg::Neutral)]
    wire: WireArg,
    /// How calls are written: as tool use, or as text in elements
    #[arg(long, value_enum, default_value_t = StyleArg::Native)]
    style: StyleArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum WireArg {
    Openai,
    Anthropic,
    Neutral,
}

#[derive(Clone, Copy, ValueEnum)]
enum StyleArg {
    Native,
    Tagged,
}

impl ThreadContextCommand {
    pub(super) async fn run(&self, daybook: &Daybook) -> Result<()> {
        if self.recall.is_some() {
            catch_up(daybook).await?;
        }
        let thread = threads::find(daybook, &self.of.thread).await?;
        let asked = ThreadContextQuery {
            max_tokens: self.max_tokens,
            answer_tokens: self.answer_tokens,
            tools_tokens: self.tools_tokens,
            system: self.system()?,
            recall: self.recall.clone(),
            exclude: Vec::new(),
            format: match self.wire {
                WireArg::Openai => MessageFormat::OpenAi,
                WireArg::Anthropic => MessageFormat::Anthropic,
                WireArg::Neutral => MessageFormat::Neutral,
            },
            style: match self.style {
                StyleArg::Native => ContextStyle::Native,
                StyleArg::Tagged => ContextStyle::Tagged,
            },
        };
        print_json(&threads::context(daybook, &thread, &asked).await?)
    }

    fn system(&self) -> Result<Option<String>> {
        match self
            .system
            .as_deref()
            .map(|text| (text, text.strip_prefix('@')))
        {
            Some((_, Some(file))) => {
                let text = std::fs::read_to_string(file);
                Ok(Some(text.with_context(|| format!("cannot read {file}"))?))
            }
            Some((text, None)) => Ok(Some(text.to_owned())),
            None => Ok(None),
        }
    }
}
