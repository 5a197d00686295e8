//! `daybook threads`: the working memory of agents, for programs in any language.

mod context;
mod dispatch;
mod shown;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use daybook_domain::working::{ChunkId, StateId};
use serde_json::json;

use super::Common;
use crate::output::json as print_json;
use crate::suggest;
use crate::threads::{self, LISTED, Wanted};
use crate::wiring::{Daybook, block_on};

/// The working memory of agents: events in, chunks that stay small, contexts out.
#[derive(Args)]
pub(crate) struct Threads {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a thread, of a session that was taken in where one has that name
    Create(Create),
    /// Store events, one JSON object on each line, and say what each came to
    Dispatch(dispatch::Dispatch),
    /// Condense what a thread holds, now
    Compact(Compact),
    /// What a thread holds
    State(State),
    /// What an agent's model is sent, within its window
    Context(context::Context),
    /// Have a thread stand still: events are stored, and wait
    Pause(One),
    /// Have a paused thread go on
    Resume(One),
    /// The session is over: what is ephemeral goes, and what was said is due to be learned
    End(One),
    /// The threads that there are, newest activity first
    List(List),
    /// Delete a thread; the session that it is stays
    Delete(One),
}

/// A thread.
#[derive(Args)]
struct One {
    /// The thread's label, the beginning of its id, or agent:id
    thread: String,
}

/// Make a thread.
#[derive(Args)]
struct Create {
    /// Its name; a session's label or id goes on with that session [default: one of its own]
    name: Option<String>,
    /// Whose it is [default: agent]
    #[arg(long, conflicts_with = "from")]
    agent: Option<String>,
    /// Begin with what this thread holds
    #[arg(long, value_name = "THREAD", conflicts_with = "name")]
    from: Option<String>,
    /// Or held: one of its states
    #[arg(long, value_name = "STATE", requires = "from")]
    state: Option<String>,
}

/// Condense what a thread holds.
#[derive(Args)]
struct Compact {
    #[command(flatten)]
    of: One,
    /// Only this chunk; may be repeated [default: all that can be]
    #[arg(long, value_name = "CHUNK")]
    chunk: Vec<String>,
}

/// What a thread holds.
#[derive(Args)]
struct State {
    #[command(flatten)]
    of: One,
    /// An earlier state
    #[arg(long, value_name = "STATE", conflicts_with = "history")]
    state: Option<String>,
    /// All states that there were, with what made them
    #[arg(long)]
    history: bool,
}

/// The threads that there are.
#[derive(Args)]
struct List {
    /// Most threads
    #[arg(short = 'n', long, default_value_t = 50)]
    limit: usize,
}

impl Threads {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = match self.what {
            What::Create(_) => Daybook::open_or_create(common)?,
            _ => Daybook::open_existing(common)?,
        };
        let daybook = &daybook;
        block_on(async {
            match &self.what {
                What::Create(asked) => create(common, daybook, asked).await,
                What::Dispatch(asked) => return asked.run(daybook).await,
                What::Compact(asked) => compact(common, daybook, asked).await,
                What::State(asked) => state(common, daybook, asked).await,
                What::Context(asked) => asked.run(daybook).await,
                What::Pause(one) => pause(common, daybook, one).await,
                What::Resume(one) => resume(common, daybook, one).await,
                What::End(one) => end(common, daybook, one).await,
                What::List(asked) => list(common, daybook, asked).await,
                What::Delete(one) => delete(common, daybook, one).await,
            }?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

async fn create(common: &Common, daybook: &Daybook, asked: &Create) -> Result<()> {
    let state = asked.state.as_deref().map(StateId::from);
    let wanted = Wanted {
        name: asked.name.clone(),
        agent: asked.agent.clone(),
        from: asked.from.clone().map(|from| (from, state)),
    };
    let created = threads::create(daybook, &wanted).await?;
    if common.json {
        return print_json(&created);
    }
    anstream::println!("{}  {}", created.thread, created.state);
    Ok(())
}

async fn compact(common: &Common, daybook: &Daybook, asked: &Compact) -> Result<()> {
    let thread = threads::find(daybook, &asked.of.thread).await?;
    let manager = daybook.manager()?;
    let chunks: Vec<ChunkId> = asked.chunk.iter().map(|id| id.as_str().into()).collect();
    let compacted = threads::compact(&manager, &thread, &chunks, Duration::MAX).await?;
    threads::settle(&manager, &thread).await?;
    match (common.json, compacted) {
        (true, compacted) => print_json(&compacted)?,
        (false, Some(compacted)) => shown::compacted(&compacted),
        (false, None) => {}
    }
    Ok(())
}

async fn state(common: &Common, daybook: &Daybook, asked: &State) -> Result<()> {
    let thread = threads::find(daybook, &asked.of.thread).await?;
    if asked.history {
        let history = threads::history(daybook, &thread).await?;
        match common.json {
            true => print_json(&json!({ "states": history }))?,
            false => shown::history(daybook, &history),
        }
        return Ok(());
    }
    let id = asked.state.as_deref().map(StateId::from);
    let state = threads::state(daybook, &thread, id.as_ref()).await?;
    match common.json {
        true => print_json(&state)?,
        false => shown::state(&state),
    }
    Ok(())
}

async fn pause(common: &Common, daybook: &Daybook, one: &One) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    threads::pause(daybook, &thread).await?;
    if common.json {
        return print_json(&json!({ "thread": thread.to_string(), "paused": true }));
    }
    anstream::println!(
        "{thread} stands still: events are stored, and wait. `{}` has it go on.",
        suggest::command_of(&["threads", "resume", &one.thread]),
    );
    Ok(())
}

async fn resume(common: &Common, daybook: &Daybook, one: &One) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    let was_paused = threads::resume(daybook, &thread).await?;
    threads::settle(&daybook.manager()?, &thread).await?;
    if common.json {
        let id = thread.to_string();
        return print_json(&json!({ "thread": id, "paused": false, "was_paused": was_paused }));
    }
    match was_paused {
        true => anstream::println!("{thread} goes on; what waited is applied."),
        false => anstream::println!("{thread} was not paused."),
    }
    Ok(())
}

async fn end(common: &Common, daybook: &Daybook, one: &One) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    let ended = threads::end(daybook, &thread).await?;
    if common.json {
        return print_json(&ended);
    }
    let update = suggest::command("update");
    anstream::println!("{thread} is over; `{update}` learns from it.");
    Ok(())
}

async fn list(common: &Common, daybook: &Daybook, asked: &List) -> Result<()> {
    let threads = threads::list(daybook, asked.limit.min(LISTED)).await?;
    match common.json {
        true => print_json(&json!({ "threads": threads }))?,
        false => shown::list(&threads),
    }
    Ok(())
}

async fn delete(common: &Common, daybook: &Daybook, one: &One) -> Result<()> {
    let thread = threads::find(daybook, &one.thread).await?;
    threads::delete(daybook, &thread).await?;
    if common.json {
        return print_json(&json!({ "thread": thread.to_string(), "deleted": true }));
    }
    anstream::println!("{thread} is deleted; what was said in it stays a session.");
    Ok(())
}
