//! `daybook threads`: the working memory of agents, for programs in any language.

mod context;
mod dispatch;
mod render;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use daybook_domain::working::{ChunkId, StateId};
use serde_json::json;

use super::CommonArgs;
use crate::process::block_on;
use crate::service::append_api::ReportedVenue;
use crate::terminal::common_args::at_least_one;
use crate::terminal::output::{json as print_json, print_line};
use crate::terminal::suggest;
use crate::threads::{self, LISTED, ThreadRequest};
use crate::wiring::Daybook;

/// The working memory of agents: events in, chunks that stay small, contexts out.
#[derive(Args)]
pub(crate) struct ThreadsCommand {
    #[command(subcommand)]
    what: ThreadsSubcommand,
}

#[derive(Subcommand)]
enum ThreadsSubcommand {
    /// Create a thread; with the name of an imported session, it continues that session
    Create(CreateThreadCommand),
    /// Store events, one JSON object on each line, and print the result of each
    Dispatch(dispatch::DispatchCommand),
    /// Compact a thread, now
    Compact(CompactThreadCommand),
    /// Show what a thread holds
    State(ThreadStateCommand),
    /// Print the messages for an agent's model, within its window
    Context(context::ThreadContextCommand),
    /// Pause a thread: events are stored, and wait
    Pause(ThreadName),
    /// Resume a paused thread
    Resume(ThreadName),
    /// End the session: ephemeral chunks are removed, and its events are due for extraction
    End(ThreadName),
    /// List the threads, newest activity first
    List(ListThreadsCommand),
    /// Delete a thread; its session stays
    Delete(ThreadName),
}

/// A thread.
#[derive(Args)]
struct ThreadName {
    /// The thread's label, the beginning of its id, or agent:id
    thread: String,
}

/// Create a thread.
#[derive(Args)]
struct CreateThreadCommand {
    /// Its name; a session's label or id continues that session [default: generated]
    name: Option<String>,
    /// The agent that it belongs to [default: agent]
    #[arg(long, conflicts_with = "from")]
    agent: Option<String>,
    /// Whose messages it holds [default: the person of the data folder]
    #[arg(long, value_name = "USER", conflicts_with = "from")]
    user: Option<String>,
    /// The room that it is held in: what is learned is the room's
    #[arg(long, value_name = "ROOM", conflicts_with = "from")]
    room: Option<String>,
    /// The thread of the room
    #[arg(long, value_name = "ID", requires = "room")]
    thread_id: Option<String>,
    /// The team that holds it, by its name or its members: what is learned is the team's
    #[arg(long, value_name = "TEAM", conflicts_with = "from")]
    team: Option<String>,
    /// Whose memory all that is learned becomes, such as agent/harbour-bot [default: the rules choose]
    #[arg(long, value_name = "SCOPE", conflicts_with = "from")]
    scope: Option<String>,
    /// Fork this thread; the fork has its agent, user, room and team
    #[arg(long, value_name = "THREAD", conflicts_with = "name")]
    from: Option<String>,
    /// The state to fork [default: the current one]
    #[arg(long, value_name = "STATE", requires = "from")]
    state: Option<String>,
}

/// Compact a thread.
#[derive(Args)]
struct CompactThreadCommand {
    #[command(flatten)]
    of: ThreadName,
    /// Only this chunk; may be repeated [default: all that can be]
    #[arg(long, value_name = "CHUNK")]
    chunk: Vec<String>,
}

/// Show what a thread holds.
#[derive(Args)]
struct ThreadStateCommand {
    #[command(flatten)]
    of: ThreadName,
    /// An earlier state
    #[arg(long, value_name = "STATE", conflicts_with = "history")]
    state: Option<String>,
    /// All states up to the current one, each with the event that produced it
    #[arg(long)]
    history: bool,
}

/// List the threads.
#[derive(Args)]
struct ListThreadsCommand {
    /// Most threads
    #[arg(short = 'n', long, default_value_t = 50, value_parser = at_least_one)]
    limit: usize,
}

impl ThreadsCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = match self.what {
            ThreadsSubcommand::Create(_) => Daybook::open_or_create(common)?,
            ThreadsSubcommand::Dispatch(_)
            | ThreadsSubcommand::Compact(_)
            | ThreadsSubcommand::State(_)
            | ThreadsSubcommand::Context(_)
            | ThreadsSubcommand::Pause(_)
            | ThreadsSubcommand::Resume(_)
            | ThreadsSubcommand::End(_)
            | ThreadsSubcommand::List(_)
            | ThreadsSubcommand::Delete(_) => Daybook::open_existing(common)?,
        };
        let daybook = &daybook;
        block_on(async {
            match &self.what {
                ThreadsSubcommand::Create(command) => create(common, daybook, command).await,
                ThreadsSubcommand::Dispatch(command) => return command.run(daybook).await,
                ThreadsSubcommand::Compact(command) => compact(common, daybook, command).await,
                ThreadsSubcommand::State(command) => state(common, daybook, command).await,
                ThreadsSubcommand::Context(command) => command.run(daybook).await,
                ThreadsSubcommand::Pause(one) => pause(common, daybook, one).await,
                ThreadsSubcommand::Resume(one) => resume(common, daybook, one).await,
                ThreadsSubcommand::End(one) => end(common, daybook, one).await,
                ThreadsSubcommand::List(command) => list(common, daybook, command).await,
                ThreadsSubcommand::Delete(one) => delete(common, daybook, one).await,
            }?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

async fn create(
    common: &CommonArgs,
    daybook: &Daybook,
    command: &CreateThreadCommand,
) -> Result<()> {
    let state = command.state.as_deref().map(StateId::from);
    let request = ThreadRequest {
        name: command.name.clone(),
        agent: command.agent.clone(),
        user: command.user.clone(),
        held: ReportedVenue {
            room_id: command.room.clone(),
            thread_id: command.thread_id.clone(),
            team: command.team.clone(),
            scope: command.scope.clone(),
        },
        from: command.from.clone().map(|from| (from, state)),
    };
    let created = threads::create(daybook, &request).await?;
    if common.json {
        return print_json(&created);
    }
    print_line!("{}  {}", created.thread, created.state);
    Ok(())
}

async fn compact(
    common: &CommonArgs,
    daybook: &Daybook,
    command: &CompactThreadCommand,
) -> Result<()> {
    let thread = threads::find(daybook, &command.of.thread).await?;
    let manager = daybook.thread_manager()?;
    let chunks: Vec<ChunkId> = command.chunk.iter().map(|id| id.as_str().into()).collect();
    let compacted = threads::compact(&manager, &thread, &chunks, Duration::MAX).await?;
    threads::settle(&manager, &thread).await?;
    match (common.json, compacted) {
        (true, compacted) => print_json(&compacted)?,
        (false, Some(compacted)) => render::compaction(&compacted),
        (false, None) => {}
    }
    Ok(())
}

async fn state(common: &CommonArgs, daybook: &Daybook, command: &ThreadStateCommand) -> Result<()> {
    let thread = threads::find(daybook, &command.of.thread).await?;
    if command.history {
        let history = threads::history(daybook, &thread).await?;
        match common.json {
            true => print_json(&json!({ "states": history }))?,
            false => render::history(daybook, &history),
        }
        return Ok(());
    }
    let id = command.state.as_deref().map(StateId::from);
    let state = threads::state(daybook, &thread, id.as_ref()).await?;
    match common.json {
        true => print_json(&state)?,
        false => render::state(&state),
    }
    Ok(())
}

async fn pause(common: &CommonArgs, daybook: &Daybook, one: &ThreadName) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    threads::pause(daybook, &thread).await?;
    if common.json {
        return print_json(&json!({ "thread": thread.to_string(), "paused": true }));
    }
    print_line!(
        "{thread} is paused: events are stored, and wait. `{}` resumes it.",
        suggest::command_of(&["threads", "resume", &one.thread]),
    );
    Ok(())
}

async fn resume(common: &CommonArgs, daybook: &Daybook, one: &ThreadName) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    let was_paused = threads::resume(daybook, &thread).await?;
    threads::settle(&daybook.thread_manager()?, &thread).await?;
    if common.json {
        let id = thread.to_string();
        return print_json(&json!({ "thread": id, "paused": false, "was_paused": was_paused }));
    }
    match was_paused {
        true => print_line!("{thread} is resumed; waiting events are applied."),
        false => print_line!("{thread} was not paused."),
    }
    Ok(())
}

async fn end(common: &CommonArgs, daybook: &Daybook, one: &ThreadName) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    let ended = threads::end(daybook, &thread).await?;
    if common.json {
        return print_json(&ended);
    }
    let update = suggest::command("update");
    print_line!("{thread} has ended; `{update}` learns from it.");
    Ok(())
}

async fn list(common: &CommonArgs, daybook: &Daybook, command: &ListThreadsCommand) -> Result<()> {
    let threads = threads::list(daybook, command.limit.min(LISTED)).await?;
    match common.json {
        true => print_json(&json!({ "threads": threads }))?,
        false => render::list(&threads),
    }
    Ok(())
}

async fn delete(common: &CommonArgs, daybook: &Daybook, one: &ThreadName) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    threads::delete(daybook, &thread).await?;
    if common.json {
        return print_json(&json!({ "thread": thread.to_string(), "deleted": true }));
    }
    print_line!("{thread} is deleted; its events stay in their session.");
    Ok(())
}
