//! Errors of requests, in one form of body: a code for programs, and a message with what
//! happened, to which thing, and what to do next.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use daybook_domain::StoreError;
use daybook_engine::files::FilesError;
use daybook_engine::files::entities::EntityError;
use daybook_text::redact::Redactor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use super::misfit::{misfit, no_json};
use super::{AGAIN, BODY, REQUEST};
use crate::service::RequestError;
use crate::terminal::error_class::{class, files_error, store_error};
use crate::terminal::messages::print_error;
use crate::terminal::suggest;

/// The type of pages, whose errors are pages, too.
pub(super) const HTML: &str = "text/html; charset=utf-8";

/// The body of every answer that is not a success.
#[derive(Serialize, ToSchema)]
pub(super) struct ErrorBody {
    error: ErrorShown,
}

/// What went wrong.
#[derive(Serialize, ToSchema)]
struct ErrorShown {
    /// For programs; stays the same while messages get better.
    #[schema(example = "unknown_session")]
    code: &'static str,
    /// For people: what happened, to which thing, and what to do next.
    message: String,
}

/// An error of a request. The answer made of it carries it on, so that a page can be made of it instead.
#[derive(Debug, Clone)]
pub(super) struct HttpFault {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl HttpFault {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// For people: what happened, to which thing, and what to do next.
    pub(super) fn message(&self) -> String {
        // It may quote the request.
        let redacted = Redactor::current().redact(&self.message);
        redacted.text.into_owned()
    }

    /// The request makes no sense as it is.
    pub(super) fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    pub(super) fn unauthorized(what: &str) -> Self {
        let message = format!(
            "{what}; send the header \"Authorization: Bearer <token>\", with the token from the \
             file \"token\" in the data folder"
        );
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    pub(super) fn too_large() -> Self {
        let message = format!("the body is larger than {BODY} bytes; send it in several requests");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    pub(super) fn busy(what: &str) -> Self {
        let message = format!("{what}; nothing was changed, ask again in a moment");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }
}

impl HttpFault {
    /// The status, and the message without secrets, for routes whose errors have another form of body.
    pub(super) fn into_parts(self) -> (StatusCode, String) {
        let message = Redactor::current().redact(&self.message).text.into_owned();
        (self.status, message)
    }
}

impl IntoResponse for HttpFault {
    fn into_response(self) -> Response {
        let body = ErrorBody {
            error: ErrorShown {
                code: self.code,
                message: self.message(),
            },
        };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(AGAIN));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<anyhow::Error> for HttpFault {
    fn from(error: anyhow::Error) -> Self {
        if let Some(EntityError::Refused(says)) = error.downcast_ref::<EntityError>() {
            return Self::request(says);
        }
        match error.downcast_ref::<RequestError>() {
            Some(RequestError::Invalid(says)) => return Self::request(says),
            Some(RequestError::NotFound(says)) => {
                return Self::new(StatusCode::NOT_FOUND, "not_found", says);
            }
            Some(RequestError::Conflict(says)) => {
                return Self::new(StatusCode::CONFLICT, "conflict", says);
            }
            Some(RequestError::Unavailable(says)) => {
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", says);
            }
            None => {}
        }
        match (store_error(&error), files_error(&error)) {
            (Some(StoreError::Busy(_)), _) => Self::busy("another program is writing the memory"),
            (Some(StoreError::NotFound(what)), _) => Self::new(
                StatusCode::NOT_FOUND,
                "not_found",
                format!("{what} does not exist"),
            ),
            (Some(StoreError::Refused(why)), _) => Self::request(why),
            (Some(StoreError::Unavailable { .. }), _) => {
                tracing::error!(class = class(&error));
                let message = "the database does not answer; ask again in a moment, which is safe";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
            }
            (Some(StoreError::TooNew { .. } | StoreError::Corrupt(_)), _) => Self::internal(&error),
            (None, Some(files)) => Self::of_files(&error, files),
            (None, None) => Self::internal(&error),
        }
    }
}

impl HttpFault {
    /// An error of memory files. The text of the error itself is ours; what caused it is a library's.
    fn of_files(error: &anyhow::Error, files: &FilesError) -> Self {
        match files {
            FilesError::BadPath { .. }
            | FilesError::PathConflict { .. }
            | FilesError::TooLarge { .. }
            | FilesError::NoSuchCommit { .. } => Self::request(files.to_string()),
            FilesError::PersonAtWork { .. }
            | FilesError::GitLocked { .. }
            | FilesError::DiskFull { .. }
            | FilesError::Denied { .. }
            | FilesError::NotARepository { .. }
            | FilesError::Missing { .. }
            | FilesError::TooManyFiles { .. }
            | FilesError::Refused { .. } => {
                Self::new(StatusCode::CONFLICT, "conflict", files.to_string())
            }
            FilesError::Io { .. } | FilesError::Git { .. } => Self::internal(error),
        }
    }

    /// A failure of the server. The cause is a library's text, which is for the log alone.
    fn internal(error: &anyhow::Error) -> Self {
        report(error);
        let doctor = suggest::command("doctor");
        let message = format!(
            "the server failed, and its log has the reason; run `{doctor}` on its machine for details"
        );
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

/// Writes the cause of a failure into the server's log.
fn report(error: &anyhow::Error) {
    tracing::error!(class = class(error));
    print_error(&format!("{error:#}"));
}

/// A JSON body, or a [`Fault`].
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = HttpFault;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpFault> {
        let Json(body) = Json::from_request(request, state).await?;
        Ok(Self(body))
    }
}

/// A query, or a [`Fault`].
pub(super) struct QueryParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpFault> {
        let Query(body) = Query::from_request_parts(parts, state).await?;
        Ok(Self(body))
    }
}

impl From<JsonRejection> for HttpFault {
    fn from(rejection: JsonRejection) -> Self {
        let report = rejection.body_text();
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::too_large(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "the body must be JSON; send the header \"Content-Type: application/json\"",
            ),
            _ if matches!(rejection, JsonRejection::JsonDataError(_)) => {
                Self::request(misfit(&report))
            }
            _ => Self::new(StatusCode::BAD_REQUEST, "malformed", no_json(&report)),
        }
    }
}

impl From<QueryRejection> for HttpFault {
    fn from(rejection: QueryRejection) -> Self {
        Self::request(misfit(&rejection.body_text()))
    }
}

/// Answers a request for an unknown route.
pub(super) async fn no_such_route(uri: Uri) -> HttpFault {
    let message = format!(
        "there is no route {}; /openapi.json lists the routes",
        uri.path()
    );
    HttpFault::new(StatusCode::NOT_FOUND, "no_such_route", message)
}

/// Gives answers of the layers below that are only a status the common form of body.
pub(super) fn always_json(response: Response) -> Response {
    let kind = response.headers().get(CONTENT_TYPE);
    if kind.is_some_and(|kind| kind == "application/json" || kind == HTML) {
        return response;
    }
    let Some(fault) = fault_of(&response) else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let (error, body) = fault.into_response().into_parts();
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    parts.headers.extend(error.headers);
    Response::from_parts(parts, body)
}

/// The error that an answer is: the one that it was made of, else the one that its status stands for.
pub(super) fn fault_of(response: &Response) -> Option<HttpFault> {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) {
        return None;
    }
    let carried = response.extensions().get::<HttpFault>().cloned();
    Some(carried.unwrap_or_else(|| of_status(status)))
}

fn of_status(status: StatusCode) -> HttpFault {
    match status {
        StatusCode::METHOD_NOT_ALLOWED => HttpFault::new(
            status,
            "wrong_method",
            "this route does not support the method; the header Allow lists the methods that it supports",
        ),
        StatusCode::GATEWAY_TIMEOUT => HttpFault::new(
            status,
            "timeout",
            format!(
                "the answer took longer than {} seconds; the request may still be carried out, and \
                 sending it again is safe",
                REQUEST.as_secs()
            ),
        ),
        StatusCode::PAYLOAD_TOO_LARGE => HttpFault::too_large(),
        _ => HttpFault::new(
            status,
            "refused",
            format!("the request was refused: {status}"),
        ),
    }
}
