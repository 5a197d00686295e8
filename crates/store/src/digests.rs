//! How a digest is stored, as far as a condition of SQL needs it.

/// Part of the text of each stored digest that names a root, and of no other: within a word of JSON the
/// quotes would be escaped.
pub(crate) const DIGEST_ROOT: &str = r#""root":""#;

#[cfg(test)]
mod tests {
    use daybook_domain::Digest;
    use daybook_domain::extraction::CitedText;

    use super::DIGEST_ROOT;

    #[test]
    fn a_stored_digest_shows_whether_it_names_a_root() {
        let quotes = CitedText {
            text: r#"set {"root":"/tmp"}, \"root":"" and "root":null"#.to_owned(),
            events: Vec::new(),
            lines: Vec::new(),
        };
        for root in [None, Some(String::new()), Some("/home/ada".to_owned())] {
            let digest = Digest {
                task: Some(quotes.clone()),
                branch: Some(r#""root":""#.to_owned()),
                root,
                ..Digest::default()
            };
            let stored = serde_json::to_string(&digest).unwrap();
            assert_eq!(stored.contains(DIGEST_ROOT), digest.root.is_some());
        }
    }
}
