"use strict";
// Connects the parts of the page: search, display, selection.

(() => {
  const { data, format, graph, details, results, legend, theme } = kg;
  const { byId, show } = kg.dom;
  const EMPTY = { query: "", opening: "", nodes: [], relationships: [], warnings: [] };
  const HINT = "Select a node or a relationship, in the graph or in the list, to see its details and why it is shown.";
  const SLOW_MS = 200;
  let displayed = EMPTY;
  let pending = null;

  const select = (id) => {
    const item = id === null ? undefined : [...displayed.nodes, ...displayed.relationships].find((one) => one.id === id);
    if (item) details.open(item, displayed, { select, close: () => select(null) });
    else details.close(displayed.nodes.length ? HINT : "");
    graph.select(item ? id : null);
    results.mark(item ? id : null);
  };

  const showMessage = (message, hint = "") => {
    const box = byId("empty");
    const [first, second] = box.children;
    show(first, message);
    show(second, hint);
    box.hidden = !message;
  };

  const summary = ({ nodes, relationships }) => {
    const [nodeMatches, relationshipMatches] = [results.matches(nodes).length, results.matches(relationships).length];
    const neighbors = nodes.length - nodeMatches;
    if (!displayed.query) return `Overview: ${format.counted(nodeMatches, "node")} with the most relationships; ${format.counted(neighbors, "neighbor")}.`;
    const found = `${format.counted(nodeMatches, "node")} and ${format.counted(relationshipMatches, "relationship")}`;
    return `${displayed.opening ? `${displayed.opening} ${found}` : `${found} matched`}; ${format.counted(neighbors, "neighbor")}.`;
  };

  const display = (result) => {
    displayed = {
      ...EMPTY,
      ...result,
      nodes: (result.nodes ?? []).map((item, index) => ({ ...item, id: `n${index}` })),
      relationships: (result.relationships ?? []).map((item, index) => ({ ...item, id: `r${index}` })),
    };
    const isEmpty = !displayed.nodes.length;
    const [nothing, advice] = displayed.query
      ? [`Nothing found for “${displayed.query}”`, "Try other words: the search compares meanings, names and notes."]
      : ["The graph is empty", "Agents fill it with the tools; kgagent load and kgagent ingest read files into it."];
    details.close(isEmpty ? "" : HINT);
    showMessage(isEmpty ? nothing : "", isEmpty ? advice : "");
    show(byId("status"), isEmpty ? `${nothing}.` : summary(displayed));
    byId("lists").inert = false;
    results.warn(displayed.warnings);
    results.list(displayed, select);
    legend.draw(displayed);
    graph.draw(displayed);
    byId("graph").setAttribute(
      "aria-label",
      `Graph of ${format.counted(displayed.nodes.length, "node")} and ${format.counted(displayed.relationships.length, "relationship")}. The list of matches leads to their details.`,
    );
    document.title = displayed.query ? `${displayed.query} · kgagent` : "kgagent";
  };

  const say = (message, hint) => {
    display(EMPTY);
    showMessage(message, hint);
    show(byId("status"), hint ? `${message}: ${hint}` : message);
  };
  const fail = (message) => say("The search failed", message);

  const search = async (query) => {
    pending?.abort();
    const request = (pending = new AbortController());
    byId("lists").inert = true; // The answer would close what is opened from the old list.
    const timer = setTimeout(() => show(byId("status"), query ? `Searching for “${query}” …` : "Loading …"), SLOW_MS);
    const parameters = new URLSearchParams({ query, limit: byId("limit").value, neighbors: byId("neighbors").value });
    try {
      const response = await fetch(`${data.search}?${parameters}`, { signal: request.signal });
      const result = await response.json();
      if (response.ok) display(result);
      else fail(result.error);
    } catch (error) {
      if (request === pending && error.name !== "AbortError") fail("The server does not answer. Is kgagent view still running?");
    } finally {
      clearTimeout(timer);
    }
  };

  /** The URL fragment holds the query, so that the back button and reloading work. */
  const searchFromFragment = () => {
    let query = "";
    try {
      query = decodeURIComponent(location.hash.slice(1));
    } catch {
      query = location.hash.slice(1);
    }
    byId("query").value = query;
    search(query.trim());
  };
  const submit = () => {
    const query = byId("query").value.trim();
    const fragment = `#${encodeURIComponent(query)}`;
    if (location.hash === fragment || (!location.hash && !query)) search(query);
    else location.hash = fragment;
  };

  const nameTheme = () => show(byId("theme"), theme.current() === "dark" ? "Light" : "Dark");

  byId("theme").addEventListener("click", theme.toggle);
  theme.onChange(nameTheme);
  nameTheme();
  byId("zoom-in").addEventListener("click", () => graph.zoomBy(1.3));
  byId("zoom-out").addEventListener("click", () => graph.zoomBy(1 / 1.3));
  byId("fit").addEventListener("click", () => graph.fit());
  graph.onSelect(select);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") select(null);
    if (event.key === "/" && !event.target.matches("input, select, textarea")) {
      event.preventDefault();
      byId("query").focus();
    }
  });
  if (data.user) show(byId("owner"), "graph of ", data.user);

  /** Display a graph that nobody can search on. */
  const present = (result) => {
    byId("search").hidden = true;
    byId("fixed-query").hidden = false;
    show(byId("fixed-query"), result.query);
    display(result);
  };

  if (data.graph) present(data.graph);
  else if (data.search) {
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    for (const id of ["limit", "neighbors"]) byId(id).addEventListener("change", submit);
    addEventListener("hashchange", searchFromFragment);
    searchFromFragment();
    byId("query").focus();
  }
})();
