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

/** Returns what a session is to be told of what is interrupted here. */
async function briefing(told) {
  try {
    const answer = JSON.parse(await hook("session-start", told));
    return answer.hookSpecificOutput.additionalContext;
  } catch {
    return undefined;
  }
}

export const Rekindle = async ({ directory }) => {
  const briefings = new Map();
  const told = (session) => ({ session_id: session, cwd: directory });
  return {
    config: async (config) => {
      config.mcp = { rekindle: SERVER, ...config.mcp };
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID;
      if (!briefings.has(session)) briefings.set(session, await briefing(told(session)));
      const text = briefings.get(session);
      if (text) output.system.push(text);
    },
    "experimental.session.compacting": async (input) => {
      await hook("pre-compact", told(input?.sessionID));
    },
    "tool.execute.after": async (input) => {
      await hook("post-tool-use", told(input?.sessionID));
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID;
      if (event.type === "session.idle") await hook("stop", told(session));
      if (event.type === "session.error") {
        const { name, data } = event.properties?.error ?? {};
        const more = { error: name, last_assistant_message: data?.message };
        await hook("stop-failure", { ...told(session), ...more });
      }
      if (event.type === "session.deleted") await hook("session-end", told(session));
    },
  };
};
