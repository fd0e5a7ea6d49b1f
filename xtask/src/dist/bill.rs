//! The bill of materials in the form of `CycloneDX`: every library in the binary, with its hash and licence.

use std::collections::HashMap;

use xtask::{files, run};

use super::Release;
use super::licenses::{Library, libraries};

pub(super) fn write(release: &Release) -> Result<(), String> {
    let lock = files::read(run::root().join("Cargo.lock"))?;
    let hashes = hashes(&lock);
    let mut components = Vec::new();
    for library in libraries()? {
        let Library {
            name,
            version,
            license,
        } = &library;
        let hash = hashes.get(&(name.as_str(), version.as_str()));
        let hash = hash.ok_or_else(|| format!("Cargo.lock has no hash of {name} {version}"))?;
        let purl = format!("pkg:cargo/{name}@{version}");
        components.push(format!(
            r#"    {{ "type": "library", "bom-ref": "{purl}", "name": "{name}", "version": "{version}", "purl": "{purl}",
      "licenses": [{{ "expression": "{license}" }}],
      "hashes": [{{ "alg": "SHA-256", "content": "{hash}" }}] }}"#
        ));
    }
    let Release { version, time, .. } = release;
    let date = run::output_of(
        "date",
        &["-u", "-d", &format!("@{time}"), "+%Y-%m-%dT%H:%M:%SZ"],
    );
    let date = date.ok_or("`date` cannot print the time of the commit")?;
    let purl = format!("pkg:cargo/rekindle@{version}");
    let bill = format!(
        r#"{{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {{
    "timestamp": "{date}",
    "component": {{ "type": "application", "bom-ref": "{purl}", "name": "rekindle", "version": "{version}", "purl": "{purl}",
      "licenses": [{{ "expression": "MIT OR Apache-2.0" }}] }}
  }},
  "components": [
{}
  ]
}}
"#,
        components.join(",\n")
    );
    let name = format!("rekindle-{version}.cdx.json");
    files::write(release.folder.join(name), bill)
}

/// Returns the hash of every package of a registry, by name and version.
fn hashes(lock: &str) -> HashMap<(&str, &str), &str> {
    let packages = lock.split("[[package]]").filter_map(|package| {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            line.strip_prefix(" = \"")?.strip_suffix('"')
        };
        Some(((value("name")?, value("version")?), value("checksum")?))
    });
    packages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_registry_have_a_hash_and_ours_have_none() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00ff\"\n\n\
                    [[package]]\nname = \"rekindle\"\nversion = \"0.2.0\"\n";
        assert_eq!(hashes(lock), HashMap::from([(("a", "1.0.0"), "00ff")]));
    }
}
