use proptest::prelude::*;

use super::*;

#[test]
fn known_tokens_are_masked_with_a_readable_prefix() {
    let cases = [
        ("key sk-ant-api03-abcDEF123-_x done", "key sk-ant-*** done"),
        ("sk-proj-abcdefghij0123456789", "sk-proj-***"),
        ("sk-abcdefghij0123456789x", "sk-***"),
        ("a ghp_abcdefghij0123456789ABCD.", "a ghp_***."),
        ("github_pat_11ABCDEFG0abcdefghij_xyz", "github_pat_***"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA***"),
        ("xoxb-123456789-abc xoxp-987654321", "xoxb-*** xoxp-***"),
        ("AKIAIOSFODNN7EXAMPLExoxb-123456789", "AKIA***xoxb-***"),
        (
            "Authorization: Bearer abc.DEF-123~x",
            "Authorization: Bearer ***",
        ),
        (
            "authorization: basic dXNlcjpwYXNz1",
            "authorization: basic ***",
        ),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s5f", "eyJ***"),
        ("password=hunter2", "password=***"),
        (
            "curl 'https://x/?access_token=abc&n=1'",
            "curl 'https://x/?access_token=***&n=1'",
        ),
        ("DB_PASSWORD='a b' x", "DB_PASSWORD='***' x"),
        ("client-secret = \"a\\\"b\"", "client-secret = \"***\""),
        ("api_key: \"abc\"", "api_key: \"***\""),
        (r#"{"token":"abc","n":1}"#, r#"{"token":"***","n":1}"#),
        (
            r#"{"text":"password=\"hunter2\" x"}"#,
            r#"{"text":"password=\"***\" x"}"#,
        ),
        (
            r#"{"text":"{\"api_key\": \"abc\"}"}"#,
            r#"{"text":"{\"api_key\": \"***\"}"}"#,
        ),
        (
            r#"{"text":"one\nghp_abcdefghij0123456789"}"#,
            r#"{"text":"one\nghp_***"}"#,
        ),
        (
            "git clone https://me:s3cret@host/x",
            "git clone https://me:***@host/x",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(redact(line), expected, "{line}");
    }
}

#[test]
fn ordinary_words_are_not_changed() {
    let lines = [
        "",
        "the risk-assessment-of-the-project-2026-11",
        "class sk-folding-cube-animation-wrapper",
        "let token = lexer.next();",
        "max_tokens=4096 input_tokens: 100",
        "the token: it is a word; a bearer of news; Bearer tokens",
        "basic authentication is bad",
        "PWD=/home/me",
        "password=",
        r#"{"text":"say password=","b":"c"}"#,
        r#"{"a":"token","b":"c"}"#,
        r#"{"type":"result","usage":{"input_tokens":100}}"#,
        "https://host:8080/a@b",
        "AKIA is short",
        "-----BEGIN CERTIFICATE-----",
    ];
    for line in lines {
        assert!(
            matches!(redact(line), Cow::Borrowed(same) if same == line),
            "{line}"
        );
    }
}

#[test]
fn a_private_key_is_masked_line_by_line_up_to_its_end() {
    let text = "\
before
-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACB=
-----END OPENSSH PRIVATE KEY-----
after
  1→-----BEGIN RSA PRIVATE KEY-----
  2→Proc-Type: 4,ENCRYPTED
  3→
  4→MIIEpAIBAAKCAQEA
+MIIEpAIBAAKCAQEA
{\"type\":\"next\"}
QyNTUxOQAAACB=
";
    let mut redactor = Redactor::new();
    let lines: Vec<_> = text.lines().map(|line| redactor.line(line)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    before
    -----BEGIN OPENSSH PRIVATE KEY-----
    ***
    ***
    -----END OPENSSH PRIVATE KEY-----
    after
      1→-----BEGIN RSA PRIVATE KEY-----
      2→Proc-Type: 4,ENCRYPTED
      3→
      4→***
    ***
    {"type":"next"}
    QyNTUxOQAAACB=
    "#);
}

#[test]
fn a_private_key_in_json_is_masked_up_to_its_end_or_the_end_of_the_text() {
    let cases = [
        (
            r#"{"t":"-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----\nx"}"#,
            r#"{"t":"-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\nx"}"#,
        ),
        (
            r#"{"t":"-----BEGIN EC PRIVATE KEY-----\nMIIE\nab","n":1}"#,
            r#"{"t":"-----BEGIN EC PRIVATE KEY-----***","n":1}"#,
        ),
        (
            r#"{"t":"say \"-----BEGIN PRIVATE KEY-----\nMIIE\" now"}"#,
            r#"{"t":"say \"-----BEGIN PRIVATE KEY-----***\" now"}"#,
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(redact(line), expected, "{line}");
    }
}

/// Text with secrets, names, quotes and escapes in any order.
fn lines() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("sk-ant-abcdefgh1".to_owned()),
        Just("sk-".to_owned()),
        Just("ghp_abcdefghij0123456789".to_owned()),
        Just("Bearer abcdefgh1".to_owned()),
        Just("password".to_owned()),
        Just("\\\"token\\\"".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("-----".to_owned()),
        Just("\\nMIIEabc\\n".to_owned()),
        Just("https://a:b@c".to_owned()),
        Just("eyJab.".to_owned()),
        Just("***".to_owned()),
        r#"[ ="':{}\\,\[\]&äx0-9-]{0,3}"#,
        r"\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn masked(text: &[String]) -> Vec<String> {
    let mut redactor = Redactor::new();
    text.iter()
        .map(|line| redactor.line(line).into_owned())
        .collect()
}

proptest! {
    #[test]
    fn masking_twice_is_masking_once(text in proptest::collection::vec(lines(), 0..4)) {
        let once = masked(&text);
        prop_assert_eq!(masked(&once), once);
    }

    #[test]
    fn a_line_hardly_grows(line in lines()) {
        let masked = redact(&line);
        prop_assert!(masked.len() <= line.len() + line.len() / 2 + 2, "{}", masked);
    }

    #[test]
    fn json_stays_json(key in lines(), value in lines(), more in lines()) {
        let line = serde_json::json!({ key: value, "token": more, "x": [more] }).to_string();
        let masked = redact(&line);
        let read: Result<serde_json::Value, _> = serde_json::from_str(&masked);
        prop_assert!(read.is_ok(), "{}\n{}", line, masked);
    }

    #[test]
    fn a_token_never_survives_between_other_words(
        before in "[a-z ,.:]{0,8}[ \"=:]", after in "[ \",.][a-z ]{0,8}",
    ) {
        let secret = "abcdefghij0123456789";
        for prefix in ["sk-ant-", "sk-", "ghp_", "github_pat_", "xoxb-"] {
            let line = format!("{before}{prefix}{secret}{after}");
            prop_assert!(!redact(&line).contains(secret), "{}", line);
        }
    }
}

#[test]
fn a_long_line_of_half_matches_takes_linear_time() {
    // Each of these would be read again and again by a scan that starts over, which would take
    // minutes here: finishing is the proof.
    for piece in [
        "eyJa.",
        "sk-",
        "://a",
        "password=\"",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "a:",
        "Bearer ",
    ] {
        let line = piece.repeat(500_000 / piece.len());
        redact(&line);
    }
}
