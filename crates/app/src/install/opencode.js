// Made by `rekindle install opencode`; `rekindle uninstall opencode` removes it.
//
// opencode has no hooks that are commands, so this plugin calls `rekindle hook` at the same moments.
// It also adds rekindle's MCP server, unless your settings have one of this name.
// Whatever goes wrong is rekindle's own matter: nothing here fails a session.
import { spawn } from "node:child_process";

const COMMAND = "REKINDLE";
const SERVER = { type: "local", command: ["PROGRAM", "mcp"], enabled: true };

/** Calls a hook and returns what it printed. */
function hook(moment, told) {
  return new Promise((resolve) => {
    let printed = "";
    const child = spawn(`${COMMAND} hook ${moment} --agent opencode`, {
      shell: true,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 10_000,
    });
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(printed));
    child.stdout.on("data", (piece) => {
      printed += piece;
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(told));
  });
}

/** Returns what a session is to be told of what is interrupted here, if it does not know it yet. */
async function briefing(told) {
  try {
    const answer = JSON.parse(await hook("session-start", told));
    return answer.hookSpecificOutput.additionalContext;
  } catch {
    return undefined;
  }
}

/** Returns an id as opencode makes them: they sort by time. */
function partId() {
  const time = (BigInt(Date.now()) * 4096n).toString(16).padStart(12, "0").slice(-12);
  return `prt_${time}${Math.random().toString(36).slice(2).padEnd(14, "0").slice(0, 14)}`;
}

const MOST_USED = 64 * 1024;

export const Rekindle = async ({ directory }) => {
  const used = new Map();
  const told = (session) => ({ session_id: session, cwd: directory });
  const ended = (session) => ({ ...told(session), used: used.get(session) ?? "" });
  return {
    config: async (config) => {
      config.mcp = { rekindle: SERVER, ...config.mcp };
    },
    // A part of a message stays in the conversation; a system prompt is made anew for each request.
    "chat.message": async (input, output) => {
      const text = await briefing(told(input?.sessionID));
      if (!text) return;
      const { id, sessionID } = output.message;
      output.parts.push({ id: partId(), messageID: id, sessionID, type: "text", text, synthetic: true });
    },
    "experimental.session.compacting": async (input) => {
      await hook("pre-compact", ended(input?.sessionID));
    },
    "tool.execute.after": async (input) => {
      const session = input?.sessionID;
      const line = `${used.get(session) ?? ""}${input?.tool} ${JSON.stringify(input?.args ?? {})}\n`;
      used.set(session, line.slice(-MOST_USED));
      await hook("post-tool-use", told(session));
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID;
      if (event.type === "session.idle") await hook("stop", told(session));
      if (event.type === "session.error") {
        const { name, data } = event.properties?.error ?? {};
        const more = { error: name, last_assistant_message: data?.message };
        await hook("stop-failure", { ...told(session), ...more });
      }
      if (event.type === "session.deleted") await hook("session-end", ended(session));
    },
  };
};
