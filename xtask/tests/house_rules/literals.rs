//! Finds the string literals of Rust code.

/// Returns the text and the first line of every string literal, without comments.
///
/// Escapes of whitespace become whitespace, and a continued line joins the one before.
pub(crate) fn literals(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let at = code.len() - rest.len();
        let before = code[..at].chars().next_back();
        let is_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'));
        let hashes = raw.map_or("", |raw| {
            &raw[..raw.len() - raw.trim_start_matches('#').len()]
        });
        let (text, length) = if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (None, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if let Some(body) = raw.and_then(|raw| raw[hashes.len()..].strip_prefix('"'))
            && !is_word
        {
            let end = body.find(&format!("\"{hashes}")).unwrap_or(body.len());
            let length = rest.len() - body.len() + end + 1 + hashes.len();
            (Some(body[..end].to_owned()), length)
        } else if let Some(body) = rest.strip_prefix('"') {
            let end = closing_quote(body);
            (Some(unescaped(&body[..end])), end + 2)
        } else {
            (None, character(rest).unwrap_or(first.len_utf8()))
        };
        if let Some(text) = text {
            found.push((code[..at].matches('\n').count() + 1, text));
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// Returns the length of the body of a literal.
fn closing_quote(body: &str) -> usize {
    let mut is_escaped = false;
    let end = body.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(body.len())
}

/// Returns the length of a character literal such as `'"'`; a lifetime is not one.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let first = body.chars().next()?;
    let inner = if first == '\\' { 2 } else { first.len_utf8() };
    body.get(inner..)?.starts_with('\'').then_some(inner + 2)
}

fn unescaped(body: &str) -> String {
    let mut text = String::new();
    for (at, piece) in body.split("\\\n").enumerate() {
        text.push_str(if at > 0 { piece.trim_start() } else { piece });
    }
    text.replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\"", "\"")
}

#[test]
fn literals_are_found_and_comments_are_skipped() {
    let code = [
        r#"// "comment""#,
        r#"/* "block" */ fn f<'a>(x: &'a str) { let c = '"'; let d = '\''; }"#,
        r#"const A: &str = "one \"two\" \"#,
        r#"    three";"#,
        "const B: &str = r#\"raw \"four\"\"#; let e = b\"five\"; let g = for_r\"six\";",
    ]
    .join("\n");
    let expect = [
        (3, "one \"two\" three".to_owned()),
        (5, "raw \"four\"".to_owned()),
        (5, "five".to_owned()),
        (5, "six".to_owned()),
    ];
    assert_eq!(literals(&code), expect);
}
