use super::Redactor;
use super::fixtures::{BASE62, HEX, check_hidden, check_untouched, random_chars};

#[test]
fn assignments_keep_name_joint_and_quotes() {
    let key = random_chars(BASE62, 32);
    let cases = [
        ("token", "GITHUB_TOKEN=", ""),
        ("token", "export DEPLOY_TOKEN='", "'"),
        ("token", "{\"token\": \"", "\"}"),
        ("token", "{\\\"token\\\":\\\"", "\\\"}"),
        (
            "token",
            "{\\\\\\\"access_token\\\\\\\": \\\\\\\"",
            "\\\\\\\"}",
        ),
        ("token", "\\nSESSION_TOKEN=", "\\nNEXT=1"),
        ("token", "  auth_token: ", "\n  next: 1"),
        ("token", "authToken := `", "`"),
        ("token", "const token: string = \"", "\";"),
        ("token", "var token string = \"", "\""),
        ("token", "let token: &str = \"", "\";"),
        ("token", "{:token => \"", "\"}"),
        ("token", "headers[\"X-Auth-Token\"] = \"", "\""),
        ("token", "deploy --token ", " --now"),
        ("token", "deploy --token=", " --now"),
        ("token", "?access_token=", "&page=2"),
        ("token", "<token>", "</token>"),
        ("token", "if token == \"", "\" {"),
        ("token", "//registry.npmjs.org/:_authToken=", "\n"),
        ("token", "withToken(\"", "\")"),
        ("token", "os.Setenv(\"CI_TOKEN\", \"", "\")"),
        ("token", "- name: CI_TOKEN\n  value: ", "\n"),
        ("token", "{\"name\": \"CI_TOKEN\", \"value\": \"", "\"}"),
        ("token", "$env:CI_TOKEN = \"", "\""),
        ("secret-key", "OPENAI_API_KEY=", ""),
        ("secret-key", "api_key: ", ""),
        ("secret-key", "apiKey: '", "',"),
        ("secret-key", "\"client_secret\": \"", "\""),
        ("secret-key", "x-api-key: ", "\r\n"),
        ("secret-key", "private_key=b\"", "\""),
        ("secret-key", "SIGNING_KEY_2=", " "),
        ("token", "STRIPE_KEY=", ""),
        ("secret-key", "API_KEYS=", ""),
        ("secret-key", "the API key is ", "."),
        ("high-entropy", "here is the key: ", ""),
        ("high-entropy", "the token:\n", "\n"),
        ("high-entropy", "a token (", ")"),
        ("high-entropy", "secret → ", ""),
        ("secret-key", "SECRET_KEY_BASE=", ""),
        ("token", "TOKEN2=", ""),
        ("high-entropy", "| token | ", " |"),
        ("high-entropy", "my token `", "`"),
    ];
    for (rule, before, after) in cases {
        check_hidden(rule, before, &key, after);
    }
}

#[test]
fn passwords_need_no_randomness() {
    let cases = [
        ("password: \"", "hunter2hunter2", "\""),
        ("\"password\": \"", "S3cret!pass", "\""),
        ("\\\"password\\\":\\\"", "S3cret!pass", "\\\""),
        ("DB_PASSWORD=", "s3cr3t", ""),
        ("export DB_PASSWORD='", "svPTtNsmBcAesh", "'"),
        ("DB_PASS=", "Zx9#kL2p", ""),
        ("password=", "Passw0rd", ""),
        ("PGPASSWORD=", "Sommer2024", " psql"),
        ("db.password=", "pa55w0rd!x", "\n"),
        ("--password ", "hunter22x", " run"),
        ("MYSQL_PWD='", "correct#horse", "'"),
        ("spring.datasource.password=", "b4tt3rySt4ple", ""),
        ("auth: { user: 'me', pass: '", "p4ssphrase", "' }"),
        ("Server=db;Password=", "x9!Kq2mZ", ";Database=a"),
        ("<password>", "x9!Kq2mZ", "</password>"),
        ("password: \"", "пароль2024", "\""),
        ("PASSPHRASE=", "xkqjzwvp", ""),
        ("my password is ", "Tr0ub4dor&3x", ", keep it"),
        ("contraseña: ", "Verano2024", ""),
        ("密码：", "Verano2024", "。"),
    ];
    for (before, secret, after) in cases {
        check_hidden("password", before, secret, after);
    }
}

#[test]
fn hexadecimal_values_need_a_name_that_promises_a_key() {
    let (short, long) = (random_chars(HEX, 24), random_chars(HEX, 64));
    check_hidden("secret-key", "DD_API_KEY=", &short, "");
    check_hidden("token", "SENTRY_AUTH_TOKEN=", &long, "");
    check_untouched(&format!("token: {long}"));
    check_untouched(&format!("\"token\": \"{long}\""));
    check_untouched(&format!("auth_token: {short}"));
}

#[test]
fn code_words_and_stand_ins_stay() {
    for text in UNTOUCHED {
        check_untouched(text);
    }
}

/// Names that promise a secret, or seem to, beside something else.
const UNTOUCHED: &[&str] = &[
    "The token budget is 150000 tokens; the key idea is simple.",
    "api_key=<your-token>",
    "token: <token>",
    "API_KEY=your_api_key_here",
    "run(\"DB_PASSWORD=\" + drawnPassword), \"next\"",
    "TOKEN=$TOKEN",
    "TOKEN=\"$GITHUB_TOKEN\"",
    "TOKEN=${GITHUB_TOKEN:-none}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: \"{{.Env.MACOS_SIGN_PASSWORD}}\"",
    "PASSWORD=%PASSWORD%",
    "token = \"xxxxxxxxxxxxxxxx\"",
    "password: ********",
    "password: changeme",
    "password: \"changeme123\"",
    "password=\"example-password-1\"",
    "os.environ[\"TOKEN\"]",
    "token = os.environ[\"GITHUB_TOKEN\"]",
    "token = os.getenv(\"GITHUB_TOKEN\", \"\")",
    "const token = process.env.GITHUB_TOKEN;",
    "token = getToken()",
    "token := getToken2(ctx, 12)",
    "secret := loadSecret(ctx)",
    "secret, err := loadSecret(ctx)",
    "password: string",
    "password: Option<String>,",
    "pub password: Utf8PathBuf,",
    "pub Password: super::super::Win32::Foundation::UNICODE_STRING,",
    "Token: token,",
    "Token: cfg.Token2,",
    "password = user.password",
    "this.password = password1",
    "if (token === nextToken2) {",
    "func TestTokenRefresh(t *testing.T) {",
    "token: \"test-token\"",
    "secret: \"my-very-secret-value\"",
    "tokenKey = \"entire_session_token_v2\"",
    "\"grant_types\": [\"password\", \"oauth2\"]",
    "\"password\": \"Please enter a password with 8 characters!\"",
    "\"password\": \"auth.password.required\"",
    "<input type=\"password\" id=\"field12\">",
    "password=/run/secrets/db_password_1",
    "PWD=/home/me/work2/daybook",
    "PASSWORD_FILE=/etc/x9Kq2mZ/pass",
    "token_url: https://auth.example.com/oauth2/token",
    "secret: vault://kv/data/app1#key",
    "password: user@example.com",
    "input_tokens: 12034, output_tokens: 512",
    "\"cache_read_input_tokens\":12034",
    "max_token=4096",
    "token_count = 8f14e45f",
    "next_page_token: CAUQAA1b2c3d4e5f6g7",
    "public_key=AAAAC3NzaC1lZDI1NTE5AAAAIK1b2",
    "PRIMARY_KEY=user2_id4_x8",
    "keyboard: qwerty1234",
    "monkey: a1b2c3d4e5f6g7",
    "token: [REDACTED]",
    "token=[REDACTED_SECRET]",
    "\"password\": \"<redacted>\"",
    "the password is SHA256-hashed, the token is AES256-encrypted!",
    "['NIDiscoveryToken', 'NINearbyObject']",
    "let token: Sha256Digest = x;",
    "密码错误，请重新输入",
    "path: src/secret/key/token/password.rs",
    "token\u{ff1a}无",
    "Token 1: 2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00Z token=2026-01-31T12:00:00Z",
    "password reset for ada, key 12, secret santa",
];

#[test]
fn a_value_that_a_shell_quotes_within_quotes_is_hidden() {
    for _ in 0..20 {
        let password = random_chars(BASE62, 14);
        for (before, after) in [
            (r"sh -c 'export DB_PASSWORD='\''", r"'\'' && run'"),
            (r#"{"cmd":"sh -c 'export DB_PASSWORD='\\''"#, r#"'\\'''"}"#),
            (r#"sh -c 'mysql --password='"'"'"#, r#"'"'"' db'"#),
        ] {
            let text = format!("{before}{password}{after}");
            let redacted = Redactor::standard().redact(&text);
            assert!(!redacted.text.contains(&password), "{}", redacted.text);
            assert!(redacted.text.starts_with(before), "{}", redacted.text);
            assert!(redacted.text.ends_with(after), "{}", redacted.text);
        }
    }
}
