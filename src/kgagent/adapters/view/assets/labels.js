"use strict";
// Which names are written: the most telling first, and none over another.

kg.labels = (() => {
  const SIZE = 12;
  const LINE = SIZE * 1.35;
  const GAP = 4;
  const SHORT = 12;
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

  /** What may be written for an item, best first: what matched is told by its place in the list where no name has room. */
  const texts = (element) => {
    const name = element.data("name");
    const isMatchedNode = element.isNode() && element.hasClass("matched");
    return isMatchedNode ? [name, kg.words.shorten(name, SHORT), String(element.data("rank"))] : [name];
  };
  /** Where a text may stand, best first: at the middle of a line; below a node, above it, or beside it. */
  const places = (element, text) => {
    const wide = width(text) + GAP;
    if (element.isEdge()) {
      const { x, y } = element.renderedMidpoint();
      return [{ text, valign: "center", box: around(x, y, wide, LINE) }];
    }
    const { x, y } = element.renderedPosition();
    // A name at the rim moves inwards rather than being cut.
    const rim = Math.max(element.cy().width() - wide / 2 - GAP, wide / 2 + GAP);
    const shift = x > 0 && x < element.cy().width() ? Math.min(Math.max(x, wide / 2 + GAP), rim) - x : 0;
    const away = element.renderedOuterHeight() / 2 + GAP + LINE / 2;
    const aside = element.renderedOuterWidth() / 2 + GAP + wide / 2;
    const beside = [
      { text, valign: "center", halign: "right", box: around(x + aside, y, wide, LINE) },
      { text, valign: "center", halign: "left", box: around(x - aside, y, wide, LINE) },
    ];
    return [
      { text, valign: "bottom", halign: "center", shift, box: around(x + shift, y + away, wide, LINE) },
      { text, valign: "top", halign: "center", shift, box: around(x + shift, y - away, wide, LINE) },
      ...beside.filter(({ box }) => box.left >= 0 && box.right <= element.cy().width()),
    ];
  };
  const spans = (edge) => {
    const [from, to] = [edge.source().renderedPosition(), edge.target().renderedPosition()];
    return Math.hypot(to.x - from.x, to.y - from.y) > width(edge.data("name")) * 1.2;
  };
  const body = (node) => {
    const { x, y } = node.renderedPosition();
    return around(x, y, node.renderedWidth(), node.renderedHeight());
  };
  const inside = (box, cy) => box.right > 0 && box.left < cy.width() && box.bottom > 0 && box.top < cy.height();

  /** Where the buttons stand over the drawing. */
  const buttons = () => {
    const [drawing, box] = ["graph", "tools"].map((id) => kg.dom.byId(id).getBoundingClientRect());
    return { left: box.left - drawing.left, right: box.right - drawing.left, top: box.top - drawing.top, bottom: box.bottom - drawing.top };
  };

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
    const bodies = cy.nodes().map((node) => ({ id: node.id(), isMatched: node.hasClass("matched"), box: body(node) }));
    const taken = [buttons()];
    // A name that matters may cover what only surrounds.
    const free = (element, box) =>
      inside(box, cy) &&
      !taken.some((other) => meet(box, other)) &&
      !bodies.some(
        (other) => other.id !== element.id() && (other.isMatched || !element.hasClass("matched")) && meet(box, other.box),
      );
    const choose = (element) => {
      const possible = texts(element).flatMap((text) => places(element, text));
      if (importance(element) < 0) return possible[0];
      if (element.isEdge() && !spans(element)) return undefined;
      return possible.find(({ box }) => free(element, box));
    };
    cy.batch(() => {
      for (const element of cy.elements().sort((one, other) => importance(one) - importance(other))) {
        const place = choose(element);
        element.toggleClass("named", place !== undefined);
        if (place) {
          taken.push(place.box);
          const up = { bottom: GAP, top: -GAP, center: 0 }[place.valign] * shrink;
          element.data("written", place.text).style({ "font-size": SIZE * shrink, "text-margin-y": up });
          if (element.isNode()) {
            const right = place.shift ?? { right: GAP, left: -GAP }[place.halign];
            element.style({ "text-valign": place.valign, "text-halign": place.halign, "text-margin-x": right * shrink });
          }
        }
      }
    });
  };

  return { thin, SIZE };
})();
