//! Lists secrets in a person's own text in the memory folders of a tenant.

use anyhow::Result;
use daybook_domain::page::read_all;
use daybook_engine::files::layout::folder;
use daybook_engine::files::secret_warnings::find_persons_secrets;
use daybook_text::redact::Redactor;
use serde::Serialize;

use crate::folders::data_folder;
use crate::wiring::Daybook;

/// A secret in a file that Daybook does not change.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FileSecret {
    /// The file.
    pub(crate) file: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The rule that would hide it.
    pub(crate) rule: String,
}

/// The secrets in all of the tenant's memory folders, by file and line.
pub(crate) async fn persons_secrets(daybook: &Daybook) -> Result<Vec<FileSecret>> {
    let redactor = Redactor::current();
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let mut all = Vec::new();
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        let below = folder(&daybook.root, &state.scope);
        let found = find_persons_secrets(&redactor, &daybook.root, &state.scope);
        all.extend(found.into_iter().map(|(file, secret)| FileSecret {
            file: data_folder::display_path(&below.join(file.as_str())),
            line: secret.line,
            rule: secret.rule,
        }));
    }
    Ok(all)
}
