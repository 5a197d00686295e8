//! `daybook mcp`: answer agents over MCP, on standard input and output.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::CommonArgs;
use crate::mcp::{self, ToolSet};

/// Answer agents over MCP, on standard input and output.
#[derive(Args)]
pub(crate) struct McpCommand {
    /// More tools than the default ones; may be repeated
    #[arg(long, value_name = "SET", value_enum)]
    tools: Vec<ToolSet>,
}

impl McpCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        mcp::run(common, &self.tools)
    }
}
