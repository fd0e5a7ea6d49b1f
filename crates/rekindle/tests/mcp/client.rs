//! A client written by hand, so that nothing of the server's own library is on both sides.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::running::Running;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
pub(crate) const ORDERS: &str = "20260119-0900-orders-api-k2l3";
pub(crate) const ORDERS_ID: &str = "agent-memory:20260119-0900-orders-api-k2l3";
pub(crate) const BILLING: &str = "20260118-0900-billing-c3d4";
pub(crate) const NOTHING: [&str; 0] = [];

/// A project with a run that was interrupted.
pub(crate) fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// A conversation with a server.
pub(crate) struct Client {
    pub(crate) running: Running,
    last_id: u64,
}

impl Client {
    /// Starts a server and says nothing yet.
    pub(crate) fn start(sandbox: &Sandbox) -> Result<Self> {
        let running = sandbox.typed(&["mcp"]).start()?;
        Ok(Self {
            running,
            last_id: 0,
        })
    }

    /// Starts a server with more in its environment, and begins the conversation.
    pub(crate) fn open_in(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Result<Self> {
        let typed = sandbox.typed(&["mcp"]);
        let typed = variables
            .iter()
            .fold(typed, |typed, (name, value)| typed.with(name, *value));
        let mut client = Self {
            running: typed.start()?,
            last_id: 0,
        };
        client.initialize()?;
        Ok(client)
    }

    /// Starts a server and begins the conversation.
    pub(crate) fn open(sandbox: &Sandbox) -> Result<Self> {
        let mut client = Self::start(sandbox)?;
        client.initialize()?;
        Ok(client)
    }

    /// Begins a conversation with a client whose user can be asked.
    pub(crate) fn open_asking(sandbox: &Sandbox) -> Result<Self> {
        let mut client = Self::start(sandbox)?;
        let mut hello = initialize("2025-06-18");
        hello["capabilities"] = json!({"elicitation": {}});
        client.request("initialize", &hello)?;
        client.notify("notifications/initialized")?;
        Ok(client)
    }

    pub(crate) fn initialize(&mut self) -> Result<Value> {
        let begun = self.request("initialize", &initialize("2025-06-18"))?;
        self.notify("notifications/initialized")?;
        Ok(begun)
    }

    pub(crate) fn notify(&mut self, method: &str) -> Result<()> {
        let frame = json!({"jsonrpc": "2.0", "method": method});
        Ok(self.running.answer(&format!("{frame}\n"))?)
    }

    /// Sends a request and returns its number.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.last_id += 1;
        let frame = frame(self.last_id, method, params);
        self.running.answer(&format!("{frame}\n"))?;
        Ok(self.last_id)
    }

    /// Waits for the next frame that the server sends.
    pub(crate) fn hear(&mut self) -> Result<Value> {
        let line = self.running.next_line()?;
        let frame: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        ensure!(frame["jsonrpc"] == "2.0", "{line}");
        Ok(frame)
    }

    /// Sends a request and returns the whole answer; answers to others are passed over.
    pub(crate) fn exchange(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.ask(method, params)?;
        loop {
            let answer = self.hear()?;
            if answer["id"] == id {
                return Ok(answer);
            }
        }
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let answer = self.exchange(method, params)?;
        ensure!(answer["result"].is_object(), "{method}: {answer}");
        Ok(answer["result"].clone())
    }

    /// Calls a tool and returns the result, whatever it is.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that must succeed, and returns its object.
    pub(crate) fn object(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let result = self.call(tool, arguments)?;
        ensure!(result["isError"] == false, "{tool} {arguments}: {result}");
        let object = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let same: Value = serde_json::from_str(text)?;
        ensure!(same == object, "{tool}: text and object differ: {result}");
        Ok(object)
    }

    /// Calls a tool that must fail, and returns what it says in words.
    pub(crate) fn failure(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let result = self.call(tool, arguments)?;
        ensure!(result["isError"] == true, "{tool} {arguments}: {result}");
        let schema = &result["structuredContent"]["schema"];
        ensure!(schema == "rekindle.error/1", "{result}");
        let text = result["content"][0]["text"].as_str();
        Ok(text.context("no text")?.to_owned())
    }

    /// Ends the input, and holds that the server ends well and has written nothing but frames.
    pub(crate) fn end(self) -> Result<()> {
        let output = self.running.finish()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(0), "{}: {said}", output.status);
        ensure!(said.is_empty(), "{said}");
        for line in String::from_utf8(output.stdout)?.lines() {
            let frame: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
            ensure!(frame["jsonrpc"] == "2.0", "{line}");
        }
        Ok(())
    }
}

pub(crate) fn frame(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "by-hand", "version": "1"},
    })
}
