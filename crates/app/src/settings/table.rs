//! The table of all settings. Reading, explaining, the schema of daybook.toml, importing, and the
//! comparison of profiles all use it.

use std::time::Duration;

use daybook_domain::Teams;
use daybook_domain::limits::SELECTED_SESSIONS;
use daybook_domain::venue::is_venue_name;
use daybook_engine::consolidate::FileLayout;
use daybook_engine::profile::{ContextSource, ExtractorKind, Ledger, Profile};
use daybook_text::redact::PersonalData;
use strum::{VariantArray, VariantNames};

use super::choices::{AT_CAP, URGENT};
use super::kind::{NameUnit, ValueKind};
use super::{agents, chosen_model, mem0, models, providers, vectors};

/// One setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) group: SettingGroup,
    pub(crate) kind: ValueKind,
    /// Its effect, its unit, and the effect of a larger or smaller value.
    pub(crate) about: &'static str,
    /// Other systems' names of it, with their units.
    pub(crate) also: &'static [(&'static str, NameUnit)],
}

impl Setting {
    /// Whether `profile` chooses its value. A profile without a sweep chooses only that the sweep is off.
    pub(crate) fn is_chosen_by(&self, profile: &Profile) -> bool {
        match self.group {
            SettingGroup::You
            | SettingGroup::Memory
            | SettingGroup::Models
            | SettingGroup::Spend => false,
            SettingGroup::Due | SettingGroup::Work => true,
            SettingGroup::Files => {
                let selects = profile.consolidation.layout == FileLayout::Codex;
                let cuts = profile.context.source == ContextSource::FirstLines;
                (selects || !SELECTION.contains(&self.name))
                    && (cuts || self.name != "context_lines")
            }
            SettingGroup::Sweep => self.name == "sweep" || profile.sweep.is_some(),
        }
    }
}

/// Groups in which settings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub(crate) enum SettingGroup {
    You,
    Memory,
    Models,
    Spend,
    Due,
    Sweep,
    Work,
    Files,
}

/// Settings that have an effect only where sessions are selected.
const SELECTION: [&str; 3] = ["selected_sessions", "unused_after", "cooldown"];

impl SettingGroup {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::You => "You and your files",
            Self::Memory => "Whether memory is made",
            Self::Models => "Which models are used, and for what",
            Self::Spend => "What models cost, and may cost",
            Self::Due => "When a session is due",
            Self::Sweep => "What a sweep at the start of a session takes",
            Self::Work => "How work is done",
            Self::Files => "What is written to memory files, and shown of them",
        }
    }

    /// Whether profiles choose these.
    pub(crate) fn is_profiled(self) -> bool {
        match self {
            Self::You | Self::Memory | Self::Models | Self::Spend => false,
            Self::Due | Self::Sweep | Self::Work | Self::Files => true,
        }
    }
}

const ZERO: Duration = Duration::ZERO;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

/// Longest name of a person.
const PERSON: usize = 200;
/// Longest token of `no_reply_token`.
const TOKEN: usize = 64;

/// What may be written for a room, a thread and a team.
const VENUE_NAME: &str = "a name of up to 512 bytes, or \"\" for none";

fn is_venue_or_none(name: &str) -> bool {
    name.is_empty() || is_venue_name(name)
}

/// All settings, in the order in which they are shown.
pub(crate) static ALL: [Setting; 88] = [
    Setting {
        name: "person",
        group: SettingGroup::You,
        kind: ValueKind::Text {
            allowed: "a name of 1 to 200 bytes",
            fits: |text| !text.trim().is_empty() && text.len() <= PERSON,
            at: |c| &mut c.person,
        },
        about: "what you are called in memory files; also the name of your own scope",
        also: &[],
    },
    Setting {
        name: "timezone",
        group: SettingGroup::You,
        kind: ValueKind::Text {
            allowed: "an IANA name such as \"Europe/Berlin\", or \"local\"",
            fits: |name| super::zone(name).is_some(),
            at: |c| &mut c.timezone,
        },
        about: "time zone of the days and hours in memory files",
        also: &[],
    },
    Setting {
        name: "context_tokens",
        group: SettingGroup::You,
        kind: ValueKind::Count {
            least: 0,
            most: 1_000_000,
            or_none: false,
            at: |c| &mut c.context_tokens,
        },
        about: "most tokens that `context` prints; more gives an agent more memory and costs more",
        also: &[],
    },
    Setting {
        name: "prompt_recall",
        group: SettingGroup::You,
        kind: ValueKind::Duration {
            least: ZERO,
            most: Duration::from_secs(10),
            at: |c| &mut c.prompt_recall,
        },
        about: "longest time that the hook of a prompt searches memory, from the start of its \
                process; lines that are not found by then are left out. `0s` turns the search off",
        also: &[],
    },
    Setting {
        name: "inject",
        group: SettingGroup::You,
        kind: ValueKind::Switch {
            at: |c| &mut c.inject,
        },
        about: "whether memory is put before agents unasked: at the start of a session, beside a prompt, and by \
                `context`. Off: memory is made, and found by whoever asks for it",
        also: &[("memories.use_memories", NameUnit::Own)],
    },
    Setting {
        name: "personal_data",
        group: SettingGroup::You,
        kind: ValueKind::List {
            allowed: "email, phone, card, iban, government_id, or nothing",
            fits: |kind| kind.parse::<PersonalData>().is_ok(),
            at: |c| &mut c.personal_data,
        },
        about: "personal data that is hidden like secrets are, before anything is stored; memory knows less of people \
                then. Taken up when a process starts",
        also: &[],
    },
    Setting {
        name: "durability",
        group: SettingGroup::You,
        kind: ValueKind::Word {
            words: &["process", "power"],
            at: |c| &mut c.durability,
        },
        about: "`process`: an acknowledged event survives a killed process; `power`: a power cut \
                too, and each append takes longer",
        also: &[],
    },
    Setting {
        name: "vectors",
        group: SettingGroup::You,
        kind: ValueKind::Text {
            allowed: "\"built-in\", \"off\", \"folder:\" and the path of a model's folder, or a provider of \
                      `providers` and one of its models: \"home/embed-small\"",
            fits: vectors::is_vectors,
            at: |c| &mut c.vectors,
        },
        about: "what recall compares meanings by: `built-in`, a small model in the binary; `off`, words \
                alone; `folder:PATH`, a sentence model such as MiniLM; `provider/model`, which is sent what is \
                remembered and every question. After a change of the model all vectors are made again",
        also: &[("memory.search.mode", NameUnit::SearchMode)],
    },
    Setting {
        name: "store",
        group: SettingGroup::You,
        kind: ValueKind::Text {
            allowed: "\"sqlite\", or the address of a PostgreSQL database such as \
                      \"postgres://ada@db.example/daybook\"",
            fits: |text| text == super::SQLITE || super::is_postgres(text),
            at: |c| &mut c.store,
        },
        about: "where everything but memory files is kept: a database in the data folder, or one that \
                several machines share",
        also: &[],
    },
    Setting {
        name: "store_ca",
        group: SettingGroup::You,
        kind: ValueKind::Text {
            allowed: "the path of a PEM file, or \"system\"",
            fits: |path| !path.trim().is_empty(),
            at: |c| &mut c.store_ca,
        },
        about: "whose signature a PostgreSQL server's certificate must bear",
        also: &[],
    },
    Setting {
        name: "vector_search",
        group: SettingGroup::You,
        kind: ValueKind::Word {
            words: &["exact", "approximate"],
            at: |c| &mut c.vector_search,
        },
        about: "how a PostgreSQL server finds the nearest vectors of 20,000 documents or more: `exact`, or \
                `approximate`, which is faster, misses some, and needs pgvector (0.8 or newer)",
        also: &[],
    },
    Setting {
        name: "tenant",
        group: SettingGroup::You,
        kind: ValueKind::Text {
            allowed: "1 to 64 of the letters a to z, digits, `-` and `_`",
            fits: super::is_tenant,
            at: |c| &mut c.tenant,
        },
        about: "tenant whose memory is opened: tenants in one data folder or database see nothing of each \
                other; memory files of others than `local` are below tenants/ in the data folder",
        also: &[],
    },
    Setting {
        name: "profile",
        group: SettingGroup::Memory,
        kind: ValueKind::Word {
            words: &Profile::NAMES,
            at: |c| &mut c.profile,
        },
        about: "which system's choices the settings below start from; `daybook config profiles` \
                compares them",
        also: &[],
    },
    Setting {
        name: "memory",
        group: SettingGroup::Memory,
        kind: ValueKind::Switch {
            at: |c| &mut c.memory,
        },
        about: "whether memory is made at all; events are stored either way. Of several names of \
                other systems, each must say so",
        also: &[
            ("memory.backend", NameUnit::Backend),
            ("memory.auto_flush.enabled", NameUnit::Own),
            ("memories.generate_memories", NameUnit::Own),
        ],
    },
    Setting {
        name: "memory_off",
        group: SettingGroup::Memory,
        kind: ValueKind::List {
            allowed: "scopes such as \"project/tidepool\", \"agent/codex\" or \"user/ada\"",
            fits: |scope| super::scope(scope).is_some(),
            at: |c| &mut c.memory_off,
        },
        about: "scopes that no memory is made from",
        also: &[],
    },
    Setting {
        name: "agents",
        group: SettingGroup::Memory,
        kind: ValueKind::Tables {
            allowed: "{ codex = { memory = \"off\" }, claude-code = { extract_model = \"home/qwen3\" } }; \
                      memory = \"on\" holds although it is off for everything, and \"mem0\" names the server of `mem0`",
            fits: |tables| agents::agents(tables).map(drop),
            schema: agents::agents_schema,
            at: |c| &mut c.agents,
        },
        about: "what is different for single agents: with memory off, nothing is learned from an agent's sessions, and \
                nothing is put before it or found for it; a model of its own reads its sessions",
        also: &[],
    },
    Setting {
        name: "mem0",
        group: SettingGroup::Memory,
        kind: ValueKind::Tables {
            allowed: "{ url = \"http://127.0.0.1:8888\", key = { env = \"MEM0_KEY\" } }; timeout = \"60s\", \
                      plain_http = true and also_here = true where you want them",
            fits: |tables| mem0::mem0(tables).map(drop),
            schema: mem0::mem0_schema,
            at: |c| &mut c.mem0,
        },
        about: "mem0 server that keeps the memory of agents with memory = \"mem0\" below `agents`, and of teams with \
                such a member: their conversations are sent there, and recall asks it; also_here keeps both",
        also: &[],
    },
    Setting {
        name: "disable_on_external_context",
        group: SettingGroup::Memory,
        kind: ValueKind::Switch {
            at: |c| &mut c.disable_on_external_context,
        },
        about: "whether a session into which a call brings text from outside is left out of memory: a \
                completed web search, a search for tools, a call of an MCP server that is not in \
                `harmless_mcp_servers`, an output that its host marks. What was learned from it is hidden; \
                `daybook sessions --on` brings it back. Calls made while this is off never count",
        also: &[
            ("memories.disable_on_external_context", NameUnit::Own),
            ("memories.no_memories_if_mcp_or_web_search", NameUnit::Own),
        ],
    },
    Setting {
        name: "harmless_mcp_servers",
        group: SettingGroup::Memory,
        kind: ValueKind::List {
            allowed: "names of MCP servers as your agents call them, such as \"notes\"",
            fits: |name| !name.is_empty() && name.len() <= 128 && !name.contains("__"),
            at: |c| &mut c.harmless_mcp_servers,
        },
        about: "MCP servers that bring no text from outside, for `disable_on_external_context`; Codex \
                writes `pollutes_memory = false` below the server",
        also: &[],
    },
    Setting {
        name: "teams",
        group: SettingGroup::Memory,
        kind: ValueKind::List {
            allowed: "teams by their members, such as \"alpha+beta\", or with a name: \"crew=alpha+beta\"",
            fits: |team| Teams::parse([team]).is_ok(),
            at: |c| &mut c.teams,
        },
        about: "teams of agents. What a team learns is in one memory, which each member finds: \
                `teams/<members>/memory/`",
        also: &[],
    },
    Setting {
        name: "room_id",
        group: SettingGroup::Memory,
        kind: ValueKind::Text {
            allowed: VENUE_NAME,
            fits: is_venue_or_none,
            at: |c| &mut c.room_id,
        },
        about: "the room in which the sessions are held that hooks report without one: what they teach is the room's, and the \
                person's own memory is not put before them. A program that runs an agent in a room sets `DAYBOOK_ROOM_ID` \
                for it",
        also: &[],
    },
    Setting {
        name: "thread_id",
        group: SettingGroup::Memory,
        kind: ValueKind::Text {
            allowed: VENUE_NAME,
            fits: is_venue_or_none,
            at: |c| &mut c.thread_id,
        },
        about: "the thread of that room",
        also: &[],
    },
    Setting {
        name: "team",
        group: SettingGroup::Memory,
        kind: ValueKind::Text {
            allowed: VENUE_NAME,
            fits: is_venue_or_none,
            at: |c| &mut c.team,
        },
        about: "the team that holds the sessions that hooks report without one, by its name or its members, in the same way",
        also: &[],
    },
    Setting {
        name: "team_reads_member_memory",
        group: SettingGroup::Memory,
        kind: ValueKind::Switch {
            at: |c| &mut c.team_reads_member_memory,
        },
        about: "whether a team reads the memories of its members besides its own",
        also: &[("memory.team_reads_member_memory", NameUnit::Own)],
    },
    Setting {
        name: "curation",
        group: SettingGroup::Memory,
        kind: ValueKind::Switch {
            at: |c| &mut c.curates,
        },
        about: "whether MEMORY.md changes in passes alone, which take the best lines of the diary that it does \
                not have yet. Off: every consolidation makes it anew",
        also: &[("memory.auto_flush.curation.enabled", NameUnit::Own)],
    },
    Setting {
        name: "curation_lines",
        group: SettingGroup::Memory,
        kind: ValueKind::Count {
            least: 1,
            most: 1_000,
            or_none: false,
            at: |c| &mut c.curation.lines,
        },
        about: "most lines that one pass of `curation` adds to MEMORY.md; more fills it sooner",
        also: &[(
            "memory.auto_flush.curation.max_lines_per_pass",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "curation_passes",
        group: SettingGroup::Memory,
        kind: ValueKind::Count {
            least: 0,
            most: 1_000,
            or_none: false,
            at: |c| &mut c.curation.passes_per_day,
        },
        about: "most passes of `curation` a day, in your time zone; what is left waits for the next day",
        also: &[(
            "memory.auto_flush.curation.max_passes_per_day",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "curation_append_only",
        group: SettingGroup::Memory,
        kind: ValueKind::Switch {
            at: |c| &mut c.curation.append_only,
        },
        about: "whether `curation` changes and removes no line of MEMORY.md; off: a pass also brings its own \
                lines up to date",
        also: &[("memory.auto_flush.curation.append_only", NameUnit::Own)],
    },
    Setting {
        name: "extract_model",
        group: SettingGroup::Models,
        kind: ValueKind::Text {
            allowed: "\"none\", or a provider of `providers` and one of its models: \"home/qwen3\"",
            fits: chosen_model::is_model,
            at: |c| &mut c.extract_model,
        },
        about: "model that extracts what is worth keeping from sessions; with none, Daybook quotes what was \
                plainly said and done, and sends nothing to a provider",
        also: &[
            ("memories.extract_model", NameUnit::Own),
            ("memories.phase_1_model", NameUnit::Own),
        ],
    },
    Setting {
        name: "consolidation_model",
        group: SettingGroup::Models,
        kind: ValueKind::Text {
            allowed: "\"none\", or a provider of `providers` and one of its models: \"home/qwen3\"",
            fits: chosen_model::is_model,
            at: |c| &mut c.consolidation_model,
        },
        about: "model that proposes clearer words, merges and what no longer holds where memory files are written; \
                with none, words alone decide, and what was accepted before stays",
        also: &[
            ("memories.consolidation_model", NameUnit::Own),
            ("memories.phase_2_model", NameUnit::Own),
        ],
    },
    Setting {
        name: "consolidation_agent",
        group: SettingGroup::Models,
        kind: ValueKind::Switch {
            at: |c| &mut c.consolidation_agent,
        },
        about: "whether `consolidation_model` also works as an agent, which reads what is new in a memory with file \
                tools and writes a handbook and skills from it; it reads all of a memory once, and costs more",
        also: &[],
    },
    Setting {
        name: "compact_model",
        group: SettingGroup::Models,
        kind: ValueKind::Text {
            allowed: "\"none\", or a provider of `providers` and one of its models: \"home/qwen3\"",
            fits: chosen_model::is_model,
            at: |c| &mut c.compact_model,
        },
        about: "model that compacts threads; with none, or while it is unavailable or at a cap, Daybook \
                lists what plainly happened, and sends nothing to a provider",
        also: &[("llm.compactModel", NameUnit::Own)],
    },
    Setting {
        name: "compact_temperature",
        group: SettingGroup::Models,
        kind: ValueKind::Decimal {
            least: 0.0,
            most: 2.0,
            at: |c| &mut c.compact_temperature,
        },
        about: "temperature of `compact_model`; higher varies more",
        also: &[("llm.compactTemperature", NameUnit::Own)],
    },
    Setting {
        name: "compact_max_tokens",
        group: SettingGroup::Models,
        kind: ValueKind::Count {
            least: 128,
            most: 200_000,
            or_none: false,
            at: |c| &mut c.compact_max_tokens,
        },
        about: "most tokens of one compaction, with or without a model; more keeps more and leaves less room",
        also: &[("llm.compactMaxTokens", NameUnit::Own)],
    },
    Setting {
        name: "auto_compact",
        group: SettingGroup::Models,
        kind: ValueKind::Switch {
            at: |c| &mut c.auto_compact,
        },
        about: "whether threads are compacted automatically",
        also: &[("autoCompactEnabled", NameUnit::Own)],
    },
    Setting {
        name: "auto_compact_threshold",
        group: SettingGroup::Models,
        kind: ValueKind::Count {
            least: 2,
            most: 10_000,
            or_none: false,
            at: |c| &mut c.auto_compact_threshold,
        },
        about: "compactable chunks of the conversation with which a thread is compacted; more keeps more words \
                as they are",
        also: &[("autoCompactThreshold", NameUnit::Own)],
    },
    Setting {
        name: "auto_compact_tokens",
        group: SettingGroup::Models,
        kind: ValueKind::Count {
            least: 1_000,
            most: 10_000_000,
            or_none: true,
            at: |c| &mut c.auto_compact_tokens,
        },
        about: "tokens with which a thread is compacted, however few its chunks; well below what the agent's \
                model can read",
        also: &[],
    },
    Setting {
        name: "providers",
        group: SettingGroup::Models,
        kind: ValueKind::Tables {
            allowed: "{ home = { wire = \"openai\", base_url = \"http://127.0.0.1:8080/v1\", \
                      key = { env = \"HOME_KEY\" } } }, with wire openai, anthropic or ollama; also \
                      concurrency, timeout, tries, context_tokens, plain_http, models",
            fits: |tables| providers::providers(tables).map(drop),
            schema: providers::providers_schema,
            at: |c| &mut c.providers,
        },
        about: "servers that answer for models; a key is read from the place that is named, and never shown",
        also: &[],
    },
    Setting {
        name: "min_remaining_percent",
        group: SettingGroup::Models,
        kind: ValueKind::Count {
            least: 0,
            most: 100,
            or_none: false,
            at: |c| &mut c.min_remaining_percent,
        },
        about: "share of a provider's rate limits that is left to its other clients, where the provider's own entry \
                names none; at less, sessions wait",
        also: &[("memories.min_rate_limit_remaining_percent", NameUnit::Own)],
    },
    Setting {
        name: "no_reply_token",
        group: SettingGroup::Models,
        kind: ValueKind::Text {
            allowed: "one line of up to 64 bytes with a letter or a digit, such as \"NO_REPLY\"",
            fits: |token| {
                token.len() <= TOKEN
                    && token.chars().any(char::is_alphanumeric)
                    && !token.chars().any(char::is_control)
            },
            at: |c| &mut c.no_reply_token,
        },
        about: "the answer by which `extractor = \"silent_turn\"` has a model say that nothing is worth keeping, in \
                any case and punctuation; an empty answer says it, too",
        also: &[("memory.auto_flush.extractor.no_reply_token", NameUnit::Own)],
    },
    Setting {
        name: "forbid_providers",
        group: SettingGroup::Models,
        kind: ValueKind::List {
            allowed: "names such as \"openai\", or \"tenant/openai\" for one tenant",
            fits: models::is_forbidden,
            at: |c| &mut c.forbid,
        },
        about: "providers that are never called; a tenant's sessions are quoted instead, and the built-in model \
                makes its vectors",
        also: &[],
    },
    Setting {
        name: "at_cap",
        group: SettingGroup::Models,
        kind: ValueKind::Word {
            words: &AT_CAP,
            at: |c| &mut c.at_cap,
        },
        about: "at a cap, `stand_in`: sessions are quoted and read by the model later; `wait`: they wait \
                for room",
        also: &[],
    },
    Setting {
        name: "window_tokens",
        group: SettingGroup::Models,
        kind: ValueKind::Count {
            least: 1_000,
            most: 1_000_000,
            or_none: false,
            at: |c| &mut c.window_tokens,
        },
        about: "most tokens of a session that one question shows; more shows more of what tools printed, \
                and costs more",
        also: &[],
    },
    Setting {
        name: "answer_tokens",
        group: SettingGroup::Models,
        kind: ValueKind::Count {
            least: 256,
            most: 200_000,
            or_none: false,
            at: |c| &mut c.answer_tokens,
        },
        about: "most tokens of one answer, thoughts included; fewer cuts long answers off",
        also: &[],
    },
    Setting {
        name: "keep",
        group: SettingGroup::Models,
        kind: ValueKind::List {
            allowed: "up to 20 wishes in plain words, 200 characters each",
            fits: |wish| !wish.trim().is_empty(),
            at: |c| &mut c.keep,
        },
        about: "what is worth keeping to you; part of the model's instructions",
        also: &[],
    },
    Setting {
        name: "never_keep",
        group: SettingGroup::Models,
        kind: ValueKind::List {
            allowed: "up to 20 wishes in plain words, 200 characters each",
            fits: |wish| !wish.trim().is_empty(),
            at: |c| &mut c.never_keep,
        },
        about: "what the model must never keep; a phrase of up to three telling words is also held to \
                without it",
        also: &[],
    },
    Setting {
        name: "never_keep_kinds",
        group: SettingGroup::Models,
        kind: ValueKind::List {
            allowed: "kinds: open_end, note, correction, preference, decision, value, fix, fact",
            fits: |word| models::kind(word).is_some(),
            at: |c| &mut c.never_keep_kinds,
        },
        about: "kinds of things that the model never keeps",
        also: &[],
    },
    Setting {
        name: "prices",
        group: SettingGroup::Spend,
        kind: ValueKind::Tables {
            allowed: "{ \"provider/model\" = { input = 3, cached = 0.3, output = 15 } }, with * in names \
                      for any characters, and without `cached` where that costs the same",
            fits: |tables| super::spend::prices(tables).map(drop),
            schema: super::spend::prices_schema,
            at: |c| &mut c.prices,
        },
        about: "what a million tokens of each model cost; the most specific name counts. Under a cap on \
                money, a model without a price is not called",
        also: &[],
    },
    Setting {
        name: "caps",
        group: SettingGroup::Spend,
        kind: ValueKind::Tables {
            allowed: "{ day = { tokens = 2000000, money = 5 } }, for run, day, month, and with user_ \
                      before them for each user",
            fits: |tables| super::spend::caps(tables).map(drop),
            schema: super::spend::caps_schema,
            at: |c| &mut c.caps,
        },
        about: "the most that may be spent on models in a run, and in a day or month of UTC; what waits \
                for room continues by itself",
        also: &[],
    },
    Setting {
        name: "currency",
        group: SettingGroup::Spend,
        kind: ValueKind::Text {
            allowed: "1 to 8 letters or signs",
            fits: |text| (1..=8).contains(&text.trim().chars().count()),
            at: |c| &mut c.currency,
        },
        about: "what prices and caps are in; only shown, never converted",
        also: &[],
    },
    Setting {
        name: "idle",
        group: SettingGroup::Due,
        kind: ValueKind::Duration {
            least: ZERO,
            most: DAY.saturating_mul(30),
            at: |c| &mut c.rest.triggers.patience.idle,
        },
        about: "how long a session rests before it is due; longer means fewer passes",
        also: &[("memory.auto_flush.idle_seconds", NameUnit::Seconds)],
    },
    Setting {
        name: "max_dirty_age",
        group: SettingGroup::Due,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY.saturating_mul(365),
            at: |c| &mut c.rest.triggers.patience.dirty,
        },
        about: "longest wait of an event, however busy its session is; longer means fewer passes",
        also: &[("memory.auto_flush.max_dirty_age_seconds", NameUnit::Seconds)],
    },
    Setting {
        name: "turn_limit",
        group: SettingGroup::Due,
        kind: ValueKind::Count {
            least: 1,
            most: 10_000,
            or_none: true,
            at: |c| &mut c.turn_limit,
        },
        about: "turns after which a session is due at the next one; more means fewer passes",
        also: &[],
    },
    Setting {
        name: "urgent",
        group: SettingGroup::Due,
        kind: ValueKind::Word {
            words: &URGENT,
            at: |c| &mut c.urgent,
        },
        about: "whether a session that is compacted or reset goes before others (`high`) or in \
                turn (`normal`)",
        also: &[],
    },
    Setting {
        name: "reprioritize",
        group: SettingGroup::Due,
        kind: ValueKind::Count {
            least: 0,
            most: 1_000,
            or_none: false,
            at: |c| &mut c.rest.triggers.reprioritize,
        },
        about: "other waiting sessions of the same agent that a prompt brings forward; 0 brings none",
        also: &[(
            "memory.auto_flush.max_cross_session_reprioritize",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "sweep",
        group: SettingGroup::Sweep,
        kind: ValueKind::Switch {
            at: |c| &mut c.sweeps,
        },
        about: "whether a starting root session makes other sessions due that wait and have rested",
        also: &[],
    },
    Setting {
        name: "sweep_surfaces",
        group: SettingGroup::Sweep,
        kind: ValueKind::List {
            allowed: "names such as \"cli\" or \"vscode\", or nothing for all",
            fits: |surface| !surface.trim().is_empty(),
            at: |c| &mut c.sweep.surfaces,
        },
        about: "where sessions are held that a sweep takes, as hosts name it; empty: anywhere",
        also: &[],
    },
    Setting {
        name: "sweep_max_age",
        group: SettingGroup::Sweep,
        kind: ValueKind::Duration {
            least: ZERO,
            most: DAY.saturating_mul(90),
            at: |c| &mut c.sweep.max_age,
        },
        about: "sessions whose last event is older are passed over; longer finds older ones",
        also: &[("memories.max_rollout_age_days", NameUnit::Days)],
    },
    Setting {
        name: "sweep_min_idle",
        group: SettingGroup::Sweep,
        kind: ValueKind::Duration {
            least: ZERO,
            most: HOUR.saturating_mul(48),
            at: |c| &mut c.sweep.min_idle,
        },
        about: "sessions that have rested for less are passed over; longer leaves more alone",
        also: &[("memories.min_rollout_idle_hours", NameUnit::Hours)],
    },
    Setting {
        name: "sweep_scan",
        group: SettingGroup::Sweep,
        kind: ValueKind::Count {
            least: 0,
            most: 100_000,
            or_none: false,
            at: |c| &mut c.sweep.scan,
        },
        about: "most sessions that a sweep looks at; more finds older ones and takes longer",
        also: &[],
    },
    Setting {
        name: "sweep_claims",
        group: SettingGroup::Sweep,
        kind: ValueKind::Count {
            least: 0,
            most: 128,
            or_none: false,
            at: |c| &mut c.sweep.claims,
        },
        about: "most sessions that a sweep claims; more means more work at each start",
        also: &[("memories.max_rollouts_per_startup", NameUnit::Own)],
    },
    Setting {
        name: "poll",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY,
            at: |c| &mut c.rest.work.poll,
        },
        about: "longest sleep of a worker between two looks; it wakes earlier when something is due",
        also: &[(
            "memory.auto_flush.flush_interval_seconds",
            NameUnit::Seconds,
        )],
    },
    Setting {
        name: "batch",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 1_000,
            or_none: false,
            at: |c| &mut c.rest.work.claims.jobs,
        },
        about: "most sessions claimed at once; more drains a backlog sooner and holds more leases",
        also: &[(
            "memory.auto_flush.batch.max_sessions_per_cycle",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "batch_per_agent",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 1_000,
            or_none: true,
            at: |c| &mut c.rest.work.claims.per_agent,
        },
        about: "most of them from one agent; fewer keeps a busy agent from crowding others out",
        also: &[(
            "memory.auto_flush.batch.max_sessions_per_agent_per_cycle",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "running",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 1_000,
            or_none: true,
            at: |c| &mut c.rest.work.claims.running,
        },
        about: "most extractions under way, over all processes; more is sooner done and busier",
        also: &[],
    },
    Setting {
        name: "window_messages",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 10_000,
            or_none: true,
            at: |c| &mut c.rest.work.window.messages,
        },
        about: "most messages of a session that one pass reads, beside 2,000 events and 2 MiB; fewer means \
                more passes",
        also: &[(
            "memory.auto_flush.extractor.max_messages_per_flush",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "window_chars",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 10_000_000,
            or_none: true,
            at: |c| &mut c.rest.work.window.chars,
        },
        about: "most characters of these messages, of which each counts with at most 500; fewer means more \
                passes",
        also: &[(
            "memory.auto_flush.extractor.max_chars_per_flush",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "known_diary_lines",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 0,
            most: 1_000,
            or_none: false,
            at: |c| &mut c.rest.work.known.diary_lines,
        },
        about: "most of the diary's last lines that a model is shown, so that it does not repeat them; more costs more",
        also: &[(
            "memory.auto_flush.extractor.include_memory_context.daily_tail_lines",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "known_snippets",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 0,
            most: 50,
            or_none: false,
            at: |c| &mut c.rest.work.known.snippets,
        },
        about: "most memories on a session's topics that a model is shown for the same reason; 0 shows none",
        also: &[(
            "memory.auto_flush.extractor.include_memory_context.memory_snippets",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "known_snippet_chars",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 10_000,
            or_none: false,
            at: |c| &mut c.rest.work.known.snippet_chars,
        },
        about: "most characters of each of these lines and memories",
        also: &[(
            "memory.auto_flush.extractor.include_memory_context.snippet_max_chars",
            NameUnit::Own,
        )],
    },
    Setting {
        name: "extraction_timeout",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY,
            at: |c| &mut c.rest.work.extraction,
        },
        about: "longest time of one extraction by a model; what takes longer is a failed try, and shorter stretches \
                are tried when it fails again and again",
        also: &[(
            "memory.auto_flush.extractor.max_extraction_seconds",
            NameUnit::Seconds,
        )],
    },
    Setting {
        name: "parallel",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 64,
            or_none: false,
            at: |c| &mut c.rest.work.parallel,
        },
        about: "extractions side by side in one process; more is sooner done where a model is waited for",
        also: &[],
    },
    Setting {
        name: "running_per_agent",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 1_000,
            or_none: true,
            at: |c| &mut c.rest.work.claims.running_per_agent,
        },
        about: "most of them from one agent",
        also: &[],
    },
    Setting {
        name: "lease",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY,
            at: |c| &mut c.rest.work.lease,
        },
        about: "how long a job may run without a sign of life before another worker may take it over",
        also: &[],
    },
    Setting {
        name: "tries",
        group: SettingGroup::Work,
        kind: ValueKind::Count {
            least: 1,
            most: 100,
            or_none: false,
            at: |c| &mut c.tries,
        },
        about: "how often the same stretch of a session may fail before it is narrowed",
        also: &[("memory.auto_flush.extractor.max_retries", NameUnit::Own)],
    },
    Setting {
        name: "retry_first",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY,
            at: |c| &mut c.rest.work.retry.first,
        },
        about: "wait after a first failure; each further one doubles it",
        also: &[(
            "memory.auto_flush.retry_cooldown_seconds",
            NameUnit::Seconds,
        )],
    },
    Setting {
        name: "retry_most",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY.saturating_mul(7),
            at: |c| &mut c.rest.work.retry.most,
        },
        about: "longest wait after a failure; as long as `retry_first`: every wait is the same",
        also: &[(
            "memory.auto_flush.max_retry_cooldown_seconds",
            NameUnit::Seconds,
        )],
    },
    Setting {
        name: "retry_after_most",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: SECOND,
            most: DAY.saturating_mul(30),
            at: |c| &mut c.rest.work.retry.retry_after_most,
        },
        about: "longest wait that a provider's Retry-After is honoured for; a request for more is cut to \
                this, so longer asks a provider less often that is out for days",
        also: &[],
    },
    Setting {
        name: "stale_after",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: MINUTE,
            most: DAY.saturating_mul(365),
            at: |c| &mut c.rest.work.stale_after,
        },
        about: "a session that waits longer is named by `status`; it is never dropped",
        also: &[("memory.auto_flush.stale_ttl_seconds", NameUnit::Seconds)],
    },
    Setting {
        name: "drain",
        group: SettingGroup::Work,
        kind: ValueKind::Duration {
            least: ZERO,
            most: MINUTE.saturating_mul(10),
            at: |c| &mut c.rest.work.drain,
        },
        about: "longest wait at the end signal for work that is under way",
        also: &[],
    },
    Setting {
        name: "extractor",
        group: SettingGroup::Work,
        kind: ValueKind::Word {
            words: ExtractorKind::VARIANTS,
            at: |c| &mut c.extractor,
        },
        about: "the system whose prompts and answers `extract_model` is used with; `extractive` calls no model, and \
                neither does any other value while no model is named",
        also: &[],
    },
    Setting {
        name: "ledger",
        group: SettingGroup::Work,
        kind: ValueKind::Word {
            words: Ledger::VARIANTS,
            at: |c| &mut c.ledger,
        },
        about: "where the jobs of sessions are kept: in the database, or (`json`) in \
                memory_flush_state.json, which is rewritten with each change",
        also: &[],
    },
    Setting {
        name: "layout",
        group: SettingGroup::Files,
        kind: ValueKind::Word {
            words: FileLayout::VARIANTS,
            at: |c| &mut c.layout,
        },
        about: "files of memory: a diary in daily/ and a page for each session in sessions/ (`daybook`); raw_memories.md \
                and rollout_summaries/ for the selected sessions (`codex`); a log of observations, in \
                observations.md (`daycare`) or in daily/ (`mindroom`). The next update converts what is there",
        also: &[],
    },
    Setting {
        name: "selected_sessions",
        group: SettingGroup::Files,
        kind: ValueKind::Count {
            least: 1,
            most: SELECTED_SESSIONS,
            or_none: false,
            at: |c| &mut c.rest.consolidation.selection.most,
        },
        about: "most sessions that `layout = \"codex\"` selects for a scope: the most cited ones first, then the \
                newest; the others are found by recall",
        also: &[("memories.max_raw_memories_for_consolidation", NameUnit::Own)],
    },
    Setting {
        name: "unused_after",
        group: SettingGroup::Files,
        kind: ValueKind::Duration {
            least: ZERO,
            most: DAY.saturating_mul(365),
            at: |c| &mut c.rest.consolidation.selection.unused,
        },
        about: "`layout = \"codex\"` leaves out a session that was neither shown nor cited for longer; a use brings \
                it back",
        also: &[("memories.max_unused_days", NameUnit::Days)],
    },
    Setting {
        name: "cooldown",
        group: SettingGroup::Files,
        kind: ValueKind::Duration {
            least: ZERO,
            most: DAY.saturating_mul(30),
            at: |c| &mut c.rest.consolidation.cooldown,
        },
        about: "rest of a scope's files between two consolidations, with `layout = \"codex\"`; `daybook consolidate` \
                waits for nothing",
        also: &[],
    },
    Setting {
        name: "context_source",
        group: SettingGroup::Files,
        kind: ValueKind::Word {
            words: ContextSource::VARIANTS,
            at: |c| &mut c.context_source,
        },
        about: "what an agent's context is made of: selected entries of MEMORY.md (`entries`), memory_summary.md \
                alone (`summary`), or the first lines of MEMORY.md (`first_lines`); within `context_tokens`",
        also: &[],
    },
    Setting {
        name: "context_lines",
        group: SettingGroup::Files,
        kind: ValueKind::Count {
            least: 1,
            most: 100_000,
            or_none: false,
            at: |c| &mut c.rest.context.lines,
        },
        about: "most lines that `context_source = \"first_lines\"` shows of each MEMORY.md",
        also: &[("memory.file.max_entrypoint_lines", NameUnit::Own)],
    },
];
