//! How long a worker may be silent, by stage.

use super::super::task_list::Stage;
use rekindle_protocol::table::Decision;

/// One row of the limits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    pub(crate) stages: &'static [&'static str],
    /// Minutes after which the worker is late.
    pub(crate) warning: i64,
    /// Minutes after which the worker counts as dead.
    pub(crate) dead: i64,
    source: &'static str,
}

const fn limit(stages: &'static [&'static str], warning: i64, dead: i64) -> Silence {
    Silence {
        stages,
        warning,
        dead,
        source: "limits of heartbeats by stage",
    }
}

static SILENCES: [Silence; 3] = [
    limit(&["claimed"], 5, 10),
    limit(&["sharpening", "sharpened"], 10, 15),
    limit(&["verifying", "verified"], 15, 20),
];

/// An unknown stage gets the longest limit: a live worker is never given up because of a typo.
static LONGEST: Silence = Silence {
    source: "limits of heartbeats by stage; an unknown stage gets the longest",
    ..limit(&["implementing", "implemented"], 20, 30)
};

/// Returns how long a worker in this stage may be silent.
pub(crate) fn allowed(stage: Option<&Stage>) -> &'static Silence {
    let word = stage.map_or("", Stage::as_str);
    let mut rows = SILENCES.iter();
    rows.find(|row| row.stages.contains(&word))
        .unwrap_or(&LONGEST)
}

/// Returns the limits for the documentation.
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
         A stage that is unknown or missing counts as the last row.\n\
         `preferences.deadWorkerTimeoutMinutes` replaces all rows and has no warning limit.",
        ["stage", "healthy", "late", "silent", "rule"],
        rows,
    )
}
