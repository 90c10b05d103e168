"use strict";
// All that is known of one node or relationship, and why it is on the page.

kg.details = (() => {
  const { words } = kg;
  const { el, show, byId } = kg.dom;

  const section = (title, ...content) => el("section", {}, el("h3", {}, title), ...content);

  const reason = (found) => {
    const facts = [
      found.rank != null && `place ${found.rank}`,
      found.similarity != null && `cosine ${words.number(found.similarity)}`,
      found.text_score != null && `text score ${words.number(found.text_score)}`,
    ].filter(Boolean);
    return el(
      "li",
      {},
      el("b", {}, found.found_among),
      facts.length ? `: ${facts.join(", ")}` : "",
      found.matched ? el("span", { class: "quiet" }, " for “", el("bdi", {}, found.matched), "”") : null,
    );
  };

  const why = (item, isNode) => {
    const { standing } = item;
    if (!standing) {
      return section("Why it is here", el("p", {}, isNode ? "It did not match itself: it is next to what did." : "It did not match itself: it joins nodes that are here."));
    }
    const found = standing.reasons ?? [];
    return section(
      "Why it is here",
      el("p", {}, "Match ", el("b", {}, `number ${standing.rank}`), ". Found among"),
      el("ul", { class: "reasons" }, found.map(reason)),
      standing.path?.length
        ? [el("p", {}, "The search went on to it from"), el("ol", { class: "path" }, standing.path.map((step) => el("li", {}, el("bdi", {}, step))))]
        : null,
      el("p", { class: "quiet" }, `Score ${words.number(standing.score, 4)}: ${standing.score_meaning}.`),
    );
  };

  const note = (given) => {
    const isOver = given.expires_at != null && new Date(given.expires_at) <= new Date();
    const facts = [
      given.added_by && given.added_by !== "unknown" ? `by ${given.added_by}` : null,
      given.date_added && words.date(given.date_added),
      given.expires_at && `${isOver ? "expired" : "until"} ${words.date(given.expires_at)}`,
    ].filter(Boolean);
    return el("li", { class: isOver ? "over" : null }, el("bdi", {}, given.content), facts.length ? el("small", {}, facts.join(" · ")) : null);
  };
  const notes = (given) => (given?.length ? section("Notes", el("ul", { class: "notes" }, given.map(note))) : null);

  const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
  const text = (value) => {
    if (typeof value !== "string") return JSON.stringify(value);
    return TIME.test(value) ? value.slice(0, 16).replace("T", " ") : value;
  };
  const properties = (given) => {
    const rows = Object.entries(given ?? {});
    if (!rows.length) return null;
    return section("Properties", el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, text(value)))])));
  };
  const description = (given) => (given ? el("p", { class: "said" }, el("bdi", {}, given)) : null);

  const level = (title, value, word, sample) => {
    if (value == null) return null;
    return [el("dt", {}, title), el("dd", {}, sample, word ? `${word} (${value} of 5)` : `${value} of 5`)];
  };

  const jump = (item, children, select) => el("button", { type: "button", class: "jump", onclick: () => select(item.id) }, ...children);

  const node = (item, graph, select) => {
    const next = graph.relationships.filter(({ relationship }) =>
      [relationship.from_entity_key, relationship.to_entity_key].includes(item.node.entity_key),
    );
    return [
      el("p", { class: "kind" }, kg.legend.nodeSample(item.node.label, true), item.node.label),
      el("h2", {}, el("bdi", {}, words.nodeName(item.node))),
      description(item.node.description),
      why(item, true),
      notes(item.node.notes),
      properties(item.node.properties),
      next.length ? section("Relationships shown", el("ul", { class: "jumps" }, next.map((other) => el("li", {}, jump(other, triplet(other.relationship), select))))) : null,
    ];
  };

  const triplet = (relationship) => [
    el("bdi", {}, relationship.from_name || relationship.from_entity_key),
    el("i", {}, " → ", el("bdi", {}, words.said(relationship)), " → "),
    el("bdi", {}, relationship.to_name || relationship.to_entity_key),
  ];

  const relationship = (item, graph, select) => {
    const told = item.relationship;
    const end = (key) => graph.nodes.find(({ node: { entity_key } }) => entity_key === key);
    return [
      el("p", { class: "kind" }, words.kindName(told.neo4j_type)),
      el("h2", {}, ...triplet(told)),
      description(told.description),
      el(
        "dl",
        { class: "levels" },
        level("Attitude", told.attitude, told.attitude_word, kg.legend.lineSample(told.attitude, 4)),
        level("Proximity", told.proximity, told.proximity_word, kg.legend.lineSample(null, words.proximityWidth(told.proximity))),
      ),
      why(item, false),
      notes(told.notes),
      properties(told.properties),
      section(
        "Between",
        el("ul", { class: "jumps" }, [told.from_entity_key, told.to_entity_key].map(end).map((other) => el("li", {}, jump(other, [el("bdi", {}, words.nodeName(other.node))], select)))),
      ),
    ];
  };

  return {
    triplet,
    open: (item, graph, { select, close }) => {
      const panel = byId("details");
      const content = item.node ? node(item, graph, select) : relationship(item, graph, select);
      show(panel, el("button", { type: "button", class: "close", "aria-label": "Close the details", onclick: close }, "×"), content);
      panel.classList.add("open");
      panel.scrollTop = 0;
    },
    close: (hint) => {
      const panel = byId("details");
      panel.classList.remove("open");
      show(panel, el("p", { class: "quiet" }, hint));
    },
  };
})();
