//! Which documents should have vectors of the chosen embedding model.

use daybook_domain::index::{DocumentKind, IndexedDocument, SearchFilter};
use daybook_domain::{Scope, Tenant};

use super::{Spec, admits};
use crate::model::values;
use crate::model::view;

/// A document's key, and the text that its vectors were made from.
type EmbeddedDocument = (String, String);

impl Spec {
    /// Chooses the model whose vectors are kept. Returns whether the choice changed.
    pub fn choose_model(&mut self, model: &str) -> bool {
        let is_other = self.model.as_deref() != Some(model);
        if is_other {
            self.model = Some(model.to_owned());
            self.embedded.clear();
        }
        is_other
    }

    /// Stores vectors for waiting documents whose text is `chosen`.
    pub fn embed(&mut self, model: &str, chosen: impl Fn(&str) -> bool) {
        if self.model.as_deref() != Some(model) {
            return;
        }
        let documents = self.documents().into_iter();
        let chosen = documents.filter(|(_, document)| chosen(&document.text));
        let chosen: Vec<EmbeddedDocument> = chosen.map(|(tokens, d)| (key(&d), tokens)).collect();
        for known in chosen {
            if !self.embedded.contains(&known) {
                self.embedded.push(known);
            }
        }
    }

    /// Forgets vectors of documents that are gone or have another text now. To be called after each operation.
    pub fn settle_vectors(&mut self) {
        let documents = self.documents().into_iter();
        let there: Vec<EmbeddedDocument> = documents.map(|(tokens, d)| (key(&d), tokens)).collect();
        self.embedded.retain(|known| there.contains(known));
    }

    /// Forgets all vectors, because the index was built anew.
    pub fn forget_vectors(&mut self) {
        self.embedded.clear();
    }

    /// Forgets the vectors of a memory file's entries.
    pub(super) fn forget_vectors_of(&mut self, scope: &Scope, file: &str) {
        let gone: Vec<String> = self
            .documents()
            .iter()
            .map(|(_, document)| document)
            .filter(|document| {
                document.scope.as_ref() == Some(scope)
                    && matches!(&document.what, DocumentKind::Entry { file: f, .. } if f == file)
            })
            .map(key)
            .collect();
        self.embedded.retain(|(key, _)| !gone.contains(key));
    }

    /// The documents that wait for vectors.
    pub(super) fn waiting(&self) -> Vec<String> {
        let documents = self.documents().into_iter();
        let waiting = documents.filter(|(_, document)| !self.has_vectors(document));
        let texts =
            waiting.map(|(_, document)| view::text_with_context(&document.text, document.context));
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts
    }

    /// The results of vector searches of the first model, one list for each filter.
    pub(super) fn near(&self) -> Vec<Vec<String>> {
        let is_asked = self.model.as_deref() == Some(values::model(0));
        let near = |filter: &SearchFilter| {
            let documents = self.documents().into_iter().map(|(_, document)| document);
            let found = documents.filter(|document| {
                is_asked && self.has_vectors(document) && admits(filter, document)
            });
            view::render_documents(&found.collect::<Vec<_>>())
        };
        view::filters(&Tenant::local()).iter().map(near).collect()
    }

    fn has_vectors(&self, document: &IndexedDocument) -> bool {
        let key = key(document);
        self.embedded.iter().any(|(known, _)| *known == key)
    }
}

fn key(document: &IndexedDocument) -> String {
    match &document.what {
        DocumentKind::Event { .. } => format!("{:?} {:?}", document.session, document.events),
        DocumentKind::Observation { id, .. } => format!("{:?} {id:?}", document.scope),
        DocumentKind::Entry { file, line, .. } => format!("{:?} {file} {line}", document.scope),
    }
}
