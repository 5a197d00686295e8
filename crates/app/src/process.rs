//! This process: its runtime, signals, priority, start and randomness.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use daybook_engine::stop::Stop;

/// The time at which this process began: that of the first call, which `main` makes before anything else.
pub(crate) fn start_time() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// Random bytes from the operating system. All randomness of the program comes from here.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Runs `work` to its end on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    // On the heap: the work of a whole update is larger than the stack of a thread has room for, many calls deep.
    runtime.block_on(Box::pin(work))
}

/// Stack of a thread that does a share of work, in bytes: as much as the main thread of most systems has. In a build without
/// optimisation a whole update, many calls deep, overflows the 2 MiB of other threads. Only what is used takes memory.
const WORK_STACK: usize = 8 << 20;

/// Starts a thread with room for a whole update.
pub(crate) fn spawn_work(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let thread = std::thread::Builder::new().stack_size(WORK_STACK);
    thread
        .spawn(work)
        .expect("the system gives a process its few threads")
}

/// Runs `work` on a thread of its own, because a caller may be inside a runtime, where [`block_on`] would panic.
pub(crate) fn run_on_new_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let thread = std::thread::Builder::new().stack_size(WORK_STACK);
    std::thread::scope(|scope| {
        let opening = thread
            .spawn_scoped(scope, work)
            .context("cannot start a thread")?;
        let done = opening.join();
        done.unwrap_or_else(|_| Err(anyhow!("opening broke off")))
    })
}

/// Lowers the priority of this process below all others on the machine: agents wait for hooks, and no caller waits for
/// extraction.
pub(crate) fn lower_priority() {
    // Where this is not allowed, work continues at the normal priority.
    #[cfg(unix)]
    let _ = rustix::process::nice(15);
}

/// Opens an address in the person's browser, and does not wait for it. False where no browser can be started.
pub(crate) fn open_in_browser(address: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    // On a machine without a screen some of these programs start a browser for terminals, which would take over this one.
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let is_shown = has_screen || program != "xdg-open";
    is_shown && start(program, arguments, address)
}

/// Starts a program that is given an address.
#[expect(
    clippy::disallowed_types,
    reason = "a person asked for their browser, which is another program"
)]
fn start(program: &str, arguments: &[&str], address: &str) -> bool {
    use std::process::{Command, Stdio};
    let started = Command::new(program)
        .args(arguments)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}

/// Whether Ctrl-C, or the end signal of a service manager, asked this process to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether a signal asked this process to end.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// A stop that Ctrl-C, and the end signal of service managers, request. A second signal ends the process at once.
#[cfg(feature = "interfaces")]
pub(crate) fn stop_on_interrupt() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    ctrlc::set_handler(move || {
        if requested.is_end_requested() {
            std::process::exit(130);
        }
        INTERRUPTED.store(true, Ordering::Relaxed);
        requested.request_end();
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
