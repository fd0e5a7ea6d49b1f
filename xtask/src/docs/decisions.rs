//! The pages of `docs/decisions/`: the decision tables of the protocols, as the code has them.

use rekindle_protocol::Decision;

use super::{Files, GENERATED};

/// The folder of the pages.
pub(super) const FOLDER: &str = "docs/decisions";

/// Makes a page for each protocol, and one that lists them.
pub(super) fn pages() -> Files {
    let mut files = Files::new();
    let mut list = String::new();
    for protocol in rekindle_registry::ALL {
        let (name, decisions) = (protocol.name().as_str(), protocol.decisions());
        let titles: Vec<String> = decisions.iter().map(link(name)).collect();
        let parts = [
            "| [",
            name,
            "](",
            name,
            ".md) | ",
            &titles.join("<br>"),
            " |\n",
        ];
        list.push_str(&parts.concat());
        files.insert(format!("{FOLDER}/{name}.md"), page(name, &decisions));
    }
    let readme = format!(
        "# Decision tables\n\n{GENERATED}\n\
         What a protocol decides by a table is data in its `table.rs`, which the code evaluates and of which these pages are a print.\n\
         An empty cell asks for nothing, and one with several words for any of them.\n\
         `seed N` in the last column is a line of the text that the protocol was written down in, `ruling N`, `TN` and the like a decision about what that text leaves open.\n\
         Tests go through every combination of inputs: each one fits a row, and no row is idle.\n\n\
         | protocol | decisions |\n| --- | --- |\n{list}"
    );
    files.insert(format!("{FOLDER}/README.md"), readme);
    files
}

/// Returns a link to a decision on the page of a protocol, as GitHub names its headings.
fn link(protocol: &str) -> impl Fn(&Decision) -> String {
    move |decision| {
        let anchor: String = decision
            .title
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        format!("[{}]({protocol}.md#{anchor})", decision.title)
    }
}

fn page(name: &str, decisions: &[Decision]) -> String {
    let mut text = format!("# Decisions of {name}\n\n{GENERATED}");
    for decision in decisions {
        let parts = [
            "\n## ",
            decision.title,
            "\n\n",
            &decision.about,
            "\n\n",
            &table(decision),
        ];
        text.push_str(&parts.concat());
    }
    text
}

/// Draws a table; a column in which no row says anything is left away.
fn table(decision: &Decision) -> String {
    let says = |column: &usize| {
        let mut cells = decision.rows.iter().filter_map(|row| row.get(*column));
        cells.any(|cell| !cell.is_empty())
    };
    let columns: Vec<usize> = (0..decision.headings.len()).filter(says).collect();
    let line = |cells: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = columns.iter().map(|&column| cells(column)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&|column| decision.headings[column].to_owned());
    text.push_str(&line(&|_| "---".to_owned()));
    for row in &decision.rows {
        text.push_str(&line(&|column| {
            row.get(column)
                .map_or_else(String::new, |cell| escaped(cell))
        }));
    }
    text
}

/// Returns a text that stays in its cell.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_without_a_word_is_left_away_and_a_bar_stays_in_its_cell() {
        let decision = Decision {
            title: "What, then?",
            about: "About it.".to_owned(),
            headings: vec!["a", "b", "c"],
            rows: vec![
                vec!["yes".to_owned(), String::new(), "x|y".to_owned()],
                vec![String::new(), String::new(), "z".to_owned()],
            ],
        };
        let expect = "| a | c |\n| --- | --- |\n| yes | x\\|y |\n|  | z |\n";
        assert_eq!(table(&decision), expect);
        assert_eq!(link("map")(&decision), "[What, then?](map.md#what-then)");
    }
}
