use super::fixtures::{BASE62, check_hidden, check_untouched, random_chars};

#[test]
fn only_the_password_of_an_address_is_hidden() {
    let cases = [
        ("postgres://app:", "s3cr3t", "@db:5432/main?sslmode=off"),
        ("mongodb+srv://u:", "p@ss", "@cluster.example.net/"),
        ("redis://:", "hunter2", "@cache:6379"),
        ("https:\\/\\/me:", "hunter2", "@host\\/x"),
        ("postgres://ada:", "Kx/7#t?q2", "@db.example.net:5432/shop"),
        ("postgres://ada:", "Kx7#tranq2", "@h/d"),
        ("amqp://ada:", "a/b?c1", "@h"),
        ("DATABASE_URL=mysql://root:", "päss", "@h/x"),
    ];
    for (before, secret, after) in cases {
        check_hidden("url-password", before, secret, after);
    }
    check_hidden(
        "url-password",
        "https://",
        &random_chars(BASE62, 40),
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
    "https://example.com:8443/@ada/post-1",
    "https://example.com:8443/x?mail=ada@example.com",
    "https://example.com/x:y2/ada@example.com",
    "oci://registry:v2/image@sha256:0123",
    "https://example.com:$PORT/x@y",
];
