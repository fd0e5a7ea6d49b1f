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
        let titles: Vec<String> = decisions.iter().map(|one| link(name, one)).collect();
        list.push_str(&format!(
            "| [{name}]({name}.md) | {} |\n",
            titles.join("<br>")
        ));
        let sections = decisions.iter().map(|decision| {
            let (title, about, table) = (decision.title, &decision.about, table(decision));
            format!("\n## {title}\n\n{about}\n\n{table}")
        });
        let page = format!(
            "# Decisions of {name}\n\n{GENERATED}{}",
            sections.collect::<String>()
        );
        files.insert(format!("{FOLDER}/{name}.md"), page);
    }
    let readme = format!(
        "# Decision tables\n\n{GENERATED}\n\
         Each protocol decides by tables of data in its `table.rs`; these pages are printed from them.\n\
         An empty cell matches everything, and a cell with several words matches any of them.\n\
         The last column says which rule of the protocol's specification a row follows.\n\
         Tests try every combination of inputs: each one matches a row, and every row is used.\n\n\
         | protocol | decisions |\n| --- | --- |\n{list}"
    );
    files.insert(format!("{FOLDER}/README.md"), readme);
    files
}

/// Returns a link to a decision on the page of a protocol, as GitHub names its headings.
fn link(protocol: &str, decision: &Decision) -> String {
    let anchor: String = decision
        .title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect();
    format!("[{}]({protocol}.md#{anchor})", decision.title)
}

/// Draws a table without its empty columns.
fn table(decision: &Decision) -> String {
    let has_text = |column: &usize| {
        let mut cells = decision.rows.iter().filter_map(|row| row.get(*column));
        cells.any(|cell| !cell.is_empty())
    };
    let columns: Vec<usize> = (0..decision.headings.len()).filter(has_text).collect();
    let line = |cells: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = columns.iter().map(|&column| cells(column)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&|column| decision.headings[column].to_owned());
    text.push_str(&line(&|_| "---".to_owned()));
    for row in &decision.rows {
        let escaped = |cell: &String| cell.replace('|', "\\|").replace('\n', " ");
        text.push_str(&line(&|column| {
            row.get(column).map_or_else(String::new, escaped)
        }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_are_omitted_and_bars_are_escaped() {
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
        assert_eq!(link("map", &decision), "[What, then?](map.md#what-then)");
    }
}
