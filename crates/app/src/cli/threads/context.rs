//! `daybook threads context`: what an agent's model is sent.

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use daybook_engine::working::context::Style;

use super::One;
use crate::keeper::catch_up;
use crate::output::json as print_json;
use crate::threads::{self, ContextAsked, Manner};
use crate::wiring::Daybook;

/// What an agent's model is sent, within its window. Always JSON.
#[derive(Args)]
pub(super) struct Context {
    #[command(flatten)]
    of: One,
    /// The model's whole window
    #[arg(long, value_name = "TOKENS")]
    max_tokens: u32,
    /// Of these, kept free for the answer
    #[arg(long, value_name = "TOKENS", default_value_t = 1024)]
    answer_tokens: u32,
    /// Of these, taken by the schemas of tools
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    tools_tokens: u32,
    /// The system prompt, or @ and the file that holds it
    #[arg(long, value_name = "TEXT|@FILE")]
    system: Option<String>,
    /// Put in what memory says about this
    #[arg(long, value_name = "QUESTION")]
    recall: Option<String>,
    /// Whose way of writing messages
    #[arg(long, value_enum, default_value_t = Way::Neutral)]
    wire: Way,
    /// How calls are written: as tool use, or as text in elements
    #[arg(long, value_enum, default_value_t = Calls::Native)]
    style: Calls,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Openai,
    Anthropic,
    Neutral,
}

#[derive(Clone, Copy, ValueEnum)]
enum Calls {
    Native,
    Tagged,
}

impl Context {
    pub(super) async fn run(&self, daybook: &Daybook) -> Result<()> {
        if self.recall.is_some() {
            catch_up(daybook).await?;
        }
        let thread = threads::find(daybook, &self.of.thread).await?;
        let asked = ContextAsked {
            max_tokens: self.max_tokens,
            answer_tokens: self.answer_tokens,
            tools_tokens: self.tools_tokens,
            system: self.system()?,
            recall: self.recall.clone(),
            exclude: Vec::new(),
            manner: match self.wire {
                Way::Openai => Manner::OpenAi,
                Way::Anthropic => Manner::Anthropic,
                Way::Neutral => Manner::Neutral,
            },
            style: match self.style {
                Calls::Native => Style::Native,
                Calls::Tagged => Style::Tagged,
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
