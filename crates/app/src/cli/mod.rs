//! The command line: its commands, and the dispatch to each.

mod account;
mod backup;
mod checkout;
mod completions;
mod config;
mod consolidate;
mod context;
mod disclosure;
mod doctor;
mod entities;
mod eval;
mod export;
mod failure;
mod first_run;
mod forecast;
mod graph;
mod groups;
mod handback;
mod history;
mod homes;
mod hook;
mod import;
mod import_summary;
mod jobs;
mod manual;
mod mcp;
mod memories;
mod move_store;
mod next_steps;
mod open;
mod persons_word;
mod projects;
mod purge;
mod quarantine;
mod recall;
mod redact;
mod remember;
mod scope_args;
mod serve;
mod sessions;
mod setup;
mod show;
mod spend;
mod status;
mod support_bundle;
mod sync;
mod threads;
mod token;
mod top;
mod trigger;
mod update;
mod watch;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::folders::data_folder;
use crate::process::was_interrupted;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::logging;
use crate::terminal::server_timeout::ServerTimeout;
use crate::terminal::suggest;

#[derive(Parser)]
#[command(
    name = "daybook",
    version,
    about = "Memory for AI agents that outlives the session",
    override_usage = "daybook [OPTIONS] <COMMAND>",
    help_template = "{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions\n{options}\n",
    after_help = groups::listed(),
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    command: CliCommand,
}

/// The command that hosts call many times an hour, alone: describing all commands takes a fifth of such a call.
#[derive(Parser)]
#[command(name = "daybook")]
struct HookCli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    command: HookAlone,
}

#[derive(Subcommand)]
enum HookAlone {
    Hook(hook::HookCommand),
}

#[derive(Subcommand)]
enum CliCommand {
    #[command(about = "Import the transcripts of your agents, and learn from them")]
    Import(import::ImportCommand),
    #[command(about = "Called by an agent's host when something happens in a session")]
    Hook(hook::HookCommand),
    #[command(about = "Answer agents over MCP, on standard input and output")]
    Mcp(mcp::McpCommand),
    #[command(about = "Report what happened to a session")]
    Trigger(trigger::TriggerCommand),
    #[command(
        about = "The working memory of agents: events in, chunks that stay small, contexts out"
    )]
    Threads(threads::ThreadsCommand),
    #[command(about = "Process due work, then exit")]
    Update(update::UpdateCommand),
    #[command(about = "Process due work until stopped")]
    Worker(update::WorkerCommand),
    #[command(about = "Answer agents over HTTP, on this machine")]
    Serve(serve::ServeCommand),
    #[command(about = "Make, list and revoke tokens for programs that reach this memory over HTTP")]
    Token(token::TokenCommand),
    #[command(about = "Show the memory in a browser")]
    Open(open::OpenCommand),
    /// Find what is remembered, with its source
    #[command(alias = "search")]
    Recall(recall::RecallCommand),
    /// Print the context that an agent in this folder is given
    #[command(alias = "brief")]
    Context(context::ContextCommand),
    #[command(about = "Keep something in your own words")]
    Remember(remember::RememberCommand),
    #[command(about = "Add Daybook to the settings of the agents on this machine")]
    Setup(setup::SetupCommand),
    #[command(
        about = "List the imported sessions; turn memory of one off or on; move one to another project"
    )]
    Sessions(sessions::SessionsCommand),
    #[command(about = "List projects and their checkouts; merge, split and rename projects")]
    Projects(projects::ProjectsCommand),
    #[command(
        about = "Show and change entities: what is kept about people, projects, places and things"
    )]
    Entities(entities::EntitiesCommand),
    #[command(about = "Show background work and what it waits for; retry and cancel it")]
    Jobs(jobs::JobsCommand),
    #[command(about = "Show what waits for your decision; accept and reject it")]
    Quarantine(quarantine::QuarantineCommand),
    #[command(about = "Show the original text behind a citation")]
    Show(show::ShowCommand),
    #[command(about = "Show the changes of memory files, newest first")]
    History(history::HistoryCommand),
    #[command(about = "Show what changed in memory files between two states")]
    Diff(history::DiffCommand),
    #[command(about = "List what is remembered, with ids, sources and the lines that show it")]
    List(memories::ListCommand),
    #[command(about = "Show where a line of memory comes from")]
    Why(memories::WhyCommand),
    #[command(about = "Forget something, in every file and in recall")]
    Forget(persons_word::ForgetCommand),
    #[command(about = "Give a line of memory other words")]
    Edit(persons_word::EditCommand),
    #[command(about = "Keep a memory in MEMORY.md, whatever ranks higher")]
    Pin(persons_word::PinCommand),
    #[command(about = "Let a pinned memory take its place by rank again")]
    Unpin(persons_word::UnpinCommand),
    #[command(about = "Take back a change of memory files")]
    Undo(persons_word::UndoCommand),
    #[command(about = "Remove something for good, so that nothing brings it back")]
    Purge(purge::PurgeCommand),
    #[command(about = "Show calls of models, their cost, and what is left under caps")]
    Spend(spend::SpendCommand),
    #[command(about = "Show what is covered, pending, in gaps, and why")]
    Status(status::StatusCommand),
    #[command(about = "Show work, spending and what was learned last, as they move")]
    Top(top::TopCommand),
    #[command(about = "Write memory files now, however short ago they were written")]
    Consolidate(consolidate::ConsolidateCommand),
    #[command(about = "Exchange memory files with your other machines, through a git repository")]
    Sync(sync::SyncCommand),
    #[command(about = "Bring memory folders up to date, where machines share a memory")]
    Checkout(checkout::CheckoutCommand),
    #[command(about = "Store your edits of memory folders, for all machines")]
    Checkin(checkout::CheckinCommand),
    #[command(about = "Rebuild the index and memory files from the database")]
    Rebuild(update::RebuildCommand),
    #[command(about = "Write the whole memory to one file, while agents keep working")]
    Backup(backup::BackupCommand),
    #[command(about = "Write the whole memory to one file, or the files of another system")]
    Export(export::ExportCommand),
    #[command(
        about = "Create a data folder from a backup; with --at bring memory files to an earlier state"
    )]
    Restore(backup::RestoreCommand),
    #[command(about = "Move memory into a PostgreSQL database, or back into the data folder")]
    MoveStore(move_store::MoveStoreCommand),
    #[command(
        about = "Print text without its secrets; explain what is hidden, and try rules of your own"
    )]
    Redact(redact::RedactCommand),
    #[command(about = "Check the data folder; --repair repairs it")]
    Doctor(doctor::DoctorCommand),
    #[command(about = "Write a file that helps others find a problem, without any content")]
    SupportBundle(support_bundle::SupportBundleCommand),
    #[command(about = "Measure recall, on benchmarks and on questions of your own")]
    Eval(eval::EvalCommand),
    #[command(about = "Show settings, their meaning, and where each value comes from")]
    Config(config::ConfigCommand),
    #[command(about = "Print completions for your shell")]
    Completions(completions::CompletionsCommand),
    #[command(about = "Print the manual page of a command")]
    Man(manual::ManCommand),
}

/// Parses the command line. Help and messages about what cannot be parsed are those of the whole.
fn parse() -> Result<Cli, clap::Error> {
    let is_hook = std::env::args_os()
        .nth(1)
        .is_some_and(|name| name == "hook");
    match is_hook.then(HookCli::try_parse) {
        Some(Ok(HookCli { common, command })) => {
            let HookAlone::Hook(command) = command;
            Ok(Cli {
                common,
                command: CliCommand::Hook(command),
            })
        }
        _ => Cli::try_parse(),
    }
}

/// Runs the command of the command line.
pub(crate) fn run() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    let (json, runs_until_stopped) = (cli.common.json, cli.command.runs_until_stopped());
    let code = answer(cli).unwrap_or_else(|error| failure::report(&error, json));
    #[cfg(feature = "otlp")]
    logging::flush_traces();
    match was_interrupted() && !runs_until_stopped {
        true => ExitCode::from(failure::INTERRUPTED),
        false => code,
    }
}

fn answer(cli: Cli) -> Result<ExitCode> {
    let mut common = cli.common.with_flags_as_settings();
    common.server_timeout = cli.command.server_timeout();
    let common = &common;
    suggest::use_flags(common);
    logging::start(common.log.as_ref(), common.log_format);
    if cli.command.reads_memory() {
        crate::purge::settle(common, &data_folder::locate(common.root.as_deref())?)?;
    }
    match cli.command {
        CliCommand::Import(command) => command.run(common),
        CliCommand::Hook(command) => command.run(common),
        CliCommand::Mcp(command) => command.run(common),
        CliCommand::Trigger(command) => command.run(common),
        CliCommand::Jobs(command) => command.run(common),
        CliCommand::Threads(command) => command.run(common),
        CliCommand::Update(command) => command.run(common),
        CliCommand::Worker(command) => command.run(common),
        CliCommand::Serve(command) => command.run(common),
        CliCommand::Token(command) => command.run(common),
        CliCommand::Open(command) => command.run(common),
        CliCommand::Recall(command) => command.run(common),
        CliCommand::Context(command) => command.run(common),
        CliCommand::Remember(command) => command.run(common),
        CliCommand::Setup(command) => command.run(common),
        CliCommand::Sessions(command) => command.run(common),
        CliCommand::Projects(command) => command.run(common),
        CliCommand::Entities(command) => command.run(common),
        CliCommand::Quarantine(command) => command.run(common),
        CliCommand::Show(command) => command.run(common),
        CliCommand::History(command) => command.run(common),
        CliCommand::Diff(command) => command.run(common),
        CliCommand::List(command) => command.run(common),
        CliCommand::Why(command) => command.run(common),
        CliCommand::Forget(command) => command.run(common),
        CliCommand::Edit(command) => command.run(common),
        CliCommand::Pin(command) => command.run(common),
        CliCommand::Unpin(command) => command.run(common),
        CliCommand::Undo(command) => command.run(common),
        CliCommand::Purge(command) => command.run(common),
        CliCommand::Spend(command) => command.run(common),
        CliCommand::Status(command) => command.run(common),
        CliCommand::Top(command) => command.run(common),
        CliCommand::Consolidate(command) => command.run(common),
        CliCommand::Sync(command) => command.run(common),
        CliCommand::Checkout(command) => command.run(common),
        CliCommand::Checkin(command) => command.run(common),
        CliCommand::Rebuild(command) => command.run(common),
        CliCommand::Doctor(command) => command.run(common),
        CliCommand::SupportBundle(command) => command.run(common),
        CliCommand::Redact(command) => command.run(common),
        CliCommand::Eval(command) => command.run(common),
        CliCommand::Backup(command) => command.run(common),
        CliCommand::Export(command) => command.run(common),
        CliCommand::Restore(command) => command.run(common),
        CliCommand::MoveStore(command) => command.run(common),
        CliCommand::Config(command) => command.run(common),
        CliCommand::Completions(command) => {
            command.run(common, Cli::command())?;
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Man(command) => {
            command.run(Cli::command())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl CliCommand {
    /// Whether the command opens the memory. Before it does, a purge that was interrupted is finished. A hook's host waits
    /// for it, so it finishes none.
    fn reads_memory(&self) -> bool {
        !matches!(
            self,
            Self::Hook(_)
                | Self::Setup(_)
                | Self::Token(_)
                | Self::Config(_)
                | Self::Redact(_)
                | Self::SupportBundle(_)
                | Self::Purge(_)
                | Self::Restore(_)
                | Self::Completions(_)
                | Self::Man(_)
        )
    }

    /// Whether Ctrl-C is the usual end of the command.
    fn runs_until_stopped(&self) -> bool {
        match self {
            Self::Import(command) => command.watches(),
            Self::Mcp(_) | Self::Worker(_) | Self::Serve(_) | Self::Open(_) | Self::Top(_) => true,
            _ => false,
        }
    }

    /// How long the command waits for a database server.
    fn server_timeout(&self) -> ServerTimeout {
        match self {
            // Long work, and work that changes much, waits out a restart of the server.
            Self::Import(_)
            | Self::Update(_)
            | Self::Worker(_)
            | Self::Rebuild(_)
            | Self::Sync(_)
            | Self::Checkout(_)
            | Self::Consolidate(_)
            | Self::Checkin(_)
            | Self::Forget(_)
            | Self::Edit(_)
            | Self::Pin(_)
            | Self::Unpin(_)
            | Self::Undo(_)
            | Self::Purge(_)
            | Self::Backup(_)
            | Self::Export(_)
            | Self::Restore(_)
            | Self::MoveStore(_)
            | Self::Doctor(_)
            | Self::SupportBundle(_)
            | Self::Eval(_) => ServerTimeout::Background,
            // Background work of `serve` and `mcp` opens a memory of its own.
            Self::Hook(_)
            | Self::Mcp(_)
            | Self::Trigger(_)
            | Self::Threads(_)
            | Self::Serve(_)
            | Self::Token(_)
            | Self::Open(_)
            | Self::Recall(_)
            | Self::Context(_)
            | Self::Remember(_)
            | Self::Setup(_)
            | Self::Sessions(_)
            | Self::Projects(_)
            | Self::Entities(_)
            | Self::Jobs(_)
            | Self::Quarantine(_)
            | Self::Redact(_)
            | Self::Show(_)
            | Self::History(_)
            | Self::Diff(_)
            | Self::List(_)
            | Self::Why(_)
            | Self::Spend(_)
            | Self::Status(_)
            | Self::Top(_)
            | Self::Config(_)
            | Self::Completions(_)
            | Self::Man(_) => ServerTimeout::Interactive,
        }
    }
}

/// Whether the command may ask the person: input and output are a terminal, and `--json` is not set.
pub(crate) fn can_ask(common: &CommonArgs) -> bool {
    !common.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}
