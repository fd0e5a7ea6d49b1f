//! rekindle's own files, which a crash or another program may have damaged.

use camino::Utf8PathBuf;
use rekindle_fs::{Journal, Key};
use rekindle_wire::journal::{Intent, Pending};
use rekindle_wire::order::Order;
use rekindle_wire::stopped::Stopped;

/// A journal: opening it finds open and damaged records, and it can be appended to afterwards.
pub fn journal(data: &[u8]) {
    let path = scratch().join("journal.jsonl");
    std::fs::write(&path, data).unwrap_or_else(|error| panic!("`{path}`: {error}"));
    let Ok(key) = Key::read_or_make(&scratch().join("keys/key")) else {
        return;
    };
    let seal = key.seal(&[]);
    let Ok(mut journal) = Journal::<Intent>::open(&path, Some(seal.clone())) else {
        return;
    };
    let n_open = journal.open_intents().len();
    let n_damaged = journal.damage().len();
    let at = "2026-02-16T15:00:00Z";
    if journal.begin(at, &Intent::Effects(Vec::new())).is_err() {
        return;
    }
    drop(journal);
    let Ok(again) = Journal::<Intent>::open(&path, Some(seal)) else {
        panic!("a journal that was appended to cannot be opened");
    };
    assert_eq!(again.open_intents().len(), n_open + 1);
    assert_eq!(again.damage().len(), n_damaged);
}

/// Orders of workers, pending commands, and the reason why a turn ended.
pub fn own_files(data: &[u8]) {
    if let Ok(order) = serde_json::from_slice::<Order>(data) {
        drop(order.id(rekindle_registry::names()));
    }
    drop(serde_json::from_slice::<Pending>(data));
    if let Some(stopped) = Stopped::parse(data) {
        assert_eq!(Stopped::parse(&stopped.to_bytes()).as_ref(), Some(&stopped));
    }
}

/// The output of git, which contains foreign names and messages.
pub fn printed_by_git(data: &[u8]) {
    rekindle_git::any_output::read(data);
}

/// Returns a folder of this process, in memory if possible.
pub(crate) fn scratch() -> Utf8PathBuf {
    let memory = Utf8PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() {
        memory
    } else {
        Utf8PathBuf::try_from(std::env::temp_dir()).unwrap_or_else(|_| "/tmp".into())
    };
    let folder = parent.join(format!("rekindle-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("`{folder}`: {error}"));
    folder
}
