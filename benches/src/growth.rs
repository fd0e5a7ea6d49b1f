//! How much the stores grow with tasks that do nothing.

use xtask::files;

use crate::chart::Chart;
use crate::chore::Setting;
use crate::engines::{DBOS, LANGGRAPH};
use crate::folders::{self, Held};
use crate::measure::milliseconds;
use crate::overhead;
use crate::report::{Section, Table, count, figure, millions};
use crate::standing::Standing;

const SHORT: u32 = 100;
const FULL: u32 = 1000;

/// What rekindle writes to in a project.
const STORES: [(&str, &str); 3] = [
    (".agent-memory", "the event log and the plan"),
    (".rekindle", "orders and output of the workers"),
    (".git", "one commit per task on the branch"),
];
const WHY_BEHIND: &str = "rekindle keeps an order, the output and a commit of each task, the others a row; being ahead requires orders and short outputs in one file, removed with the end of a run";

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let n_tasks = if setting.full { FULL } else { SHORT };
    let mut rows = Vec::new();
    let mut add = |program: &str, what: &str, held: Held| {
        let a_thousand = |bytes| millions(bytes) * 1000.0 / f64::from(n_tasks);
        let [bytes, on_disk] = [held.bytes, held.on_disk].map(a_thousand);
        let texts = [program, what].map(str::to_owned);
        let figures = [count(held.n_files), figure(bytes), figure(on_disk)];
        rows.push(texts.into_iter().chain(figures).collect());
        [bytes, on_disk]
    };
    let mut all = Held::default();
    for ((store, what), held) in STORES.into_iter().zip(of_rekindle(setting, n_tasks)?) {
        add(&format!("rekindle, `{store}`"), what, held);
        all += held;
    }
    let own = add("rekindle, in total", "", all);
    let mut peers = Vec::new();
    for engine in [LANGGRAPH, DBOS] {
        let store = files::empty_folder(setting.folder.join("growth"))?;
        engine.seconds(setting, &store, n_tasks)?;
        let held = folders::held(&store)?;
        peers.push((
            engine.shown,
            add(engine.shown, "states or results of steps", held),
        ));
    }
    let standing = |what: &str, at: usize| {
        let peers = peers
            .iter()
            .map(|(peer, grown)| ((*peer).to_owned(), grown[at]));
        Standing::less(what, own[at], peers.collect(), WHY_BEHIND)
    };
    let mut bars = vec![("rekindle".to_owned(), own[0])];
    bars.extend(
        peers
            .iter()
            .map(|(peer, grown)| ((*peer).to_owned(), grown[0])),
    );
    Ok(Section {
        title: "Growth of the store",
        about: format!(
            "The files of {} tasks that do nothing, scaled to 1,000; an empty store counts for the engines, the result of `git init` does not count for rekindle.\n\
             MB are millions of bytes: the lengths of all files, and what the file system allocates for them.\n\
             The state of LangGraph's graph is a single number, and each step saves it again.",
            figure(f64::from(n_tasks))
        ),
        table: Table {
            n_text: 2,
            head: &[
                "store",
                "contents",
                "files",
                "MB for 1,000",
                "MB on the disk for 1,000",
            ],
            rows,
        },
        standings: vec![
            standing("store of 1,000 tasks, MB", 0).headline(),
            standing("store of 1,000 tasks, MB on the disk", 1),
        ],
        chart: Some(Chart {
            name: "growth",
            title: "Store of 1,000 tasks, MB (less is better)".to_owned(),
            bars,
        }),
        ..Section::default()
    })
}

/// Runs the tasks and returns the growth of each store.
fn of_rekindle(setting: &Setting, n_tasks: u32) -> Result<Vec<Held>, String> {
    let folder = setting.folder.join("growth");
    overhead::prepare(&folder, n_tasks)?;
    let look = || -> Result<Vec<Held>, String> {
        let stores = STORES.iter();
        stores
            .map(|(store, _)| folders::held(&folder.join(store)))
            .collect()
    };
    let before = look()?;
    milliseconds(overhead::rekindle(setting, 2).current_dir(&folder))?;
    let grown = look()?.into_iter().zip(before).map(|(after, before)| Held {
        n_files: after.n_files.saturating_sub(before.n_files),
        bytes: after.bytes.saturating_sub(before.bytes),
        on_disk: after.on_disk.saturating_sub(before.on_disk),
    });
    Ok(grown.collect())
}
