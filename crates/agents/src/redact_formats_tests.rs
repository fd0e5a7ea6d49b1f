//! Formats of secrets that must be masked, and ordinary lines that must not change.
//!
//! The secrets are invented and assembled from pieces, so that scanners ignore this file.

use super::*;

/// Sixty-four characters without a meaning.
const RANDOM: &str = "q7Rt2LmX9vKc4ZpW8sYb3NfH6gJd5TaU1eQoVxCiBnMkPlOjIhGyFtDrSwA0zEuR";
const HEX: &str = "3f9a1c7e5b2d8f604a9e1c3b7d5f2086e4c1a8b6d0f37295c8e1b4a7d6f03928";

fn random(length: usize) -> String {
    RANDOM.repeat(5).chars().take(length).collect()
}

fn hex(length: usize) -> String {
    HEX.chars().take(length).collect()
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| {
            bits << 8 | u32::from(three.get(at).copied().unwrap_or(0))
        });
        for at in 0..=three.len() {
            let digit = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap();
            encoded.push(char::from(DIGITS[digit]));
        }
    }
    while !encoded.len().is_multiple_of(4) {
        encoded.push('=');
    }
    encoded
}

/// A line, and the secret in it.
#[expect(clippy::too_many_lines, reason = "a table, one format a line")]
fn formats() -> Vec<(String, String)> {
    let plain = "hunter2pass".to_owned();
    let aws = random(40);
    let mut table: Vec<(String, String)> = Vec::new();
    // Names in front of a value; `@` is where the value is.
    for line in [
        "password: @",
        "  password: @  # for the demo",
        "- password: @",
        "config.yml:12:password: @",
        "password = @",
        "password : @",
        "db_password      = @",
        "the password: @ was used",
        "PASSWORD=@",
        "DB_PASS=@",
        "export API_TOKEN=@",
        "password => '@'",
        "password := \"@\"",
        "os.environ[\"API_TOKEN\"] = \"@\"",
        "aws_secret_access_key = @",
        "AWS_SECRET_ACCESS_KEY: @",
        "X-Api-Key: @",
        "> x-api-key: @",
        "curl -H 'X-Api-Key: @' https://host",
        "X-Auth-Token: @",
        "PRIVATE-TOKEN: @",
        "Ocp-Apim-Subscription-Key: @",
        "Authorization: Bearer @",
        "Authorization: Basic @",
        "Authorization: token @",
        "authorization: ApiKey @",
        "Set-Cookie: session=@; Path=/; HttpOnly",
        "Cookie: theme=dark; session=@",
        "machine host.example login me password @",
        "curl -u me:@ https://host",
        "curl --user 'me:@' https://host",
        "docker login -u me -p @ registry.example",
        "mysql -u root -p@ shop",
        "sshpass -p @ ssh host",
        "redis-cli -a @ ping",
        "openssl rsa -passin pass:@ -in key.pem",
        "tool --password @ --verbose",
        "tool --api-key=@",
        "//registry.npmjs.org/:_authToken=@",
        "_auth = @",
        "DATABASE_URL=postgres://me:@@db.example/shop",
        "redis://:@@cache.example:6379/0",
        "mongodb+srv://me:p%40@@host.example",
        "{\"password\": \"@\"}",
        "{\"config\":{\"clientSecret\":\"@\"}}",
        "{\"text\":\"{\\\"api_key\\\": \\\"@\\\"}\"}",
        "{\"text\":\"run:\\npassword: @\\ndone\"}",
        "{\"name\":\"DB_PASSWORD\",\"value\":\"@\"}",
        "{\"args\":[\"--password\",\"@\",\"-v\"]}",
        "<password>@</password>",
        "<add key=\"x\" password=\"@\" />",
        "Server=db;User Id=me;Password=@;Encrypt=true",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@;EndpointSuffix=x",
        "Endpoint=sb://a.example/;SharedAccessKeyName=b;SharedAccessKey=@",
        "PrivateKey = @",
        "+password: @",
        "pass\x1b[31mword: @\x1b[0m",
    ] {
        table.push((line.replacen('@', &plain, 1), plain.clone()));
    }
    table.push(("password: x".to_owned(), " x".to_owned()));
    table.push((
        "passphrase: correcthorse".to_owned(),
        "correcthorse".to_owned(),
    ));
    // Tokens of their own form, in a sentence.
    for token in [
        [
            "xoxb",
            &format!("-1234567890123-1234567890123-{}", random(24)),
        ],
        ["xapp", &format!("-1-A012-345678-{}", hex(32))],
        [
            "https://hooks.slack.com/services",
            &format!("/T00000000/B00000000/{}", random(24)),
        ],
        ["sk_", &format!("live_{}", random(24))],
        ["rk_", &format!("test_{}", random(24))],
        ["whs", &format!("ec_{}", random(32))],
        ["SG", &format!(".{}.{}", random(22), random(43))],
        ["pypi", &format!("-AgEIcHlwaS5vcmc{}", random(60))],
        ["hv", &format!("s.{}", random(24))],
        ["hv", &format!("b.{}", random(140))],
        ["dop", &format!("_v1_{}", hex(64))],
        ["rubygems", &format!("_{}", hex(48))],
        ["a8c8", &format!("Q~{}", random(33))],
        ["SK", &hex(32)],
        ["123456789", &format!(":AA{}", random(33))],
        [
            "MT",
            &format!("{}.{}.{}", random(24), random(6), random(27)),
        ],
        [
            "AGE-SECRET-",
            &format!(
                "KEY-1{}",
                "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
                    .repeat(2)
                    .get(..58)
                    .unwrap()
            ),
        ],
        ["gh", &format!("p_{}", random(36))],
        ["github", &format!("_pat_{}", random(82))],
        ["gl", &format!("pat-{}", random(20))],
        ["AK", "IAQYLPMN5HHHFPZAM2"],
        ["AI", &format!("za{}", random(35))],
        ["ya", &format!("29.{}", random(60))],
        ["npm", &format!("_{}", random(36))],
        ["hf", &format!("_{}", random(34))],
        ["dckr", &format!("_pat_{}", random(27))],
        ["sk-", &format!("ant-api03-{}AA", random(93))],
        ["sk-", &format!("proj-{}", random(48))],
        ["gsk", &format!("_{}", random(52))],
        ["figd", &format!("_{}", random(40))],
        ["PMAK", &format!("-{}-{}", hex(24), hex(34))],
        ["lin_", &format!("api_{}", random(40))],
        [
            "eyJ",
            &format!("hbGciOiJIUzI1NiJ9.{}.{}", random(40), random(43)),
        ],
        ["shp", &format!("at_{}", hex(32))],
        ["$2b$", &format!("12${}", random(53))],
    ] {
        let [start, end] = token;
        for line in [
            format!("uses {start}{end} now"),
            format!("uses \"{start}{end}\", then"),
            serde_json::json!({"text": format!("one\n\"{start}{end}\"\ntwo")}).to_string(),
        ] {
            table.push((line, end.get(end.len() - 10..).unwrap().to_owned()));
        }
    }
    // Behind the name of a service.
    for (line, secret) in [
        ("TWILIO_AUTH: @", hex(32)),
        (
            "heroku_key: @",
            "1b2c3d4e-5f60-4711-8899-aabbccddeeff".to_owned(),
        ),
        ("telegram_bot = @", format!("123456789:A{}", random(34))),
        ("discord_key: '@'", hex(64)),
        ("DATADOG_KEY=@", random(40).to_lowercase()),
    ] {
        table.push((line.replacen('@', &secret, 1), secret));
    }
    // Base64 of a line of variables.
    for line in [
        format!("AWS_SECRET_ACCESS_KEY={aws}"),
        format!("# env\nDB_PASSWORD={plain}\nDEBUG=1\n"),
    ] {
        let encoded = base64(&line);
        let core = encoded.trim_end_matches('=').to_owned();
        table.push((format!("payload {encoded} sent"), core.clone()));
        table.push((serde_json::json!({"data": encoded}).to_string(), core));
    }
    // Split by a terminal sequence.
    let token = random(36);
    let (one, two) = token.split_at(12);
    table.push((
        format!("key gh\x1b[1mp_{one}\x1b[31m{two}\x1b[0m."),
        two.to_owned(),
    ));
    let colored = serde_json::json!({"text": format!("ghp_{one}\x1b[31m{two}\x1b[0m")});
    table.push((colored.to_string(), two.to_owned()));
    table.push((format!("ghp_{one}\u{200b}{two}"), two.to_owned()));
    table
}

#[test]
fn secrets_of_every_known_format_are_masked() {
    let mut shown = Vec::new();
    let table = formats();
    assert!(table.len() > 150, "{}", table.len());
    for (line, secret) in table {
        assert!(line.contains(&secret), "{line}");
        let masked = redact(&line);
        if masked.contains(&secret) {
            shown.push(format!("{line}\n  -> {masked}"));
        }
        assert_eq!(redact(&masked), masked, "masked again: {line}");
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn ordinary_lines_are_not_changed() {
    let hash = hex(40);
    let lines = [
        // What builds and tests print.
        "   Compiling rekindle-agents v0.1.0 (/work/rekindle/crates/agents)".to_owned(),
        "warning: unused variable: `token`".to_owned(),
        "error: unexpected token: identifier".to_owned(),
        "SyntaxError: Unexpected token: punc (}) at 12:34".to_owned(),
        "test redact::tests::a_token_never_survives ... ok".to_owned(),
        "test_password: PASSED".to_owned(),
        "ok 12 - token: valid".to_owned(),
        "test result: ok. 12 passed; 0 failed; finished in 0.03s".to_owned(),
        "npm_config_cache=/home/me/.npm".to_owned(),
        "[task 3/12] disk usage: 45% (risk: low)".to_owned(),
        "Downloading https://files.example/linear-algebra-1.2.3.tar.gz".to_owned(),
        // Ids and hashes.
        format!("commit {hash}"),
        format!("Merge {hash} into main"),
        format!("{hash}  dist/app.js"),
        format!("sha256:{}", hex(64)),
        format!("integrity sha512-{}==", random(86)),
        "session 1b2c3d4e-5f60-4711-8899-aabbccddeeff started".to_owned(),
        format!("cache key: linux-cargo-{}", hex(16)),
        format!(
            "<img src=\"data:image/png;base64,iVBORw0KGgo{}\">",
            random(200)
        ),
        format!("checksum = \"{}\"", hex(64)),
        r#"{"type":"system","session_id":"1b2c3d4e-5f60-4711-8899-aabbccddeeff","model":"x"}"#
            .to_owned(),
        r#"{"usage":{"input_tokens":100,"output_tokens":7},"max_token":5}"#.to_owned(),
        // Prompts and sentences.
        "Password: ".to_owned(),
        "Enter password for me@host:".to_owned(),
        "[sudo] password for me: ".to_owned(),
        "password: must be at least 8 characters".to_owned(),
        "Invalid password: please try again".to_owned(),
        "the secret: nobody knows it".to_owned(),
        "Authorization: required".to_owned(),
        "This site uses a cookie: it is small".to_owned(),
        "password: null".to_owned(),
        "password: <redacted>".to_owned(),
        "password: ${DB_PASSWORD}".to_owned(),
        "password: {{ .Values.password }}".to_owned(),
        "token: $TOKEN".to_owned(),
        "      --password <PASSWORD>  The password to use".to_owned(),
        "      --token TOKEN          The token to use".to_owned(),
        "      --password string      the password".to_owned(),
        // Code.
        "let token = lexer.next();".to_owned(),
        "pub password: String,".to_owned(),
        "    token: Option<String>,".to_owned(),
        "  password: string;".to_owned(),
        "secret: SecretString,".to_owned(),
        "password = user.password".to_owned(),
        "self.token = token".to_owned(),
        "token = self.next_token(kind)".to_owned(),
        "if token == Token::Comma {".to_owned(),
        "const key = `${a}:${b}`;".to_owned(),
        "docker run -p 8080:80 -u 1000:1000 image".to_owned(),
        "curl -fsSL https://host/x | sh".to_owned(),
        "mkdir -p a/b && git push -u origin main".to_owned(),
        "fn curl(u: User) -> Password".to_owned(),
        "src/auth/token.rs:12:5: expected `;`".to_owned(),
        "https://host.example:8080/a@b?key=1".to_owned(),
        "git clone git@github.com:me/project.git".to_owned(),
        "\x1b[32mok\x1b[0m 12 passed".to_owned(),
        format!("export PATH=/usr/bin:/opt/{}", "tool".repeat(10)),
    ];
    let changed: Vec<String> = lines
        .iter()
        .filter(|line| redact(line) != line.as_str())
        .map(|line| format!("{line}\n  -> {}", redact(line)))
        .collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

fn masked(text: &str) -> String {
    let mut redactor = Redactor::new();
    let lines: Vec<_> = text.lines().map(|line| redactor.line(line)).collect();
    lines.join("\n")
}

#[test]
fn secrets_over_several_lines_are_masked() {
    let token = random(36);
    let (one, two) = token.split_at(14);
    let body = format!("{}\n{}", random(64), random(40));
    let texts = [
        (format!("key: ghp_{one}\n{two}\ndone"), two.to_owned()),
        (
            format!("machine host\n  login me\n  password {}\n", "secretword"),
            "secretword".to_owned(),
        ),
        (
            format!("- name: DB_PASSWORD\n  value: {}\n", "secretword"),
            "secretword".to_owned(),
        ),
        (
            format!(
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----"
            ),
            random(40),
        ),
        (
            format!("-----BEGIN EC PRIVATE KEY-----\n\x1b[32m+{body}\x1b[m\n"),
            random(40),
        ),
        (
            format!("Private-Lines: 2\n{body}\nPrivate-MAC: x"),
            random(40),
        ),
        (
            format!("{{\"text\":\"ghp_{one}\\n{two}\\ndone\"}}"),
            two.to_owned(),
        ),
    ];
    for (text, secret) in texts {
        assert!(text.contains(&secret), "{text}");
        let once = masked(&text);
        assert!(!once.contains(&secret), "{text}\n  -> {once}");
        assert_eq!(masked(&once), once, "{text}");
    }
    let innocent = "token ends here: ghp_abc\nsrc/main2.rs changed\n* 3f9a1c7e5b fix\n**bold***\nversion2 is out\n";
    assert_eq!(masked(innocent), innocent.trim_end());
}

#[test]
fn colors_around_a_secret_stay() {
    let line = format!(
        "\x1b[1mkey\x1b[0m ghp_{}\x1b[31m{}\x1b[0m end",
        random(10),
        random(20)
    );
    assert_eq!(
        redact(&line),
        "\x1b[1mkey\x1b[0m ghp_***\x1b[31m\x1b[0m end"
    );
}

#[test]
fn a_flood_takes_linear_time() {
    // Finishing is the proof: anything quadratic would take minutes here.
    for piece in [
        "s.",
        "sk ",
        "password: ",
        "curl -u ",
        "QVdT",
        "\x1b[1m",
        "\\u001b",
        "xoxb-1",
        "twitter=",
        "a=b ",
        "--token ",
        "<token>",
        "Cookie: a=",
        "[\"",
        "{\"a\":",
    ] {
        redact(&piece.repeat(400_000 / piece.len()));
        redact(&serde_json::json!({"t": piece.repeat(200_000 / piece.len())}).to_string());
    }
}
