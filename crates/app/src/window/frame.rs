//! What all pages share: head, navigation, and the line that says what an action did.

use daybook_text::fence::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::links;

/// The pages in the navigation: address, name.
const PAGES: [(&str, &str); 11] = [
    ("", "Today"),
    ("memory", "Memory"),
    ("ask", "Ask"),
    ("sessions", "Sessions"),
    ("projects", "Projects"),
    ("agents", "Agents"),
    ("work", "Work"),
    ("spend", "Spend"),
    ("secrets", "Secrets"),
    ("threads", "Threads"),
    ("why", "Why"),
];

/// A page before it is framed.
pub(crate) struct Page {
    /// The name of the page in the navigation that it belongs to.
    pub(crate) place: &'static str,
    /// The title.
    pub(crate) title: String,
    /// What it shows.
    pub(crate) body: Markup,
    /// Whether it shows what changes while a person looks.
    pub(crate) is_live: bool,
}

impl Page {
    /// A page that changes when it is opened again.
    pub(crate) fn new(place: &'static str, title: impl Into<String>, body: Markup) -> Self {
        Self {
            place,
            title: title.into(),
            body,
            is_live: false,
        }
    }

    /// The page, kept current while it is open.
    pub(crate) fn live(self) -> Self {
        Self {
            is_live: true,
            ..self
        }
    }
}

/// The proof that a form came from a page of ours; every form that changes something holds it.
#[derive(Clone)]
pub(crate) struct FormProof(pub(crate) String);

impl FormProof {
    /// The hidden field that carries the proof.
    pub(crate) fn field(&self) -> Markup {
        html! { input type="hidden" name="proof" value=(self.0); }
    }
}

/// A page as it is sent. `said` is what an action did.
pub(crate) fn framed(page: &Page, said: Option<&str>, proof: Option<&FormProof>) -> String {
    let main = html! {
        h1 { (visible(&page.title)) }
        @if let Some(said) = said { p.said role="status" { (said) } }
        (page.body)
    };
    let body = html! {
        a.skip href="#main" { "Skip to the content" }
        header {
            nav aria-label="Pages" {
                ul {
                    @for (address, name) in PAGES {
                        li {
                            a href=(links::page(address, &[])) aria-current=[(address == page.place).then_some("page")] { (name) }
                        }
                    }
                }
            }
            @if let Some(proof) = proof {
                form.leave method="post" action=(links::page("leave", &[])) {
                    (proof.field())
                    button type="submit" { "Log out" }
                }
            }
        }
        main id="main" data-live=[page.is_live.then_some("")] { (main) }
    };
    document(&page.title, &body)
}

/// A page without navigation: for who is not logged in.
pub(crate) fn bare(title: &str, content: &Markup) -> String {
    let body = html! { main.bare id="main" { h1 { (title) } (content) } };
    document(title, &body)
}

fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (visible(title)) " · Daybook" }
                link rel="stylesheet" href=(links::page("style.css", &[]));
                // An icon without a request.
                link rel="icon" href="data:,";
                script src=(links::page("live.js", &[])) defer {}
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// A table with a heading for each column. Cells may hold markup.
pub(super) fn table(caption: &str, columns: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div.wide role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// The link to the next page of a list.
pub(super) fn more(address: Option<String>) -> Markup {
    match address {
        Some(address) => html! { p { a href=(address) rel="next" { "More" } } },
        None => PreEscaped(String::new()),
    }
}
