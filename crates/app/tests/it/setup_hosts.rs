//! What `daybook setup` does to the settings of every other agent: realistic files, with comments and other entries.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::setup::HostHome;

/// An agent, its settings as a person keeps them, and the text that shows our entries in them.
struct Sample {
    agent: &'static str,
    files: &'static [(&'static str, &'static str)],
    shows: &'static [&'static str],
}

const SAMPLES: [Sample; 9] = [
    Sample {
        agent: "gemini-cli",
        files: &[(
            ".gemini/settings.json",
            "{\n  // mine\n  \"theme\": \"Reef\",\n  \"hooks\": {\n    \"BeforeAgent\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"date\", \"timeout\": 500 }] } // why\n    ]\n  },\n  \"mcpServers\": { \"tides\": { \"httpUrl\": \"http://127.0.0.1:1\" } }\n}\n",
        )],
        shows: &[
            "hook gemini-cli",
            "\"timeout\": 10000",
            "AfterAgent",
            "PreCompress",
            "\"mcp\"",
        ],
    },
    Sample {
        agent: "qwen-code",
        files: &[(".qwen/settings.json", "{\"model\":{\"name\":\"tide\"}}")],
        shows: &[
            "hook qwen-code",
            "\"async\":true",
            "UserPromptSubmit",
            "\"mcp\"",
        ],
    },
    Sample {
        agent: "copilot-cli",
        files: &[(
            ".copilot/mcp-config.json",
            "{\n\t\"mcpServers\": {\n\t\t\"tides\": {\n\t\t\t\"type\": \"http\",\n\t\t\t\"url\": \"http://127.0.0.1:1\",\n\t\t\t\"tools\": [\"*\"]\n\t\t}\n\t}\n}\n",
        )],
        shows: &[
            "hook copilot-cli",
            "\"timeoutSec\": 10",
            "\"version\": 1",
            "\"type\": \"local\"",
        ],
    },
    Sample {
        agent: "cursor",
        files: &[
            (
                ".cursor/hooks.json",
                "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"say done\" }],\n    \"afterFileEdit\": [{ \"command\": \"fmt\" }]\n  }\n}\n",
            ),
            (".cursor/mcp.json", "{ \"mcpServers\": {} }\n"),
        ],
        shows: &["hook cursor", "beforeSubmitPrompt", "sessionEnd", "\"mcp\""],
    },
    Sample {
        agent: "vscode",
        files: &[(
            ".config/Code/User/mcp.json",
            "{\n    // near\n    \"servers\": {\n        \"tides\": { \"url\": \"http://127.0.0.1:1\" },\n    },\n    \"inputs\": []\n}\n",
        )],
        shows: &["\"type\": \"stdio\"", "\"mcp\""],
    },
    Sample {
        agent: "opencode",
        files: &[(
            ".config/opencode/opencode.jsonc",
            "{\n  \"$schema\": \"https://opencode.ai/config.json\", // as it is\n  \"mcp\": {\n    \"tides\": { \"type\": \"remote\", \"url\": \"http://127.0.0.1:1\" },\n  },\n}\n",
        )],
        shows: &["\"type\": \"local\"", "\"enabled\": true", "\"mcp\"]"],
    },
    Sample {
        agent: "goose",
        files: &[(
            ".config/goose/config.yaml",
            "# mine\nGOOSE_MODEL: tide-1   # the good one\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n\nslash_commands:\n- command: run-tests\n  recipe_path: /home/ada/run.yaml\n",
        )],
        shows: &[
            "  daybook:\n    enabled: true\n    type: stdio\n",
            "args: [\"mcp\"]",
        ],
    },
    Sample {
        agent: "zed",
        files: &[(
            ".config/zed/settings.json",
            "// Zed settings\n//\n// as I like them\n{\n  \"theme\": \"One Dark\",\n  \"context_servers\": {\n    \"tides\": { \"command\": \"tides\", \"args\": [] }, // near\n  },\n  \"vim_mode\": true,\n}\n",
        )],
        shows: &["\"command\":", "\"mcp\""],
    },
    Sample {
        agent: "windsurf",
        files: &[(".codeium/windsurf/mcp_config.json", "")],
        shows: &["\"mcpServers\"", "\"mcp\""],
    },
];

impl Sample {
    fn home(&self) -> HostHome {
        let folders = self.files.iter().filter_map(|(name, _)| {
            let folder = Path::new(name).parent()?;
            folder.to_str()
        });
        let home = HostHome::with(&folders.collect::<Vec<_>>());
        for (name, text) in self.files {
            home.write(name, text);
        }
        home
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_agent_is_found_set_up_once_and_left_byte_for_byte() {
    for sample in &SAMPLES {
        let home = sample.home();
        let before = home.files();
        home.stdout(&["--yes"]);
        let texts: String = home.files().into_iter().map(|(_, text)| text).collect();
        for shown in sample.shows {
            assert!(
                texts.contains(shown),
                "{}: {shown} in {texts}",
                sample.agent
            );
        }
        assert!(
            home.stdout(&["--yes", sample.agent])
                .starts_with("Nothing to change"),
            "{}",
            sample.agent
        );
        home.stdout(&["--undo", "--yes"]);
        assert_eq!(home.files(), before, "{}", sample.agent);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_person_changed_since_stays_when_it_is_undone() {
    for sample in &SAMPLES {
        let home = sample.home();
        home.stdout(&["--yes", sample.agent]);
        for (name, text) in sample.files {
            let mark = if text.starts_with('{') || text.starts_with("//") {
                "\n"
            } else {
                "# later\n"
            };
            if !text.is_empty() {
                home.write(name, &(home.read(name) + mark));
            }
        }
        home.stdout(&["--undo", "--yes", sample.agent]);
        for (path, text) in home.files() {
            assert!(!text.contains("daybook"), "{}: {text}", path.display());
        }
    }
}

#[test]
fn one_file_for_hooks_and_servers_changes_once() {
    let home = HostHome::with(&[".gemini"]);
    let said: Value = serde_json::from_str(&home.stdout(&["--yes", "--json"])).expect("JSON");
    assert_eq!(said["changes"].as_array().map(Vec::len), Some(1));
    let settings = home.value(".gemini/settings.json");
    assert_eq!(settings["mcpServers"]["daybook"]["args"][0], "mcp");
    assert_eq!(
        settings["hooks"].as_object().map(serde_json::Map::len),
        Some(5)
    );
    home.stdout(&["--undo", "--yes"]);
    assert!(!home.at(".gemini/settings.json").exists());
}

#[test]
fn all_agents_are_set_up_together_and_named() {
    let folders: Vec<&str> = SAMPLES
        .iter()
        .filter_map(|sample| Path::new(sample.files[0].0).parent()?.to_str())
        .collect();
    let home = HostHome::with(&folders);
    fs::create_dir_all(home.at(".claude")).expect("a folder");
    home.write(".gemini/settings.json", "{ broken");
    let output = home.run(&["--yes"]);
    assert!(!output.status.success());
    let (said, error) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(error.contains("Gemini CLI is left as it is"), "{error}");
    assert!(
        said.contains("Claude Code, Qwen Code, Copilot CLI and Cursor start with"),
        "{said}"
    );
    assert!(said.contains("and Windsurf can ask for"), "{said}");
    assert_eq!(home.read(".gemini/settings.json"), "{ broken");
}

#[test]
fn a_broken_file_of_an_agent_that_is_named_is_an_error() {
    let home = HostHome::with(&[".config/goose"]);
    home.write(
        ".config/goose/config.yaml",
        "extensions: {tides: {cmd: tides}}\n",
    );
    let error = home.refusal(&["goose", "--yes"]);
    assert!(
        error.contains("config.yaml cannot be changed safely"),
        "{error}"
    );
}

#[test]
fn remarks_say_what_keeps_hooks_of_an_agent_from_running() {
    let home = HostHome::with(&[".gemini", ".cursor"]);
    home.write(
        ".gemini/settings.json",
        "{\"hooksConfig\": {\"enabled\": false}}",
    );
    home.write(".cursor/hooks.json", "{}");
    let said = home.stdout(&["--yes", "--no-mcp"]);
    for words in [
        "hooksConfig.enabled = false",
        "no \"version\": 1, and Cursor runs no hook",
        "without its MCP server Cursor starts no update",
    ] {
        assert!(said.contains(words), "{words} is missing from {said}");
    }
}
