"use strict";
// What matched, as lists that a keyboard and a screen reader can go through.

kg.results = (() => {
  const { words } = kg;
  const { el, show, byId } = kg.dom;

  const evidence = ({ standing }) => {
    const reasons = standing.reasons ?? [];
    const cosines = reasons.map((found) => found.similarity).filter((value) => value != null);
    if (cosines.length) return `cosine ${words.number(Math.max(...cosines))}`;
    const scores = reasons.map((found) => found.text_score).filter((value) => value != null);
    return scores.length ? `text ${words.number(Math.max(...scores))}` : "through a relationship";
  };

  const entry = (item, select) =>
    el(
      "li",
      { "data-id": item.id },
      el(
        "button",
        {
          type: "button",
          onclick: ({ currentTarget }) => {
            select(item.id);
            currentTarget.scrollIntoView({ block: "nearest" });
          },
        },
        el("span", { class: "rank" }, item.standing.rank),
        item.node ? kg.legend.nodeSample(item.node.label, true) : kg.legend.lineSample(item.relationship.attitude, words.proximityWidth(item.relationship.proximity)),
        el("span", { class: "what" }, item.node ? el("bdi", {}, words.nodeName(item.node)) : kg.details.triplet(item.relationship)),
        el("small", {}, evidence(item)),
      ),
    );

  const list = (title, items, select) =>
    items.length
      ? [title && el("h2", {}, title), el("ol", { class: "found" }, items.sort((one, other) => one.standing.rank - other.standing.rank).map((item) => entry(item, select)))]
      : [];

  const matched = (items) => items.filter((item) => item.standing);

  return {
    matched,
    list: (graph, select) => {
      const [nodes, relationships] = [matched(graph.nodes), matched(graph.relationships)];
      show(
        byId("lists"),
        graph.ranked_together
          ? list(null, [...nodes, ...relationships], select)
          : [...list("Nodes", nodes, select), ...list("Relationships", relationships, select)],
      );
    },
    warn: (warnings) => {
      show(byId("warnings"), warnings.map((warning) => el("li", {}, warning)));
      byId("warnings").hidden = !warnings.length;
    },
    mark: (id) => {
      for (const entry of byId("lists").querySelectorAll("li[data-id]")) {
        const isCurrent = entry.dataset.id === id;
        entry.firstElementChild.toggleAttribute("aria-current", isCurrent);
        // Where the list has no scrolling of its own, this would scroll the drawing away that was just clicked in.
        const list = byId("results");
        if (isCurrent && list.scrollHeight > list.clientHeight) entry.scrollIntoView({ block: "nearest" });
      }
    },
  };
})();
