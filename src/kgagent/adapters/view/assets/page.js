"use strict";
// The page as a whole: search, show, select.

(() => {
  const { data, words, graph, details, results, legend, theme } = kg;
  const { byId, show } = kg.dom;
  const NOTHING = { asked: "", ranked_together: true, nodes: [], relationships: [], warnings: [] };
  const HINT = "Select a node or a relationship, in the graph or in the list, to read what is known of it and why it was found.";
  const SLOW = 200;
  let shown = NOTHING;
  let pending = null;

  const select = (id) => {
    const item = id === null ? undefined : [...shown.nodes, ...shown.relationships].find((one) => one.id === id);
    if (item) details.open(item, shown, { select, close: () => select(null) });
    else details.close(shown.nodes.length ? HINT : "");
    graph.select(item ? id : null);
    results.mark(item ? id : null);
  };

  const say = (message, hint = "") => {
    const box = byId("empty");
    const [first, second] = box.children;
    show(first, message);
    show(second, hint);
    box.hidden = !message;
  };

  const summary = ({ nodes, relationships }) => {
    const [one, other] = [results.matched(nodes).length, results.matched(relationships).length];
    const rest = nodes.length - one;
    return `${words.plural(one, "node")} and ${words.plural(other, "relationship")} matched; ${words.plural(rest, "node")} around them.`;
  };

  const present = (found) => {
    shown = {
      ...NOTHING,
      ...found,
      nodes: (found.nodes ?? []).map((item, index) => ({ ...item, id: `n${index}` })),
      relationships: (found.relationships ?? []).map((item, index) => ({ ...item, id: `r${index}` })),
    };
    const isEmpty = !shown.nodes.length;
    details.close(isEmpty ? "" : HINT);
    say(isEmpty ? `Nothing found for “${shown.asked}”` : "", isEmpty ? "Other words may find it: the search goes by meaning, names and notes." : "");
    show(byId("status"), isEmpty ? `Nothing found for “${shown.asked}”.` : summary(shown));
    results.warn(shown.warnings);
    results.list(shown, select);
    legend.draw(shown);
    graph.draw(shown);
    byId("graph").setAttribute(
      "aria-label",
      `Graph of ${words.plural(shown.nodes.length, "node")} and ${words.plural(shown.relationships.length, "relationship")}. The list of what was found leads to each of them.`,
    );
    document.title = shown.asked ? `${shown.asked} · kgagent` : "kgagent";
  };

  const fail = (message) => {
    present(NOTHING);
    say("The search failed", message);
    show(byId("status"), `The search failed: ${message}`);
  };

  const ask = async (query) => {
    pending?.abort();
    const mine = (pending = new AbortController());
    const waiting = setTimeout(() => show(byId("status"), `Searching for “${query}” …`), SLOW);
    const asked = new URLSearchParams({ q: query, limit: byId("limit").value, around: byId("around").value });
    try {
      const answer = await fetch(`${data.search}?${asked}`, { signal: mine.signal });
      const found = await answer.json();
      if (answer.ok) present(found);
      else fail(found.error);
    } catch (error) {
      if (mine === pending && error.name !== "AbortError") fail("The server does not answer. Is kgagent view still running?");
    } finally {
      clearTimeout(waiting);
    }
  };

  /** The address holds the question, so that going back and reloading work. */
  const fromAddress = () => {
    let query = "";
    try {
      query = decodeURIComponent(location.hash.slice(1));
    } catch {
      query = location.hash.slice(1);
    }
    byId("query").value = query;
    if (query.trim()) ask(query.trim());
    else welcome();
  };
  const welcome = () => {
    pending?.abort();
    present(NOTHING);
    say("Search for something to see it and what is around it", "Nodes and relationships are found by meaning, by name and by what notes say.");
    show(byId("status"), "Nothing searched for yet.");
  };
  const search = () => {
    const query = byId("query").value.trim();
    const address = `#${encodeURIComponent(query)}`;
    if (location.hash === address && query) ask(query);
    else location.hash = address;
  };

  const nameTheme = () => show(byId("theme"), theme.current() === "dark" ? "Light" : "Dark");

  byId("theme").addEventListener("click", theme.toggle);
  theme.onChange(nameTheme);
  nameTheme();
  byId("nearer").addEventListener("click", () => graph.zoomBy(1.3));
  byId("farther").addEventListener("click", () => graph.zoomBy(1 / 1.3));
  byId("whole").addEventListener("click", () => graph.fit());
  graph.onSelect(select);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") select(null);
    if (event.key === "/" && !event.target.matches("input, select, textarea")) {
      event.preventDefault();
      byId("query").focus();
    }
  });
  show(byId("whose"), "graph of ", data.user);

  if (data.graph) {
    byId("search").hidden = true;
    byId("asked").hidden = false;
    show(byId("asked"), data.graph.asked);
    present(data.graph);
  } else {
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      search();
    });
    for (const id of ["limit", "around"]) byId(id).addEventListener("change", search);
    addEventListener("hashchange", fromAddress);
    fromAddress();
    byId("query").focus();
  }
})();
