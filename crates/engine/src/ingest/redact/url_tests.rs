use super::fixtures::{BASE62, check_hidden, check_untouched, drawn};

#[test]
fn only_the_password_of_an_address_is_hidden() {
    let cases = [
        ("postgres://app:", "s3cr3t", "@db:5432/main?sslmode=off"),
        ("mongodb+srv://u:", "p@ss", "@cluster.example.net/"),
        ("redis://:", "hunter2", "@cache:6379"),
        ("https:\\/\\/me:", "hunter2", "@host\\/x"),
        ("DATABASE_URL=mysql://root:", "päss", "@h/x"),
    ];
    for (before, secret, after) in cases {
        check_hidden("url-password", before, secret, after);
    }
    check_hidden(
        "url-password",
        "https://",
        &drawn(BASE62, 40),
        "@git.example.com/o/r",
    );
}

#[test]
fn addresses_without_a_password_stay() {
    for text in UNTOUCHED {
        check_untouched(text);
    }
}

/// Addresses without a password, or with something in its place.
const UNTOUCHED: &[&str] = &[
    "https://github.com/o/r",
    "ssh://git@github.com:22/o/r.git",
    "git@github.com:o/r.git",
    "http://localhost:8080/@vite/client",
    "postgres://user:${DB_PASS}@localhost/db",
    "postgres://user:<password>@localhost/db",
    "postgres://user:****@localhost/db",
    "postgres://{user}:{password}@{host}",
    "fmt.Sprintf(\"https://%s:%s@%s\", user, pass, host)",
    "regexp: ://[^:]+:[^@]+@",
];
