//! The command line: what can be asked, and who answers.

mod account;
mod backup;
mod checkout;
mod config;
mod context;
mod disclosure;
mod doctor;
mod eval;
mod first_run;
mod forecast;
mod hook;
mod import;
mod jobs;
mod mcp;
mod move_store;
mod next_steps;
mod projects;
mod recall;
mod remember;
mod serve;
mod sessions;
mod setup;
mod show;
mod spend;
mod status;
mod threads;
mod trigger;
mod update;
mod watch;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use daybook_domain::StoreError;

use crate::common::{Common, Patience};
use crate::logging;
use crate::suggest;

const GROUPS: &str = "\
Everyday
  import       take in the transcripts of your agents, and learn from them
  recall       find what is remembered, with its source     (also: search)
  context      what an agent is told in this folder, now    (also: brief)
  remember     keep something in your own words
  setup        make Daybook known to your agents; --undo takes it back

Inspect
  status       what is covered, pending, in gaps, and why
  sessions     the sessions that were taken in
  projects     which checkouts belong together; merge and rename
  show         the original words behind a citation
  jobs         background work, what it waits for; retry and cancel
  spend        what models were asked for, what that cost, and what is left
  doctor       check the data folder
  eval         measure recall, on benchmarks and on questions of your own

Change
  config       settings, their meaning, and where each value comes from
  checkout     bring memory folders up to date, where machines share a memory
  checkin      hand over what you edited in them
  rebuild      make index and files anew from what is stored

Agents
  mcp          answer agents over MCP, on standard input and output
  threads      working memory: events in, contexts within a model's window out

Operate
  update       process what is due, then end
  worker       process what falls due until stopped
  trigger      tell what happened to a session
  hook         called by an agent's host when something happens in a session
  serve        answer agents over HTTP, on this machine
  backup       write all that is remembered to one file, while agents go on
  restore      make a data folder from a backup
  move-store   move memory into a PostgreSQL database, or back into the data folder
  completions  completions for your shell
  man          the manual page";

#[derive(Parser)]
#[command(
    name = "daybook",
    version,
    about = "Memory for AI agents that outlives the session",
    override_usage = "daybook [OPTIONS] <COMMAND>",
    help_template = "{about}\n\n{usage-heading} {usage}\n\n{after-help}\n\nOptions\n{options}\n",
    after_help = GROUPS,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Take in the transcripts of your agents, and learn from them
    Import(import::Import),
    /// Called by an agent's host when something happens in a session
    Hook(hook::Hook),
    /// Answer agents over MCP, on standard input and output
    Mcp(mcp::Mcp),
    /// Tell what happened to a session
    Trigger(trigger::Trigger),
    /// The working memory of agents: events in, chunks that stay small, contexts out
    Threads(threads::Threads),
    /// Process what is due, then end
    Update(update::Update),
    /// Process what falls due until stopped
    Worker(update::Worker),
    /// Answer agents over HTTP, on this machine
    Serve(serve::Serve),
    /// Find what is remembered, with its source
    #[command(alias = "search")]
    Recall(recall::Recall),
    /// What an agent is told in this folder, now
    #[command(alias = "brief")]
    Context(context::Context),
    /// Keep something in your own words
    Remember(remember::Remember),
    /// Make Daybook known to the agents on this machine
    Setup(setup::Setup),
    /// The sessions that were taken in
    Sessions(sessions::Sessions),
    /// The projects that memory knows, and which checkouts belong to each
    Projects(projects::Projects),
    /// Background work, and what each piece of it waits for
    Jobs(jobs::Jobs),
    /// The original words behind a citation
    Show(show::Show),
    /// What models were asked for, what that cost, and how much is left
    Spend(spend::Spend),
    /// What is covered, pending, in gaps, and why
    Status(status::Status),
    /// Bring memory folders up to date, where machines share a memory
    Checkout(checkout::Checkout),
    /// Hand over what you edited in memory folders
    Checkin(checkout::Checkin),
    /// Make index and files anew from what is stored
    Rebuild(update::Rebuild),
    /// Write all that is remembered to one file, while agents go on
    Backup(backup::Backup),
    /// Make a data folder from a backup
    Restore(backup::Restore),
    /// Move memory into a PostgreSQL database, or back into the data folder
    MoveStore(move_store::MoveStore),
    /// Check the data folder
    Doctor(doctor::Doctor),
    /// Measure recall, on benchmarks and on questions of your own
    Eval(eval::Eval),
    /// Settings, their meaning, and where each value comes from
    Config(config::Config),
    /// Completions for your shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page
    Man,
}

/// Runs what the command line asks for.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            let fails = error.use_stderr() && !is_hook();
            return ExitCode::from(u8::from(fails) * 2);
        }
    };
    match answer(cli) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let is_damage = |cause: &StoreError| matches!(cause, StoreError::Corrupt(_));
            let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
            let advice = match causes.any(is_damage) {
                true => {
                    "; `daybook doctor` says what is damaged, and `daybook doctor --repair` mends it"
                }
                false => "",
            };
            logging::complain(&format!("{error:#}{advice}"));
            ExitCode::FAILURE
        }
    }
}

/// A host takes a failing hook for a refusal, also when the hook was only written down wrong.
fn is_hook() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|command| command == "hook")
}

fn answer(cli: Cli) -> Result<ExitCode> {
    let mut common = cli.common.with_store();
    common.patience = cli.command.patience();
    let common = &common;
    suggest::use_flags(common);
    logging::start(common.log.as_ref(), common.log_format);
    match cli.command {
        Command::Import(command) => command.run(common),
        Command::Hook(command) => command.run(common),
        Command::Mcp(command) => command.run(common),
        Command::Trigger(command) => command.run(common),
        Command::Jobs(command) => command.run(common),
        Command::Threads(command) => command.run(common),
        Command::Update(command) => command.run(common),
        Command::Worker(command) => command.run(common),
        Command::Serve(command) => command.run(common),
        Command::Recall(command) => command.run(common),
        Command::Context(command) => command.run(common),
        Command::Remember(command) => command.run(common),
        Command::Setup(command) => command.run(common),
        Command::Sessions(command) => command.run(common),
        Command::Projects(command) => command.run(common),
        Command::Show(command) => command.run(common),
        Command::Spend(command) => command.run(common),
        Command::Status(command) => command.run(common),
        Command::Checkout(command) => command.run(common),
        Command::Checkin(command) => command.run(common),
        Command::Rebuild(command) => command.run(common),
        Command::Doctor(command) => command.run(common),
        Command::Eval(command) => command.run(common),
        Command::Backup(command) => command.run(common),
        Command::Restore(command) => command.run(common),
        Command::MoveStore(command) => command.run(common),
        Command::Config(command) => command.run(common),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "daybook",
                &mut std::io::stdout(),
            );
            Ok(ExitCode::SUCCESS)
        }
        Command::Man => {
            clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Command {
    /// How long it waits for a server that keeps memory.
    fn patience(&self) -> Patience {
        match self {
            // What goes on for long, or changes much, rides out a restart of the server.
            Self::Import(_)
            | Self::Update(_)
            | Self::Worker(_)
            | Self::Rebuild(_)
            | Self::Checkout(_)
            | Self::Checkin(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::MoveStore(_)
            | Self::Doctor(_)
            | Self::Eval(_) => Patience::Work,
            // `serve` and `mcp` work in the background with a memory that they open for that.
            Self::Hook(_)
            | Self::Mcp(_)
            | Self::Trigger(_)
            | Self::Threads(_)
            | Self::Serve(_)
            | Self::Recall(_)
            | Self::Context(_)
            | Self::Remember(_)
            | Self::Setup(_)
            | Self::Sessions(_)
            | Self::Projects(_)
            | Self::Jobs(_)
            | Self::Show(_)
            | Self::Spend(_)
            | Self::Status(_)
            | Self::Config(_)
            | Self::Completions { .. }
            | Self::Man => Patience::Answer,
        }
    }
}

/// Whether a person can be asked: both ends are a terminal, and no JSON was asked for.
pub(crate) fn can_ask(common: &Common) -> bool {
    !common.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The reader of our output has gone, as `daybook recall x | head -1` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
