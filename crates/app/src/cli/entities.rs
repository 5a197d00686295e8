//! `daybook entities`: what agents and the person keep about people, projects, places and things.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use daybook_engine::extract::entity_tools::MAX_LISTED_ENTITIES;
use daybook_engine::files::entities::manage::{
    Entity, add_alias, delete, merge, read, rename, search,
};
use daybook_engine::files::entities::{Card, change_message, create, list, upsert};
use daybook_engine::files::layout::folder;
use daybook_engine::files::own_secrets::masked;
use daybook_text::redact::Redactor;
use serde_json::{Value, json};

use super::{CommonArgs, graph};
use crate::service::entities::{ShownEntity, shown, write_entities};
use crate::service::person_scope;
use crate::terminal::common_args::at_least_one;
use crate::terminal::output::{bold, dim, json as print_json, print_line};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// What agents and you keep about people, projects, places and things.
#[derive(Args)]
pub(crate) struct EntitiesCommand {
    #[command(subcommand)]
    what: Option<EntitiesSubcommand>,
}

#[derive(Subcommand)]
enum EntitiesSubcommand {
    /// List the entities with their names and descriptions
    List {
        /// Most entities, in the order of INDEX.md
        #[arg(short = 'n', long, default_value_t = MAX_LISTED_ENTITIES, value_parser = at_least_one)]
        limit: usize,
    },
    /// Show an entity with its records and links
    Show {
        /// Its word, its name, or another name of it
        entity: String,
        /// This record alone
        record: Option<String>,
    },
    /// Create an entity, or change its name and description
    Create {
        /// One lowercase word, a to z
        entity: String,
        /// Its name, up to 60 characters
        name: String,
        /// What it is, up to 160 characters
        description: String,
    },
    /// Add a record to an entity, or replace the record of that name
    Record {
        /// Its word
        entity: String,
        /// The record's name
        record: String,
        /// The record; read from standard input when left out
        content: Option<String>,
    },
    /// Give an entity another word; links to it follow
    Rename {
        /// Its word now
        from: String,
        /// Its new word
        to: String,
    },
    /// Give an entity another name, by which it is shown and found
    Alias {
        /// Its word
        entity: String,
        /// The other name
        name: String,
    },
    /// Move the records of one entity to another, which keeps the first one's names
    Merge {
        /// The entity that is merged, and removed
        from: String,
        /// The entity to merge it into
        into: String,
    },
    /// Delete an entity; its file stays in the history of your memory folder
    Delete {
        /// Its word
        entity: String,
    },
    /// Find entities and records that hold all of these words
    Search {
        /// What to find
        #[arg(required = true)]
        words: Vec<String>,
        /// Most places
        #[arg(short = 'n', long, default_value_t = 20, value_parser = at_least_one)]
        limit: usize,
    },
    /// Print the knowledge graph of your agents as the JSONL file of the MCP server `server-memory`
    ExportGraph,
    /// Add the JSONL file of the MCP server `server-memory` to the knowledge graph of your agents
    ImportGraph {
        /// The file; standard input when left out
        file: Option<PathBuf>,
    },
}

impl EntitiesCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let all = EntitiesSubcommand::List {
            limit: MAX_LISTED_ENTITIES,
        };
        match self.what.as_ref().unwrap_or(&all) {
            EntitiesSubcommand::List { limit } => print_list(common, *limit),
            EntitiesSubcommand::Show { entity, record } => {
                print_entity(common, entity, record.as_deref())
            }
            EntitiesSubcommand::Search { words, limit } => {
                print_matches(common, &words.join(" "), *limit)
            }
            EntitiesSubcommand::ExportGraph => graph::export(common),
            EntitiesSubcommand::ImportGraph { file } => graph::import(common, file.as_deref()),
            change => change.carry_out(common),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

impl EntitiesSubcommand {
    fn carry_out(&self, common: &CommonArgs) -> Result<()> {
        let daybook = match self {
            Self::Create { .. } => Daybook::open_or_create(common)?,
            _ => Daybook::open_existing(common)?,
        };
        let message = match self {
            Self::Create {
                entity,
                name,
                description,
            } => {
                let card = Card {
                    name: name.clone(),
                    description: description.clone(),
                };
                let saved = write_entities(&daybook, |lock, stamp, redactor| {
                    create(lock, stamp, redactor, entity, &card)
                })?;
                change_message(entity.trim(), None, saved.created, saved.secrets)
            }
            Self::Record {
                entity,
                record,
                content,
            } => {
                let content = content.clone().map_or_else(read_content, Ok)?;
                let saved = write_entities(&daybook, |lock, stamp, redactor| {
                    upsert(lock, stamp, redactor, entity, record, &content)
                })?;
                let record = Some(record.trim());
                change_message(entity.trim(), record, saved.created, saved.secrets)
            }
            Self::Rename { from, to } => {
                write_entities(&daybook, |lock, stamp, _| rename(lock, stamp, from, to))?;
                format!("{from} is {to} now.")
            }
            Self::Alias { entity, name } => {
                write_entities(&daybook, |lock, stamp, redactor| {
                    add_alias(lock, stamp, redactor, (entity, name))
                })?;
                format!("{entity} is also called {name}.")
            }
            Self::Merge { from, into } => {
                write_entities(&daybook, |lock, stamp, _| merge(lock, stamp, from, into))?;
                format!("{from} is part of {into} now.")
            }
            Self::Delete { entity } => {
                write_entities(&daybook, |lock, stamp, _| delete(lock, stamp, entity))?;
                format!("Deleted memory entity {entity}. The history of your memory folder has it.")
            }
            Self::List { .. }
            | Self::Show { .. }
            | Self::Search { .. }
            | Self::ExportGraph
            | Self::ImportGraph { .. } => return Ok(()),
        };
        if common.json {
            return print_json(&json!({ "summary": message }));
        }
        print_line!("{message}");
        Ok(())
    }
}

fn read_content() -> Result<String> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        let record = suggest::command_of(&["entities", "record"]);
        bail!("no content was given; write it behind the record's name: {record} WORD NAME \"…\"");
    }
    let mut text = String::new();
    stdin
        .read_to_string(&mut text)
        .context("standard input cannot be read")?;
    Ok(text)
}

/// The person's memory folder.
fn memory_folder(common: &CommonArgs) -> Result<PathBuf> {
    let daybook = Daybook::open_existing(common)?;
    Ok(folder(&daybook.root, &person_scope(&daybook)))
}

fn print_list(common: &CommonArgs, limit: usize) -> Result<()> {
    let listed = list(&memory_folder(common)?, limit);
    let redactor = Redactor::current();
    if common.json {
        let rows: Vec<Value> = listed
            .iter()
            .map(|listed| {
                let card = listed.card.as_ref();
                let shown = |text: &String| masked(&redactor, text).into_owned();
                json!({
                    "entity": listed.entity,
                    "name": card.map(|card| shown(&card.name)),
                    "description": card.map(|card| shown(&card.description)),
                })
            })
            .collect();
        return print_json(&json!({ "entities": rows, "count": rows.len() }));
    }
    for listed in &listed {
        print_line!("{}", masked(&redactor, &listed.line()));
    }
    if listed.is_empty() {
        print_line!("No memory entities.");
    }
    Ok(())
}

fn print_entity(common: &CommonArgs, name: &str, record: Option<&str>) -> Result<()> {
    let mut entity = shown(read(&memory_folder(common)?, name)?);
    if let Some(record) = record {
        entity.records.retain(|(known, _)| known == record.trim());
        if entity.records.is_empty() {
            bail!("{} has no record {record}", entity.entity);
        }
    }
    if common.json {
        return print_json(&ShownEntity::from(entity));
    }
    if record.is_none() {
        print_head(&entity);
    }
    for (name, body) in &entity.records {
        print_line!("\n{}", bold(&format!("## {name}")));
        print_line!("{body}");
    }
    Ok(())
}

fn print_head(entity: &Entity) {
    let card = entity.card.as_ref();
    let name = card.map_or_else(
        || entity.entity.clone(),
        |card| format!("{} — {}", card.name, card.description),
    );
    print_line!("{}  {name}", bold(&entity.entity));
    for (what, names) in [
        ("also called", &entity.aliases),
        ("links to", &entity.links),
        ("linked from", &entity.linked_from),
    ] {
        if !names.is_empty() {
            print_line!("{}", dim(&format!("{what} {}", names.join(", "))));
        }
    }
}

fn print_matches(common: &CommonArgs, words: &str, limit: usize) -> Result<()> {
    let redactor = Redactor::current();
    let found = search(&memory_folder(common)?, words, limit);
    if common.json {
        let rows: Vec<Value> = found
            .iter()
            .map(|found| {
                json!({
                    "entity": found.entity,
                    "record": found.record.as_ref().map(|it| masked(&redactor, it).into_owned()),
                    "text": masked(&redactor, &found.text),
                })
            })
            .collect();
        return print_json(&json!({ "matches": rows }));
    }
    for found in &found {
        print_line!(
            "{}  {}",
            bold(&found.entity),
            masked(&redactor, &found.text)
        );
    }
    if found.is_empty() {
        print_line!("No entity holds these words.");
    }
    Ok(())
}
