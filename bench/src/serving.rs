//! A server that is measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process::daybook;

/// A running `daybook serve`.
pub(crate) struct ServeProcess {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl ServeProcess {
    /// One on the data folder `root`, with `options` before its command.
    pub(crate) fn start(root: &Path, options: &[&str]) -> Result<Self> {
        let mut command = Command::new(daybook()?);
        command.arg("--root").arg(root);
        command.args(options);
        command.args(["serve", "--no-follow", "--listen", "127.0.0.1:0"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("daybook does not start")?;
        let output = child.stdout.take().context("it has an output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().rsplit("http://").next().unwrap_or_default();
        let token = std::fs::read_to_string(root.join("token"))?;
        Ok(Self {
            child,
            address: address.to_owned(),
            token: token.trim().to_owned(),
        })
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// A connection to a server, which one request after the other is sent over.
pub(crate) struct KeptConnection {
    stream: BufReader<TcpStream>,
    headers: String,
}

impl KeptConnection {
    pub(crate) fn open(address: &str, token: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            headers: format!(
                "Host: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            ),
        })
    }

    /// Sends a body and reads the answer. Fails unless its status is 200.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> Result<Vec<u8>> {
        let (headers, length) = (&self.headers, body.len());
        let request =
            format!("POST {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                bail!("the server closed the connection after {head:?}");
            }
            if line == "\r\n" {
                break;
            }
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            head.push_str(&line);
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        if !head.starts_with("HTTP/1.1 200") {
            bail!("{head}{}", String::from_utf8_lossy(&answer));
        }
        Ok(answer)
    }
}
