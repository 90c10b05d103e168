"use strict";
// Light or dark theme: the system preference, until the user switches or a host says otherwise.
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
  const choose = (name) => {
    chosen = name;
    apply();
  };
  system.addEventListener("change", apply);
  apply();

  return {
    current,
    toggle: () => choose(current() === "dark" ? "light" : "dark"),
    onChange: (listener) => listeners.push(listener),
    /** Mix two colors (#rrggbb); `share` is the weight of the first, 0 to 1. */
    mix: (one, other, share) => {
      const channels = (color) => [1, 3, 5].map((from) => parseInt(color.slice(from, from + 2), 16));
      const [first, second] = [channels(one), channels(other)];
      const mixed = first.map((channel, index) => Math.round(channel * share + second[index] * (1 - share)));
      return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
    },
    /** Value of a CSS custom property, such as "--attitude-1". */
    color: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  };
})();
