"use strict";
// The drawing: nodes by label, relationships coloured by attitude and thick by proximity, what matched set off.

kg.graph = (() => {
  const { words, theme } = kg;
  const FAINT = 0.6;
  let cy = null;
  let onSelect = () => {};

  const idOf = (item) => item.id;
  const nodeData = (item, order) => ({
    group: "nodes",
    data: {
      id: idOf(item),
      key: item.node.entity_key,
      order,
      name: words.shorten(words.nodeName(item.node), 28),
      label: item.node.label,
      rank: item.standing?.rank,
    },
    classes: item.standing ? "matched" : "around",
  });
  const relationshipData = (item, order, nodeIds) => ({
    group: "edges",
    data: {
      id: idOf(item),
      order,
      source: nodeIds.get(item.relationship.from_entity_key),
      target: nodeIds.get(item.relationship.to_entity_key),
      name: words.shorten(words.said(item.relationship), 24),
      attitude: item.relationship.attitude,
      proximity: item.relationship.proximity,
      rank: item.standing?.rank,
    },
    classes: item.standing ? "matched" : "around",
  });

  const style = () => {
    const colour = theme.colour;
    const attitudeColour = (edge) => {
      const full = colour(words.attitudeColour(edge.data("attitude")));
      return edge.data("rank") == null ? theme.mix(full, colour("--stage"), FAINT) : full;
    };
    const labelColour = (node) => colour(words.labelColour(node.data("label")));
    const text = {
      "font-family": colour("--font"),
      "font-size": kg.labels.SIZE,
      "text-outline-color": colour("--stage"),
      "text-outline-width": 2,
      "text-outline-opacity": 0.9,
      "text-events": "no",
    };
    return [
      {
        selector: "node",
        style: {
          shape: (node) => words.labelShape(node.data("label")),
          width: 22,
          height: 22,
          "background-color": colour("--stage"),
          "border-color": labelColour,
          "border-width": 2,
          color: colour("--quiet"),
          "text-valign": "bottom",
          ...text,
        },
      },
      {
        selector: "node.matched",
        style: {
          width: 32,
          height: 32,
          "background-color": labelColour,
          "border-color": colour("--mark-edge"),
          "border-width": 2,
          "underlay-color": colour("--mark"),
          "underlay-opacity": 0.55,
          "underlay-padding": 7,
          "underlay-shape": "ellipse",
          color: colour("--ink"),
          "font-weight": 600,
          "z-index": 10,
        },
      },
      {
        selector: "edge",
        style: {
          "curve-style": "bezier",
          "control-point-step-size": 36,
          "line-color": attitudeColour,
          "line-style": (edge) => words.attitudeLine(edge.data("attitude")),
          "line-dash-pattern": [7, 5],
          width: (edge) => words.proximityWidth(edge.data("proximity")),
          "target-arrow-shape": "triangle",
          "target-arrow-color": attitudeColour,
          "arrow-scale": 0.9,
          color: colour("--quiet"),
          ...text,
        },
      },
      {
        selector: "edge.matched",
        style: {
          "underlay-color": colour("--mark"),
          "underlay-opacity": 0.45,
          "underlay-padding": 5,
          color: colour("--ink"),
          "z-index": 5,
        },
      },
      { selector: ".named", style: { label: "data(written)" } },
      { selector: ".far", style: { opacity: 0.4 } },
      {
        selector: "node:selected, node.pointed",
        style: { "overlay-color": colour("--focus"), "overlay-opacity": 0.2, "overlay-padding": 8, color: colour("--ink") },
      },
      {
        selector: "edge:selected, edge.pointed",
        style: { opacity: 1, "overlay-color": colour("--focus"), "overlay-opacity": 0.2, "overlay-padding": 5, color: colour("--ink") },
      },
    ];
  };

  let due = false;
  const rename = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      if (cy) kg.labels.thin(cy);
    });
  };

  const draw = (items) => {
    cy?.destroy();
    const nodeIds = new Map(items.nodes.map((item) => [item.node.entity_key, idOf(item)]));
    cy = cytoscape({
      container: kg.dom.byId("graph"),
      elements: [
        ...items.nodes.map(nodeData),
        ...items.relationships.map((item, order) => relationshipData(item, order, nodeIds)),
      ],
      style: style(),
      minZoom: 0.1,
      maxZoom: 4,
      boxSelectionEnabled: false,
      selectionType: "single",
      layout: { name: "preset" },
    });
    cy.on("tap", (event) => onSelect(event.target === cy ? null : event.target.id()));
    cy.on("mouseover", "node, edge", (event) => point(event.target, true));
    cy.on("mouseout", "node, edge", (event) => point(event.target, false));
    cy.on("viewport resize dragfree", rename);
    if (items.nodes.length) kg.layout.arrange(cy);
    rename();
  };

  const point = (element, isPointed) => {
    element.toggleClass("pointed", isPointed);
    rename();
  };

  /** Set one item off from all that does not touch it; null takes that back. */
  const select = (id) => {
    if (!cy) return;
    cy.elements().unselect().removeClass("far");
    const element = id === null ? cy.collection() : cy.getElementById(id);
    if (element.nonempty()) {
      element.select();
      const near = element.isNode() ? element.closedNeighborhood() : element.union(element.connectedNodes());
      cy.elements().difference(near).addClass("far");
      if (!isInSight(element)) cy.center(element);
    }
    rename();
  };
  const isInSight = (element) => {
    const box = element.renderedBoundingBox({ includeLabels: false });
    return box.x1 >= 0 && box.y1 >= 0 && box.x2 <= cy.width() && box.y2 <= cy.height();
  };

  const zoomBy = (factor) => cy?.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });

  theme.onChange(() => {
    cy?.style(style());
    rename();
  });

  return {
    draw,
    select,
    zoomBy,
    fit: () => cy && kg.layout.fit(cy),
    onSelect: (listener) => (onSelect = listener),
    /** Where an item is on the screen, in pixels from the corner of the drawing, and which names are written. */
    seen: () =>
      cy.elements().map((element) => ({
        id: element.id(),
        name: element.data("name"),
        isMatched: element.hasClass("matched"),
        isNamed: element.hasClass("named"),
        written: element.hasClass("named") ? element.data("written") : null,
        nameBox: element.renderedBoundingBox({ includeNodes: false, includeEdges: false, includeOverlays: false, includeUnderlays: false }),
        colour: element.isEdge() ? element.style("line-color") : element.style("border-color"),
        width: parseFloat(element.style("width")),
        ...(element.isEdge() ? element.renderedMidpoint() : element.renderedPosition()),
      })),
  };
})();
