//! Tables that fit the terminal: columns as wide as their content, and a last one that takes what is left.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::styled;

/// Between two columns.
const GAP: &str = "  ";
/// The last column is never narrower, even where the terminal is.
const NARROWEST: usize = 10;

/// One cell: a text that is safe for a terminal, and its style.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::styled(text, Style::new())
    }

    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }
}

/// Returns rows of equally many cells as lines that are at most so many columns wide.
pub(crate) fn table(rows: &[Vec<Cell>], width: usize) -> String {
    let n_columns = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(widest).collect();
    let before: usize = widths
        .iter()
        .rev()
        .skip(1)
        .map(|width| width + GAP.len())
        .sum();
    let left = width.saturating_sub(before).max(NARROWEST);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column + 1 == n_columns {
                line.push_str(&styled(cell.style, &fitting(&cell.text, left)));
            } else {
                let padding = width - cell.text.width();
                line.push_str(&styled(cell.style, &cell.text));
                line.push_str(&" ".repeat(padding));
                line.push_str(GAP);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns a text that is at most so many columns wide; what is cut is marked by `…`.
pub(crate) fn fitting(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > width {
            break;
        }
        shown.push(c);
    }
    format!("{}…", shown.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&[&str]]) -> Vec<Vec<Cell>> {
        let row = |row: &&[&str]| row.iter().map(|text| Cell::new(*text)).collect();
        texts.iter().map(row).collect()
    }

    #[test]
    fn columns_are_aligned_and_the_last_one_is_cut() {
        let rows = rows(&[
            &["ID", "TITLE"],
            &["abcd", "Round the totals of all ledgers"],
        ]);
        assert_eq!(table(&rows, 20), "ID    TITLE\nabcd  Round the tot…\n");
        assert!(table(&rows, 200).contains("of all ledgers\n"));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(fitting("任务任务", 8), "任务任务");
        assert_eq!(fitting("任务任务", 7), "任务任…");
        assert_eq!(fitting("任务任务", 6), "任务…");
        let rows = rows(&[&["任务", "x"], &["abcdef", "y"]]);
        assert_eq!(table(&rows, 80), "任务    x\nabcdef  y\n");
    }
}
