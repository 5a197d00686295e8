//! The words of the memory tool's failures, as Anthropic documents them or as its Python package says them.
//!
//! A model was trained on the documented words, and a program that moves from the package may compare its words.

/// Whose words the results have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// Those of Anthropic's documentation.
    #[default]
    Documented,
    /// Those of the local tool in Anthropic's Python package.
    PythonSdk,
}

/// Why a command failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The path is none of `/memories`.
    OutsideRoot(String),
    /// The path leads out of `/memories`.
    Escapes(String),
    /// Nothing is at the path.
    NoPath(String),
    /// Nothing that can be shown is at the path.
    NothingToView(String),
    /// No file to edit is at the path.
    NoFile(String),
    /// A folder is at the path, and not a file.
    Folder(String),
    /// The file is no text.
    NoText(String),
    /// The file has too many lines.
    TooManyLines(String),
    /// Something is at the path already.
    FileExists(String),
    /// Something is at the new path already.
    DestinationExists(String),
    /// A folder cannot be moved into itself.
    IntoItself(String),
    /// The folder itself may not be deleted or renamed.
    Root(&'static str),
    /// The text does not occur.
    NoMatch { old_str: String, path: String },
    /// The text occurs in several places.
    SeveralMatches { old_str: String, lines: String },
    /// No such line.
    NoLine { given: i64, lines: usize },
    /// Something that is no memory file is in the way.
    Skipped(String),
    /// No folder can hold it.
    Impossible(String),
}

impl Refusal {
    /// The words for the model.
    pub(super) fn text(&self, flavour: Flavour) -> String {
        let is_documented = flavour == Flavour::Documented;
        let error = |text: String| match is_documented {
            true => format!("Error: {text}"),
            false => text,
        };
        match self {
            Self::OutsideRoot(path) => {
                error(format!("Path must start with /memories, got: {path}"))
            }
            Self::Escapes(path) => error(format!("Path {path} would escape /memories directory")),
            Self::NoPath(path) => error(format!("The path {path} does not exist")),
            Self::NothingToView(path) => {
                format!("The path {path} does not exist. Please provide a valid path.")
            }
            Self::Folder(path) if !is_documented => format!("The path {path} is not a file."),
            Self::NoFile(path) | Self::Folder(path) => error(format!(
                "The path {path} does not exist. Please provide a valid path."
            )),
            Self::NoText(path) => error(format!("Unsupported file type for {path}")),
            Self::TooManyLines(path) => {
                format!("File {path} exceeds maximum line limit of 999,999 lines.")
            }
            Self::FileExists(path) => error(format!("File {path} already exists")),
            Self::DestinationExists(path) => {
                error(format!("The destination {path} already exists"))
            }
            Self::IntoItself(path) => error(format!(
                "The destination {path} lies in the directory that is moved"
            )),
            Self::Root(verb) => error(format!("Cannot {verb} the /memories directory itself")),
            Self::NoMatch { old_str, path } => format!(
                "No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
            ),
            Self::SeveralMatches { old_str, lines } => format!(
                "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. Please ensure it is unique"
            ),
            Self::NoLine { given, lines } => {
                let range = match is_documented {
                    true => format!("the range of lines of the file: [0, {lines}]"),
                    false => format!("the range [0, {lines}]."),
                };
                error(format!(
                    "Invalid `insert_line` parameter: {given}. It should be within {range}"
                ))
            }
            Self::Skipped(what) | Self::Impossible(what) => error(what.clone()),
        }
    }
}
