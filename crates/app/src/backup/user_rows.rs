//! Which rows of a memory rest on one user's sessions, or name that user.
//!
//! Of other users' words, only the pieces that name the user are theirs. Tombstones, the key of tombstones and the
//! bookkeeping of imports, jobs and caps are no one's.
//!
//! Not here: how rows are written (`user_archive`).

use std::collections::BTreeSet;

use daybook_domain::Origin;
use daybook_store::transfer::{Cell, Portable, Row, TABLES, Table};
use daybook_text::indexed_tokens;

use anyhow::Result;

/// Rows that are read at once.
const PAGE: usize = 500;
/// The texts of an observation, and of a piece of its evidence.
const TEXTS: [&str; 3] = ["text", "context", "subject"];

/// What a row is asked for by the name of a column.
pub(super) struct RowView<'a>(pub(super) &'a Table, pub(super) &'a Row);

impl RowView<'_> {
    fn cell(&self, column: &str) -> Option<&Cell> {
        let at = self.0.columns.iter().position(|one| one.name == column)?;
        self.1.get(at)
    }

    pub(super) fn int(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Some(Cell::Int(number)) => Some(*number),
            Some(Cell::Null | Cell::Text(_) | Cell::Bytes(_)) | None => None,
        }
    }

    pub(super) fn text(&self, column: &str) -> Option<&str> {
        match self.cell(column) {
            Some(Cell::Text(text)) => Some(text),
            Some(Cell::Null | Cell::Int(_) | Cell::Bytes(_)) | None => None,
        }
    }
}

/// Recognises one user's rows, after [`UserRows::find`] has looked through the tables that decide it.
pub(super) struct UserRows {
    tenant: i64,
    tenant_name: String,
    user: String,
    /// Whether sessions that name no user are theirs: they are the person of the data folder.
    is_person: bool,
    words: String,
    pub(super) sessions: BTreeSet<i64>,
    events: BTreeSet<i64>,
    observations: BTreeSet<i64>,
    /// Scopes of what is theirs, and their own, whose observations are theirs as a whole.
    scopes: BTreeSet<i64>,
    own_scope: Option<i64>,
    places: BTreeSet<i64>,
    roots: BTreeSet<i64>,
    projects: BTreeSet<String>,
}

impl UserRows {
    /// Finds what is `user`'s in the tenant named `tenant`, where sessions without a user are those of `person`.
    pub(super) async fn find(
        store: &dyn Portable,
        tenant: &str,
        (user, person): (&str, &str),
    ) -> Result<Self> {
        let mut rows = Self {
            tenant: -1,
            tenant_name: tenant.to_owned(),
            user: user.to_owned(),
            is_person: user == person,
            words: indexed_tokens(Origin::Human, user),
            sessions: BTreeSet::new(),
            events: BTreeSet::new(),
            observations: BTreeSet::new(),
            scopes: BTreeSet::new(),
            own_scope: None,
            places: BTreeSet::new(),
            roots: BTreeSet::new(),
            projects: BTreeSet::new(),
        };
        // Each looks at what those before it found.
        for name in [
            "tenants",
            "sessions",
            "session_places",
            "places",
            "roots",
            "events",
            "scopes",
            "evidence",
            "observations",
        ] {
            let table = TABLES.iter().find(|table| table.name == name);
            let table = table.unwrap_or(&TABLES[0]);
            visit(store, table, |row| rows.note(&RowView(table, row))).await?;
        }
        Ok(rows)
    }

    fn note(&mut self, row: &RowView<'_>) {
        match row.0.name {
            "tenants" if row.text("tenant") == Some(&self.tenant_name) => {
                self.tenant = row.int("tenant_no").unwrap_or(-1);
            }
            "sessions" if self.is_own_session(row) => {
                self.sessions.extend(row.int("session_no"));
            }
            "session_places" if self.is_of_session(row) => {
                self.places.extend(row.int("place_no"));
            }
            "places" if self.has(&self.places, row, "place_no") => {
                self.roots.extend(row.int("root_no"));
            }
            "roots" if self.has(&self.roots, row, "root_no") => {
                self.projects.extend(row.text("project").map(str::to_owned));
            }
            "events" if self.is_of_session(row) => {
                self.events.extend(row.int("event_no"));
                self.places.extend(row.int("place_no"));
            }
            "scopes" if self.is_own_scope(row) => {
                self.own_scope = row.int("scope_no");
                self.scopes.extend(self.own_scope);
            }
            "evidence" if self.is_of_session(row) || self.is_named(row) => {
                self.observations.extend(row.int("observation_no"));
            }
            "observations" if self.is_own_observation(row) => {
                self.observations.extend(row.int("observation_no"));
                self.scopes.extend(row.int("scope_no"));
            }
            _ => {}
        }
    }

    /// Whether a row belongs into an account of the user.
    pub(super) fn has_row(&self, row: &RowView<'_>) -> bool {
        match row.0.name {
            "tenants" => row.int("tenant_no") == Some(self.tenant),
            "projects" => {
                row.int("tenant_no") == Some(self.tenant)
                    && row
                        .text("key")
                        .is_some_and(|key| self.projects.contains(key))
            }
            "roots" => self.has(&self.roots, row, "root_no"),
            "places" => self.has(&self.places, row, "place_no"),
            "event_retractions" => self.has(&self.events, row, "event_no"),
            "scopes" => self.has(&self.scopes, row, "scope_no"),
            "observations" => self.has(&self.observations, row, "observation_no"),
            "evidence" => {
                let is_in_own = row
                    .int("observation_no")
                    .is_some_and(|no| self.observations.contains(&no));
                is_in_own && (self.is_of_session(row) || self.is_named(row))
            }
            "retractions" => {
                self.is_of_session(row)
                    || row
                        .int("scope_no")
                        .is_some_and(|no| Some(no) == self.own_scope)
            }
            "spend_calls" => {
                row.int("tenant_no") == Some(self.tenant) && row.text("user") == Some(&self.user)
            }
            "sessions" | "session_places" | "events" | "root_remotes" | "uses" | "threads"
            | "thread_snapshots" | "sources" | "extractions" => self.is_of_session(row),
            _ => false,
        }
    }

    fn has(&self, numbers: &BTreeSet<i64>, row: &RowView<'_>, column: &str) -> bool {
        row.int(column).is_some_and(|no| numbers.contains(&no))
    }

    fn is_of_session(&self, row: &RowView<'_>) -> bool {
        self.has(&self.sessions, row, "session_no")
    }

    fn is_own_session(&self, row: &RowView<'_>) -> bool {
        let is_own = match row.text("user") {
            Some(user) => user == self.user,
            None => self.is_person,
        };
        row.int("tenant_no") == Some(self.tenant) && row.int("known") == Some(1) && is_own
    }

    fn is_own_scope(&self, row: &RowView<'_>) -> bool {
        row.int("tenant_no") == Some(self.tenant)
            && row.text("kind") == Some("user")
            && row.text("name") == Some(&self.user)
    }

    fn is_own_observation(&self, row: &RowView<'_>) -> bool {
        self.has(&self.observations, row, "observation_no")
            || row
                .int("scope_no")
                .is_some_and(|no| Some(no) == self.own_scope)
            || self.is_named(row)
    }

    /// Whether a text of an observation or of evidence names the user.
    fn is_named(&self, row: &RowView<'_>) -> bool {
        let mut texts = TEXTS.iter().filter_map(|column| row.text(column));
        texts.any(|text| self.names(text))
    }

    /// Whether a text names the user, as a word of its own.
    pub(super) fn names(&self, text: &str) -> bool {
        let words = format!(" {} ", indexed_tokens(Origin::Human, text));
        !self.words.is_empty() && words.contains(&format!(" {} ", self.words))
    }
}

/// Hands every row of a table to `visit`, in the order of its key.
pub(super) async fn visit(
    store: &dyn Portable,
    table: &Table,
    mut visit: impl FnMut(&Row),
) -> Result<()> {
    let mut after = None;
    loop {
        let page = store.page(table, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(table.key_of(last));
        page.iter().for_each(&mut visit);
    }
}
