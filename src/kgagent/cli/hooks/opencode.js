// Plugin of OpenCode 2. `kgagent hooks install opencode` writes it, `kgagent hooks uninstall opencode` removes it.
import { spawn } from "node:child_process";

const [PROGRAM, OPTIONS] = "__COMMAND__";
const CAPTURE = "__CAPTURE__";

function run(command, given) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, [...command, ...OPTIONS], { stdio: ["pipe", "pipe", "ignore"] });
    let answer = "";
    child.stdout.on("data", (part) => (answer += part));
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(answer.trim()));
    child.stdin.end(given);
  });
}

const textOf = (message) =>
  message.content
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n");

function capture(event) {
  const messages = event.messages.map((message) => ({ role: message.role, content: textOf(message) }));
  const given = { hook_event_name: "opencode", session_id: event.sessionID, messages };
  return run(CAPTURE, JSON.stringify(given));
}

export default {
  id: "kgagent",
  setup: async (ctx) => {
    const recalled = new Map();
    await ctx.session.hook("context", async (event) => {
      const newest = event.messages.findLast((message) => message.role === "user");
      if (!newest) return;
      const prompt = textOf(newest);
      let known = recalled.get(event.sessionID);
      if (known?.prompt !== prompt) {
        known = { prompt, text: await run(["recall"], prompt) };
        recalled.set(event.sessionID, known);
        void capture(event);
      }
      if (known.text) newest.content.push({ type: "text", text: known.text });
    });
    await ctx.session.hook("compaction", (event) => void capture(event));
  },
};
