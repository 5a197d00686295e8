use super::fixtures::{BASE62, check_hidden, check_untouched, random_chars};

#[test]
fn private_keys_are_hidden_however_they_are_written() {
    let line = random_chars(BASE62, 64);
    let (begin, end) = (
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
    );
    let whole = [
        format!("{begin}\n{line}\n{line}\nAb3=\n{end}"),
        format!("{begin}\\n{line}\\n{line}\\nAb3=\\n{end}"),
        format!("{begin}\\\\n{line}\\\\n{line}\\\\n{end}"),
        format!("{begin}\r\n{line}\r\n{end}"),
        format!("{begin}\n    {line}\n    {line}\n    {end}"),
        format!("{begin}\n     2\u{2192}{line}\n     3\u{2192}{line}\n     4\u{2192}{end}"),
        format!("{begin}\n+{line}\n+{line}\n+{end}"),
        format!("{begin} {line} {end}"),
        format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n{line}\n{end}"),
        format!("{begin}\nMIIEpAIBAAKCAQEA\n{end}"),
    ];
    for key in &whole {
        check_hidden("private-key", "see:\n", key, "\nand so on");
        check_hidden(
            "private-key",
            "\"private_key\": \"",
            key,
            "\\n\", \"id\": 1",
        );
    }
    for label in [
        "OPENSSH PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let key = format!("-----BEGIN {label}-----\n{line}\n-----END {label}-----");
        check_hidden("private-key", "", &key, "");
    }
}

#[test]
fn a_private_key_without_end_or_beginning_is_hidden_too() {
    let line = random_chars(BASE62, 64);
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    check_hidden(
        "private-key",
        "",
        &format!("{begin}\n{line}\n{line}"),
        "\n\nThat was the key.",
    );
    check_hidden("private-key", "", &format!("{begin}\n{line}\nAb3dEf"), "");
    check_hidden(
        "private-key",
        "",
        &format!("{begin}\\nMIIEpAIBAAKCAQEA"),
        "",
    );
    check_hidden(
        "private-key",
        "cut off\n",
        &format!("{line}\n{line}\n{end}"),
        "\nafter",
    );
    check_untouched(&format!("a file that starts with {begin} and holds a key"));
    check_untouched(&format!("{begin}\n...\n{end}"));
    check_untouched(&format!("grep -c '{begin}' *.pem"));
}
