//! The monitor's feedback for the next attempt.

use rekindle_model::Action;
use rekindle_text::python_text::{rstrip, split_lines, strip};

use crate::desk::Desk;
use crate::reply::Fault;

/// Words of a line with a blocking problem, separated by `|`.
const BLOCKING: &str = "\
    blocker|critical|contract|acceptance|build|compile|syntax|test failure|test failed|\
    failing test|type mismatch|security|injection|secret|credential|data loss|data-loss|\
    missing required|missing test|missing|silent failure|crash|exception";
/// Words that block even in a line with a word of taste.
const ALWAYS_BLOCKING: &str =
    "blocker|critical|security|build|compile|contract|data loss|test failure|test failed";
/// Words of taste.
const TASTE: &str = "\
    non-blocking|nonblocking|nice-to-have|nice to have|cosmetic|style|elegance|volume|\
    alternative abstraction|extra test category|extra tests|documentation|docs|docstring";
const SEVERE: &str = "high:|high -|high severity|severity: high";

/// Returns the feedback with blocking lines first; nothing is omitted.
pub(crate) fn for_actor(feedback: &str) -> String {
    if strip(feedback).is_empty() {
        return String::new();
    }
    let blocking = split_lines(feedback);
    let blocking = blocking.filter(|line| !strip(line).is_empty() && is_blocking(line));
    let blocking: Vec<&str> = blocking.map(rstrip).collect();
    let whole = rstrip(feedback);
    if blocking.is_empty() {
        return format!(
            "The monitor rejected the work. No line names a known kind of blocker, so here is its whole answer:\n\n{whole}\n\nFix problems of behavior, build, tests or safety. Add nothing for taste alone."
        );
    }
    format!(
        "BLOCKER lines first:\n{}\n\nNew code must name the blocker that it fixes.\n\nThe whole answer of the monitor:\n{whole}",
        blocking.join("\n")
    )
}

fn is_blocking(line: &str) -> bool {
    let line = line.to_lowercase();
    let has = |words: &str| words.split('|').any(|word| line.contains(word));
    let mut severe = SEVERE.split('|');
    let is_severe = severe.any(|word| strip(&line).starts_with(word));
    if !has(BLOCKING) {
        return is_severe;
    }
    has(ALWAYS_BLOCKING) || is_severe || !has(TASTE)
}

/// Returns the path of a feedback file and the effect that writes it, if there is feedback.
pub(crate) fn file(
    desk: Desk<'_>,
    name: &str,
    title: &str,
    feedback: &str,
) -> Result<Option<(String, Option<Action>)>, Fault> {
    if strip(feedback).is_empty() {
        return Ok(None);
    }
    let path = desk.branch.file(name);
    let action = desk.written(&path, format!("# {title}\n\n{feedback}\n"))?;
    Ok(Some((path, action)))
}

/// Returns a text without blank lines, shortened.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 1200;
    const CUT: &str = "\n[truncated]";
    let lines = split_lines(text).filter(|line| !strip(line).is_empty());
    let compact = lines.map(rstrip).collect::<Vec<_>>().join("\n");
    if compact.chars().count() <= LONGEST {
        return compact;
    }
    // MAP cuts three characters more than necessary.
    let kept: String = compact.chars().take(LONGEST - CUT.len() - 3).collect();
    format!("{}{CUT}", rstrip(&kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocking_lines_come_first_and_nothing_is_omitted() {
        let said = "Looks fine.\nBLOCKER: crash on empty input  \nstyle: missing docstring\n";
        let feedback = for_actor(said);
        let blocker = feedback.find("BLOCKER: crash").unwrap();
        assert!(blocker < feedback.find("Looks fine.").unwrap());
        assert_eq!(feedback.matches("missing docstring").count(), 1);
        let plain = for_actor("Das ist nicht gut.\n\n");
        assert!(plain.contains("Das ist nicht gut."));
        assert_eq!(for_actor(" \n\t"), "");
    }

    #[test]
    fn a_line_about_taste_blocks_only_with_a_strong_word() {
        assert!(!is_blocking("docs are missing"));
        assert!(is_blocking("docs: the contract is missing"));
        assert!(is_blocking("  HIGH: nothing else"));
        assert!(is_blocking("missing check"));
        assert!(!is_blocking("nice"));
    }

    #[test]
    fn a_long_text_is_cut_as_map_cuts_it() {
        let short = shortened("a \n\n b\n");
        assert_eq!(short, "a\n b");
        let long = shortened(&"x".repeat(2000));
        assert_eq!(long.chars().count(), 1197);
        assert!(long.ends_with("x\n[truncated]"));
    }
}
