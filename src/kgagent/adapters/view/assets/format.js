"use strict";
// Text forms, colors, shapes and line styles of nodes and relationships, in the order of the ontology.

kg.format = (() => {
  const { vocabulary } = (kg.data = JSON.parse(document.getElementById("data").textContent));
  const COLORS = 8;
  const SHAPES = ["ellipse", "round-rectangle", "diamond", "hexagon", "triangle", "pentagon", "octagon"];

  const labelIndex = (label) => vocabulary.labels.indexOf(label);
  const shorten = (text, maxLength) => (text.length > maxLength ? `${text.slice(0, maxLength - 1).trimEnd()}…` : text);
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const nodeName = (node) => node.name || node.entity_key;
  const typeName = (type) => vocabulary.relationships[type]?.name ?? type.toLowerCase().replaceAll("_", " ");

  return {
    vocabulary,
    shorten,
    counted,
    nodeName,
    typeName,
    /** Custom property of a label's color; labels outside the ontology share one. */
    labelColor: (label) => (labelIndex(label) < 0 ? "--label-none" : `--label-${(labelIndex(label) % COLORS) + 1}`),
    labelShape: (label) => (labelIndex(label) < 0 ? "ellipse" : SHAPES[labelIndex(label) % SHAPES.length]),
    relationshipWords: (type) => vocabulary.relationships[type],
    relationshipName: (relationship) => (relationship.relationship_type || typeName(relationship.neo4j_type)).replaceAll("_", " "),
    attitudeColor: (level) => (level >= 1 && level <= 5 ? `--attitude-${level}` : "--attitude-none"),
    /** Line style, so that a low attitude differs from a high one without color. */
    attitudeLine: (level) => (level == null ? "dotted" : level <= 2 ? "dashed" : "solid"),
    /** Line width in pixels. */
    proximityWidth: (level) => [1.2, 1.4, 2.4, 3.6, 5, 6.6][level >= 1 && level <= 5 ? level : 0],
    number: (value, digits = 2) => value.toFixed(digits),
    date: (text) => text.slice(0, 10),
  };
})();
