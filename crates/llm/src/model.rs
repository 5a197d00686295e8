//! Asking one model: tries, the form of its answers, one repair, and what all of it cost.
//!
//! A model is asked in the [`Manner`] that it was last seen to take. What it finds fault with is left out
//! from then on; so a form that it does not know costs one refused request in its life, not one in every
//! `ask`. At most two requests of an `ask` reach the model because of form: the question and a repair.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use daybook_domain::model::{
    AnswerSchema, Message, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
};

use crate::answer::{self, Form, Judged};
use crate::bill::Bill;
use crate::config::ModelConfig;
use crate::faults::{Class, Fault};
use crate::provider::{Provider, Trouble};
use crate::tokens::Tokenizer as _;
use crate::waiting::Schedule;
use crate::wire::{Heard, Question};

/// Answers in a row after which a model is taken for one that does not know of its schema. One may stray
/// now and then; telling it each time costs more than a repair.
const STRAYS: u8 = 2;

/// A model of a provider.
#[derive(Debug)]
pub struct ChatModel {
    provider: Provider,
    config: ModelConfig,
    /// `provider/model`.
    name: String,
    manner: Mutex<Manner>,
}

/// How a model takes questions. It only ever gets plainer, so asking in the next manner comes to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Manner {
    form: Form,
    /// Answers in a row that did not keep to the schema they were held to; from the second on the schema is
    /// told as well.
    strayed: u8,
    newer_limit: bool,
    temperature: bool,
}

/// What is left and what was spent of one `ask`.
struct Asking<'a> {
    request: &'a ModelRequest,
    schedule: Schedule,
    bill: Bill,
}

impl ChatModel {
    pub(crate) fn new(provider: Provider, config: ModelConfig) -> Self {
        let name = format!("{}/{}", provider.config().name, config.name);
        let manner = Manner {
            form: Form::Schema,
            strayed: 0,
            newer_limit: false,
            temperature: true,
        };
        Self {
            provider,
            config,
            name,
            manner: Mutex::new(manner),
        }
    }

    async fn answer(&self, asking: &mut Asking<'_>) -> Result<ModelReply, ModelError> {
        let request = asking.request;
        let heard = self.hear(&request.messages, asking).await?;
        let Some(demanded) = &request.answer else {
            return Ok(reply(heard, None, &asking.bill));
        };
        let wrong = match answer::judge(&heard, demanded) {
            Judged::Whole(value) => {
                self.kept_to_its_form();
                return Ok(reply(heard, Some(value), &asking.bill));
            }
            Judged::Else => return Ok(reply(heard, None, &asking.bill)),
            Judged::Wrong(wrong) => wrong,
        };
        let seen = self.manner();
        let strayed = seen.strayed.saturating_add(1).min(STRAYS);
        self.remember(seen, Manner { strayed, ..seen });
        let repair = answer::repair(&request.messages, &heard, &wrong, demanded);
        let heard = self.hear(&repair, asking).await?;
        match answer::judge(&heard, demanded) {
            Judged::Whole(value) => Ok(reply(heard, Some(value), &asking.bill)),
            Judged::Else => Ok(reply(heard, None, &asking.bill)),
            Judged::Wrong(wrong) => Err(self.malformed(wrong.why)),
        }
    }

    /// Asks in ever plainer manners until the model finds no fault with them.
    async fn hear(
        &self,
        messages: &[Message],
        asking: &mut Asking<'_>,
    ) -> Result<Heard, ModelError> {
        loop {
            let manner = self.manner();
            let request = asking.request;
            let told = match &request.answer {
                Some(demanded) if manner.tells() => answer::told(messages, demanded),
                _ => messages.to_vec(),
            };
            let question = self.question(&told, request, manner);
            match self.send(&question, asking).await? {
                Ok(heard) => return self.unless_refused(heard),
                Err(fault) => {
                    let plainer = self.plainer(&fault, request, manner);
                    let plainer = plainer.ok_or_else(|| fault.error(&self.name))?;
                    self.remember(manner, plainer);
                }
            }
        }
    }

    fn question<'a>(
        &'a self,
        messages: &'a [Message],
        request: &'a ModelRequest,
        manner: Manner,
    ) -> Question<'a> {
        let held_to = |demanded: &'a AnswerSchema| (demanded, manner.form);
        Question {
            model: &self.config.name,
            messages,
            tools: &request.tools,
            held_to: request.answer.as_ref().map(held_to),
            temperature: request.temperature.filter(|_| manner.temperature),
            max_tokens: request.max_tokens,
            newer_limit: manner.newer_limit,
            context_tokens: self.config.context_tokens,
        }
    }

    /// Sends until there is an answer, a fault that waiting does not cure, or no patience left.
    async fn send(
        &self,
        question: &Question<'_>,
        asking: &mut Asking<'_>,
    ) -> Result<Result<Heard, Fault>, ModelError> {
        loop {
            let trouble = match self.provider.post(question).await {
                Ok(heard) => {
                    asking.bill.answered(heard.usage);
                    return Ok(Ok(heard));
                }
                Err(trouble) => trouble,
            };
            note(&trouble, &mut asking.bill);
            let (message, retry_after) = match trouble {
                Trouble::Fault(fault, wait) if fault.class() == Class::Passing => {
                    (fault.message(), wait)
                }
                Trouble::Fault(fault, _) => return Ok(Err(fault)),
                Trouble::Unreachable(why) => (why, None),
                Trouble::Lost(why) => (format!("it hung up without an answer: {why}"), None),
                Trouble::TimedOut(limit) => {
                    let limit = limit.as_secs_f32();
                    let message = format!("there was no answer within {limit} s");
                    return Err(self.unavailable(message, None));
                }
                Trouble::Broken(why) => return Err(self.malformed(why)),
                Trouble::NoKey(why) => return Err(self.no_key(&why)),
                Trouble::Short(wait) => {
                    let least = self.provider.config().least_remaining_percent;
                    let message = format!("less than {least} % of its rate limit is left");
                    return Err(self.unavailable(message, Some(wait)));
                }
            };
            match asking.schedule.next(retry_after) {
                Some(wait) => self.provider.wait(wait).await,
                None => return Err(self.unavailable(message, retry_after)),
            }
        }
    }

    /// A manner in which the model would no longer find this fault, if there is one.
    fn plainer(&self, fault: &Fault, request: &ModelRequest, manner: Manner) -> Option<Manner> {
        if fault.class() != Class::BadRequest {
            return None;
        }
        let adapter = self.provider.adapter();
        let mut plainer = manner;
        if fault.names(&["max_completion_tokens"]) && !manner.newer_limit {
            plainer.newer_limit = true;
        } else if fault.names(&["temperature"]) && manner.gives_temperature(request) {
            plainer.temperature = false;
        } else if fault.names(adapter.names_of_form()) && request.answer.is_some() {
            plainer.form = adapter.looser(manner.form)?;
        }
        (plainer != manner).then_some(plainer)
    }

    fn manner(&self) -> Manner {
        *self.manner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a plainer manner than the one `seen`, unless somebody else has by now: then theirs is
    /// tried first.
    fn remember(&self, seen: Manner, plainer: Manner) {
        let mut manner = self.manner.lock().unwrap_or_else(PoisonError::into_inner);
        if *manner == seen {
            *manner = plainer;
        }
    }

    /// A model that strays now and then is not one that does not know of its schema.
    fn kept_to_its_form(&self) {
        let seen = self.manner();
        if (1..STRAYS).contains(&seen.strayed) {
            self.remember(seen, Manner { strayed: 0, ..seen });
        }
    }

    fn unless_refused(&self, heard: Heard) -> Result<Heard, ModelError> {
        let Some(message) = heard.refusal else {
            return Ok(heard);
        };
        let model = self.name.clone();
        Err(ModelError::Refused { model, message })
    }

    /// Demands that no provider is bothered with.
    fn check(&self, request: &ModelRequest) -> Result<(), ModelError> {
        let Some(demanded) = &request.answer else {
            return Ok(());
        };
        let bad = |message: String| ModelError::BadRequest {
            model: self.name.clone(),
            message,
        };
        answer::schema::supported(&demanded.schema).map_err(bad)?;
        match request.tools.iter().any(|tool| tool.name == demanded.name) {
            true => Err(bad(format!(
                "a tool and the answer are both called {}",
                demanded.name
            ))),
            false => Ok(()),
        }
    }

    fn unavailable(&self, message: String, retry_after: Option<std::time::Duration>) -> ModelError {
        ModelError::Unavailable {
            model: self.name.clone(),
            message,
            retry_after,
        }
    }

    fn malformed(&self, message: String) -> ModelError {
        let model = self.name.clone();
        ModelError::Malformed { model, message }
    }

    fn no_key(&self, why: &daybook_domain::BoxError) -> ModelError {
        ModelError::Denied {
            model: self.name.clone(),
            message: format!("its key cannot be had: {why}"),
        }
    }
}

impl Manner {
    fn gives_temperature(self, request: &ModelRequest) -> bool {
        self.temperature && request.temperature.is_some()
    }

    fn tells(self) -> bool {
        self.strayed == STRAYS || self.form != Form::Schema
    }
}

/// What a request without an answer may have cost.
fn note(trouble: &Trouble, bill: &mut Bill) {
    match trouble {
        Trouble::NoKey(_) | Trouble::Short(_) | Trouble::Unreachable(_) => {}
        Trouble::Fault(fault, _) if fault.cost_nothing() => bill.turned_away(),
        Trouble::Fault(..) | Trouble::Lost(_) | Trouble::TimedOut(_) | Trouble::Broken(_) => {
            bill.lost();
        }
    }
}

fn reply(heard: Heard, answer: Option<serde_json::Value>, bill: &Bill) -> ModelReply {
    ModelReply {
        text: heard.text,
        answer,
        calls: heard.calls,
        finish: heard.finish,
        usage: bill.usage(),
        requests: bill.requests(),
    }
}

#[async_trait]
impl Model for ChatModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> u32 {
        self.config.context_tokens
    }

    fn count_tokens(&self, text: &str) -> u32 {
        self.config.vocabulary.count(text)
    }

    /// All tries may be lost but the last, whose answer may need its one repair. Requests that a provider
    /// turns away because of how they are put cost nothing.
    fn most_requests(&self) -> u32 {
        let repair = 1;
        self.provider
            .config()
            .retries
            .tries
            .get()
            .saturating_add(repair)
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let mut asking = Asking {
            request,
            schedule: Schedule::new(&self.provider.config().retries),
            bill: Bill::default(),
        };
        let answer = match self.check(request) {
            Ok(()) => self.answer(&mut asking).await,
            Err(error) => Err(error),
        };
        let spent = asking.bill.spent();
        answer.map_err(|error| ModelFailure { error, spent })
    }
}
