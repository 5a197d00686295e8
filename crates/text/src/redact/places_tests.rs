//! Passwords and keys in the places where only a command, a file format or a sentence reveals them.

use super::fixtures::{BASE62, HEX, Random, check_hidden, check_untouched};

/// What stands before and after a password that a person chose.
const PASSWORD_PLACES: &[(&str, &str)] = &[
    ("DB_PW=", ""),
    ("db_pw: \"", "\""),
    ("set -x DB_PASSWORD ", ""),
    ("set -gx DB_PASSWORD '", "'"),
    ("ENV DB_PASSWORD ", "\nRUN make"),
    ("setenv DB_PASSWORD ", ""),
    ("setx DB_PASSWORD \"", "\""),
    ("db1:5432:shop:ada:", ""),
    ("~/.pgpass:\ndb1.example.net:5999:*:ada:", "\n"),
    ("*:*:*:ada:", "\n"),
    ("machine h login ada password ", ""),
    ("machine git.example.net\n  login ada\n  password ", "\n"),
    ("new NetworkCredential(\"ada\", \"", "\")"),
    ("<add key=\"ClearTextPassword\" value=\"", "\" />"),
    ("<property name=\"password\" value=\"", "\"/>"),
    ("docker login -u ada -p ", ""),
    (
        "docker login registry.example.net -u ada -p ",
        " && docker push x",
    ),
    ("podman login --username ada --password=", ""),
    ("mariadb -u ada -p", " shop"),
    ("mysqlimport --local -u ada -p", " shop f.txt"),
    ("mysql -u ada --password=", " shop"),
    ("mysqldump -uada -p'", "' shop"),
    ("redis-cli -h cache -a ", " PING"),
    ("redis-cli -a '", "' PING"),
    ("requirepass ", "\n"),
    ("redis-server --requirepass ", ""),
    ("mongosh -u ada -p ", " --host h"),
    ("mongodump --username ada --password ", ""),
    ("ldapsearch -x -D cn=a -w ", " -b dc=x"),
    ("htpasswd -b file ada ", ""),
    ("htpasswd -nb ada ", " > file"),
    ("htpasswd -bc /etc/x ada '", "'"),
    ("htpasswd -nbB ada \"", "\""),
    ("echo ", " | sudo -S ls"),
    ("echo '", "' | sudo -S -k apt update"),
    ("echo \"", "\" | docker login -u ada --password-stdin"),
    (
        "printf '%s' '",
        "' | docker login r.example -u ada --password-stdin",
    ),
    ("sudo -S ls <<< '", "'"),
    ("echo 'ada:", "' | chpasswd"),
    ("sshpass -p ", " ssh h"),
    ("SSHPASS=", " sshpass -e ssh h"),
    ("sqlcmd -S h -U sa -P ", " -Q 'select 1'"),
    ("rabbitmqctl add_user ada ", ""),
    ("smbclient //h/s -U ada%", ""),
    ("CREATE USER a IDENTIFIED BY '", "';"),
    ("create user a identified by '", "';"),
    ("ALTER ROLE a PASSWORD '", "';"),
    ("alter user a with encrypted password '", "';"),
    ("CREATE LOGIN a WITH PASSWORD = N'", "';"),
    ("SET PASSWORD FOR 'a'@'h' = PASSWORD('", "');"),
    ("kubectl create secret generic s --from-literal=db=", ""),
    ("$x = ConvertTo-SecureString \"", "\" -AsPlainText -Force"),
    ("ConvertTo-SecureString -String '", "' -AsPlainText"),
    ("net user ada ", " /add"),
    ("tool --pass ", ""),
    ("curl -u ada:", " https://h"),
    ("curl -s --user 'ada:", "' https://h"),
];

/// Weak, strong and short passwords that people choose.
const PASSWORDS: &[&str] = &["Kx7#tranq2", "hunter2secret!", "Sommer2024", "tr4nq_Vale"];

#[test]
fn a_chosen_password_is_hidden_in_every_place() {
    for (before, after) in PASSWORD_PLACES {
        for password in PASSWORDS {
            let rule = if before.starts_with("curl") {
                "basic-auth"
            } else {
                "password"
            };
            check_hidden(rule, before, password, after);
        }
    }
}

#[test]
fn even_a_weak_password_is_hidden_behind_a_flag_for_it() {
    for (before, after) in [
        ("docker login -u ada -p ", ""),
        ("mysql -u ada -p", " shop"),
        ("redis-cli -a ", " PING"),
        ("echo ", " | sudo -S ls"),
        ("ALTER ROLE a PASSWORD '", "';"),
        ("deploy --password ", " --now"),
    ] {
        for password in ["sunshine", "letmein", "dragon12", "123456"] {
            check_hidden("password", before, password, after);
        }
    }
}

#[test]
fn drawn_tokens_are_hidden_in_every_place() {
    let mut random = Random::new(7);
    for (rule, before, after) in [
        ("token", "AZURE_PAT=", ""),
        ("token", "\"github_pat\": \"", "\""),
        ("token", "ENV NPM_TOKEN ", "\n"),
        ("token", "set -x NPM_TOKEN ", ""),
        ("token", "Der API-Schlüssel lautet ", "."),
        ("token", "Schlüssel: ", ""),
        ("token", "la clé API est ", ""),
        ("token", "npm config set //r.example.net/:_authToken ", ""),
        ("password", "echo ", " | gh auth login --with-token"),
        ("password", "gh auth login --with-token <<< \"", "\""),
        ("token", "aws configure set aws_session_token ", ""),
        ("secret-key", "aws configure set profile.x.api_key ", ""),
    ] {
        for _ in 0..20 {
            check_hidden(rule, before, &random.chars(BASE62, 32), after);
        }
    }
    let hex = random.chars(HEX, 40);
    check_hidden(
        "aws-secret-key",
        "aws configure set aws_secret_access_key ",
        &hex,
        "",
    );
    check_hidden(
        "secret-key",
        "client-key-data: ",
        &random.chars(BASE62, 300),
        "\n",
    );
}

#[test]
fn keys_of_putty_are_hidden() {
    let mut random = Random::new(3);
    let [one, two, last, mac] =
        [64, 64, 40, 40].map(|len| random.chars(if len == 40 { HEX } else { BASE62 }, len));
    for end in ["\n", "\r\n", "\\n"] {
        let before = format!("Public-Lines: 1{end}AAAA{end}Private-Lines: 3{end}");
        let key = format!("{one}{end}{two}{end}{last}{end}Private-MAC: {mac}");
        check_hidden("private-key", &before, &key, "");
        check_hidden("private-key", &before, &key, &format!("{end}and more"));
    }
}

#[test]
fn values_of_kubernetes_secrets_are_hidden() {
    let yaml =
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\n  labels: {a: b}\ndata:\n  db: ";
    check_hidden(
        "kubernetes-secret",
        yaml,
        "S3g3dHJhbnEy",
        "\ntype: Opaque\n",
    );
    let yaml = yaml.replace("\ndata:", "\nstringData:");
    check_hidden(
        "kubernetes-secret",
        &yaml,
        "plainWords2",
        "\n---\nkind: ConfigMap\ndata:\n  x: yellow\n",
    );
    let data_first = "apiVersion: v1\ndata:\n  db: ";
    check_hidden(
        "kubernetes-secret",
        data_first,
        "S3g3dHJhbnEy",
        "\nkind: Secret\nmetadata:\n  name: x\n",
    );
    let json = "{\"apiVersion\": \"v1\", \"data\": {\"db\": \"";
    check_hidden(
        "kubernetes-secret",
        json,
        "S3g3dHJhbnEy",
        "\"}, \"kind\": \"Secret\"}",
    );
    check_untouched("kind: SecretStore\ndata:\n  db: yellow2x");
    check_untouched("kind: ConfigMap\ndata:\n  db: yellow2x");
}

#[test]
fn seed_phrases_are_hidden() {
    let words = "apple river stone cloud tiger music paper light ocean bread chair dance";
    let double = format!("{words} {words}");
    let numbered: Vec<_> = words
        .split(' ')
        .enumerate()
        .map(|(at, word)| format!("{}. {word}", at + 1))
        .collect();
    for phrase in [words, &double] {
        for (before, after) in [
            ("seed phrase: ", ""),
            ("My seed phrase is ", "\n"),
            ("MNEMONIC=\"", "\""),
            ("\"mnemonic\": \"", "\", \"x\": 1"),
            ("recovery phrase:\n", "\nNext."),
            ("seed words are: ", "."),
        ] {
            check_hidden("seed-phrase", before, phrase, after);
        }
    }
    let numbered = numbered.join("\n");
    check_hidden(
        "seed-phrase",
        "seed phrase:\n1. ",
        numbered.strip_prefix("1. ").unwrap_or_default(),
        "",
    );
    check_untouched(
        "The mnemonic is a list that users write down when they set up their wallet on paper.",
    );
    check_untouched(
        "mnemonic: words that people remember are stored with the other data under version control",
    );
    check_untouched("seed phrase: apple river stone");
}

#[test]
fn a_password_that_a_sentence_states_is_hidden() {
    for (before, after) in [
        ("the password is ", ""),
        ("the password is ", ", do not tell"),
        ("The password is: ", "\nnext"),
        ("password is \"", "\"."),
        ("my password is now ", " and works"),
        ("the password for the staging server is ", ""),
        ("pw: ", ""),
        ("PW: ", " ok?"),
        ("PW ist ", ""),
        ("the pw is ", ""),
        ("mein Passwort ist ", ""),
        ("das Passwort lautet ", ", danke"),
        ("Das Passwort lautet: „", "“"),
        ("das Passwort für den Server ist ", ""),
        ("das Kennwort ist ", ""),
        ("Kennwort: ", ""),
        ("Passwort: ", ""),
        ("Zugangsdaten: ada / ", ""),
        ("Zugangsdaten für den Server: ada / ", ""),
        ("credentials: ada / ", ""),
        ("login: ada / ", ""),
        ("log in with ada / ", " please"),
        ("credentials are ada:", ""),
        ("use ", " as the password"),
        ("Use `", "` as my password."),
        ("nimm ", " als Passwort"),
        ("verwende bitte \"", "\" als Kennwort"),
        ("le mot de passe est ", ""),
        ("mot de passe : ", ""),
        ("la contraseña es ", ""),
        ("contraseña: ", ""),
    ] {
        for password in ["hunter2secret!", "Kx7#Tranq2", "Sommer2024", "tr4nqVale"] {
            check_hidden("password", before, password, after);
        }
    }
    check_hidden("password", "Kennwort ", "Kx7#tranq2", "");
    check_hidden("password", "Passwort ", "hunter2secret!", " und weiter");
}

#[test]
fn words_and_placeholders_stay_in_these_places() {
    for text in UNTOUCHED {
        check_untouched(text);
    }
}

const UNTOUCHED: &[&str] = &[
    "faster than equivalent two-pass memchr2+SWAR code",
    "the tests pass with 12 warnings, --pass is a flag",
    "Der Schlüssel lautet anders, der Schlüssel ist verloren",
    "ConvertTo-SecureString $password -AsPlainText",
    "the password is wrong",
    "the password is wrong!",
    "the password is required, the token is expired",
    "the password is at least 8-characters long",
    "the password is SHA256-hashed",
    "the password is bcrypt2-hashed and base64-encoded",
    "the password is config.password2",
    "the password is in db2.yaml",
    "the password is 1Password-managed",
    "the private key is encrypted, the API key is employed",
    "use argon2id as the password hash",
    "Use PBKDF2 as password hashing function",
    "keep user2name as the password field",
    "Address6.fromWildcard('*:*:*:*:*:*:*:*')",
    "das Passwort ist falsch",
    "das Passwort ist falsch!",
    "das Passwort lautet anders",
    "mein Passwort ist abgelaufen",
    "Kennwort vergessen?",
    "Zugangsdaten: siehe unten / anderswo",
    "credentials: none / default",
    "login: required / optional",
    "use bcrypt as the password hash",
    "use argon2 as password hash",
    "nimm das als Passwort",
    "le mot de passe est incorrect",
    "la contraseña es incorrecta",
    "docker login -u ada -p $DOCKER_PASSWORD",
    "docker login -u ada -p \"$DOCKER_PASSWORD\"",
    "docker login -u ada -p <password>",
    "docker login -u ada --password-stdin < file",
    "docker run -p 3306:3306 mysql -p",
    "docker run -d mysql -p3306:3306",
    "mysql -u root -p shop < dump.sql",
    "mysql -u root -p${MYSQL_PASSWORD} shop",
    "mysql -u root -pchangeme shop",
    "mysql -u root -pmy-secret-pw",
    "mysql -u root --password=*** shop",
    "mongosh \"mongodb://localhost:27017\"",
    "mongosh -u ada -p xxx",
    "redis-cli -h cache -p 6379 PING",
    "redis-cli -a $REDIS_PASSWORD PING",
    "requirepass is a directive of redis.conf",
    "ldapsearch -x -W -D cn=a",
    "ldapsearch -w \"$PW\"",
    "htpasswd -c file ada",
    "htpasswd -b file ada <password>",
    "echo $PASSWORD | sudo -S ls",
    "echo \"$TOKEN\" | gh auth login --with-token",
    "echo done | sudo tee /etc/x",
    "gh auth login --with-token < token.txt",
    "identified by \"strategy\" in metadata",
    "was identified as dead code",
    "CREATE USER a IDENTIFIED BY '<password>'",
    "ALTER ROLE a PASSWORD NULL",
    "ALTER ROLE a PASSWORD '${PW}'",
    "the --password flag is required",
    "pass it with --password instead",
    "run with --password and --user",
    "db1:5432",
    "0.0.0.0:5432->5432/tcp",
    "postgres:5432:5432",
    "cpe:2.3:a:vendor:product:1.0:*:*:*:*:*:*:*",
    "machine learning login page password reset mail",
    "new NetworkCredential(user, password)",
    "<add key=\"Timeout2\" value=\"Kx7tranq2\" />",
    "kubectl create configmap c --from-literal=special.how=very",
    "SHOW_PATH=/x PATTERN=a1b2c3 pat: a1b2c3d4e5f6",
    "ENV PATH /usr/local/bin",
    "ENV NODE_VERSION 22.1.0",
    "set -x; TOKEN=$1",
    "export PW=$(pass show x)",
    "client-key-data: REDACTED",
    "client-key-data: DATA+OMITTED",
    "curl -u ada:$PASSWORD https://h",
    "curl -u user:pass https://h",
    "Private-Lines: 8",
];
