//! The way in and out.

use std::sync::Arc;

use anyhow::Result;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Form};
use maud::{Markup, html};
use serde::Deserialize;

use super::super::fault::HttpFault;
use super::super::page_answer::{html_page, refused};
use super::super::visitors::{LOGGED_OUT, Visitors};
use crate::window::frame::bare;
use crate::window::links::{self, ROOT};

/// The form for the token.
pub(super) async fn form() -> Response {
    html_page(StatusCode::OK, bare("Open the window", &asking(None)))
}

fn asking(refusal: Option<&str>) -> Markup {
    html! {
        @if let Some(refusal) = refusal { p.refused role="alert" { (refusal) } }
        p { "In a terminal on this machine " code { "daybook open" } " brings you in. Or show the token once, from the file "
            code { "token" } " in the data folder:" }
        form.stack method="post" action=(links::page("login", &[])) {
            label for="token" { "Token" }
            input #token name="token" type="password" autocomplete="off" required;
            p { button.main type="submit" { "Open" } }
        }
    }
}

#[derive(Deserialize)]
pub(super) struct TokenForm {
    token: String,
}

/// Takes the token once.
pub(super) async fn enter(
    Extension(visitors): Extension<Arc<Visitors>>,
    Form(shown): Form<TokenForm>,
) -> Response {
    let cookie = visitors.let_in(&shown.token);
    entered(cookie, "That is not this server's token.")
}

#[derive(Deserialize)]
pub(super) struct CodeParameters {
    #[serde(default)]
    code: String,
}

/// Lets in whom `daybook open` has sent, once for each code.
pub(super) async fn enter_by_code(
    Extension(visitors): Extension<Arc<Visitors>>,
    Query(shown): Query<CodeParameters>,
) -> Response {
    let cookie = visitors.let_in_by_code(&shown.code);
    entered(
        cookie,
        "That way in was used already, or is older than a minute.",
    )
}

fn entered(cookie: Result<Option<String>>, refusal: &str) -> Response {
    match cookie {
        Ok(Some(cookie)) => leading_to(ROOT, &cookie),
        Ok(None) => {
            let content = asking(Some(refusal));
            html_page(StatusCode::FORBIDDEN, bare("Open the window", &content))
        }
        Err(error) => refused(&HttpFault::from(error)),
    }
}

/// Logs out.
pub(super) async fn leave() -> Response {
    leading_to(&links::page("login", &[]), LOGGED_OUT)
}

fn leading_to(address: &str, cookie: &str) -> Response {
    let headers = [(LOCATION, address), (SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, headers).into_response()
}
