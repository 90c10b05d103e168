"use strict";
// What colours, shapes and lines mean, in the ontology's words.

kg.legend = (() => {
  const { words } = kg;
  const { el, svg, show, byId } = kg.dom;

  const POINTS = {
    "round-rectangle": [[2, 3], [14, 3], [14, 13], [2, 13]],
    diamond: [[8, 1], [15, 8], [8, 15], [1, 8]],
    hexagon: [[4.5, 2], [11.5, 2], [15, 8], [11.5, 14], [4.5, 14], [1, 8]],
    triangle: [[8, 1.5], [15, 14.5], [1, 14.5]],
    pentagon: [[8, 1], [15, 6.3], [12.3, 14.5], [3.7, 14.5], [1, 6.3]],
    octagon: [[5, 1], [11, 1], [15, 5], [15, 11], [11, 15], [5, 15], [1, 11], [1, 5]],
  };

  const nodeSample = (label, isMatched) => {
    const shape = words.labelShape(label);
    const looks = { class: isMatched ? "full" : "hollow" };
    const drawing = svg("svg", { viewBox: "0 0 16 16", class: "sample", "aria-hidden": "true" });
    drawing.append(POINTS[shape] ? svg("polygon", { points: POINTS[shape].join(" "), ...looks }) : svg("circle", { cx: 8, cy: 8, r: 6.5, ...looks }));
    drawing.style.setProperty("--sample", `var(${words.labelColour(label)})`);
    return drawing;
  };

  const lineSample = (attitude, width) => {
    const dashes = { dashed: "7 5", dotted: "1.5 3" }[words.attitudeLine(attitude)];
    const line = svg("line", { x1: 0, y1: 5, x2: 26, y2: 5, "stroke-width": width, "stroke-dasharray": width && attitude != null ? dashes : null });
    const drawing = svg("svg", { viewBox: "0 0 26 10", class: "line sample", "aria-hidden": "true" }, line);
    drawing.style.setProperty("--sample", `var(${attitude == null ? "--ink" : words.attitudeColour(attitude)})`);
    return drawing;
  };

  const unsaid = () => {
    const drawing = lineSample(3, 3);
    drawing.firstChild.setAttribute("stroke-dasharray", "1.5 3");
    drawing.style.setProperty("--sample", "var(--attitude-none)");
    return drawing;
  };

  const counted = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  };

  const labels = (nodes) => {
    const counts = counted(nodes.map(({ node }) => node.label));
    const known = [...words.vocabulary.labels, ...counts.keys()].filter((label, index, all) => counts.has(label) && all.indexOf(label) === index);
    return el("ul", { class: "labels" }, known.map((label) => el("li", {}, nodeSample(label, true), `${label} `, el("small", {}, counts.get(label)))));
  };

  const scale = (type, isUnsaidThere) => {
    const kind = words.kind(type);
    const levels = [5, 4, 3, 2, 1];
    const row = (level, sample, word) => el("li", {}, sample, word);
    return [
      el("div", {}, el("h3", {}, "Attitude"), el("ul", {}, levels.map((level) => row(level, lineSample(level, 4), kind.attitude[level - 1])), isUnsaidThere ? row(null, unsaid(), el("span", { class: "quiet" }, "not said")) : null)),
      el("div", {}, el("h3", {}, "Proximity"), el("ul", {}, levels.map((level) => row(level, lineSample(null, words.proximityWidth(level)), kind.proximity[level - 1])))),
    ];
  };

  const kinds = (relationships) => {
    const counts = counted(relationships.map(({ relationship }) => relationship.neo4j_type));
    const shown = Object.keys(words.vocabulary.kinds).filter((type) => counts.has(type));
    if (!shown.length) return [];
    const commonest = shown.reduce((best, type) => (counts.get(type) > counts.get(best) ? type : best));
    const isUnsaidThere = relationships.some(({ relationship }) => relationship.attitude == null);
    const scales = el("div", { class: "scales" }, scale(commonest, isUnsaidThere));
    const choice = el("select", { "aria-label": "Words of which kind of relationship" }, shown.map((type) => el("option", { value: type, selected: type === commonest }, words.kindName(type))));
    choice.addEventListener("change", () => show(scales, scale(choice.value, isUnsaidThere)));
    return [el("label", { class: "choice" }, "Lines of ", choice), scales];
  };

  return {
    nodeSample,
    lineSample,
    draw: (graph) => {
      const legend = byId("legend");
      legend.hidden = !graph.nodes.length;
      const marked = el("p", { class: "marked" }, el("span", { class: "mark", "aria-hidden": "true" }), "matched; hollow and faint: around it");
      show(legend.lastElementChild, labels(graph.nodes), marked, kinds(graph.relationships));
    },
  };
})();
