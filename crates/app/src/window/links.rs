//! Addresses of pages.

use daybook_engine::jobs::memories::ShownLine;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::service::memories::place;

/// Where the window is.
pub(crate) const ROOT: &str = "/window";
/// All that is not unreserved in an address is encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The address of a page with its parameters; those without a value are left out.
pub(crate) fn page(name: &str, parameters: &[(&str, &str)]) -> String {
    let mut address = match name {
        "" => ROOT.to_owned(),
        name => format!("{ROOT}/{name}"),
    };
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    for (n, (name, value)) in given.enumerate() {
        address.push(if n == 0 { '?' } else { '&' });
        address.push_str(name);
        address.push('=');
        address.extend(utf8_percent_encode(value, ENCODED));
    }
    address
}

/// The page of a memory file.
pub(super) fn file(scope: &str, file: &str) -> String {
    page("file", &[("scope", scope), ("file", file)])
}

/// The page of the words behind a citation.
pub(super) fn words(citation: &str) -> String {
    page("words", &[("citation", citation)])
}

/// The page that explains a line.
pub(super) fn why(scope: &str, line: &ShownLine) -> String {
    page("why", &[("scope", scope), ("line", &place(line))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_and_empty_ones_left_out() {
        let address = page("ask", &[("question", "a&b=\"c\" ü"), ("scope", "")]);
        assert_eq!(address, "/window/ask?question=a%26b%3D%22c%22%20%C3%BC");
        assert_eq!(page("", &[]), "/window");
    }
}
