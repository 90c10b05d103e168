"use strict";
// The matches as lists, for keyboards and screen readers.

kg.results = (() => {
  const { format } = kg;
  const { el, show, byId } = kg.dom;

  const evidence = ({ match }) => {
    const reasons = match.reasons ?? [];
    if (!reasons.length) return format.counted(match.score, "relationship");
    const score = `score ${format.number(match.score)}`;
    const cosines = reasons.map((reason) => reason.similarity).filter((value) => value != null);
    if (cosines.length) return `${score}, cosine ${format.number(Math.max(...cosines))}`;
    const texts = reasons.map((reason) => reason.text_score).filter((value) => value != null);
    return texts.length ? `${score}, text ${format.number(Math.max(...texts))}` : score;
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
        el("span", { class: "rank" }, item.match.rank),
        item.node ? kg.legend.nodeSample(item.node.label, true) : kg.legend.lineSample(item.relationship.attitude, format.proximityWidth(item.relationship.proximity)),
        el("span", { class: "name" }, item.node ? el("bdi", {}, format.nodeName(item.node)) : kg.details.triplet(item.relationship)),
        el("small", {}, evidence(item)),
      ),
    );

  const list = (items, select) =>
    items.length
      ? [el("ol", { class: "matches" }, items.sort((one, other) => one.match.rank - other.match.rank).map((item) => entry(item, select)))]
      : [];

  const matches = (items) => items.filter((item) => item.match);

  return {
    matches,
    list: (graph, select) => {
      show(byId("lists"), list([...matches(graph.nodes), ...matches(graph.relationships)], select));
    },
    warn: (warnings) => {
      show(byId("warnings"), warnings.map((warning) => el("li", {}, warning)));
      byId("warnings").hidden = !warnings.length;
    },
    mark: (id) => {
      for (const entry of byId("lists").querySelectorAll("li[data-id]")) {
        const isCurrent = entry.dataset.id === id;
        entry.firstElementChild.toggleAttribute("aria-current", isCurrent);
        // If the list does not scroll by itself, this would scroll the graph away just after a click in it.
        const list = byId("results");
        if (isCurrent && list.scrollHeight > list.clientHeight) entry.scrollIntoView({ block: "nearest" });
      }
    },
  };
})();
