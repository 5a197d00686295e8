//! The names of all tests in the workspace, as far as sources show them.
//!
//! This is no parser: a test is a function below `#[test]` or `#[tokio::test]`, or a name that a suite's macro lists.

use super::SourceFile;

/// A test function.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// File and line.
    pub(super) place: String,
    pub(super) name: String,
    /// Folders, file and suite in which it stands.
    modules: Vec<String>,
}

/// All tests.
#[derive(Debug, Default)]
pub(super) struct TestIndex {
    pub(super) tests: Vec<Test>,
}

impl TestIndex {
    /// Collects the tests of `files`.
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a SourceFile>) -> Self {
        let mut tests = Vec::new();
        for file in files.filter(|file| file.is_rust()) {
            collect_functions(file, &mut tests);
            collect_suites(file, &mut tests);
        }
        Self { tests }
    }

    /// How many tests a name means: `name`, or `module::name` where the name alone is not unique.
    pub(super) fn matches(&self, name: &str) -> usize {
        let mut parts: Vec<&str> = name.split("::").collect();
        let Some(name) = parts.pop() else { return 0 };
        let is_meant = |test: &&Test| {
            test.name == name
                && parts
                    .iter()
                    .all(|part| test.modules.iter().any(|it| it == part))
        };
        self.tests.iter().filter(is_meant).count()
    }
}

fn modules(file: &SourceFile) -> Vec<String> {
    let path = file.place.trim_end_matches(".rs");
    path.split('/').map(str::to_owned).collect()
}

fn collect_functions(file: &SourceFile, tests: &mut Vec<Test>) {
    let mut is_test = false;
    for (line, text) in (1..).zip(file.text.lines()) {
        let mut text = text.trim_start();
        let attribute = ["#[test]", "#[tokio::test"]
            .iter()
            .find(|it| text.starts_with(**it));
        if attribute.is_some() {
            is_test = true;
            text = text
                .split_once(']')
                .map_or("", |(_, rest)| rest.trim_start());
        }
        if text.is_empty() || text.starts_with("//") || text.starts_with("#[") {
            continue;
        }
        if let Some(name) = function_name(text).filter(|_| is_test) {
            tests.push(Test {
                place: format!("{}:{line}", file.place),
                name: name.to_owned(),
                modules: modules(file),
            });
        }
        is_test = false;
    }
}

/// The name of the function that a line begins.
fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub ").trim_start_matches("async ");
    let rest = line.strip_prefix("fn ")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then(|| &rest[..end])
}

/// Names that the macro of a suite makes tests of: `promises! { $make, suite: one, other, }`.
fn collect_suites(file: &SourceFile, tests: &mut Vec<Test>) {
    for (at, _) in file.text.match_indices("promises! {") {
        let block = file.text[at..].split('}').next().unwrap_or_default();
        let Some((head, names)) = block.split_once(':').and_then(|_| block.rsplit_once(':')) else {
            continue;
        };
        let suite = head
            .rsplit([',', ' '])
            .find(|it| !it.is_empty())
            .unwrap_or_default();
        let line = file.text[..at].lines().count();
        for name in names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            let mut modules = modules(file);
            modules.push(suite.to_owned());
            tests.push(Test {
                place: format!("{}:{line}", file.place),
                name: name.to_owned(),
                modules,
            });
        }
    }
}
