//! What a file must hold after a run.

use regex::{Regex, RegexBuilder};

use super::super::case::{LineEnd, Rule};
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;

pub(super) fn check(scene: &Scene, path: &str, rule: &Rule) -> Result<(), Error> {
    let Some(data) = scene.bytes_of(path)? else {
        return mismatch(format!("after resume: {path} is missing"));
    };
    match fault(rule, &data, &|text| scene.expand(text))? {
        Some(fault) => mismatch(format!("after resume: {path} {fault}")),
        None => Ok(()),
    }
}

/// Returns what is wrong with a file's bytes, if anything.
pub(super) fn fault(
    rule: &Rule,
    data: &[u8],
    expand: &dyn Fn(&str) -> String,
) -> Result<Option<String>, Error> {
    let text = String::from_utf8_lossy(data);
    if let Some(whole) = &rule.equals
        && text != expand(whole)
    {
        return Ok(Some(format!("is {text:?}, wanted {whole:?}")));
    }
    if let Some(part) = rule
        .contains
        .iter()
        .find(|part| !text.contains(&expand(part)))
    {
        return Ok(Some(format!("lacks {part:?}")));
    }
    if let Some(part) = rule
        .not_contains
        .iter()
        .find(|part| text.contains(&expand(part)))
    {
        return Ok(Some(format!("holds {part:?}")));
    }
    for (pattern, &wanted) in &rule.count {
        let found = lines(pattern)?.find_iter(&text).count();
        if found != wanted {
            return Ok(Some(format!("has {found} of /{pattern}/, wanted {wanted}")));
        }
    }
    if rule.eol == Some(LineEnd::Crlf) && has_bare_line_feed(data) {
        return Ok(Some("lost its CRLF line ends".to_owned()));
    }
    if let Some(last) = rule.history_entries {
        let numbers = history_numbers(&text)?;
        if !numbers.iter().copied().eq(1..=last) {
            return Ok(Some(format!(
                "has the history numbers {numbers:?}, wanted 1 to {last}"
            )));
        }
    }
    Ok(None)
}

/// Returns the numbers of the entries under `### Session History`, up to the next heading.
fn history_numbers(text: &str) -> Result<Vec<u32>, Error> {
    let Some(heading) = lines(r"^### Session History.*$")?.find(text) else {
        return mismatch("after resume: there is no heading `### Session History`");
    };
    let rest = &text[heading.end()..];
    let end = lines(r"^#{2,3} ")?
        .find(rest)
        .map_or(rest.len(), |next| next.start());
    let entry = lines(r"^(\d+)\. \*\*")?;
    let numbers = entry
        .captures_iter(&rest[..end])
        .map(|found| found[1].parse().unwrap_or(0));
    Ok(numbers.collect())
}

fn has_bare_line_feed(data: &[u8]) -> bool {
    data.first() == Some(&b'\n')
        || data
            .windows(2)
            .any(|pair| pair[0] != b'\r' && pair[1] == b'\n')
}

/// Returns a pattern whose `^` and `$` stand for line ends.
fn lines(pattern: &str) -> Result<Regex, Error> {
    Ok(RegexBuilder::new(pattern).multi_line(true).build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, data: &str, expect: Option<&str>) {
        let rule: Rule = serde_json::from_str(rule).unwrap();
        let expand = |text: &str| text.replace("<PROJECT>", "/p");
        assert_eq!(
            fault(&rule, data.as_bytes(), &expand).unwrap().as_deref(),
            expect
        );
    }

    #[test]
    fn texts_are_compared_after_expansion() {
        check(r#"{"equals": "at <PROJECT>"}"#, "at /p", None);
        check(r#"{"equals": "a"}"#, "b", Some(r#"is "b", wanted "a""#));
        check(
            r#"{"contains": ["<PROJECT>"], "not_contains": ["x"]}"#,
            "/p",
            None,
        );
        check(r#"{"contains": ["a", "b"]}"#, "a", Some(r#"lacks "b""#));
        check(r#"{"not_contains": ["a"]}"#, "a", Some(r#"holds "a""#));
    }

    #[test]
    fn a_pattern_is_counted_line_by_line() {
        check(
            r#"{"count": {"^status: \\d$": 2}}"#,
            "status: 1\nstatus: 2\nx status: 3\n",
            None,
        );
        check(
            r#"{"count": {"^a": 2}}"#,
            "a\nb\n",
            Some("has 1 of /^a/, wanted 2"),
        );
    }

    #[test]
    fn one_bare_line_feed_among_crlf_is_found() {
        check(r#"{"eol": "crlf"}"#, "a\r\nb\r\n", None);
        check(r#"{"eol": "crlf"}"#, "no line end", None);
        check(
            r#"{"eol": "crlf"}"#,
            "a\r\nb\n",
            Some("lost its CRLF line ends"),
        );
        check(
            r#"{"eol": "crlf"}"#,
            "\na\r\n",
            Some("lost its CRLF line ends"),
        );
        check(r#"{"eol": "lf"}"#, "a\n", None);
    }

    #[test]
    fn history_is_numbered_from_one_within_its_section() {
        let text =
            "## A\n1. **x**\n### Session History (2)\n1. **a**\n2. **b**\n### Next\n9. **c**\n";
        check(r#"{"history_entries": 2}"#, text, None);
        let expect = "has the history numbers [1, 2], wanted 1 to 3";
        check(r#"{"history_entries": 3}"#, text, Some(expect));
    }
}
