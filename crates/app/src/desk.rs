//! What can be asked of an open memory, whichever door the question comes in by: the command line,
//! MCP or HTTP. Answers are values; each door shows them in its own way.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use daybook_domain::index::Layer;
use daybook_domain::{
    Citation, Event, EventSeq, Observation, Origin, Scope, ScopeKind, Session, Timestamp,
};
use daybook_engine::files::reader::Refused;
use daybook_engine::files::reindex::reindex_all;
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::{self, NoteTarget};
use daybook_engine::recall::context::{Context as Told, assemble};
use daybook_engine::recall::search::{Answer, Question, Recalled, recall};
use daybook_engine::stop::Stop;
use serde_json::{Value, json};

use crate::briefing;
use crate::embedding::{embed_before_answering, embedder};
use crate::found::Found;
use crate::here::{Here, here};
use crate::hooks::loaded;
use crate::progress::Learning;
use crate::suggest;
use crate::wiring::Daybook;

/// What was asked for cannot be had; the message says what to do instead.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It makes no sense as it was asked.
    Request(String),
    /// It is not there, or not there any more.
    Missing(String),
    /// It cannot be done as things stand.
    Conflict(String),
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Request(says) | Self::Missing(says) | Self::Conflict(says)) = self;
        f.write_str(says)
    }
}

impl std::error::Error for Unfit {}

/// Most events that one citation shows.
pub(crate) const EVENTS: usize = 500;

/// A question to memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ask {
    /// What somebody wants to know.
    pub(crate) text: String,
    /// Most answers.
    pub(crate) limit: usize,
    /// Only these layers; empty for all.
    pub(crate) layers: Vec<Layer>,
    /// Only these scopes, such as `project/tidepool`; empty for all.
    pub(crate) scopes: Vec<String>,
    /// What tools were told and answered counts too.
    pub(crate) tools: bool,
    /// Nothing, unless the question was likely discussed.
    pub(crate) strict: bool,
}

/// The answers, best first, and how sure it is that the question was discussed.
pub(crate) async fn ask(daybook: &Daybook, ask: &Ask) -> Result<Recalled> {
    look_over(daybook).await?;
    let model = embedder(daybook);
    if let Some(model) = &model {
        embed_before_answering(daybook, &**model).await?;
    }
    let question = Question {
        text: &ask.text,
        scopes: known_scopes(daybook, &ask.scopes).await?,
        layers: ask.layers.clone(),
        tools: ask.tools,
        limit: ask.limit,
        rare: false,
        embedder: model.as_deref(),
        now: daybook.clock.now(),
    };
    let recalled = recall(&*daybook.store, &daybook.tenant, &question).await?;
    Ok(if ask.strict {
        recalled.strict()
    } else {
        recalled
    })
}

/// Has edits of memory files found from now on. Where several machines share them, what counts is what
/// was checked in, and whoever did so has seen to it.
pub(crate) async fn look_over(daybook: &Daybook) -> Result<()> {
    if daybook.trees.is_none() {
        let (store, root, now) = (&*daybook.store, &daybook.root, daybook.clock.now());
        reindex_all(store, root, &daybook.tenant, now).await?;
    }
    Ok(())
}

/// A layer by name; its plural will do.
pub(crate) fn layer(text: &str) -> Result<Layer, String> {
    let known = Layer::ALL
        .into_iter()
        .find(|layer| layer.word() == text.trim_end_matches('s'));
    known.ok_or_else(|| "a layer is one of: entry, observation, event".to_owned())
}

async fn known_scopes(daybook: &Daybook, names: &[String]) -> Result<Option<Vec<Scope>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let known = daybook.store.scopes(&daybook.tenant).await?;
    let mut scopes = Vec::new();
    for name in names {
        match known.iter().find(|state| state.scope.to_string() == *name) {
            Some(state) => scopes.push(state.scope.clone()),
            None => {
                let names: Vec<String> =
                    known.iter().map(|state| state.scope.to_string()).collect();
                bail!(Unfit::Missing(format!(
                    "there is no scope {name}; there are: {}",
                    names.join(", ")
                )));
            }
        }
    }
    Ok(Some(scopes))
}

/// Whose memory something is kept in.
#[derive(Debug, Clone)]
pub(crate) enum Whose {
    /// The project of the folder at hand, else the person.
    Here,
    /// The person, wherever they work.
    Person,
    /// A scope by name, such as `project/tidepool`.
    Named(String),
}

/// What was kept.
pub(crate) struct Kept {
    pub(crate) observation: Observation,
    /// Secrets that were hidden in it.
    pub(crate) secrets: usize,
}

/// Keeps words as they are; they are found at once, and written into the files unless somebody
/// else is writing there just now. Sessions that are due wait: the caller does not. Once `stop` is asked
/// no further file is begun.
pub(crate) async fn keep(
    daybook: &Daybook,
    words: &str,
    whose: &Whose,
    folder: &Path,
    by: Origin,
    stop: &Stop,
) -> Result<Kept> {
    let here = here(daybook, folder).await?;
    let (shop, _present) = daybook.worker().await?;
    let kept = note_down(daybook, words, whose, here, by).await?;
    jobs::write_due(&shop, stop, &Learning::quiet()).await?;
    Ok(kept)
}

/// Keeps words as they are, and leaves the files to whoever processes what is due: nobody waits
/// for them. The words are found at once.
pub(crate) async fn note(
    daybook: &Daybook,
    words: &str,
    whose: &Whose,
    folder: Option<&Path>,
) -> Result<Kept> {
    let here = match folder {
        Some(folder) => here(daybook, folder).await?,
        None => Here::nowhere(),
    };
    note_down(daybook, words, whose, here, Origin::Human).await
}

async fn note_down(
    daybook: &Daybook,
    words: &str,
    whose: &Whose,
    here: Here,
    by: Origin,
) -> Result<Kept> {
    let scope = match (whose, &here.project) {
        (Whose::Named(name), _) => named(daybook, name)?,
        (Whose::Here, Some(project)) => project.clone(),
        (Whose::Here, None) | (Whose::Person, _) => person(daybook),
    };
    let place = here.project.is_some().then_some(here.place);
    let redactor = Redactor::standard();
    let switches = daybook.switches();
    let target = NoteTarget {
        store: &*daybook.store,
        clock: &*daybook.clock,
        tenant: &daybook.tenant,
        switches: &switches,
    };
    let (observation, secrets) = jobs::remember(target, &redactor, words, scope, place, by).await?;
    Ok(Kept {
        observation,
        secrets,
    })
}

/// The person's own scope.
pub(crate) fn person(daybook: &Daybook) -> Scope {
    Scope {
        tenant: daybook.tenant.clone(),
        kind: ScopeKind::User,
        name: daybook.settings.person.clone(),
    }
}

fn named(daybook: &Daybook, name: &str) -> Result<Scope> {
    let (kind, name) = check_scope(name)?;
    Ok(Scope {
        tenant: daybook.tenant.clone(),
        kind,
        name: name.to_owned(),
    })
}

/// The kind and name in a scope's name.
pub(crate) fn check_scope(name: &str) -> Result<(ScopeKind, &str)> {
    name.split_once('/')
        .and_then(|(kind, name)| Some((ScopeKind::from_word(kind)?, name)))
        .filter(|(_, name)| !name.is_empty())
        .with_context(|| {
            format!("\"{name}\" is not a scope; write for example project/tidepool or user/ada")
        })
}

/// What an agent should be told, and where it is.
pub(crate) struct Briefing {
    pub(crate) told: Told,
    pub(crate) here: Here,
    pub(crate) branch: Option<String>,
    /// Memory files that are there and are not read.
    pub(crate) refused: Vec<Refused>,
}

/// Where an agent is, as far as it is not what the folder says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// The memory of this project, wherever the folder is.
    pub(crate) project: Option<String>,
    /// As if on this branch.
    pub(crate) branch: Option<String>,
    /// Most tokens.
    pub(crate) budget: Option<usize>,
}

/// What an agent in `folder` should be told.
pub(crate) async fn brief(
    daybook: &Daybook,
    folder: &Path,
    standing: &Standing,
) -> Result<Briefing> {
    daybook.look_around().await?;
    let here = here(daybook, folder).await?;
    Ok(brief_at(daybook, here, standing))
}

/// What an agent that is `here` should be told.
pub(crate) fn brief_at(daybook: &Daybook, mut here: Here, standing: &Standing) -> Briefing {
    if let Some(name) = &standing.project {
        here.project = Some(Scope {
            tenant: daybook.tenant.clone(),
            kind: ScopeKind::Project,
            name: name.clone(),
        });
    }
    let branch = standing
        .branch
        .clone()
        .or_else(|| here.place.branch.clone());
    let budget = standing.budget.unwrap_or(daybook.settings.context_tokens);
    let files = briefing::read(
        &daybook.root,
        &daybook.tenant,
        &daybook.settings.person,
        here.project.as_ref(),
    );
    let top = Path::new(&here.place.root);
    let loaded = loaded(top, top, None);
    let told = assemble(
        &files.applies,
        branch.as_deref(),
        &loaded,
        &suggest::program(),
        budget,
    );
    let refused = files.refused;
    Briefing {
        told,
        here,
        branch,
        refused,
    }
}

/// The session that a citation names, and its words with so many lines around.
pub(crate) async fn words(
    daybook: &Daybook,
    citation: &str,
    around: u32,
) -> Result<(Session, Vec<Event>)> {
    let cited = Citation::parse(citation).with_context(|| {
        Unfit::Request(format!(
            "\"{citation}\" is not a citation; write for example 7f78:L636"
        ))
    })?;
    let session = find(daybook, &cited).await?;
    let events = cited_events(daybook, &session, &cited, around).await?;
    if events.is_empty() {
        bail!(Unfit::Missing(format!(
            "source expired: session {} has no such lines any more",
            session.id
        )));
    }
    Ok((session, events))
}

async fn find(daybook: &Daybook, cited: &Citation) -> Result<Session> {
    let mut found = daybook
        .store
        .find_sessions(&daybook.tenant, &cited.session)
        .await?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => bail!(Unfit::Missing(format!(
            "source expired: no session is called {}",
            cited.session
        ))),
        _ => {
            let names: Vec<String> = found.iter().map(|s| s.id.host_id.clone()).collect();
            bail!(Unfit::Request(format!(
                "{} may be any of: {}",
                cited.session,
                names.join(", ")
            )))
        }
    }
}

async fn cited_events(
    daybook: &Daybook,
    session: &Session,
    cited: &Citation,
    around: u32,
) -> Result<Vec<Event>> {
    if cited.lines.is_empty() {
        let (from, upto) = (EventSeq(0), session.events);
        return Ok(daybook
            .store
            .events(&session.id, from, upto, EVENTS, usize::MAX)
            .await?);
    }
    let mut events: Vec<Event> = Vec::new();
    for (from, to) in &cited.lines {
        let lines = (from.saturating_sub(around), to.saturating_add(around));
        let found = daybook.store.events_at(&session.id, lines, EVENTS).await?;
        let after = events.last().map_or(EventSeq(0), |event| event.seq);
        events.extend(found.into_iter().filter(|event| event.seq > after));
    }
    events.truncate(EVENTS);
    Ok(events)
}

/// One answer for programs.
pub(crate) fn answer_json(answer: &Answer) -> Value {
    json!(Found::from(answer))
}

/// Who said an event, where and when, in one line.
pub(crate) fn byline(daybook: &Daybook, event: &Event) -> String {
    let parts = [
        Some(format!("L{}", event.line)),
        Some(event.origin.word().replace('_', " ")),
        event.tool.clone(),
        event.status.map(|status| status.word().to_owned()),
        day(daybook, event.at, "%-d %b %Y %H:%M"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// What is printed when there is no answer: with `--strict` there may be near ones that are not shown.
pub(crate) fn nothing(recalled: &Recalled) -> &'static str {
    match recalled.confidence.signs.score > 0.0 {
        true => "Nothing that is remembered clearly answers that.",
        false => "Nothing is remembered about that.",
    }
}

/// All answers to a question for programs.
pub(crate) fn answers_json(recalled: &Recalled) -> Value {
    let answers: Vec<Value> = recalled.answers.iter().map(answer_json).collect();
    let confidence = &recalled.confidence;
    json!({
        "confidence": confidence.label.word(),
        "confidence_score": confidence.score,
        "results": answers,
    })
}

/// What was kept, for programs.
pub(crate) fn kept_json(kept: &Kept) -> Value {
    json!({
        "id": kept.observation.id.to_string(),
        "scope": kept.observation.scope.to_string(),
        "text": kept.observation.text,
        "secrets_hidden": kept.secrets,
    })
}

/// What an agent is told, for programs.
pub(crate) fn briefing_json(briefing: &Briefing) -> Value {
    let Briefing {
        told,
        here,
        branch,
        refused,
    } = briefing;
    json!({
        "text": told.text,
        "tokens": told.tokens,
        "entries": told.told,
        "left_out": told.left_out,
        "project": here.project.as_ref().map(|scope| &scope.name),
        "branch": branch,
        "refused": refused.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// The day of an event as the person counts them; nothing when unknown.
pub(crate) fn day(daybook: &Daybook, at: Timestamp, form: &str) -> Option<String> {
    let known = (at != Timestamp::ZERO).then_some(at.0)?;
    let at = jiff::Timestamp::from_millisecond(known).ok()?;
    let zoned = at.to_zoned(daybook.settings.zone.clone());
    Some(zoned.strftime(form).to_string())
}
