"use strict";
// Chooses which labels are drawn: the most important first, and none over another.

kg.labels = (() => {
  const SIZE = 12;
  const LINE = SIZE * 1.35;
  const GAP = 4;
  const SHORT_LENGTH = 12;
  const canvas = document.createElement("canvas").getContext("2d");
  const widths = new Map();

  const width = (text) => {
    if (!widths.has(text)) {
      canvas.font = `600 ${SIZE}px ${kg.theme.color("--font")}`;
      widths.set(text, canvas.measureText(text).width);
    }
    return widths.get(text);
  };
  const boxAt = (x, y, width, height) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });
  const overlap = (one, other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

  /** Possible labels, best first. A matching node falls back to its rank when no name fits. */
  const texts = (element) => {
    const name = element.data("name");
    const isMatchingNode = element.isNode() && element.hasClass("match");
    return isMatchingNode ? [name, kg.format.shorten(name, SHORT_LENGTH), String(element.data("rank"))] : [name];
  };
  /** Possible positions, best first: the middle of an edge; below, above or next to a node. */
  const positions = (element, text) => {
    const textWidth = width(text) + GAP;
    if (element.isEdge()) {
      const { x, y } = element.renderedMidpoint();
      return [{ text, valign: "center", box: boxAt(x, y, textWidth, LINE) }];
    }
    const { x, y } = element.renderedPosition();
    // A label at the border moves inwards instead of being clipped.
    const maxX = Math.max(element.cy().width() - textWidth / 2 - GAP, textWidth / 2 + GAP);
    const shift = x > 0 && x < element.cy().width() ? Math.min(Math.max(x, textWidth / 2 + GAP), maxX) - x : 0;
    const offsetY = element.renderedOuterHeight() / 2 + GAP + LINE / 2;
    const offsetX = element.renderedOuterWidth() / 2 + GAP + textWidth / 2;
    const sides = [
      { text, valign: "center", halign: "right", box: boxAt(x + offsetX, y, textWidth, LINE) },
      { text, valign: "center", halign: "left", box: boxAt(x - offsetX, y, textWidth, LINE) },
    ];
    return [
      { text, valign: "bottom", halign: "center", shift, box: boxAt(x + shift, y + offsetY, textWidth, LINE) },
      { text, valign: "top", halign: "center", shift, box: boxAt(x + shift, y - offsetY, textWidth, LINE) },
      ...sides.filter(({ box }) => box.left >= 0 && box.right <= element.cy().width()),
    ];
  };
  const hasRoom = (edge) => {
    const [from, to] = [edge.source().renderedPosition(), edge.target().renderedPosition()];
    return Math.hypot(to.x - from.x, to.y - from.y) > width(edge.data("name")) * 1.2;
  };
  const body = (node) => {
    const { x, y } = node.renderedPosition();
    return boxAt(x, y, node.renderedWidth(), node.renderedHeight());
  };
  const inside = (box, cy) => box.right > 0 && box.left < cy.width() && box.bottom > 0 && box.top < cy.height();

  /** The area covered by the buttons. */
  const buttons = () => {
    const [drawing, box] = ["graph", "tools"].map((id) => kg.dom.byId(id).getBoundingClientRect());
    return { left: box.left - drawing.left, right: box.right - drawing.left, top: box.top - drawing.top, bottom: box.bottom - drawing.top };
  };

  /** Sort key; lower is more important. */
  const importance = (element) => {
    if (element.selected()) return -2;
    if (element.hasClass("hovered")) return -1;
    const rank = element.data("rank");
    if (element.isNode()) return rank != null ? rank : 1000 - element.degree();
    return rank != null ? 500 + rank : 2000;
  };

  /** Draw the labels that fit at the current zoom, all in the same size on screen. */
  const place = (cy) => {
    const shrink = 1 / cy.zoom();
    const bodies = cy.nodes().map((node) => ({ id: node.id(), isMatch: node.hasClass("match"), box: body(node) }));
    const taken = [buttons()];
    // The label of a match may cover neighbors.
    const free = (element, box) =>
      inside(box, cy) &&
      !taken.some((other) => overlap(box, other)) &&
      !bodies.some(
        (other) => other.id !== element.id() && (other.isMatch || !element.hasClass("match")) && overlap(box, other.box),
      );
    const choose = (element) => {
      const possible = texts(element).flatMap((text) => positions(element, text));
      if (importance(element) < 0) return possible[0];
      if (element.isEdge() && !hasRoom(element)) return undefined;
      return possible.find(({ box }) => free(element, box));
    };
    cy.batch(() => {
      for (const element of cy.elements().sort((one, other) => importance(one) - importance(other))) {
        const position = choose(element);
        element.toggleClass("labeled", position !== undefined);
        if (position) {
          taken.push(position.box);
          const up = { bottom: GAP, top: -GAP, center: 0 }[position.valign] * shrink;
          element.data("displayedText", position.text).style({ "font-size": SIZE * shrink, "text-margin-y": up });
          if (element.isNode()) {
            const right = position.shift ?? { right: GAP, left: -GAP }[position.halign];
            element.style({ "text-valign": position.valign, "text-halign": position.halign, "text-margin-x": right * shrink });
          }
        }
      }
    });
  };

  return { place, SIZE };
})();
