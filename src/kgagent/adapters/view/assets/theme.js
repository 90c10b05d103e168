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
    /** The value of a custom property, such as "--attitude-1". */
    colour: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  };
})();
