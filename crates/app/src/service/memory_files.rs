//! Reads the memory files that apply to an agent. Reads files alone: a hook must not wait for a database. A secret in
//! them, also in a person's own text, is masked.

use std::path::Path;

use daybook_domain::Scope;
use daybook_engine::files::layout::{BRANCHES, CURATED, SUMMARY, folder};
use daybook_engine::files::own_secrets::masked;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader::{FolderReader, Refused};
use daybook_engine::profile::ContextSource;
use daybook_engine::recall::context::{
    CurrentWork, MemoryContext, ScopeMemory, ScopePage, assemble, assemble_pages,
};
use daybook_engine::recall::host_text::HostText;
use daybook_text::redact::Redactor;

use crate::settings::Settings;
use crate::terminal::suggest;

/// The memory files of the scopes that apply to a caller; of no other scope.
pub(crate) struct MemoryFiles {
    /// Files that could be read.
    pub(crate) applies: Vec<ScopeMemory>,
    /// The page of each scope that settings have shown as it is.
    pages: Vec<ScopePage>,
    /// Files that exist and were not read.
    pub(crate) refused: Vec<Refused>,
}

impl MemoryFiles {
    /// The context of these files, as settings have it made.
    pub(crate) fn context(
        &self,
        work: &CurrentWork<'_>,
        loaded: &HostText,
        settings: &Settings,
        budget: usize,
    ) -> MemoryContext {
        let (rules, program) = (settings.profile.context, suggest::program());
        match rules.source {
            ContextSource::Entries => assemble(&self.applies, work, loaded, &program, budget),
            ContextSource::Summary => {
                let nothing_else = CurrentWork::default();
                assemble_pages(&self.pages, usize::MAX, &nothing_else, &program, budget)
            }
            ContextSource::FirstLines => {
                assemble_pages(&self.pages, rules.lines, work, &program, budget)
            }
        }
    }
}

/// Reads the memory files of `scopes`. A refused file does not keep others from being read.
pub(crate) fn read(root: &Path, settings: &Settings, scopes: &[Scope]) -> MemoryFiles {
    let here = scopes.iter().filter(|scope| !settings.is_in_mem0(scope));
    let scopes: Vec<&Scope> = here.collect();
    let page = match settings.profile.context.source {
        ContextSource::Entries => None,
        ContextSource::Summary => Some((SUMMARY, "Memory summary")),
        ContextSource::FirstLines => Some((CURATED, "File memory entrypoint")),
    };
    let redactor = Redactor::current();
    let mut files = MemoryFiles {
        applies: Vec::new(),
        pages: Vec::new(),
        refused: Vec::new(),
    };
    for scope in scopes {
        let memory = folder(root, scope);
        let reader = match FolderReader::open(&memory) {
            Ok(Some(reader)) => reader,
            Ok(None) => continue,
            Err(refused) => {
                files.refused.push(refused);
                continue;
            }
        };
        let mut text = |file: &str| match FilePath::new(file).map(|path| reader.text(&path)) {
            Ok(Ok(text)) => text.map(|text| masked(&redactor, &text).into_owned()),
            Ok(Err(refused)) => {
                files.refused.push(refused);
                None
            }
            Err(_) => None,
        };
        if let Some((file, name)) = page {
            files.pages.extend(text(file).map(|text| ScopePage {
                title: format!("{name} ({scope})"),
                path: memory.join(file).display().to_string(),
                text,
            }));
            continue;
        }
        let (curated, branches) = (text(CURATED), text(BRANCHES));
        if let Some(text) = curated {
            files.applies.push(ScopeMemory {
                text,
                branches: branches.unwrap_or_default(),
                whose: format!("Memory of {scope}"),
            });
        }
    }
    files
}
