use super::families::FAMILIES;
use super::fixtures::{
    BASE62, DIGITS, HEX, LOWER, UPPER, check_hidden, check_untouched, random_chars,
};
use super::rules::RULES;
use super::scan::compile;

#[test]
fn every_rule_hides_its_samples_and_only_them() {
    for sample in all() {
        check_hidden(sample.rule, &sample.before, &sample.secret, "");
        check_hidden(sample.rule, &sample.before, &sample.secret, "\nnext line");
        check_hidden(sample.rule, &sample.before, &sample.secret, "\" and more");
    }
}

#[test]
fn every_pattern_compiles_and_does_not_match_nothing() {
    for rule in &RULES {
        assert!(!compile(rule).is_match(b""), "{}", rule.name);
    }
}

#[test]
fn every_rule_has_a_sample() {
    let samples = all();
    for rule in &RULES {
        let in_families = FAMILIES.iter().any(|(name, _)| *name == rule.name);
        let in_samples = samples.iter().any(|sample| sample.rule == rule.name);
        assert!(in_families || in_samples, "{}", rule.name);
    }
}

#[test]
fn a_secret_is_found_wherever_a_word_may_start() {
    let token = format!("ghp_{}", random_chars(BASE62, 36));
    let starts = [
        "",
        " ",
        "\n",
        "-",
        "+",
        "\\n",
        "\\\\n",
        "\\t",
        "(",
        "[",
        "<",
        "«",
        "токен: ",
        "/",
        ",",
        "%20",
        "\\u0022",
        "\u{1b}[32m",
        "\u{1b}[1;31m",
        "x=",
        "echo \"",
        "https://",
        "| ",
        "`",
    ];
    for start in starts {
        check_hidden("github-token", start, &token, "");
        check_hidden("github-token", start, &token, ". The end");
        check_hidden("github-token", start, &token, "\\n");
        check_hidden("github-token", start, &token, "…");
    }
}

#[test]
fn a_long_start_is_found_after_a_prefix_and_a_short_one_is_not() {
    let body = random_chars(BASE62, 36);
    check_hidden("gitlab-token", "SIE-", &format!("glpat-{body}"), "");
    check_untouched(&format!("version.py,sha256=qaN-fw_{body},160"));
}

#[test]
fn what_only_resembles_a_format_stays() {
    for text in UNTOUCHED {
        check_untouched(text);
    }
}

/// Texts that have a rule's keyword, or resemble its format, and contain no secret.
const UNTOUCHED: &[&str] = &[
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-api03-...",
    "sk-ant-your-key-goes-here-please",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "Bearer [REDACTED]",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Authorization: Bearer {token}",
    "-H \"Authorization: Bearer ${API_TOKEN}\"",
    "headers.authorization = req.headers.authorization",
    "the bearer authentication scheme",
    "Cookie: theme=dark; lang=en",
    "Basic authentication is basic functionality",
    "basic understanding",
    "docker run -u 1000:1000 --name x",
    "curl -u \"$USER:$PASS\" https://x",
    "<div class=\"sk-toggleable__label sk-estimator-doc-link\"></div>",
    "task-notification-with-a-long-name-2",
    "risk-assessment-2024-01-31-final-version",
    "disk-output-waiting-1769806967918",
    "npm_config_registry=https://registry.npmjs.org",
    "SKIP_TESTS=1 SKETCH ASK",
    "msg.sender.balance.toString()",
    "hf_hub_download(repo_id, filename)",
    "npm_lifecycle_script_name_is_long_enough_to_look",
    "## Basic Operations",
    "Basic Concepts, Basic Usage: Basic Configuration",
    "path/to/pattern.rs patched patches",
    "live_preview_of_the_latest_long_document_name",
    "live_updates_are_disabled_by_default_now_v2_x",
    "test_that_a_long_name_is_left_alone_please_1",
    "re_compile_of_a_long_regular_expression_x",
    "as-soon-as-the-worker-has-written-its-record",
    "pa-rather-long-words-joined-by-dashes-and-so-on-more",
    "v1.0-beta, v1.0-rc1, v1.0-alpine",
    "api-gateway-service-deployment-production-eu",
    "key_value_store_implementation_of_the_engine",
    "https://hooks.zapier.com/hooks/catch/",
    "YCombinator and YCSB benchmark results for 2026-01-31",
    "ak_keyboard_layout_id",
    "m0-migration-of-all-tables-in-production",
    "db-migrate-up-and-down-twice-with-logs",
    "fc-list | sort, fc-cache -fv",
    "render rnd_ re_ pk_ sk_ live_ test_",
    "EAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "access_token$production",
    "1000.5 ms 1000.25 MB",
    "$2a$ and $6$ are prefixes of hashes",
    "token-based, token-bucket, token-name: x",
    "sha256~ is a prefix",
    "API-DOCUMENTATION-OF-THE-SERVICE",
    "sl.setAttribute(name)",
    "SSWS 00",
    "00Default!",
];

/// One secret of each known format, with the rule that names it and the text that stays.
struct RuleSample {
    rule: &'static str,
    before: String,
    secret: String,
}

fn sample(rule: &'static str, start: &str, body: &str) -> RuleSample {
    RuleSample {
        rule,
        before: String::new(),
        secret: format!("{start}{body}"),
    }
}

fn after(rule: &'static str, before: &str, secret: &str) -> RuleSample {
    RuleSample {
        rule,
        before: before.to_owned(),
        secret: secret.to_owned(),
    }
}

/// Every row of the rules, at least once.
fn all() -> Vec<RuleSample> {
    let mut samples = clouds();
    samples.extend(models());
    samples.extend(repositories());
    samples.extend(services());
    samples.extend(shared());
    samples
}

fn clouds() -> Vec<RuleSample> {
    let word = |len| random_chars(BASE62, len);
    vec![
        sample("aws-access-key-id", "AKIA", &random_chars(UPPER, 16)),
        sample("aws-access-key-id", "ASIA", &random_chars(UPPER, 16)),
        after("aws-secret-key", "aws_secret_access_key = ", &word(40)),
        after("aws-secret-key", "AWS secret access key is `", &word(40)),
        after("aws-secret-key", "\"SecretAccessKey\": \"", &word(40)),
        sample("aws-bedrock-key", "ABSK", &word(120)),
        sample("google-api-key", "AIza", &word(35)),
        sample("google-api-key", "AQ.Ab8", &word(44)),
        sample("google-oauth-secret", "GOCSPX-", &word(28)),
        sample("google-oauth-token", "ya29.", &word(60)),
        sample("google-oauth-token", "1//0", &word(60)),
        after(
            "azure-storage-key",
            "AccountName=logs;AccountKey=",
            &format!("{}==", word(86)),
        ),
        after(
            "azure-storage-key",
            "Endpoint=sb://x/;SharedAccessKey=",
            &format!("{}=", word(43)),
        ),
        after(
            "azure-sas",
            "https://x/y?sv=2024&sig=",
            &format!("{}%2B{}%3D", word(20), word(20)),
        ),
        sample("azure-client-secret", "aB3", &format!("8Q~{}", word(34))),
        sample("digitalocean-token", "dop_v1_", &random_chars(HEX, 64)),
        sample("alibaba-key-id", "LTAI", &word(20)),
        sample("databricks-token", "dapi", &random_chars(HEX, 32)),
        sample("heroku-key", "HRKU-AA", &word(58)),
        sample("fly-token", "fm2_", &word(90)),
        sample("netlify-token", "nfp_", &word(36)),
        sample("supabase-key", "sbp_", &random_chars(HEX, 40)),
        sample("supabase-key", "sb_secret_", &word(31)),
        sample("planetscale-key", "pscale_tkn_", &word(43)),
    ]
}

fn models() -> Vec<RuleSample> {
    let word = |len| random_chars(BASE62, len);
    let letters = random_chars(&BASE62[10..], 34);
    vec![
        sample(
            "anthropic-key",
            "sk-ant-api03-",
            &format!("{}-{}AA", word(40), word(50)),
        ),
        sample("anthropic-key", "sk-ant-oat01-", &word(93)),
        sample("openrouter-key", "sk-or-v1-", &random_chars(HEX, 64)),
        sample("openai-key", "sk-", &word(48)),
        sample("openai-key", "sk-", &random_chars(HEX, 32)),
        sample("openai-key", "sk-", &BASE62[36..56]),
        sample(
            "openai-key",
            "sk-proj-",
            &format!("{}_{}-{}", word(40), word(60), word(40)),
        ),
        sample("openai-key", "sk-svcacct-", &word(60)),
        sample("huggingface-token", "hf_", &letters),
        sample("groq-key", "gsk_", &word(52)),
        sample("xai-key", "xai-", &word(80)),
        sample("perplexity-key", "pplx-", &word(48)),
        sample("replicate-token", "r8_", &word(37)),
        sample("nvidia-key", "nvapi-", &word(64)),
        sample("cerebras-key", "csk-", &random_chars(LOWER, 48)),
        sample("fireworks-key", "fw_", &word(24)),
        sample(
            "langsmith-key",
            "lsv2_pt_",
            &format!("{}_{}", random_chars(HEX, 32), random_chars(HEX, 10)),
        ),
        sample("tavily-key", "tvly-", &word(32)),
        sample("pinecone-key", "pcsk_", &word(70)),
    ]
}

fn repositories() -> Vec<RuleSample> {
    let word = |len| random_chars(BASE62, len);
    vec![
        sample("github-token", "ghp_", &word(36)),
        sample("github-token", "gho_", &word(36)),
        sample("github-token", "ghu_", &word(36)),
        sample("github-token", "ghr_", &word(76)),
        sample(
            "github-token",
            "ghs_",
            &format!("12345_{}.{}.{}", word(40), word(90), word(43)),
        ),
        sample(
            "github-token",
            "github_pat_",
            &format!("{}_{}", word(22), word(59)),
        ),
        sample("gitlab-token", "glpat-", &word(20)),
        sample(
            "gitlab-token",
            "glpat-",
            &format!("{}.01.{}", word(40), random_chars(LOWER, 9)),
        ),
        sample("gitlab-token", "gldt-", &word(20)),
        sample("npm-token", "npm_", &word(36)),
        sample("pypi-token", "pypi-AgE", &word(160)),
        sample("rubygems-key", "rubygems_", &random_chars(HEX, 48)),
        sample("crates-io-token", "cio", &word(32)),
        sample("nuget-key", "oy2", &random_chars(LOWER, 43)),
        sample("docker-token", "dckr_pat_", &word(27)),
        sample(
            "atlassian-token",
            "ATATT3",
            &format!("{}={}", word(170), random_chars(UPPER, 8)),
        ),
    ]
}

fn services() -> Vec<RuleSample> {
    let word = |len| random_chars(BASE62, len);
    let digits = |len| random_chars(DIGITS, len).replace('0', "7");
    let channel = format!(
        "T{}/B{}/{}",
        random_chars(UPPER, 9),
        random_chars(UPPER, 9),
        word(24)
    );
    let discord = format!("https://discord.com/api/webhooks/{}/", digits(18));
    vec![
        sample(
            "slack-token",
            "xoxb-",
            &format!("{}-{}-{}", digits(12), digits(13), word(24)),
        ),
        sample(
            "slack-token",
            "xoxp-",
            &format!("{}-{}-{}", digits(11), digits(11), random_chars(HEX, 32)),
        ),
        sample(
            "slack-token",
            "xapp-1-",
            &format!(
                "A{}-{}-{}",
                random_chars(UPPER, 10),
                digits(13),
                random_chars(HEX, 64)
            ),
        ),
        after(
            "slack-webhook",
            "https://hooks.slack.com/services/",
            &channel,
        ),
        after("discord-webhook", &discord, &word(68)),
        after(
            "teams-webhook",
            "https://a.webhook.office.com/webhookb2/",
            &word(80),
        ),
        sample(
            "telegram-bot-token",
            &digits(10),
            &format!(":AA{}", word(33)),
        ),
        sample("stripe-key", "sk_live_", &word(24)),
        sample("stripe-key", "rk_live_", &word(99)),
        sample("webhook-secret", "whsec_", &word(32)),
        sample("twilio-key", "SK", &random_chars(HEX, 32)),
        sample("sendgrid-key", "SG.", &format!("{}.{}", word(22), word(43))),
        sample("mailgun-key", "key-", &random_chars(HEX, 32)),
        sample("square-token", "sq0csp-", &word(43)),
        sample("shopify-token", "shpat_", &random_chars(HEX, 32)),
        sample("linear-key", "lin_api_", &word(40)),
        sample("notion-key", "ntn_", &word(46)),
        sample("notion-key", "secret_", &word(43)),
        sample("figma-token", "figd_", &word(40)),
        sample(
            "postman-key",
            "PMAK-",
            &format!("{}-{}", random_chars(HEX, 24), random_chars(HEX, 34)),
        ),
        sample("newrelic-key", "NRAK-", &random_chars(UPPER, 27)),
        sample(
            "grafana-token",
            "glsa_",
            &format!("{}_{}", word(32), random_chars(HEX, 8)),
        ),
        sample("sentry-token", "sntrys_", &word(90)),
        sample("pulumi-token", "pul-", &random_chars(HEX, 40)),
        sample(
            "terraform-token",
            &word(14),
            &format!(".atlasv1.{}", word(67)),
        ),
        sample("vault-token", "hvs.", &word(90)),
        sample("doppler-token", "dp.pt.", &word(43)),
        sample("onepassword-token", "ops_eyJ", &word(300)),
        sample(
            "tailscale-key",
            "tskey-",
            &format!("auth-{}-{}", word(12), word(32)),
        ),
        sample(
            "age-secret-key",
            "AGE-SECRET-KEY-1",
            &random_chars(UPPER, 58),
        ),
    ]
}

fn shared() -> Vec<RuleSample> {
    let word = |len| random_chars(BASE62, len);
    let jwt = format!("eyJ{}.eyJ{}.{}", word(33), word(120), word(43));
    vec![
        sample("jwt", "", &jwt),
        after("jwt", "Authorization: Bearer ", &jwt),
        after("authorization", "Authorization: token ", &word(20)),
        after(
            "authorization",
            "'Authorization': 'Bearer ",
            &format!("s3cr3t-{}", word(6)),
        ),
        after("authorization", "Authorization: ", &word(32)),
        after("bearer-token", "bEaReR ", &word(30)),
        after(
            "basic-auth",
            "Authorization: Basic ",
            &["dXNlcjpo", "dW50ZXIyISE="].concat(),
        ),
        after("basic-auth", "curl -s -u admin:", &word(12)),
        after(
            "cookie",
            "Set-Cookie: ",
            &format!("sid={}; Path=/", word(32)),
        ),
        after(
            "cookie",
            "Set-Cookie: ",
            &format!("sid={}; Domain=example.com", word(32)),
        ),
        after("password", "sshpass -p '", &word(12)),
        after("private-key", "Private-Lines: 1\n", &word(64)),
        after("secret-key", "    client-key-data: ", &word(200)),
    ]
}
