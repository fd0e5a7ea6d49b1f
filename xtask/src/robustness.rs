//! `docs/robustness.md`: one table with all results, then a section for each kind of test.

use crate::origin::Origin;

/// The sections in their order.
const SECTIONS: [&str; 3] = ["Kills", "Crash points", "Fuzzing"];

const HEAD: &str = "# Robustness\n\n\
    Written by `cargo xtask soak` and `cargo xtask fuzz --runs N`; do not edit.\n\n\
    | test | how often | faults | date | binary | section |\n\
    | --- | ---: | --- | --- | --- | --- |\n";

/// One row of the table: a test, how often it was done, and whether a fault was found.
pub struct Row {
    /// The test.
    pub test: String,
    /// How often it was done.
    pub n: u64,
    /// Whether there was a fault.
    pub is_faulty: bool,
}

/// Returns the text of a section; empty if the page does not have it.
pub fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let Some((_, rest)) = page.split_once(&format!("\n## {title}\n\n")) else {
        return "";
    };
    rest.split("\n## ").next().unwrap_or_default()
}

/// Returns the page with another section and its rows of the table.
pub fn replace(page: &str, title: &str, origin: &Origin, rows: &[Row], body: &str) -> String {
    let (mut table, mut sections) = (String::new(), String::new());
    for known in SECTIONS {
        let link = format!("[{known}](#{})", known.to_lowercase().replace(' ', "-"));
        let text = if known == title {
            for Row { test, n, is_faulty } in rows {
                let faults = if *is_faulty { "YES" } else { "none" };
                let (date, binary) = (&origin.date, &origin.binary);
                table.push_str(&format!(
                    "| {test} | {n} | {faults} | {date} | {binary} | {link} |\n"
                ));
            }
            body
        } else {
            let end = format!("| {link} |");
            for row in page.lines().filter(|line| line.ends_with(&end)) {
                table.push_str(&format!("{row}\n"));
            }
            section(page, known)
        };
        if !text.is_empty() {
            sections.push_str(&format!("\n## {known}\n\n{}\n", text.trim_end()));
        }
    }
    format!("{HEAD}{table}{sections}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_result_replaces_its_section_and_rows_only() {
        let origin = |date: &str| Origin {
            date: date.to_owned(),
            binary: "b".to_owned(),
            cores: "2".to_owned(),
        };
        let row = |test: &str, n, is_faulty| Row {
            test: test.to_owned(),
            n,
            is_faulty,
        };
        let rows = [row("crashes", 3, false), row("failing writes", 4, false)];
        let page = replace("", "Crash points", &origin("Monday"), &rows, "Crashed.\n");
        let kills = [row("kills", 7, true)];
        let page = replace(&page, "Kills", &origin("Tuesday"), &kills, "Killed.\n");
        let end = "| kills | 7 | YES | Tuesday | b | [Kills](#kills) |\n\
                   | crashes | 3 | none | Monday | b | [Crash points](#crash-points) |\n\
                   | failing writes | 4 | none | Monday | b | [Crash points](#crash-points) |\n\
                   \n## Kills\n\nKilled.\n\n## Crash points\n\nCrashed.\n";
        assert_eq!(page, format!("{HEAD}{end}"));
        assert_eq!(section(&page, "Kills"), "Killed.\n");
        let again = [row("crashes", 5, false)];
        let page = replace(&page, "Crash points", &origin("Friday"), &again, "Again.");
        assert!(page.contains("| crashes | 5 | none | Friday | b | [Crash points](#crash-points) |\n\n## Kills\n\nKilled.\n\n## Crash points\n\nAgain.\n"), "{page}");
        assert!(!page.contains("failing"), "{page}");
    }
}
