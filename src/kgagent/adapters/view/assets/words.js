"use strict";
// What things are called, and how they look; both follow the ontology and its order.

kg.words = (() => {
  const { vocabulary } = (kg.data = JSON.parse(document.getElementById("data").textContent));
  const COLOURS = 8;
  const SHAPES = ["ellipse", "round-rectangle", "diamond", "hexagon", "triangle", "pentagon", "octagon"];

  const position = (label) => vocabulary.labels.indexOf(label);
  const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
  const plural = (count, one) => `${count} ${count === 1 ? one : one.endsWith("s") ? one : `${one}s`}`;
  const nodeName = (node) => node.name || node.entity_key;

  return {
    vocabulary,
    shorten,
    plural,
    nodeName,
    /** Custom property that holds a label's colour; a label that the ontology does not know has its own. */
    labelColour: (label) => (position(label) < 0 ? "--label-none" : `--label-${(position(label) % COLOURS) + 1}`),
    labelShape: (label) => (position(label) < 0 ? "ellipse" : SHAPES[position(label) % SHAPES.length]),
    kindName: (type) => vocabulary.kinds[type]?.name ?? type.toLowerCase().replaceAll("_", " "),
    kind: (type) => vocabulary.kinds[type],
    said: (relationship) => (relationship.relationship_type || kg.words.kindName(relationship.neo4j_type)).replaceAll("_", " "),
    attitudeColour: (level) => (level >= 1 && level <= 5 ? `--attitude-${level}` : "--attitude-none"),
    /** Dashes tell a low attitude from a high one without colour. */
    attitudeLine: (level) => (level == null ? "dotted" : level <= 2 ? "dashed" : "solid"),
    /** Pixels. */
    proximityWidth: (level) => [1.2, 1.4, 2.4, 3.6, 5, 6.6][level >= 1 && level <= 5 ? level : 0],
    number: (value, digits = 2) => value.toFixed(digits),
    date: (text) => text.slice(0, 10),
  };
})();
