//! How much is kept of what was done: the stores after so many tasks that do nothing.

use super::chart::{Bar, Chart};
use super::chore::{Bench, Setting};
use super::engines::{DBOS, LANGGRAPH};
use super::folders::{self, Held};
use super::overhead;
use super::report::{Section, Table, count, figure};
use super::standing::{Better, Standing};

pub(super) const BENCH: Bench = Bench {
    name: "growth",
    run: bench,
};

const SHORT: u32 = 100;
const FULL: u32 = 1000;

/// What rekindle writes to in a project.
const STORES: [(&str, &str); 3] = [
    (".agent-memory", "the log of events and the plan"),
    (".rekindle", "orders and output of the workers"),
    (".git", "a commit a task on the branch"),
];

fn bench(setting: &Setting) -> Result<Section, String> {
    let n_tasks = if setting.full { FULL } else { SHORT };
    let mut rows = Vec::new();
    let mut row = |program: &str, what: &str, held: Held| {
        let [bytes, on_disk] = [held.bytes, held.on_disk].map(|size| a_thousand(size, n_tasks));
        rows.push(vec![
            program.to_owned(),
            what.to_owned(),
            count(held.n_files),
            figure(bytes / 1e6),
            figure(on_disk / 1e6),
        ]);
        (bytes / 1e6, on_disk / 1e6)
    };
    let mut all = Held::default();
    for (store, what, held) in of_rekindle(setting, n_tasks)? {
        row(&format!("rekindle, `{store}`"), what, held);
        all = Held {
            n_files: all.n_files + held.n_files,
            bytes: all.bytes + held.bytes,
            on_disk: all.on_disk + held.on_disk,
        };
    }
    let own = row("rekindle, all of it", "", all);
    let mut peers = Vec::new();
    for engine in [LANGGRAPH, DBOS] {
        let store = folders::fresh(&setting.folder.join("growth"))?;
        engine.seconds(setting, &store, n_tasks)?;
        let grown = row(
            engine.shown,
            "states or results of steps",
            folders::held(&store)?,
        );
        peers.push((engine.shown.to_owned(), grown));
    }
    let standing = |what: &str, ours, pick: fn(&(f64, f64)) -> f64| Standing {
        what: what.to_owned(),
        better: Better::Less,
        ours,
        peers: (peers.iter())
            .map(|(peer, grown)| (peer.clone(), pick(grown)))
            .collect(),
        if_behind: "rekindle keeps an order, the output and a commit of each task, the others a row; being ahead would take orders and short outputs in one file, removed once a run is over",
    };
    let bars = std::iter::once(Bar::new("rekindle", own.0)).chain(
        peers
            .iter()
            .map(|(peer, grown)| Bar::new(peer.as_str(), grown.0)),
    );
    Ok(Section {
        title: "Growth of the store",
        about: vec![
            format!(
                "What {} tasks left behind that do nothing, and how much that is for 1,000; what an empty store \
                 takes is counted for the engines, what `git init` makes is not counted for rekindle.",
                figure(f64::from(n_tasks))
            ),
            "MB are millions of bytes: the lengths of all files, and what the file system sets aside for them."
                .to_owned(),
            "The state of LangGraph's graph is one number, the least there can be: each step saves all of it anew."
                .to_owned(),
        ],
        table: Table {
            n_text: 2,
            head: vec![
                "store",
                "what is in it",
                "files",
                "MB for 1,000",
                "MB on the disk for 1,000",
            ],
            rows,
        },
        standings: vec![
            standing("store of 1,000 tasks, MB", own.0, |grown| grown.0),
            standing("store of 1,000 tasks, MB on the disk", own.1, |grown| grown.1),
        ],
        targets: Vec::new(),
        chart: Some(Chart {
            name: "growth",
            title: "Store of 1,000 tasks, MB (less is better)".to_owned(),
            bars: bars.collect(),
        }),
    })
}

/// Runs the tasks and returns by how much each store has grown.
fn of_rekindle(
    setting: &Setting,
    n_tasks: u32,
) -> Result<Vec<(&'static str, &'static str, Held)>, String> {
    let folder = setting.folder.join("growth");
    overhead::prepare(&folder, n_tasks)?;
    let look = || -> Result<Vec<Held>, String> {
        let stores = STORES.iter();
        stores
            .map(|(store, _)| folders::held(&folder.join(store)))
            .collect()
    };
    let before = look()?;
    overhead::run(&mut overhead::rekindle(setting, 2), &folder)?;
    let grown = before.into_iter().zip(look()?).map(|(before, after)| Held {
        n_files: after.n_files.saturating_sub(before.n_files),
        bytes: after.bytes.saturating_sub(before.bytes),
        on_disk: after.on_disk.saturating_sub(before.on_disk),
    });
    let named = STORES.iter().zip(grown);
    Ok(named
        .map(|((store, what), held)| (*store, *what, held))
        .collect())
}

#[expect(clippy::cast_precision_loss, reason = "sizes here are far below 2^53")]
fn a_thousand(count: u64, n_tasks: u32) -> f64 {
    count as f64 * 1000.0 / f64::from(n_tasks)
}
