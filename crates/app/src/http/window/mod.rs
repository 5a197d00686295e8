//! The window on memory, served: its pages, its forms, and who may see them.
//!
//! A page is read with the cookie that a login sets, never with a token; the routes of programs are reached with a token,
//! never with the cookie. A form that changes something proves that it comes from a page of ours.
//!
//! Not here: what pages show and forms do ([`crate::window`]).

mod login;
mod pages;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::executor::TenantExecutors;
use super::page_answer;
use super::visitors::Visitors;
use crate::window::links::ROOT;

/// The routes, below [`ROOT`].
pub(super) fn all(visitors: &Arc<Visitors>) -> Router<TenantExecutors> {
    let pages = Router::new()
        .route("/", get(pages::today))
        .route("/memory", get(pages::scopes))
        .route("/folder", get(pages::folder))
        .route("/file", get(pages::file))
        .route("/edit", get(pages::edit).post(pages::act))
        .route("/history", get(pages::history))
        .route("/change", get(pages::change))
        .route("/ask", get(pages::ask))
        .route("/why", get(pages::why))
        .route("/words", get(pages::words))
        .route("/sessions", get(pages::sessions))
        .route("/session", get(pages::session))
        .route("/projects", get(pages::projects))
        .route("/agents", get(pages::agents))
        .route("/work", get(pages::work))
        .route("/spend", get(pages::spend))
        .route("/secrets", get(pages::secrets))
        .route("/threads", get(pages::threads))
        .route("/thread", get(pages::thread))
        .route("/changes", get(super::changes::changes))
        .route("/{action}", post(pages::act))
        .route("/login", get(login::form).post(login::enter))
        .route("/enter", get(login::enter_by_code))
        .route("/leave", post(login::leave))
        .route("/style.css", get(page_answer::style))
        .route("/live.js", get(page_answer::script))
        .layer(axum::Extension(Arc::clone(visitors)));
    Router::new()
        .nest(ROOT, pages)
        .route("/", get(page_answer::to_window))
}
