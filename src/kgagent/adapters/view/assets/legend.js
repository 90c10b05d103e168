"use strict";
// Explains colors, shapes and lines in the words of the ontology.

kg.legend = (() => {
  const { format } = kg;
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
    const shape = format.labelShape(label);
    const style = { class: isMatched ? "full" : "hollow" };
    const drawing = svg("svg", { viewBox: "0 0 16 16", class: "sample", "aria-hidden": "true" });
    drawing.append(POINTS[shape] ? svg("polygon", { points: POINTS[shape].join(" "), ...style }) : svg("circle", { cx: 8, cy: 8, r: 6.5, ...style }));
    drawing.style.setProperty("--sample", `var(${format.labelColor(label)})`);
    return drawing;
  };

  const lineSample = (attitude, width) => {
    const dashes = { dashed: "7 5", dotted: "1.5 3" }[format.attitudeLine(attitude)];
    const line = svg("line", { x1: 0, y1: 5, x2: 26, y2: 5, "stroke-width": width, "stroke-dasharray": width && attitude != null ? dashes : null });
    const drawing = svg("svg", { viewBox: "0 0 26 10", class: "line sample", "aria-hidden": "true" }, line);
    drawing.style.setProperty("--sample", `var(${attitude == null ? "--ink" : format.attitudeColor(attitude)})`);
    return drawing;
  };

  const unknownSample = () => {
    const drawing = lineSample(3, 3);
    drawing.firstChild.setAttribute("stroke-dasharray", "1.5 3");
    drawing.style.setProperty("--sample", "var(--attitude-none)");
    return drawing;
  };

  const countValues = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  };

  const labels = (nodes) => {
    const counts = countValues(nodes.map(({ node }) => node.label));
    const known = [...format.vocabulary.labels, ...counts.keys()].filter((label, index, all) => counts.has(label) && all.indexOf(label) === index);
    return el("ul", { class: "labels" }, known.map((label) => el("li", {}, nodeSample(label, true), `${label} `, el("small", {}, counts.get(label)))));
  };

  const scale = (type, hasUnknown) => {
    const words = format.relationshipWords(type);
    const levels = [5, 4, 3, 2, 1];
    const row = (level, sample, word) => el("li", {}, sample, word);
    return [
      el("div", {}, el("h3", {}, "Attitude"), el("ul", {}, levels.map((level) => row(level, lineSample(level, 4), words.attitude[level - 1] ?? String(level))), hasUnknown ? row(null, unknownSample(), el("span", { class: "quiet" }, "not set")) : null)),
      el("div", {}, el("h3", {}, "Proximity"), el("ul", {}, levels.map((level) => row(level, lineSample(null, format.proximityWidth(level)), words.proximity[level - 1] ?? String(level))))),
    ];
  };

  const relationshipTypes = (relationships) => {
    const counts = countValues(relationships.map(({ relationship }) => relationship.neo4j_type));
    const types = Object.keys(format.vocabulary.relationships).filter((type) => counts.has(type));
    if (!types.length) return [];
    const commonest = types.reduce((best, type) => (counts.get(type) > counts.get(best) ? type : best));
    const hasUnknown = relationships.some(({ relationship }) => relationship.attitude == null);
    const scales = el("div", { class: "scales" }, scale(commonest, hasUnknown));
    const choice = el("select", { "aria-label": "Relationship type of the legend" }, types.map((type) => el("option", { value: type, selected: type === commonest }, format.typeName(type))));
    choice.addEventListener("change", () => show(scales, scale(choice.value, hasUnknown)));
    return [el("label", { class: "choice" }, "Lines for ", choice), scales];
  };

  return {
    nodeSample,
    lineSample,
    draw: (graph) => {
      const legend = byId("legend");
      legend.hidden = !graph.nodes.length;
      const marked = el("p", { class: "marked" }, el("span", { class: "mark", "aria-hidden": "true" }), "match; hollow and faint: neighbor");
      show(legend.lastElementChild, labels(graph.nodes), marked, relationshipTypes(graph.relationships));
    },
  };
})();
