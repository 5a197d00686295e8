//! Prompts: what a person may ask for by name, filled with what memory holds.

use anyhow::{Result, bail};
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value, json};

use super::call::McpCall;
use super::calls;
use super::tools::ToolKind;

const WHERE_WAS_I: &str = "where-was-i";
const WHAT_DO_WE_KNOW: &str = "what-do-we-know";

/// The prompts that are offered.
pub(super) fn all() -> Vec<Prompt> {
    let folder = PromptArgument::new("folder")
        .with_description("where you work; left out, where your host started this server")
        .with_required(false);
    let question = PromptArgument::new("question")
        .with_description("what you want to know")
        .with_required(true);
    vec![
        Prompt::new(
            WHERE_WAS_I,
            Some("Where the work in this folder was left off, and what is open"),
            Some(vec![folder]),
        )
        .with_title("Where was I?"),
        Prompt::new(
            WHAT_DO_WE_KNOW,
            Some("An answer from memory, with its sources"),
            Some(vec![question]),
        )
        .with_title("What do we know?"),
    ]
}

/// A prompt with what memory holds for it.
pub(super) fn fill(
    call: &McpCall<'_>,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<GetPromptResult> {
    let (kind, asks) = match name {
        WHERE_WAS_I => (
            ToolKind::Context,
            "Say in a few sentences where the work was left off and what is open, with the citations, and wait.".to_owned(),
        ),
        WHAT_DO_WE_KNOW => {
            let question = arguments.get("question").unwrap_or(&Value::Null);
            let asks = "Answer from what memory holds, with the citations, and say so where it holds nothing";
            (ToolKind::Recall, format!("{asks}: {}", question.as_str().unwrap_or_default()))
        }
        _ => bail!("there is no prompt {}; there are: {WHERE_WAS_I}, {WHAT_DO_WE_KNOW}", json!(name)),
    };
    let held = calls::answer(call, kind, arguments)?;
    let text = format!("{asks}\n\n{}", held.text);
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(
        Role::User,
        text,
    )]))
}
