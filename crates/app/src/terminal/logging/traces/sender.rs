//! Sends a batch to the collector: one request of HTTP without TLS. A collector elsewhere is reached through one on this
//! machine, as OpenTelemetry advises.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

/// Longest wait for the collector, at each step.
const WAIT: Duration = Duration::from_secs(2);
/// Most of its answer that is read.
const ANSWER: u64 = 16 * 1024;
/// The path of traces below the address of a collector.
const TRACES: &str = "/v1/traces";

/// The collector that the environment names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Collector {
    /// Host and port.
    address: String,
    path: String,
    /// Lines of the head, such as a tenant's key.
    headers: String,
}

/// The collector of the variables that every exporter of OpenTelemetry reads; `None` where they name none.
pub(super) fn collector_of_environment() -> Result<Option<Collector>, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let traces = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let any = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
    let any = any.map(|url| format!("{}{TRACES}", url.trim_end_matches('/')));
    let Some(url) = traces.or(any) else {
        return Ok(None);
    };
    let headers = variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    collector(&url, &headers).map(Some)
}

fn collector(url: &str, headers: &str) -> Result<Collector, String> {
    let rest = url.strip_prefix("http://");
    let rest = rest.ok_or_else(|| format!("{url} does not begin with http://"))?;
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    if host.is_empty() || url.chars().any(char::is_control) {
        return Err(format!("{url} names no host"));
    }
    let address = match host.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_ok() => host.to_owned(),
        _ => format!("{host}:80"),
    };
    let mut lines = String::new();
    for pair in headers.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or("a header is written name=value")?;
        if pair.chars().any(char::is_control) {
            return Err("a header holds a character that ends its line".to_owned());
        }
        lines.push_str(&format!("{}: {}\r\n", name.trim(), value.trim()));
    }
    Ok(Collector {
        address,
        path: path.to_owned(),
        headers: lines,
    })
}

impl Collector {
    /// Sends a batch. An answer other than success is an error.
    pub(super) fn send(&self, batch: &Value) -> io::Result<()> {
        let missing = || io::Error::other("its host has no address");
        let address = self.address.to_socket_addrs()?.next().ok_or_else(missing)?;
        let mut stream = TcpStream::connect_timeout(&address, WAIT)?;
        stream.set_write_timeout(Some(WAIT))?;
        stream.set_read_timeout(Some(WAIT))?;
        let body = batch.to_string();
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{body}",
            self.path,
            self.address,
            body.len(),
            self.headers,
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER).read_to_end(&mut answer)?;
        let head = String::from_utf8_lossy(&answer);
        let status = head.split(' ').nth(1).unwrap_or_default();
        match status.starts_with('2') {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "it answered with the status {status:?}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_address_of_http_with_headers() {
        let found = collector("http://127.0.0.1:4318/v1/traces", "x-tenant=ada, x-key = k")
            .expect("it fits");
        let expected = Collector {
            address: "127.0.0.1:4318".to_owned(),
            path: "/v1/traces".to_owned(),
            headers: "x-tenant: ada\r\nx-key: k\r\n".to_owned(),
        };
        assert_eq!(found, expected);
        let bare = collector("http://collector", "").expect("it fits");
        assert_eq!(
            (bare.address.as_str(), bare.path.as_str()),
            ("collector:80", "/")
        );
        for (url, headers) in [
            ("https://127.0.0.1:4318", ""),
            ("http:///v1/traces", ""),
            ("http://a\r\nb", ""),
            ("http://a", "x-key"),
            ("http://a", "x=\r\ny: z"),
        ] {
            assert!(collector(url, headers).is_err(), "{url} {headers}");
        }
    }
}
