//! Who may depend on whom: arrows point down only.

use anyhow::Context;

use crate::workspace::{Dependency, Metadata, Package, cargo, metadata, none};

/// Every crate, lowest first, with those it may call. Each name must stand above its own line.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("text", &[]),
    ("wire", &["model", "text"]),
    ("fault", &[]),
    ("fs", &["fault"]),
    ("git", &["fault", "fs", "text"]),
    ("world", &["fs", "git", "text"]),
    ("agents", &["model", "text", "world"]),
    ("protocol", &["model", "text", "world"]),
    // Has an example protocol, which a feature of the registry adds to the list.
    ("testkit", &["model", "protocol", "text", "world"]),
    // Every crate in `crates/protocols`: none of them may call another, except that `map` uses its machine.
    // `sessions` reads what the agent programs leave, which `agents` knows.
    (A_PROTOCOL, &["model", "protocol", "text", "world"]),
    ("map-machine", &["model", "protocol", "text", "world"]),
    (
        "map",
        &["map-machine", "model", "protocol", "text", "world"],
    ),
    (
        "sessions",
        &["agents", "model", "protocol", "text", "world"],
    ),
    (
        "registry",
        &[
            "model", "protocol", A_PROTOCOL, "map", "sessions", "testkit", "world",
        ],
    ),
    (
        "runner",
        &[
            "model", "text", "wire", "fault", "fs", "git", "agents", "world",
        ],
    ),
    (
        "app",
        &[
            "model",
            "text",
            "wire",
            "world",
            "fs",
            "git",
            "agents",
            "protocol",
            A_PROTOCOL,
            "map-machine",
            "registry",
            "runner",
        ],
    ),
    ("picture", &["text", "wire"]),
    ("torture", &["wire", "fs", "git"]),
    ("mcp", &["app", "model", "text", "wire"]),
    (
        "rekindle",
        &["app", "mcp", "model", "picture", "text", "torture", "wire"],
    ),
    ("xtask", &["protocol", "registry", "wire"]),
    ("benches", &["xtask"]),
];

/// The layer of all crates in `crates/protocols`.
const A_PROTOCOL: &str = "a protocol";

/// The crates without any I/O: vocabulary.
const PURE: &[&str] = &["model", "text", "wire", "picture"];

/// What the pure crates may use of other people's work.
const PURE_MAY_USE: &[&str] = &[
    "annotate-snippets",
    "camino",
    "indexmap",
    "jiff",
    "jsonc-parser",
    "memchr",
    "schemars",
    "serde",
    "serde-saphyr",
    "serde_json",
    "sha2",
    "similar",
    "thiserror",
    "toml",
];

/// The edges that only the real form of the world may reach.
const REAL_WORLD_ONLY: &[&str] = &["rekindle-fs", "rekindle-git"];

#[test]
fn the_table_of_layers_points_down_only() {
    let mut faults = Vec::new();
    for (i, (name, below)) in LAYERS.iter().enumerate() {
        let lower = |called: &str| LAYERS[..i].iter().any(|(other, _)| *other == called);
        let upward = below.iter().filter(|called| !lower(called));
        faults.extend(upward.map(|called| format!("`{called}` does not stand below `{name}`")));
    }
    none(&faults);
}

#[test]
fn each_crate_depends_only_on_crates_below_it() -> anyhow::Result<()> {
    let metadata = metadata()?;
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let name = layer(&metadata, &package.name);
        let Some((_, below)) = LAYERS.iter().find(|(known, _)| *known == name) else {
            faults.push(format!(
                "`{name}` is not in LAYERS: add it with what it may call"
            ));
            continue;
        };
        for dependency in ours(package) {
            let called = layer(&metadata, &dependency.name);
            // A crate names itself to switch on its own features for its tests.
            let for_tests = dependency.is_for_tests()
                && (called == "testkit" || dependency.name == package.name);
            if !for_tests && !below.contains(&called) {
                faults.push(format!(
                    "`{name}` depends on `{called}`; it may depend on {below:?} \
                     (and on `testkit` under dev-dependencies)"
                ));
            }
        }
    }
    none(&faults);
    Ok(())
}

#[test]
fn pure_crates_use_only_a_few_crates_of_others() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for package in &metadata()?.packages {
        let name = folder_name(&package.name);
        if !PURE.contains(&name) {
            continue;
        }
        let used = package
            .dependencies
            .iter()
            .filter(|used| !used.is_for_tests());
        for used in used.filter(|used| !is_ours(used)) {
            if !PURE_MAY_USE.contains(&used.name.as_str()) {
                faults.push(format!(
                    "`{name}` uses `{}`, which is not in PURE_MAY_USE",
                    used.name
                ));
            }
        }
    }
    none(&faults);
    Ok(())
}

#[test]
fn the_real_world_is_behind_its_feature() -> anyhow::Result<()> {
    let metadata = metadata()?;
    let world = package(&metadata, "rekindle-world")?;
    let mut faults = Vec::new();
    for name in REAL_WORLD_ONLY {
        if world
            .dependencies
            .iter()
            .any(|used| used.name == *name && !used.optional)
        {
            faults.push(format!(
                "`world` always brings `{name}`: make it optional, under `real`"
            ));
        }
        let enabling = world
            .features
            .iter()
            .filter(|(_, enables)| mentions(enables, name));
        faults.extend(
            enabling
                .filter(|(feature, _)| *feature != "real" && *feature != name)
                .map(|(feature, _)| format!("`{name}` is enabled by `{feature}`, not by `real`")),
        );
    }
    none(&faults);
    Ok(())
}

#[test]
fn protocols_see_the_world_without_its_real_form() -> anyhow::Result<()> {
    let metadata = metadata()?;
    let mut faults = Vec::new();
    let all = metadata.packages.iter();
    let protocols = all.filter(|package| is_protocol(package));
    let uses = protocols.flat_map(|protocol| &protocol.dependencies);
    for world in uses.filter(|used| used.name == "rekindle-world") {
        if world.uses_default_features || world.features.iter().any(|feature| feature == "real") {
            faults.push("`protocols` must use `world` with `default-features = false`".to_owned());
        }
    }
    let tree = [
        "tree",
        "--offline",
        "-p",
        "rekindle-registry",
        "-e",
        "normal",
        "--prefix",
        "none",
    ];
    for line in cargo(&tree)?.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        if REAL_WORLD_ONLY.contains(&name) {
            faults.push(format!("`{name}` is in the closure of `protocols`"));
        }
    }
    faults.dedup();
    none(&faults);
    Ok(())
}

fn package<'a>(metadata: &'a Metadata, name: &str) -> anyhow::Result<&'a Package> {
    let found = metadata
        .packages
        .iter()
        .find(|package| package.name == name);
    found.with_context(|| format!("there is no crate `{name}`"))
}

fn ours(package: &Package) -> impl Iterator<Item = &Dependency> {
    package
        .dependencies
        .iter()
        .filter(|dependency| is_ours(dependency))
}

fn is_ours(dependency: &Dependency) -> bool {
    let name = folder_name(&dependency.name);
    dependency.name.starts_with("rekindle") || LAYERS.iter().any(|(ours, _)| *ours == name)
}

fn mentions(enables: &[String], name: &str) -> bool {
    let dep = format!("dep:{name}");
    enables.iter().any(|enabled| {
        let enabled = enabled.split('/').next().unwrap_or_default();
        enabled == name || enabled == dep
    })
}

/// Returns the layer of a crate of ours.
fn layer<'a>(metadata: &Metadata, package: &'a str) -> &'a str {
    let mut all = metadata.packages.iter();
    let name = folder_name(package);
    if !["map", "map-machine", "sessions"].contains(&name)
        && all.any(|found| found.name == package && is_protocol(found))
    {
        A_PROTOCOL
    } else {
        name
    }
}

/// Returns whether a crate is in `crates/protocols`.
fn is_protocol(package: &Package) -> bool {
    let path = package.manifest_path.as_str();
    path.contains("/crates/protocols/")
}

/// Crates are called `rekindle-<folder>`.
fn folder_name(package: &str) -> &str {
    package.strip_prefix("rekindle-").unwrap_or(package)
}
