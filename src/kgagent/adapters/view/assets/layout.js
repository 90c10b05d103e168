"use strict";
// Node positions. The layout is computed once per graph, is deterministic, and is not animated.

kg.layout = (() => {
  const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
  const knownPositions = new Map();

  /** Start from a spiral with the matches in the middle; nodes of the previous graph keep their position. */
  const initialize = (cy, spacing) => {
    const ordered = cy.nodes().sort(
      (one, other) =>
        (one.data("rank") ?? Infinity) - (other.data("rank") ?? Infinity) ||
        other.degree() - one.degree() ||
        one.data("order") - other.data("order"),
    );
    ordered.forEach((node, index) => {
      const distance = spacing * Math.sqrt(index + 0.5);
      const spiral = { x: distance * Math.cos(index * GOLDEN_ANGLE), y: distance * Math.sin(index * GOLDEN_ANGLE) };
      node.position(knownPositions.get(node.data("key")) ?? spiral);
    });
  };

  const arrange = (cy) => {
    const count = cy.nodes().length;
    const isLarge = count > 60;
    initialize(cy, isLarge ? 60 : 80);
    cy.layout({
      name: "cose",
      animate: false,
      randomize: false,
      fit: false,
      nodeDimensionsIncludeLabels: !isLarge,
      idealEdgeLength: () => (isLarge ? 70 : 110),
      nodeRepulsion: () => (isLarge ? 60000 : 40000),
      nodeOverlap: 12,
      componentSpacing: 60,
      gravity: isLarge ? 0.6 : 0.4,
      // The cost of an iteration is quadratic in the number of nodes.
      numIter: Math.round(Math.min(1000, Math.max(500, 120000 / count))),
    }).run();
    cy.nodes().forEach((node) => knownPositions.set(node.data("key"), { ...node.position() }));
    fit(cy);
  };

  const MAX_ZOOM = 1.3;
  const NARROW_WIDTH = 600;
  const BUTTONS_HEIGHT = 40;
  const fit = (cy) => {
    const box = cy.elements().boundingBox();
    const margin = Math.min(48, cy.width() / 12);
    // A narrow drawing keeps the area of the corner buttons free; a wide one has room next to them.
    const top = cy.width() < NARROW_WIDTH ? BUTTONS_HEIGHT : 0;
    const [width, height] = [cy.width(), cy.height() - top];
    const zoom = Math.min((width - 2 * margin) / box.w, (height - 2 * margin) / box.h, MAX_ZOOM);
    cy.viewport({ zoom, pan: { x: (width - zoom * (box.x1 + box.x2)) / 2, y: top + (height - zoom * (box.y1 + box.y2)) / 2 } });
  };

  return { arrange, fit };
})();
