//! Routes that are listed once, to be served and to be described.
//!
//! The description takes more code than the routes do, so only tests make it: the program serves what they committed
//! (`openapi`).

/// The routes of handlers, and of other modules behind a semicolon: `all` serves them, `described` describes them.
macro_rules! described_routes {
    ($($handler:ident),+ $(,)? $(; $($module:ident),+ $(,)?)?) => {
        pub(super) fn all() -> axum::Router<super::executor::TenantExecutors> {
            use utoipa_axum::PathItemExt as _;

            let routes = axum::Router::new();
            $(
                let methods = pastey::paste!(<[<__path_ $handler>] as utoipa::Path>::methods());
                let served = methods.iter().fold(axum::routing::MethodRouter::new(), |served, method| {
                    served.on(method.to_method_filter(), $handler)
                });
                let path = pastey::paste!(<[<__path_ $handler>] as utoipa::Path>::path());
                let routes = routes.route(&path, served);
            )+
            $($(let routes = routes.merge($module::all());)+)?
            routes
        }

        #[cfg(test)]
        pub(super) fn described()
        -> utoipa_axum::router::OpenApiRouter<super::executor::TenantExecutors> {
            let routes = utoipa_axum::router::OpenApiRouter::new();
            $(let routes = routes.routes(utoipa_axum::routes!($handler));)+
            $($(let routes = routes.merge($module::described());)+)?
            routes
        }
    };
}

pub(super) use described_routes;
