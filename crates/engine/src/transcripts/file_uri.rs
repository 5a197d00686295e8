//! The folders that editors name by `file:` addresses.
//!
//! Not here: addresses of other machines, which name no folder of this one.

/// The folder that a `file:` address or a path names.
pub(super) fn folder(address: &str) -> Option<String> {
    match address.strip_prefix("file://") {
        Some(path) if path.starts_with('/') => Some(decoded(path)),
        None if address.starts_with('/') => Some(address.to_owned()),
        Some(_) | None => None,
    }
}

/// A path without its escapes; one that is no text stays as it is.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_folder_of_this_machine_or_none() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(folder(address).as_deref(), expected, "{address}");
        };
        check("file:///home/ada/tide%20pool", Some("/home/ada/tide pool"));
        check("file:///home/ada/100%", Some("/home/ada/100%"));
        check("file:///home/ada/%zz%ff", Some("/home/ada/%zz%ff"));
        check("/home/ada/tide%20pool", Some("/home/ada/tide%20pool"));
        check("file://server/share", None);
        check("vscode-remote://wsl+debian/home/ada", None);
        check("", None);
    }
}
