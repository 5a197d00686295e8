//! Measures what of a folder would leave the machine.

use daybook_text::redact::Redactor;

use super::is_exchanged;
use crate::files::error::FilesError;
use crate::files::folder::Folder;

/// What of a folder would leave the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutgoingSize {
    /// Its files.
    pub files: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Those of them in which secrets are hidden first.
    pub hidden: usize,
}

/// Measures the newest commit of a folder.
///
/// # Errors
/// When its history cannot be read.
pub fn outgoing_size(folder: &Folder) -> Result<OutgoingSize, FilesError> {
    let mut size = OutgoingSize::default();
    let Some(head) = folder.head()? else {
        return Ok(size);
    };
    let redactor = Redactor::current();
    for path in folder.files_at(head)?.into_keys() {
        if !is_exchanged(path.as_str()) {
            continue;
        }
        let text = folder.read_at(head, &path)?.map(String::from_utf8);
        if let Some(Ok(text)) = text {
            let redacted = redactor.redact(&text);
            size.files += 1;
            size.bytes += redacted.text.len();
            size.hidden += usize::from(!redacted.findings.is_empty());
        }
    }
    Ok(size)
}
