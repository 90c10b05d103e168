"use strict";
// Inside of an MCP host (MCP Apps, revision 2026-01-26): the host sends the answers of tools by postMessage.

(() => {
  const { data, page, theme } = kg;
  const HEIGHT = 720;
  const INITIALIZE = 1;

  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const adapt = (context) => {
    if (context?.theme === "light" || context?.theme === "dark") theme.choose(context.theme);
  };
  const textOf = (result) => (Array.isArray(result?.content) ? result.content : []).map((part) => part?.text ?? "").join("\n");

  const notifications = {
    "ui/notifications/tool-result": (result) => {
      const graph = result?._meta?.[data.answer];
      if (graph) page.present(graph);
      else page.say(result?.isError ? "The tool failed" : "This answer has no graph", textOf(result));
    },
    "ui/notifications/tool-cancelled": () => page.say("The call was cancelled", ""),
    "ui/notifications/host-context-changed": adapt,
  };
  const requests = new Set(["ping", "ui/resource-teardown"]);

  addEventListener("message", (event) => {
    if (event.source !== parent || parent === window) return;
    const { id, method, params, result } = event.data ?? {};
    if (method === undefined && id === INITIALIZE && result) {
      adapt(result.hostContext);
      send({ method: "ui/notifications/initialized" });
      send({ method: "ui/notifications/size-changed", params: { height: HEIGHT } });
    } else if (id !== undefined && requests.has(method)) send({ id, result: {} });
    else if (id !== undefined && method !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
    else if (Object.hasOwn(notifications, method)) notifications[method](params);
  });

  page.say("Waiting for an answer", "");
  document.getElementById("search").hidden = true;
  if (parent === window) return;
  const appInfo = { name: "kgagent", title: "Knowledge graph", version: data.version };
  const appCapabilities = { availableDisplayModes: ["inline", "fullscreen"] };
  send({ id: INITIALIZE, method: "ui/initialize", params: { appInfo, appCapabilities, protocolVersion: "2026-01-26" } });
})();
