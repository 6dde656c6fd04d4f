//! The terminal: set up for the UI, lent to tmux while the user is attached, and restored in any case.

use std::io::{BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::engine::{CLEAR_BELOW, ROOM_BELOW};

/// Whether the UI has the screen. Checked on a panic, a signal and the end of the program.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Held while something is written, so that nothing is written after the terminal was restored.
static WRITING: Mutex<()> = Mutex::new(());

/// Alternate screen, bracketed paste, hidden cursor.
const TAKE: &str = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J\x1b[H";
/// Mouse clicks and wheel, in the SGR encoding, which has no column limit.
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const GIVE: &str = "\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";

/// How long a frame that another thread is writing is waited for before the terminal is restored: it would be
/// drawn over what follows.
const FRAME: Duration = Duration::from_millis(500);

/// The exit status of a Rust program after a panic.
const PANICKED: i32 = 101;

type Backend = CrosstermBackend<BufWriter<Stdout>>;

pub(super) struct Screen {
    terminal: Terminal<Backend>,
    mouse: bool,
}

impl Screen {
    pub(super) fn take(mouse: bool) -> std::io::Result<Self> {
        install_panic_hook();
        crossterm::terminal::enable_raw_mode()?;
        write(TAKE, mouse)?;
        TAKEN.store(true, Ordering::SeqCst);
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, std::io::stdout()));
        let terminal = Terminal::new(backend).inspect_err(|_| restore())?;
        Ok(Self { terminal, mouse })
    }

    pub(super) fn draw(
        &mut self,
        render: impl FnOnce(&mut ratatui::Frame<'_>),
    ) -> std::io::Result<()> {
        let _writing = WRITING.lock();
        if TAKEN.load(Ordering::SeqCst) {
            self.terminal.draw(render)?;
        }
        Ok(())
    }

    /// Lends the terminal to another program. It stays in raw mode: keys are neither echoed nor turned into
    /// signals, and wait for the next reader.
    pub(super) fn lend<T>(&mut self, use_it: impl FnOnce() -> T) -> std::io::Result<T> {
        TAKEN.store(false, Ordering::SeqCst);
        write(GIVE, false)?;
        write(ROOM_BELOW, false)?;
        let result = use_it();
        crossterm::terminal::enable_raw_mode()?;
        write(CLEAR_BELOW, false)?;
        self.take_again()?;
        Ok(result)
    }

    /// Gives the terminal back to the shell and stops; continues when the shell lets it.
    pub(super) fn suspend(&mut self) -> std::io::Result<()> {
        restore();
        // The whole job, as the terminal itself does it.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        crossterm::terminal::enable_raw_mode()?;
        self.take_again()
    }

    fn take_again(&mut self) -> std::io::Result<()> {
        write(TAKE, self.mouse)?;
        TAKEN.store(true, Ordering::SeqCst);
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once.
pub(super) fn restore() {
    let _writing = await_frame();
    if TAKEN.swap(false, Ordering::SeqCst) {
        // An error means that the terminal is gone: then there is nothing to restore.
        drop(write(GIVE, false));
    }
    // The same.
    drop(crossterm::terminal::disable_raw_mode());
}

/// None where the frame does not end: a panic while writing holds the lock itself.
fn await_frame() -> Option<MutexGuard<'static, ()>> {
    let deadline = Instant::now() + FRAME;
    loop {
        match WRITING.try_lock() {
            Ok(writing) => return Some(writing),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => return None,
        }
    }
}

fn write(sequence: &str, mouse: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(sequence.as_bytes())?;
    if mouse {
        out.write_all(MOUSE.as_bytes())?;
    }
    out.flush()
}

/// After a panic in any thread the terminal is restored and the program ends: without its screen it cannot be
/// used. Running operations are recovered from their journals.
fn install_panic_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        before(info);
        std::process::exit(PANICKED);
    }));
}
