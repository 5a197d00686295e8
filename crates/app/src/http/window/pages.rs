//! The routes of pages: each reads its parameters, and has its page made.

use std::future::Future;
use std::sync::Arc;

use anyhow::Result;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Form};
use serde::Deserialize;

use super::super::executor::{RequestExecutor, TenantExecutors};
use super::super::fault::HttpFault;
use super::super::page_answer::{html_page, refused, see};
use super::super::visitors::Visitor;

use crate::window::actions::{SentForm, act as act_on, said};
use crate::window::agents::AgentPlace;
use crate::window::ask::Asked;
use crate::window::files::FileQuery;
use crate::window::frame::{FormProof, Page, framed};
use crate::window::latency::AnswerTimes;
use crate::window::{self};
use crate::wiring::Daybook;

/// The routes that recall.
const RECALL: [&str; 3] = ["/v1/recall", "/v1/context", "/window/ask"];

/// The parameters of all pages; those that an address does not have are empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct PageParameters {
    scope: String,
    file: String,
    at: String,
    from: usize,
    after: Option<String>,
    question: String,
    layer: String,
    line: String,
    citation: String,
    id: String,
    name: String,
    by: String,
    folder: String,
    branch: String,
    prompt: String,
    said: String,
}

impl PageParameters {
    fn of_file(&self) -> FileQuery {
        FileQuery {
            scope: self.scope.clone(),
            file: self.file.clone(),
            at: self.at.clone(),
            from: self.from,
            after: self.after.clone(),
        }
    }
}

/// A request for a page.
pub(super) struct PageRequest {
    executor: RequestExecutor,
    parameters: PageParameters,
    proof: FormProof,
}

impl FromRequestParts<TenantExecutors> for PageRequest {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        executors: &TenantExecutors,
    ) -> Result<Self, Response> {
        let executor = RequestExecutor::from_request_parts(parts, executors).await;
        let executor = executor.map_err(|fault| refused(&fault))?;
        let visitor = parts.extensions.get::<Visitor>().cloned();
        let visitor = visitor.ok_or_else(|| refused(&HttpFault::unauthorized("log in first")))?;
        let parameters = Query::<PageParameters>::from_request_parts(parts, executors).await;
        let Query(parameters) =
            parameters.map_err(|rejection| refused(&HttpFault::from(rejection)))?;
        Ok(Self {
            executor,
            parameters,
            proof: visitor.proof,
        })
    }
}

impl PageRequest {
    /// Has the page made, and frames it.
    async fn show<F>(
        self,
        make: impl FnOnce(Arc<Daybook>, PageParameters, FormProof) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = Result<Page>>,
    {
        let (proof, words) = (self.proof.clone(), said(&self.parameters.said));
        let made = self
            .executor
            .run(move |daybook| make(daybook, self.parameters, self.proof));
        match made.await {
            Ok(page) => html_page(StatusCode::OK, framed(&page, words, Some(&proof))),
            Err(fault) => refused(&fault),
        }
    }
}

/// Does what a form asks for, and leads to the page that shows it.
pub(super) async fn act(
    action: Option<Path<String>>,
    executor: RequestExecutor,
    Extension(visitor): Extension<Visitor>,
    Form(form): Form<SentForm>,
) -> Response {
    if !visitor.sent(&form.proof) {
        let message =
            "this form is not of a page of this window, or of an older login; open the page again";
        return refused(&HttpFault::new(
            StatusCode::FORBIDDEN,
            "foreign_form",
            message,
        ));
    }
    let action = action.map_or_else(|| "edit".to_owned(), |Path(action)| action);
    let done = executor.run(move |daybook| async move { act_on(&daybook, &action, &form).await });
    match done.await {
        Ok(address) => see(&address),
        Err(fault) => refused(&fault),
    }
}

pub(super) async fn today(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, _, proof| window::today::page(&daybook, &proof).await)
        .await
}

pub(super) async fn scopes(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, _, _| window::files::scopes(&daybook).await)
        .await
}

pub(super) async fn folder(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::files::folder_page(&daybook, &at.of_file()).await)
        .await
}

pub(super) async fn file(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::files::file_page(&daybook, &at.of_file()).await)
        .await
}

pub(super) async fn edit(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, proof| {
        window::files::edit_page(&daybook, &at.of_file(), &proof).await
    })
    .await
}

pub(super) async fn history(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::files::history_page(&daybook, &at.of_file()).await)
        .await
}

pub(super) async fn change(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, proof| {
        window::files::change_page(&daybook, &at.of_file(), &proof).await
    })
    .await
}

pub(super) async fn ask(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| {
        let asked = Asked {
            question: at.question,
            scope: at.scope,
            layer: at.layer,
            at: at.at,
        };
        window::ask::page(&daybook, &asked).await
    })
    .await
}

pub(super) async fn why(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, proof| {
        window::why::page(&daybook, &at.scope, &at.line, &proof).await
    })
    .await
}

pub(super) async fn words(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::why::words_page(&daybook, &at.citation).await)
        .await
}

pub(super) async fn sessions(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::sessions::page(&daybook, at.after.as_deref()).await)
        .await
}

pub(super) async fn session(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, proof| {
        let after = at.after.and_then(|after| after.parse().ok());
        window::sessions::session_page(&daybook, &at.id, after.unwrap_or_default(), &proof).await
    })
    .await
}

pub(super) async fn projects(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, _, _| window::projects::page(&daybook).await)
        .await
}

pub(super) async fn agents(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| {
        let place = AgentPlace {
            folder: at.folder,
            branch: at.branch,
            prompt: at.prompt,
        };
        window::agents::page(&daybook, &place).await
    })
    .await
}

pub(super) async fn work(page: PageRequest) -> impl IntoResponse {
    // The times are those of all tenants, so only the server's own tenant may see them.
    let recall = match page.executor.is_own() {
        true => page.executor.traffic().times_of(&RECALL),
        false => AnswerTimes::default(),
    };
    page.show(async move |daybook, at, proof| {
        window::work::page(&daybook, &proof, at.after.as_deref(), &recall).await
    })
    .await
}

pub(super) async fn spend(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::spend::page(&daybook, &at.by).await)
        .await
}

pub(super) async fn secrets(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| window::secrets::page(&daybook, &at.by).await)
        .await
}

pub(super) async fn threads(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, _, _| window::threads::page(&daybook).await)
        .await
}

pub(super) async fn thread(page: PageRequest) -> impl IntoResponse {
    page.show(async |daybook, at, _| {
        window::threads::thread_page(&daybook, &at.name, at.from).await
    })
    .await
}
