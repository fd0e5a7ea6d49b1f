//! How long a worker may be silent: the seed's thresholds, by stage.

use super::super::task_list::Stage;
use rekindle_protocol::table::Decision;

/// One row of the thresholds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    pub(crate) stages: &'static [&'static str],
    /// Minutes from which on it is worth a warning.
    pub(crate) warning: i64,
    /// Minutes after which the worker counts as dead.
    pub(crate) dead: i64,
    source: &'static str,
}

static SILENCES: [Silence; 3] = [
    Silence {
        stages: &["claimed"],
        warning: 5,
        dead: 10,
        source: "limits of heartbeats by stage",
    },
    Silence {
        stages: &["sharpening", "sharpened"],
        warning: 10,
        dead: 15,
        source: "limits of heartbeats by stage",
    },
    Silence {
        stages: &["verifying", "verified"],
        warning: 15,
        dead: 20,
        source: "limits of heartbeats by stage",
    },
];

/// A stage that is not known gets the longest row: a live worker is never given up for a typo.
static LONGEST: Silence = Silence {
    stages: &["implementing", "implemented"],
    warning: 20,
    dead: 30,
    source: "limits of heartbeats by stage; an unknown stage gets the longest",
};

/// Returns how long a worker in this stage may be silent.
pub(crate) fn allowed(stage: Option<&Stage>) -> &'static Silence {
    let word = stage.map_or("", Stage::as_str);
    let mut rows = SILENCES.iter();
    rows.find(|row| row.stages.contains(&word))
        .unwrap_or(&LONGEST)
}

/// Returns the thresholds for the page about them.
pub(super) fn printed() -> Decision {
    let rows = SILENCES.iter().chain([&LONGEST]).map(|row| {
        [
            row.stages.join("; "),
            format!("< {} min", row.warning),
            format!("{} to {} min", row.warning, row.dead),
            format!("> {} min", row.dead),
            row.source.to_owned(),
        ]
    });
    Decision::new(
        "The silence of a worker",
        "How old the heartbeat of a running task may be.\n\
                A stage that is not known, or not told, counts as the last row.\n\
                `preferences.deadWorkerTimeoutMinutes` replaces all rows and knows no warning.",
        ["stage", "healthy", "late", "silent", "rule"],
        rows,
    )
}
