"use strict";
// The only place that creates elements. Text is always inserted as text nodes, so stored text can never become markup.

kg.dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name === "onclick") element.addEventListener("click", value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children.flat(Infinity).filter((child) => child != null && child !== "").map(asNode));
    return element;
  };
  const asNode = (child) => (child instanceof Node ? child : document.createTextNode(String(child)));

  return {
    el: (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children),
    svg: (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children),
    byId: (id) => document.getElementById(id),
    show: (element, ...children) => {
      element.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== "").map(asNode));
    },
  };
})();
