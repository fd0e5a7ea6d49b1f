//! How a conversation begins, goes on and ends.

use std::collections::BTreeSet;

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client, ORDERS_ID, initialize, interrupted};

/// What a client of 2026-07-28 says with every request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "by-hand", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn the_end_of_input_is_the_end_at_any_time() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Client::start(&sandbox)?.end()?;
    Client::open(&sandbox)?.end()?;
    let mut client = Client::open(&sandbox)?;
    client.ask("tools/call", &json!({"name": "list", "arguments": {}}))?;
    client.end()
}

#[test]
fn every_version_of_the_handshake_is_answered() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::start(&sandbox)?;
        let begun = client.request("initialize", &initialize(asked))?;
        assert_eq!(begun["protocolVersion"], answered, "{asked}");
        assert_eq!(begun["serverInfo"]["name"], "rekindle");
        for capability in ["tools", "resources", "prompts"] {
            assert!(begun["capabilities"][capability].is_object(), "{begun}");
        }
        client.end()?;
    }
    Ok(())
}

#[test]
fn a_client_may_discover_first_and_then_shake_hands() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut client = Client::start(&sandbox)?;
    let found = client.request("server/discover", &json!({"_meta": meta()}))?;
    let versions = found["supportedVersions"].as_array();
    let has = |version: &str| versions.is_some_and(|all| all.iter().any(|one| one == version));
    assert!(has("2025-06-18") && has("2026-07-28"), "{found}");
    // One that gives its question up before the answer came says so.
    client.notify("notifications/cancelled")?;
    client.initialize()?;
    let listed = client.object("list", &json!({}))?;
    assert_eq!(listed["workflows"][0]["id"], ORDERS_ID);
    client.end()
}

#[test]
fn a_client_may_go_on_without_a_handshake() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut client = Client::start(&sandbox)?;
    client.request("server/discover", &json!({"_meta": meta()}))?;
    let call = json!({"name": "list", "arguments": {}, "_meta": meta()});
    let result = client.request("tools/call", &call)?;
    let first = &result["structuredContent"]["workflows"][0];
    assert_eq!(first["id"], ORDERS_ID, "{result}");
    client.end()
}

#[test]
fn what_comes_before_the_handshake_ends_nothing() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let mut client = Client::start(&sandbox)?;
    client.notify("notifications/initialized")?;
    client.notify("notifications/cancelled")?;
    client
        .running
        .answer("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n")?;
    client
        .running
        .answer("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\"x\"}}\n")?;
    let early = client.exchange("tools/list", &json!({}))?;
    assert_eq!(early["error"]["code"], -32602, "{early}");
    client.notify("notifications/initialized")?;
    client.request("ping", &json!({}))?;
    client.initialize()?;
    client.end()
}

#[test]
fn many_requests_at_once_are_all_answered() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let mut open = BTreeSet::new();
    for _ in 0..20 {
        for tool in ["list", "inspect", "heartbeat"] {
            let arguments = match tool {
                "heartbeat" => json!({"task": "T002"}),
                _ => json!({}),
            };
            let call = json!({"name": tool, "arguments": arguments});
            open.insert(client.ask("tools/call", &call)?);
        }
    }
    while !open.is_empty() {
        let answer = client.hear()?;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let id = answer["id"].as_u64().unwrap_or_default();
        assert!(open.remove(&id), "{id} was not asked or answered twice");
    }
    client.end()
}

#[test]
fn invalid_requests_are_reported() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let mut client = Client::open(&sandbox)?;
    for (method, params, code) in [
        ("no/such", json!({}), -32601),
        ("tools/call", json!({"name": "no_such"}), -32602),
        ("prompts/get", json!({"name": "no_such"}), -32602),
        (
            "resources/read",
            json!({"uri": "file:///etc/passwd"}),
            -32002,
        ),
        ("resources/list", json!({"cursor": "x"}), -32602),
    ] {
        let answer = client.exchange(method, &params)?;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    client.end()
}
