"use strict";
// Which names are written: the most telling first, and none over another.

kg.labels = (() => {
  const SIZE = 12;
  const LINE = SIZE * 1.35;
  const GAP = 4;
  const canvas = document.createElement("canvas").getContext("2d");
  const widths = new Map();

  const width = (text) => {
    if (!widths.has(text)) {
      canvas.font = `600 ${SIZE}px ${kg.theme.colour("--font")}`;
      widths.set(text, canvas.measureText(text).width);
    }
    return widths.get(text);
  };
  const around = (x, y, wide, high) => ({ left: x - wide / 2, right: x + wide / 2, top: y - high / 2, bottom: y + high / 2 });
  const meet = (one, other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

  const place = (element) => {
    const wide = width(element.data("name")) + GAP;
    if (element.isEdge()) {
      const { x, y } = element.renderedMidpoint();
      return around(x, y, wide, LINE);
    }
    const { x, y } = element.renderedPosition();
    return around(x, y + element.renderedOuterHeight() / 2 + GAP + LINE / 2, wide, LINE);
  };
  const body = (node) => {
    const { x, y } = node.renderedPosition();
    return around(x, y, node.renderedWidth(), node.renderedHeight());
  };
  const inside = (box, cy) => box.right > 0 && box.left < cy.width() && box.bottom > 0 && box.top < cy.height();

  /** Lower comes first. */
  const importance = (element) => {
    if (element.selected()) return -2;
    if (element.hasClass("pointed")) return -1;
    const rank = element.data("rank");
    if (element.isNode()) return rank != null ? rank : 1000 - element.degree();
    return rank != null ? 500 + rank : 2000;
  };

  /** Write the names that have room at the present zoom, all of the same size on the screen. */
  const thin = (cy) => {
    const shrink = 1 / cy.zoom();
    const bodies = cy.nodes().map((node) => ({ id: node.id(), box: body(node) }));
    const taken = [];
    const free = (element, box) =>
      inside(box, cy) &&
      !taken.some((other) => meet(box, other)) &&
      !bodies.some((other) => other.id !== element.id() && meet(box, other.box));
    cy.batch(() => {
      for (const element of cy.elements().sort((one, other) => importance(one) - importance(other))) {
        const box = place(element);
        const written = importance(element) < 0 || free(element, box);
        if (written) taken.push(box);
        element.toggleClass("named", written);
        if (written) element.style({ "font-size": SIZE * shrink, "text-margin-y": element.isNode() ? GAP * shrink : 0 });
      }
    });
  };

  return { thin, SIZE };
})();
