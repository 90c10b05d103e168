"use strict";
// The drawing: nodes colored by label, relationships colored by attitude with width by proximity, matches highlighted.

kg.graph = (() => {
  const { format, theme } = kg;
  const NEIGHBOR_OPACITY = 0.6;
  let cy = null;
  let onSelect = () => {};

  const idOf = (item) => item.id;
  const nodeData = (item, order) => ({
    group: "nodes",
    data: {
      id: idOf(item),
      key: item.node.entity_key,
      order,
      name: format.shorten(format.nodeName(item.node), 28),
      label: item.node.label,
      rank: item.match?.rank,
    },
    classes: item.match ? "match" : "neighbor",
  });
  const relationshipData = (item, order, nodeIds) => ({
    group: "edges",
    data: {
      id: idOf(item),
      order,
      source: nodeIds.get(item.relationship.from_entity_key),
      target: nodeIds.get(item.relationship.to_entity_key),
      name: format.shorten(format.relationshipName(item.relationship), 24),
      attitude: item.relationship.attitude,
      proximity: item.relationship.proximity,
      rank: item.match?.rank,
    },
    classes: item.match ? "match" : "neighbor",
  });

  const style = () => {
    const color = theme.color;
    const attitudeColor = (edge) => {
      const full = color(format.attitudeColor(edge.data("attitude")));
      return edge.data("rank") == null ? theme.mix(full, color("--stage"), NEIGHBOR_OPACITY) : full;
    };
    const labelColor = (node) => color(format.labelColor(node.data("label")));
    const text = {
      "font-family": color("--font"),
      "font-size": kg.labels.SIZE,
      "text-outline-color": color("--stage"),
      "text-outline-width": 2,
      "text-outline-opacity": 0.9,
      "text-events": "no",
    };
    return [
      {
        selector: "node",
        style: {
          shape: (node) => format.labelShape(node.data("label")),
          width: 22,
          height: 22,
          "background-color": color("--stage"),
          "border-color": labelColor,
          "border-width": 2,
          color: color("--quiet"),
          "text-valign": "bottom",
          ...text,
        },
      },
      {
        selector: "node.match",
        style: {
          width: 32,
          height: 32,
          "background-color": labelColor,
          "border-color": color("--mark-edge"),
          "border-width": 2,
          "underlay-color": color("--mark"),
          "underlay-opacity": 0.55,
          "underlay-padding": 7,
          "underlay-shape": "ellipse",
          color: color("--ink"),
          "font-weight": 600,
          "z-index": 10,
        },
      },
      {
        selector: "edge",
        style: {
          "curve-style": "bezier",
          "control-point-step-size": 36,
          "line-color": attitudeColor,
          "line-style": (edge) => format.attitudeLine(edge.data("attitude")),
          "line-dash-pattern": [7, 5],
          width: (edge) => format.proximityWidth(edge.data("proximity")),
          "target-arrow-shape": "triangle",
          "target-arrow-color": attitudeColor,
          "arrow-scale": 0.9,
          color: color("--quiet"),
          ...text,
        },
      },
      {
        selector: "edge.match",
        style: {
          "underlay-color": color("--mark"),
          "underlay-opacity": 0.45,
          "underlay-padding": 5,
          color: color("--ink"),
          "z-index": 5,
        },
      },
      { selector: ".labeled", style: { label: "data(displayedText)" } },
      { selector: ".dimmed", style: { opacity: 0.4 } },
      {
        selector: "node:selected, node.hovered",
        style: { "overlay-color": color("--focus"), "overlay-opacity": 0.2, "overlay-padding": 8, color: color("--ink") },
      },
      {
        selector: "edge:selected, edge.hovered",
        style: { opacity: 1, "overlay-color": color("--focus"), "overlay-opacity": 0.2, "overlay-padding": 5, color: color("--ink") },
      },
    ];
  };

  let isScheduled = false;
  const updateLabels = () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      if (cy) kg.labels.place(cy);
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
    cy.on("mouseover", "node, edge", (event) => hover(event.target, true));
    cy.on("mouseout", "node, edge", (event) => hover(event.target, false));
    cy.on("viewport resize dragfree", updateLabels);
    if (items.nodes.length) kg.layout.arrange(cy);
    updateLabels();
  };

  const hover = (element, isHovered) => {
    element.toggleClass("hovered", isHovered);
    updateLabels();
  };

  /** Select an item and dim everything not connected to it; null clears the selection. */
  const select = (id) => {
    if (!cy) return;
    cy.elements().unselect().removeClass("dimmed");
    const element = id === null ? cy.collection() : cy.getElementById(id);
    if (element.nonempty()) {
      element.select();
      const connected = element.isNode() ? element.closedNeighborhood() : element.union(element.connectedNodes());
      cy.elements().difference(connected).addClass("dimmed");
      if (!isVisible(element)) cy.center(element);
    }
    updateLabels();
  };
  const isVisible = (element) => {
    const box = element.renderedBoundingBox({ includeLabels: false });
    return box.x1 >= 0 && box.y1 >= 0 && box.x2 <= cy.width() && box.y2 <= cy.height();
  };

  const zoomBy = (factor) => cy?.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });

  theme.onChange(() => {
    cy?.style(style());
    updateLabels();
  });

  return {
    draw,
    select,
    zoomBy,
    fit: () => cy && kg.layout.fit(cy),
    onSelect: (listener) => (onSelect = listener),
    /** Position (pixels from the top left of the drawing), style and label of each item; used by tests. */
    drawnItems: () =>
      cy.elements().map((element) => ({
        id: element.id(),
        name: element.data("name"),
        isMatch: element.hasClass("match"),
        isLabeled: element.hasClass("labeled"),
        displayedText: element.hasClass("labeled") ? element.data("displayedText") : null,
        labelBox: element.renderedBoundingBox({ includeNodes: false, includeEdges: false, includeOverlays: false, includeUnderlays: false }),
        color: element.isEdge() ? element.style("line-color") : element.style("border-color"),
        width: parseFloat(element.style("width")),
        ...(element.isEdge() ? element.renderedMidpoint() : element.renderedPosition()),
      })),
  };
})();
