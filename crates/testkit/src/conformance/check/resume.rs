//! `resume`: the exit code, what it prints, and the files and commits it leaves behind.

use camino::Utf8Path;

use super::super::case::Resume;
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::super::teams;
use super::{ending, files};

pub(super) fn check(scene: &Scene, binary: &Utf8Path, want: &Resume) -> Result<(), Error> {
    let case = scene.case();
    let mut kept = Vec::new();
    for path in &want.unchanged {
        kept.push((path, scene.bytes_of(path)?));
    }
    let before = if want.changes_nothing {
        Some(scene.snapshot()?)
    } else {
        None
    };
    let mut args = ["resume", "--protocol", &case.protocol]
        .map(str::to_owned)
        .to_vec();
    args.extend(case.args.iter().chain(&want.args).cloned());
    let done = scene.call(binary.as_str(), &args, &want.stdin)?;
    let out = String::from_utf8_lossy(&done.stdout);
    let err = String::from_utf8_lossy(&done.stderr);
    if let Some(exit) = want.exit
        && done.status.code() != Some(exit)
    {
        let said = tail(&format!("{out}{err}"), 400);
        return mismatch(format!(
            "resume exit {}, wanted {exit}: {said}",
            ending(done.status)
        ));
    }
    printed(scene, want, &out, &err)?;
    for (path, old) in kept {
        if scene.bytes_of(path)? != old {
            return mismatch(format!("resume changed {path}"));
        }
    }
    if let Some(before) = before
        && let Some(path) = before.first_change(&scene.snapshot()?)
    {
        return mismatch(format!("resume changed {path} where nothing may change"));
    }
    for (path, rule) in &want.files {
        files::check(scene, path, rule)?;
    }
    match &want.git {
        Some(outcome) => teams::check(scene, outcome),
        None => Ok(()),
    }
}

fn printed(scene: &Scene, want: &Resume, out: &str, err: &str) -> Result<(), Error> {
    let exact = scene.case().folder.join("stdout.txt");
    if want.stdout_exact && exact.exists() {
        same_text(&scene.expand(&fs_err::read_to_string(exact)?), out)?;
    }
    for text in want.stdout_contains.iter().map(|text| scene.expand(text)) {
        if !out.contains(&text) {
            return mismatch(format!("resume stdout lacks {text:?}"));
        }
    }
    for text in want
        .stdout_not_contains
        .iter()
        .map(|text| scene.expand(text))
    {
        if out.contains(&text) {
            return mismatch(format!("resume stdout holds {text:?}"));
        }
    }
    for text in want.stderr_contains.iter().map(|text| scene.expand(text)) {
        if !err.contains(&text) {
            return mismatch(format!("resume stderr lacks {text:?}"));
        }
    }
    Ok(())
}

/// Compares two texts line by line, blank lines and blanks at line ends aside.
fn same_text(want: &str, got: &str) -> Result<(), Error> {
    let (want, got) = (tidy(want), tidy(got));
    if want == got {
        return Ok(());
    }
    let at = want
        .iter()
        .zip(&got)
        .take_while(|(want, got)| want == got)
        .count();
    mismatch(format!(
        "resume stdout differs at line {}: wanted {:?}, got {:?}",
        at + 1,
        want.get(at),
        got.get(at)
    ))
}

fn tidy(text: &str) -> Vec<&str> {
    text.split(is_line_end)
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect()
}

/// Every character that ends a line by Unicode's rules, as the original checker has it.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn tail(text: &str, limit: usize) -> String {
    let skipped = text.chars().count().saturating_sub(limit);
    text.chars().skip(skipped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_trailing_blanks_do_not_count() {
        same_text("\n\na  \n\n b\r\n", "a\n   \n b").unwrap();
    }

    #[test]
    fn leading_blanks_and_missing_lines_do() {
        let wrong = same_text("a\n  b\n", "a\n b\n").unwrap_err();
        assert_eq!(
            wrong.to_string(),
            r#"resume stdout differs at line 2: wanted Some("  b"), got Some(" b")"#
        );
        let wrong = same_text("a\nb\n", "a\n").unwrap_err();
        assert_eq!(
            wrong.to_string(),
            r#"resume stdout differs at line 2: wanted Some("b"), got None"#
        );
    }

    #[test]
    fn the_end_of_an_output_is_cut_at_a_character() {
        assert_eq!(tail("æøå", 2), "øå");
        assert_eq!(tail("a", 400), "a");
    }
}
