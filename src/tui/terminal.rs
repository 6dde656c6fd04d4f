//! The terminal: taken over, given away while somebody is attached, and given back clean whatever
//! happens.

use std::io::{BufWriter, Stdout, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Whether the screen is ours: a panic, a signal and the end of the program all ask.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Held while something is written, so that nothing follows what gives the terminal back.
static WRITING: Mutex<()> = Mutex::new(());

/// Alternate screen, bracketed paste; the cursor appears only where something is typed.
const TAKE: &str = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J\x1b[H";
/// Clicks and the wheel, in a form that has no limit.
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const GIVE: &str = "\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";

/// As every program in Rust ends that panics.
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
        let terminal = Terminal::new(backend).inspect_err(|_| give_back())?;
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

    /// Lends the terminal to another program. It stays raw: what is typed meanwhile is neither
    /// echoed nor turned into a signal, and waits for whoever reads next.
    pub(super) fn lend<T>(&mut self, use_it: impl FnOnce() -> T) -> std::io::Result<T> {
        TAKEN.store(false, Ordering::SeqCst);
        write(GIVE, false)?;
        let result = use_it();
        crossterm::terminal::enable_raw_mode()?;
        write(TAKE, self.mouse)?;
        TAKEN.store(true, Ordering::SeqCst);
        self.terminal.clear()?;
        Ok(result)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back as it was; done once, however many ask.
pub(super) fn give_back() {
    // A panic while writing holds the lock already.
    let _writing = WRITING.try_lock();
    if TAKEN.swap(false, Ordering::SeqCst) {
        // The terminal may be gone, and then there is nothing to give back.
        drop(write(GIVE, false));
    }
    drop(crossterm::terminal::disable_raw_mode());
}

fn write(sequence: &str, mouse: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(sequence.as_bytes())?;
    if mouse {
        out.write_all(MOUSE.as_bytes())?;
    }
    out.flush()
}

/// The screen is gone after a panic, in whatever thread it was: a program that went on would read keys
/// for a picture that nobody sees. What was under way is in its journal.
fn install_panic_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        before(info);
        std::process::exit(PANICKED);
    }));
}
