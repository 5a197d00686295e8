//! The MCP server: memory as tools of an agent, on standard input and output, or over HTTP (`served`).
//!
//! On the standard streams it starts and answers without opening the data folder, creates nothing until something is to be
//! kept, and ends with its client: at the end of standard input. A signal may end it at any
//! instant, as it may end every command.
//!
//! `framing` and the modules that it uses check each line before the protocol's library parses it. Not here: the requests
//! of the protocol (`server`), the work of tools (`calls`), and the form of their answers (`answer`).

mod answer;
mod arguments;
mod call;
mod calls;
mod described;
mod entities;
mod envelope;
mod framing;
mod graph;
mod graph_tools;
mod history;
mod id_scanner;
mod in_flight;
mod lines;
mod mem0;
mod mem0_tools;
mod memory;
mod memory_tool;
mod notes_tools;
mod prompts;
mod resources;
mod served;
mod server;
mod tools;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use daybook_engine::recall::search::prepare;
use daybook_engine::stop::Stop;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio::sync::Semaphore;

use self::framing::LineTransport;
use self::memory::LazyMemory;
pub(crate) use self::served::{McpEndpoint, SERVED_CALLS, is_stream};
use self::server::MemoryServer;
pub(crate) use self::tools::ToolSet;
use crate::background;
use crate::folders::data_folder;
use crate::terminal::common_args::CommonArgs;

/// Longest message of a client, in bytes. Longer ones are answered with an error, and not kept in memory.
const MESSAGE: usize = 4 * 1024 * 1024;
/// Calls that are worked on at once; others wait. Memory use grows with it.
const CALLS: usize = 4;
/// Threads for calls and for the two streams.
const THREADS: usize = CALLS + 2;

/// Answers the client on standard input and output until it ends.
pub(crate) fn run(common: &CommonArgs, sets: &[ToolSet]) -> Result<ExitCode> {
    let root = data_folder::locate(common.root.as_deref())?;
    // It ends with the process, between two steps or during one: no write can be left incomplete.
    background::start(root.clone(), common.set.clone(), false, Stop::default());
    let memory = Arc::new(LazyMemory::new(root, common.set.clone()));
    let server = MemoryServer::new(memory, sets, Arc::new(Semaphore::new(CALLS)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .context("cannot start")?;
    let served = runtime.block_on(serve(server));
    // A call that still runs does not keep the process from ending: none of its writes can be left incomplete.
    runtime.shutdown_background();
    served
}

async fn serve(server: MemoryServer) -> Result<ExitCode> {
    let (input, output) = stdio_pipes();
    match server.serve(LineTransport::new(input, output)).await {
        Ok(running) => {
            // The first question comes a little later, and is answered sooner then.
            std::thread::spawn(prepare);
            running.waiting().await.context("the server ended early")?;
            Ok(ExitCode::SUCCESS)
        }
        // The client closed the connection without a request, as a person at a terminal does.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(ExitCode::SUCCESS),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            bail!("the client must begin with `initialize`; this command is for MCP clients")
        }
        Err(error) => Err(error.into()),
    }
}
