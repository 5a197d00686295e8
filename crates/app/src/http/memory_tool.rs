//! The route that carries out commands of Anthropic's memory tool.
//!
//! Not here: what a command does. A command that fails is an answer to the model, and no error of the request.

use anyhow::Result;
use axum::Json;
use daybook_engine::files::memory_tool::{Flavour, MemoryToolCommand, ToolAnswer};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody, QueryParams};
use crate::service::caller::named_caller;
use crate::service::memory_tool::run_command;
use crate::service::scope_choice::ScopeChoice;

described_routes!(run);

/// Whose memory folder the tool works on, and in whose words it answers.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ToolParams {
    /// Whose memory folder; the person's when left out.
    #[param(max_length = 512, example = "project/tidepool")]
    scope: Option<String>,
    /// Whose words the results have.
    #[serde(default)]
    #[param(inline)]
    flavour: FlavourName,
    /// The agent that asks: it works on its own memory, and that of its teams.
    #[param(max_length = 512, example = "harbour-bot")]
    agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The room that it is in.
    #[param(max_length = 512, example = "!pier:example.org")]
    room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(max_length = 512, example = "alpha+beta")]
    team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[param(max_length = 512, example = "tidepool")]
    project: Option<String>,
}

/// Whose words the results have.
#[derive(Deserialize, ToSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum FlavourName {
    /// Those of Anthropic's documentation.
    #[default]
    Documented,
    /// Those of the local tool in Anthropic's Python package.
    PythonSdk,
}

impl From<FlavourName> for Flavour {
    fn from(name: FlavourName) -> Self {
        match name {
            FlavourName::Documented => Self::Documented,
            FlavourName::PythonSdk => Self::PythonSdk,
        }
    }
}

/// The input of the tool, as the model wrote it.
#[derive(ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes a body that the engine reads")]
enum ToolInput {
    /// Show a file with line numbers, or what is in a folder.
    View {
        /// The file or folder, below `/memories`.
        path: String,
        /// The first and the last line, counted from 1; -1 is the end.
        view_range: Option<Vec<i64>>,
    },
    /// Create a file.
    Create {
        /// The file, below `/memories`.
        path: String,
        /// Its text.
        file_text: String,
    },
    /// Replace a text that occurs once.
    StrReplace {
        /// The file, below `/memories`.
        path: String,
        /// The text.
        old_str: String,
        /// What it becomes; nothing when left out.
        new_str: Option<String>,
    },
    /// Insert lines.
    Insert {
        /// The file, below `/memories`.
        path: String,
        /// The line behind which they come; 0 is the beginning.
        insert_line: i64,
        /// The lines.
        insert_text: String,
    },
    /// Delete a file, or a folder with all that is in it.
    Delete {
        /// The file or folder, below `/memories`.
        path: String,
    },
    /// Rename or move a file or a folder.
    Rename {
        /// Its present path.
        old_path: String,
        /// Its new path.
        new_path: String,
    },
}

/// The content of the tool's result.
#[derive(Serialize, ToSchema)]
struct ToolResult {
    /// The text for the model.
    #[schema(example = "File created successfully at: /memories/tides.md")]
    content: String,
    /// Whether the command failed and changed nothing.
    is_error: bool,
}

impl From<ToolAnswer> for ToolResult {
    fn from(answer: ToolAnswer) -> Self {
        Self {
            content: answer.content,
            is_error: answer.is_error,
        }
    }
}

/// Carry out a command of Anthropic's memory tool
///
/// Takes the `input` of a `tool_use` of `memory_20250818`, and answers the `content` and `is_error` of its `tool_result`.
/// `/memories` is the memory folder. Each change is a commit of the person's through an agent, which `daybook undo` takes
/// back.
#[utoipa::path(
    post,
    path = "/v1/memory-tool",
    operation_id = "runMemoryTool",
    params(ToolParams),
    request_body = ToolInput,
    responses(
        (status = OK, description = "The result for the model, also of a command that failed", body = ToolResult),
        (status = "default", description = "The command was not carried out", body = ErrorBody),
    ),
)]
async fn run(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<ToolParams>,
    JsonBody(command): JsonBody<MemoryToolCommand>,
) -> Result<Json<ToolResult>, HttpFault> {
    let choice = ScopeChoice {
        scope: asked.scope.clone(),
        project: None,
        caller: Some(named_caller!(asked)),
    };
    let answer = executor
        .run(move |daybook| async move {
            let scope = choice.for_writing(&daybook).await?;
            run_command(&daybook, &scope, &command, asked.flavour.into()).await
        })
        .await?;
    Ok(Json(answer.into()))
}
