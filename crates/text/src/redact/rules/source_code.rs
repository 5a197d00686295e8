//! Repositories, registries, builds and checks of source code.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule(
        "github-token",
        &["ghp_", "gho_", "ghs_", "ghu_", "ghr_"],
        r"gh[pousr]_[A-Za-z0-9_]{36,}(?:\.[A-Za-z0-9_-]{10,}){0,2}",
    )
    .reach(4096),
    rule(
        "github-token",
        &["github_pat_"],
        r"github_pat_[A-Za-z0-9_]{22,}",
    )
    .proof(Proof::Unspelled),
    rule(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-",
            "glsoat-", "gloas-", "glffct-",
        ],
        r"gl[a-z]{2,6}-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2,3}\.[a-z0-9]{7,12})?",
    )
    .proof(Proof::Unspelled),
    rule("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36,}"),
    rule("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{40,}").reach(4096),
    rule("rubygems-key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    rule("crates-io-token", &["cio"], r"cio[A-Za-z0-9]{32}\b").proof(Proof::Drawn),
    rule("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}\b"),
    rule(
        "docker-token",
        &["dckr_pat_", "dckr_oat_"],
        r"dckr_[op]at_[A-Za-z0-9_-]{20,}",
    )
    .proof(Proof::Unspelled),
    rule(
        "atlassian-token",
        &["ATATT3", "ATCTT3", "ATBB"],
        r"AT(?:[AC]TT3[A-Za-z0-9_=-]{60,}|BB[A-Za-z0-9]{32}\b)",
    ),
    rule("artifactory-key", &["AKCp"], r"AKCp[A-Za-z0-9]{68,70}\b"),
    rule("artifactory-token", &["cmVmd"], r"cmVmd[A-Za-z0-9]{59}\b").proof(Proof::Drawn),
    rule(
        "bitbucket-server-token",
        &["BBDC-"],
        r"BBDC-[A-Za-z0-9+/@_-]{40,50}",
    ),
    rule("buildkite-token", &["bkua_"], r"bkua_[a-z0-9]{40,53}\b"),
    rule(
        "buildkite-service-token",
        &[
            "bkaa_", "bkaj_", "bkar_", "bkct_", "bkpt_", "bkpat_", "bkps_",
        ],
        r"bk(?:a[ajr]|ct|pt|pat|ps)_[A-Za-z0-9_-]{54,}",
    ),
    rule(
        "circleci-token",
        &["CCIPAT_"],
        r"CCIPAT_[A-Za-z0-9]{22}_[a-fA-F0-9]{40}",
    ),
    rule("clojars-token", &["CLOJARS_"], r"CLOJARS_[A-Za-z0-9]{60}"),
    rule("endorlabs-key", &["endr+"], r"endr\+[A-Za-z0-9-]{16}"),
    rule(
        "harness-token",
        &["pat.", "sat."],
        r"[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}\b",
    ),
    rule(
        "launchdarkly-key",
        &["sdk-"],
        r"sdk-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}\b",
    ),
    rule(
        "launchdarkly-key",
        &["api-"],
        r"api-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}\b",
    )
    .on_line_with("launchdarkly"),
    rule("octopus-key", &["API-"], r"API-[A-Z0-9]{26,34}\b").proof(Proof::Drawn),
    rule("prefect-key", &["pnu_"], r"pnu_[A-Za-z0-9]{36}\b"),
    rule(
        "sourcegraph-token",
        &["sgp_"],
        r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}\b",
    ),
    rule("sourcegraph-cody-key", &["slk_"], r"slk_[a-f0-9]{64}\b"),
    rule(
        "sonarqube-token",
        &["sqp_", "squ_", "sqa_"],
        r"sq[pua]_[a-z0-9]{40}\b",
    ),
    rule("sonarcloud-token", &["sqco_"], r"sqco_[A-Za-z0-9]{59}\b"),
    rule(
        "stackhawk-key",
        &["hawk."],
        r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}",
    )
    .proof(Proof::Unspelled),
    rule("arcjet-key", &["ajkey_"], r"ajkey_[a-z0-9]{26}\b"),
    rule("builderio-key", &["bpk-"], r"bpk-[a-f0-9]{32}\b"),
    rule(
        "aikido-secret",
        &["AIK_SECRET_", "AIK_CI_"],
        r"AIK_(?:SECRET_[A-Za-z0-9]{64}|CI_[A-Za-z0-9]{20,44})\b",
    )
    .proof(Proof::Drawn),
    rule(
        "cloudsmith-key",
        &["csa_"],
        r"csa_[a-f0-9]{30}[A-Za-z0-9]{6}\b",
    ),
    rule("dependency-track-key", &["odt_"], r"odt_[A-Za-z0-9]{32,}\b").proof(Proof::Drawn),
    rule(
        "gitlab-runner-registration",
        &["GR1348941"],
        r"GR1348941[A-Za-z0-9_-]{20}",
    ),
    rule(
        "packagist-token",
        &["packagist_"],
        r"packagist_(?:ac[ks]|ort|out|uut)_[a-f0-9]{28,96}\b",
    ),
    rule("wakatime-key", &["waka_"], r"waka_[a-z0-9-]{36,64}").proof(Proof::Unspelled),
];
