//! A program on a terminal of its own, and what the terminal shows.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test starts the program on a terminal and waits for it with a deadline; one whose terminal cannot be made fails by panicking"
)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::termios::{Winsize, tcsetwinsize};

/// Whoever waits longer waits in vain.
const LIMIT: Duration = Duration::from_secs(60);

/// A program on a terminal; dropping it kills the program.
pub struct Screen {
    child: Child,
    keyboard: File,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

struct Shown {
    parser: vt100::Parser,
    /// Everything that was written, control sequences too.
    bytes: Vec<u8>,
    closed: bool,
}

impl Screen {
    /// Starts a program on a terminal of so many lines and columns.
    pub fn start(command: &Command, (lines, columns): (u16, u16)) -> Self {
        let (keyboard, theirs) = crate::terminal::open().unwrap();
        let size = Winsize {
            ws_row: lines,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&keyboard, size).unwrap();
        let slave = || Stdio::from(theirs.try_clone().unwrap());
        // It makes the terminal the one whose Ctrl-C the program gets.
        let mut on_terminal = Command::new("setsid");
        on_terminal
            .args(["--ctty", "--wait"])
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .env("TERM", "xterm-256color")
            .stdin(slave())
            .stdout(slave())
            .stderr(slave());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                on_terminal.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            on_terminal.current_dir(folder);
        }
        let child = on_terminal.spawn().unwrap();
        // The program's ends are its own now.
        drop((on_terminal, theirs));
        let shown = Shown {
            parser: {
                let size = |n: u16| NonZero::new(n).unwrap();
                vt100::Parser::new(size(lines), size(columns), 0)
            },
            bytes: Vec::new(),
            closed: false,
        };
        let shown = Arc::new((Mutex::new(shown), Condvar::new()));
        listen(keyboard.try_clone().unwrap(), Arc::clone(&shown));
        Self {
            child,
            keyboard,
            shown,
        }
    }

    /// Types on its keyboard.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen is as wanted, and returns it.
    #[track_caller]
    pub fn wait_until(&self, wanted: impl Fn(&str) -> bool) -> String {
        let (shown, news) = &*self.shown;
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let end = Instant::now() + LIMIT;
        loop {
            let text = shown.text();
            if wanted(&text) {
                return text;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !shown.closed,
                "not on the screen:\n{text}"
            );
            let waited = news.wait_timeout(shown, left);
            (shown, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the screen has a text, and returns the screen.
    #[track_caller]
    pub fn wait_for(&self, wanted: &str) -> String {
        self.wait_until(|text| text.contains(wanted))
    }

    /// Waits for the end of the program, and returns its exit code and the last screen.
    #[track_caller]
    pub fn finish(mut self) -> (Option<i32>, String) {
        self.wait_for_end();
        let code = self.child.wait().unwrap().code();
        let (shown, _) = &*self.shown;
        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        (code, shown.text())
    }

    /// Returns everything that was written to the terminal so far.
    pub fn written(&self) -> String {
        let (shown, _) = &*self.shown;
        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&shown.bytes).into_owned()
    }

    #[track_caller]
    fn wait_for_end(&self) {
        let (shown, news) = &*self.shown;
        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = news.wait_timeout_while(shown, LIMIT, |shown| !shown.closed);
        let (shown, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "it did not end:\n{}", shown.text());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Shown {
    /// Returns what is on the screen, without the blanks at the ends of lines.
    fn text(&self) -> String {
        let text = self.parser.screen().contents();
        let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
        lines.collect::<String>().trim_end().to_owned()
    }
}

fn listen(mut terminal: File, shown: Arc<(Mutex<Shown>, Condvar)>) {
    thread::spawn(move || {
        let mut room = [0; 4096];
        loop {
            // Linux reports an error once nobody has the other end open.
            let piece = terminal.read(&mut room).unwrap_or(0);
            let (shown, news) = &*shown;
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            shown.parser.process(&room[..piece]);
            shown.bytes.extend_from_slice(&room[..piece]);
            shown.closed = piece == 0;
            news.notify_all();
            if piece == 0 {
                return;
            }
        }
    });
}
