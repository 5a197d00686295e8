//! Where the agents of this machine keep their sessions, on Linux and macOS.
//!
//! A place need not exist. Most agents name one folder below a person's home; where a variable moves it, the variable
//! counts. What a file holds is decided by its content; its name only says that it may be a session.
//!
//! Not here: hosts whose settings Daybook changes (`hosts`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use daybook_engine::import::AIDER_HISTORY;

use super::data_folder;

/// A folder in which one agent keeps sessions.
struct TranscriptPlace {
    /// The agent, for people.
    name: &'static str,
    /// The agent in session ids.
    agent: &'static str,
    /// The variable that names the agent's folder.
    variable: &'static str,
    /// The agent's folder below a person's home, where no variable names it.
    home: &'static str,
    /// The folders of sessions below it, or their files.
    below: &'static [&'static str],
}

/// The places of all agents whose sessions are read.
const PLACES: &[TranscriptPlace] = &[
    TranscriptPlace {
        name: "Claude Code",
        agent: "claude-code",
        variable: "CLAUDE_CONFIG_DIR",
        home: ".claude",
        below: &["projects"],
    },
    TranscriptPlace {
        name: "Codex",
        agent: "codex",
        variable: "CODEX_HOME",
        home: ".codex",
        below: &["sessions", "archived_sessions"],
    },
    TranscriptPlace {
        name: "Gemini CLI",
        agent: "gemini-cli",
        variable: "",
        home: ".gemini",
        below: &["tmp"],
    },
    TranscriptPlace {
        name: "Qwen Code",
        agent: "qwen-code",
        variable: "QWEN_HOME",
        home: ".qwen",
        below: &["projects", "tmp"],
    },
    TranscriptPlace {
        name: "Copilot CLI",
        agent: "copilot-cli",
        variable: "COPILOT_HOME",
        home: ".copilot",
        below: &["session-state"],
    },
    TranscriptPlace {
        name: "Copilot chat",
        agent: "copilot-chat",
        variable: "XDG_CONFIG_HOME",
        home: ".config",
        below: CHATS_OF_CODE,
    },
    TranscriptPlace {
        name: "Copilot chat",
        agent: "copilot-chat",
        variable: "",
        home: "Library/Application Support",
        below: CHATS_OF_CODE,
    },
    TranscriptPlace {
        name: "Cursor",
        agent: "cursor",
        variable: "",
        home: ".cursor",
        below: &["projects"],
    },
    TranscriptPlace {
        name: "Cursor",
        agent: "cursor",
        variable: "XDG_CONFIG_HOME",
        home: ".config",
        below: &["Cursor/User/globalStorage/state.vscdb"],
    },
    TranscriptPlace {
        name: "Cursor",
        agent: "cursor",
        variable: "",
        home: "Library/Application Support",
        below: &["Cursor/User/globalStorage/state.vscdb"],
    },
    TranscriptPlace {
        name: "OpenCode",
        agent: "opencode",
        variable: "XDG_DATA_HOME",
        home: ".local/share",
        below: &["opencode/storage/session", "opencode/opencode.db"],
    },
    TranscriptPlace {
        name: "pi",
        agent: "pi",
        variable: "PI_CODING_AGENT_DIR",
        home: ".pi/agent",
        below: &["sessions"],
    },
    TranscriptPlace {
        name: "OpenClaw",
        agent: "pi",
        variable: "OPENCLAW_STATE_DIR",
        home: ".openclaw",
        below: &["agents"],
    },
    TranscriptPlace {
        name: "Droid",
        agent: "droid",
        variable: "",
        home: ".factory",
        below: &["sessions"],
    },
    TranscriptPlace {
        name: "Kimi Code",
        agent: "kimi-code",
        variable: "",
        home: ".kimi-code",
        below: &["sessions"],
    },
    TranscriptPlace {
        name: "Grok",
        agent: "grok",
        variable: "",
        home: ".grok",
        below: &["sessions"],
    },
    TranscriptPlace {
        name: "Antigravity",
        agent: "antigravity",
        variable: "",
        home: ".gemini",
        below: &["antigravity-cli/brain"],
    },
    TranscriptPlace {
        name: "Goose",
        agent: "goose",
        variable: "XDG_DATA_HOME",
        home: ".local/share",
        below: &["goose/sessions", "goose/sessions/sessions.db"],
    },
    TranscriptPlace {
        name: "Hermes",
        agent: "hermes",
        variable: "HERMES_HOME",
        home: ".hermes",
        below: &["sessions", "state.db"],
    },
    TranscriptPlace {
        name: "Aider",
        agent: "aider",
        variable: "",
        home: "",
        below: &[AIDER_HISTORY],
    },
];

/// The folders below VS Code's own in which workspaces, and windows without one, keep chats.
const CHATS_OF_CODE: &[&str] = &[
    "Code/User/workspaceStorage",
    "Code/User/globalStorage/emptyWindowChatSessions",
    "Code - Insiders/User/workspaceStorage",
    "Code - Insiders/User/globalStorage/emptyWindowChatSessions",
];

/// The agents that keep sessions in a project's folder: for people, in session ids, and the file.
const IN_PROJECTS: &[(&str, &str, &str)] = &[
    ("Aider", "aider", AIDER_HISTORY),
    ("Crush", "crush", ".crush/crush.db"),
];

/// Folders whose JSON documents are sessions; elsewhere a document is an agent's own settings.
const OF_DOCUMENTS: &[&str] = &[
    "chats",
    "chatSessions",
    "emptyWindowChatSessions",
    "opencode/storage/session",
    ".hermes/sessions",
];

/// Folders in which extensions of an editor keep files of their own, and the only ones below them that hold sessions.
const OF_EXTENSIONS: (&str, &str) = ("workspaceStorage", "chatSessions");

/// Endings of files of lines beside sessions that are none.
const OF_OTHER_THINGS: &[&str] = &[".trajectory.jsonl"];

/// A folder of transcripts of one agent.
pub(crate) struct TranscriptFolder {
    /// The agent, for people.
    pub(crate) name: &'static str,
    /// The agent in session ids.
    pub(crate) agent: &'static str,
    pub(crate) path: PathBuf,
}

/// The transcript folders of all agents, which need not exist.
pub(crate) fn transcript_folders() -> Vec<TranscriptFolder> {
    let mut folders = Vec::new();
    for place in PLACES {
        let Some(home) = home_of(place) else {
            continue;
        };
        folders.extend(place.below.iter().map(|below| TranscriptFolder {
            name: place.name,
            agent: place.agent,
            path: home.join(below),
        }));
    }
    folders
}

fn home_of(place: &TranscriptPlace) -> Option<PathBuf> {
    let named = (!place.variable.is_empty()).then(|| std::env::var_os(place.variable));
    match named.flatten().filter(|value| !value.is_empty()) {
        Some(named) => Some(PathBuf::from(named)),
        None => Some(data_folder::home().ok()?.join(place.home)),
    }
}

/// The files of sessions in the projects that other agents worked in.
pub(crate) fn files_in_projects<'f>(
    folders: impl Iterator<Item = &'f str>,
) -> Vec<TranscriptFolder> {
    let folders: BTreeSet<&str> = folders.collect();
    let files = folders.into_iter().flat_map(|folder| {
        IN_PROJECTS
            .iter()
            .map(move |(name, agent, file)| TranscriptFolder {
                name,
                agent,
                path: Path::new(folder).join(file),
            })
    });
    files.filter(|file| file.path.is_file()).collect()
}

/// Whether a file below such a folder may be a transcript.
pub(crate) fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_in = |folder: &&str| {
        path.ancestors()
            .skip(1)
            .any(|above| above.ends_with(folder))
    };
    if OF_OTHER_THINGS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let (extensions, sessions) = OF_EXTENSIONS;
    if is_in(&extensions) && !is_in(&sessions) {
        return false;
    }
    name.ends_with(".jsonl")
        || name.ends_with(".jsonl.zst")
        || name.ends_with(".json") && OF_DOCUMENTS.iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documents_in_folders_of_sessions_may_be_transcripts() {
        let check =
            |path: &str, expected| assert_eq!(is_transcript(Path::new(path)), expected, "{path}");
        check("/home/ada/.codex/sessions/2026/rollout.jsonl", true);
        check("/home/ada/.codex/archived_sessions/rollout.jsonl.zst", true);
        check("/home/ada/.gemini/tmp/tidepool/chats/session-1.json", true);
        check("/home/ada/.openclaw/agents/main/sessions/1.jsonl", true);
        check(
            "/home/ada/.openclaw/agents/main/sessions/1.trajectory.jsonl",
            false,
        );
        check("/home/ada/.gemini/tmp/tidepool/logs.json", false);
        let storage = "/home/ada/.config/Code/User/workspaceStorage/7f";
        check(&format!("{storage}/chatSessions/1.json"), true);
        check(&format!("{storage}/chatSessions/1.jsonl"), true);
        check(&format!("{storage}/an.extension/1.jsonl"), false);
        check(
            "/home/ada/.local/share/opencode/storage/session/p/ses_1.json",
            true,
        );
        check(
            "/home/ada/.local/share/opencode/storage/part/m/prt_1.json",
            false,
        );
    }
}
