//! Files that events came from, and the imports that read them.

use std::collections::BTreeMap;

use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource};
use daybook_domain::{Page, PageRequest, SessionId, StoreError, Tenant, Timestamp};

use super::{ImportRow, MemoryState};

impl MemoryState {
    pub(super) fn check_import(
        &self,
        tenant: &Tenant,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        let own = |no: &ImportNo| self.imports.get(&no.0).is_some_and(|i| &i.tenant == tenant);
        match import {
            Some(import) if !own(&import) => {
                Err(StoreError::NotFound(format!("import {}", import.0)))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn begin_import(&mut self, tenant: &Tenant, what: &str, now: Timestamp) -> ImportNo {
        self.last_import += 1;
        let no = ImportNo(self.last_import);
        let row = ImportRow {
            tenant: tenant.clone(),
            import: ImportRun {
                no,
                began_at: now,
                ended_at: None,
                what: what.to_owned(),
                events: 0,
                files: 0,
            },
            ranges: Vec::new(),
            before: BTreeMap::new(),
        };
        self.imports.insert(no.0, row);
        no
    }

    /// One page of a tenant's files that `is_wanted` selects.
    pub(super) fn page_of_sources(
        &self,
        tenant: &Tenant,
        page: &PageRequest<String>,
        is_wanted: impl Fn(&TranscriptSource) -> bool,
    ) -> Page<TranscriptSource, String> {
        let own = self.sources.iter().filter(|((of, _), _)| of == tenant);
        let is_behind = |path: &String| page.after.as_ref().is_none_or(|after| path > after);
        let wanted = own
            .map(|(_, source)| source)
            .filter(|source| is_behind(&source.path) && is_wanted(source));
        let sources = wanted.take(page.most() + 1).cloned().collect();
        Page::cut(sources, page.most(), |source| source.path.clone())
    }

    /// Replaces a file's state; an import keeps the state before.
    pub(super) fn put_source(
        &mut self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) {
        if let Some(session) = &source.session {
            self.number(session);
        }
        let key = (tenant.clone(), source.path.clone());
        let before = self.sources.insert(key, source.clone());
        if let Some(row) = import.and_then(|import| self.imports.get_mut(&import.0)) {
            row.before.entry(source.path.clone()).or_insert(before);
            row.import.files = row.before.len() as u64;
        }
    }

    /// Records the events that an import added to a session, and counts them.
    pub(super) fn note_range(
        &mut self,
        import: ImportNo,
        session: &SessionId,
        (from, to): (u64, u64),
    ) {
        let Some(row) = self.imports.get_mut(&import.0) else {
            return;
        };
        row.import.events += to + 1 - from;
        let grows = |range: &&mut (SessionId, u64, u64)| &range.0 == session && range.2 + 1 == from;
        match row.ranges.iter_mut().find(grows) {
            Some(range) => range.2 = to,
            None => row.ranges.push((session.clone(), from, to)),
        }
    }

    /// Restores the files that an import read to their state before it. Later
    /// imports of the same file then have that state as their state before.
    pub(super) fn restore_sources(&mut self, import: ImportNo) {
        let Some(row) = self.imports.get_mut(&import.0) else {
            return;
        };
        let tenant = row.tenant.clone();
        for (path, before) in std::mem::take(&mut row.before) {
            let key = (tenant.clone(), path.clone());
            match &before {
                Some(source) => self.sources.insert(key, source.clone()),
                None => self.sources.remove(&key),
            };
            let later = self.imports.range_mut(import.0 + 1..);
            for (_, later) in later.filter(|(_, later)| later.tenant == tenant) {
                if let Some(kept) = later.before.get_mut(&path) {
                    kept.clone_from(&before);
                }
            }
        }
    }
}
