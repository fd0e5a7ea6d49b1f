//! Frames that are no frames: cut, twisted and made up. The server stays, answers, and ends well.

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client, ORDERS, ORDERS_ID, frame, initialize};

/// A conversation with something of everything.
fn conversation() -> Vec<String> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let uri = format!("rekindle://workflow/{ORDERS_ID}/documents/plan.md?offset=1");
    let frames = [
        frame(900_009, "server/discover", &json!({"_meta": meta})),
        frame(900_008, "initialize", &initialize("2025-06-18")),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}}),
        frame(900_001, "tools/list", &json!({})),
        frame(
            900_002,
            "tools/call",
            &call("inspect", json!({"id": ORDERS_ID, "offset": 3})),
        ),
        frame(
            900_003,
            "tools/call",
            &call("explain", json!({"task": "T001"})),
        ),
        frame(
            900_004,
            "tools/call",
            &call("resume", json!({"digest": "0123456789abcdef"})),
        ),
        frame(900_005, "resources/read", &json!({"uri": uri})),
        frame(
            900_006,
            "prompts/get",
            &json!({"name": "resume", "arguments": {"id": "x"}}),
        ),
        json!({"jsonrpc": "2.0", "id": 7, "result": {"x": [1, 2.5, null, true, "é"]}}),
    ];
    frames.iter().map(ToString::to_string).collect()
}

/// A project in memory: many requests look at it.
fn sandbox() -> Result<Sandbox> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    Run::interrupted(ORDERS).lay_out(&sandbox)?;
    Ok(sandbox)
}

#[test]
fn every_frame_of_a_conversation_cut_at_every_byte_is_passed_over() -> Result<()> {
    let sandbox = sandbox()?;
    let mut client = Client::start(&sandbox)?;
    for has_begun in [false, true] {
        for whole in conversation() {
            for end in 0..whole.len() {
                client.running.send(&whole.as_bytes()[..end])?;
                client.running.send(b"\n")?;
            }
            client.request("ping", &json!({}))?;
        }
        if !has_begun {
            client.initialize()?;
        }
    }
    client.object("list", &json!({}))?;
    client.end()
}

#[test]
fn an_input_that_ends_in_the_middle_of_a_frame_is_an_end() -> Result<()> {
    let sandbox = sandbox()?;
    let mut input = String::new();
    for whole in conversation() {
        input.push_str(&whole);
        input.push('\n');
    }
    // Not at each byte: each takes a process.
    for end in (0..input.len()).step_by(37) {
        let mut client = Client::start(&sandbox)?;
        client.running.send(&input.as_bytes()[..end])?;
        client.end()?;
    }
    Ok(())
}

#[test]
fn twisted_frames_end_nothing_and_every_answer_is_a_frame() -> Result<()> {
    const ROUNDS: usize = 60;
    const FRAMES: usize = 40;
    let sandbox = sandbox()?;
    let corpus = conversation();
    let mut dice = Dice(0x5eed_0008);
    for has_begun in [false, true] {
        let mut client = Client::start(&sandbox)?;
        if has_begun {
            client.initialize()?;
        }
        for _ in 0..ROUNDS {
            for _ in 0..FRAMES {
                let mut bytes = dice.pick(&corpus).clone().into_bytes();
                for _ in 0..=dice.below(3) {
                    twist(&mut bytes, &corpus, &mut dice);
                }
                client.running.send(&bytes)?;
                client.running.send(b"\n")?;
            }
            // Whatever has begun meanwhile, a ping is answered in one way or the other.
            client.exchange("ping", &json!({}))?;
        }
        client.end()?;
    }
    Ok(())
}

#[test]
fn shapes_that_are_json_and_no_frames_end_nothing() -> Result<()> {
    let sandbox = sandbox()?;
    let mut client = Client::open(&sandbox)?;
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let deep_call = format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"name":"list","arguments":{{"offset":{deep}}}}}}}"#
    );
    for line in [
        "null",
        "7",
        "\"initialize\"",
        "[]",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1e400,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999999,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":null}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"list\",\"arguments\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\",\"method\":\"ping\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]",
        "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
        &deep,
        &deep_call,
    ] {
        client.running.answer(&format!("{line}\n"))?;
        client.request("ping", &json!({}))?;
    }
    for bytes in [
        &b"\xff\xfe\n"[..],
        b"\x00\n",
        b"\r\n\r\n",
        b"{\"a\":\"\xc3\"}\n",
    ] {
        client.running.send(bytes)?;
        client.request("ping", &json!({}))?;
    }
    client.end()
}

#[test]
fn a_request_that_cannot_be_read_is_answered_with_its_number() -> Result<()> {
    let sandbox = sandbox()?;
    let mut client = Client::open(&sandbox)?;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":900077,"method":"tools/call","params":{{"name":"list","arguments":{arguments}}}}}"#
        )
    };
    for (line, code) in [
        (call(&format!(r#"{{"offset":{deep}}}"#)), -32700),
        (call("[1]"), -32602),
        (call("{"), -32700),
    ] {
        client.running.answer(&format!("{line}\n"))?;
        let answer = client.hear()?;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(900_077), &json!(code))
        );
    }
    client.request("ping", &json!({}))?;
    client.end()
}

#[test]
fn a_line_without_an_end_is_dropped_when_it_is_too_long() -> Result<()> {
    let sandbox = sandbox()?;
    let mut client = Client::open(&sandbox)?;
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        client.running.send(&piece)?;
    }
    client.running.send(b"\n")?;
    client.request("ping", &json!({}))?;
    client.end()
}

fn twist(bytes: &mut Vec<u8>, corpus: &[String], dice: &mut Dice) {
    if bytes.is_empty() {
        bytes.push(b'{');
    }
    let at = dice.below(bytes.len());
    let end = (at + 1 + dice.below(8)).min(bytes.len());
    match dice.below(8) {
        0 => bytes[at] = dice.byte(),
        1 => bytes.truncate(at),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        4 => {
            let new: Vec<u8> = (0..dice.below(6)).map(|_| dice.byte()).collect();
            bytes.splice(at..at, new);
        }
        // Pieces that mean something in JSON.
        5 => {
            let words = [
                "null", "{}", "[]", "\"\"", "-1", "1e99", ",", ":", "\\u0000", "\n", "true",
            ];
            let word = dice.pick(&words).bytes();
            bytes.splice(at..end, word);
        }
        // The head of this one and the tail of another.
        6 => {
            let other = dice.pick(corpus).as_bytes();
            let from = dice.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        _ => bytes[at] ^= 1 << dice.below(8),
    }
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        let high = usize::try_from(self.next() >> 33).unwrap_or_default();
        high % limit.max(1)
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap_or_default()
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
