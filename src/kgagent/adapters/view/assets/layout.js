"use strict";
// Where nodes stand. It is reckoned once for each graph, always the same for the same graph, and never moves by itself.

kg.layout = (() => {
  const TURN = Math.PI * (3 - Math.sqrt(5));
  const places = new Map();

  /** A spiral with what matched in the middle; nodes that were on the page before start where they stood. */
  const begin = (cy, spacing) => {
    const ordered = cy.nodes().sort(
      (one, other) =>
        (one.data("rank") ?? Infinity) - (other.data("rank") ?? Infinity) ||
        other.degree() - one.degree() ||
        one.data("order") - other.data("order"),
    );
    ordered.forEach((node, index) => {
      const distance = spacing * Math.sqrt(index + 0.5);
      const spiral = { x: distance * Math.cos(index * TURN), y: distance * Math.sin(index * TURN) };
      node.position(places.get(node.data("key")) ?? spiral);
    });
  };

  const arrange = (cy) => {
    const count = cy.nodes().length;
    const isLarge = count > 60;
    begin(cy, isLarge ? 60 : 80);
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
      // Each takes a time that grows with the square of the nodes.
      numIter: Math.round(Math.min(1000, Math.max(500, 120000 / count))),
    }).run();
    cy.nodes().forEach((node) => places.set(node.data("key"), { ...node.position() }));
    fit(cy);
  };

  const MOST_ZOOM = 1.3;
  const NARROW = 600;
  const BUTTONS = 40;
  const fit = (cy) => {
    const box = cy.elements().boundingBox();
    const rim = Math.min(48, cy.width() / 12);
    // A narrow drawing has nothing under the buttons in its corner; a wide one has room beside them.
    const top = cy.width() < NARROW ? BUTTONS : 0;
    const [wide, high] = [cy.width(), cy.height() - top];
    const zoom = Math.min((wide - 2 * rim) / box.w, (high - 2 * rim) / box.h, MOST_ZOOM);
    cy.viewport({ zoom, pan: { x: (wide - zoom * (box.x1 + box.x2)) / 2, y: top + (high - zoom * (box.y1 + box.y2)) / 2 } });
  };

  return { arrange, fit };
})();
