"use strict";
// Light or dark as the system says, until the person switches.
globalThis.kg = {};

kg.theme = (() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];
  let chosen = null;

  const current = () => chosen ?? (system.matches ? "dark" : "light");
  const apply = () => {
    document.documentElement.dataset.theme = current();
    listeners.forEach((listener) => listener());
  };
  system.addEventListener("change", apply);
  apply();

  return {
    current,
    toggle: () => {
      chosen = current() === "dark" ? "light" : "dark";
      apply();
    },
    onChange: (listener) => listeners.push(listener),
    /** Two colours #rrggbb as one; the first has the share 0 to 1. */
    mix: (one, other, share) => {
      const parts = (colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16));
      const [first, second] = [parts(one), parts(other)];
      const mixed = first.map((part, index) => Math.round(part * share + second[index] * (1 - share)));
      return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    },
    /** The value of a custom property, such as "--attitude-1". */
    colour: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  };
})();
