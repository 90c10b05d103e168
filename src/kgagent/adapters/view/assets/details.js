"use strict";
// The details panel: everything known about one node or relationship, and why it is on the page.

kg.details = (() => {
  const { format } = kg;
  const { el, show, byId } = kg.dom;

  const section = (title, ...content) => el("section", {}, el("h3", {}, title), ...content);

  const reasonItem = (reason) => {
    const facts = [
      reason.similarity != null && `cosine ${format.number(reason.similarity)}`,
      reason.text_score != null && `text score ${format.number(reason.text_score)}`,
    ].filter(Boolean);
    return el(
      "li",
      {},
      el("b", {}, reason.retriever),
      facts.length ? `: ${facts.join(", ")}` : "",
    );
  };

  const explanation = (item, isNode) => {
    const { match } = item;
    const title = "Why it is shown";
    if (!match) {
      return section(title, el("p", {}, isNode ? "Not a match itself: it is next to a match." : "Not a match itself: it connects nodes on this page."));
    }
    const reasons = match.reasons ?? [];
    const parts = Object.entries(match.contributions ?? {}).map(([name, value]) => `${name} ${format.number(value, 3)}`);
    const score = el("p", { class: "quiet" }, `Score ${format.number(match.score, 4)}${parts.length ? ` = ${parts.join(" + ")}` : ""}.`);
    if (!reasons.length) return section(title, el("p", {}, "Part of the overview, ", el("b", {}, `number ${match.rank}`), "."), score);
    return section(
      title,
      el("p", {}, "Match ", el("b", {}, `number ${match.rank}`), ". Found by"),
      el("ul", { class: "reasons" }, reasons.map(reasonItem)),
      match.path?.length
        ? [el("p", {}, "Reached by following"), el("ol", { class: "path" }, match.path.map((step) => el("li", {}, el("bdi", {}, step))))]
        : null,
      score,
    );
  };

  /** The text with the words marked, if it has exactly these. */
  const marked = (text, words) => {
    const at = text.toLowerCase().indexOf(words.toLowerCase());
    return at < 0 ? text : [text.slice(0, at), el("mark", {}, text.slice(at, at + words.length)), text.slice(at + words.length)];
  };

  const MAX_AROUND = 1000;
  let shown = 0;

  /** Show the text of a source from the passage with some words on. */
  const openSource = async (key, words, back) => {
    const request = ++shown;
    let read;
    try {
      const response = await fetch(`source?${new URLSearchParams({ source: key, around: words.slice(0, MAX_AROUND) })}`);
      read = await response.json();
    } catch {
      read = { error: "The server does not answer. Is kgagent view still running?" };
    }
    if (request !== shown) return;
    const panel = byId("details");
    show(
      panel,
      el("button", { type: "button", onclick: back }, "Back"),
      read.error ? el("p", {}, read.error) : [
        el("h2", {}, el("bdi", {}, read.name)),
        read.said_on ? el("p", { class: "quiet" }, read.said_on) : null,
        el("section", { class: "source" }, read.passages.map((text) => el("p", {}, marked(text, words)))),
      ],
    );
    panel.scrollTop = 0;
  };

  /** Words of a source with its name; where a server can be asked, a button that opens its text there. */
  const citing = (graph, back) => (key, words) => {
    const name = graph.sources?.[key];
    const parts = [el("q", {}, el("bdi", {}, words)), name ? el("small", {}, el("bdi", {}, name)) : null];
    return name && kg.data.search
      ? el("button", { type: "button", class: "jump quote", onclick: () => openSource(key, words, back) }, parts)
      : el("p", { class: "quote" }, parts);
  };

  const UNKNOWN_SOURCE = "unknown source";

  const noteItem = (note, cite, sources) => {
    const isExpired = note.expires_at != null && new Date(note.expires_at) <= new Date();
    const facts = [
      note.when,
      !note.quote && sources?.[note.source_entity_key] && `source ${sources[note.source_entity_key]}`,
      note.said_on && `said ${note.said_on}`,
      note.added_by && note.added_by !== "unknown" ? `by ${note.added_by}` : null,
      note.date_added && `added ${format.date(note.date_added)}`,
      note.expires_at && `${isExpired ? "expired" : "until"} ${format.date(note.expires_at)}`,
      note.trust === "unknown" && UNKNOWN_SOURCE,
    ].filter(Boolean);
    return el(
      "li",
      { class: isExpired ? "expired" : null },
      el("bdi", {}, note.content),
      facts.length ? el("small", {}, facts.join(" · ")) : null,
      note.quote ? cite(note.source_entity_key, note.quote) : null,
    );
  };
  const timeOf = (note) => note.when ?? note.date_added ?? "";
  const byTime = (notes) => [...notes].sort((one, other) => timeOf(one).localeCompare(timeOf(other)));
  const notesSection = (notes, cite, { sources }) =>
    notes?.length ? section("Notes", el("ul", { class: "notes" }, byTime(notes).map((note) => noteItem(note, cite, sources)))) : null;
  const passagesSection = ({ node, passages }, cite) => (passages?.length ? section("Passages that match", passages.map((text) => cite(node.entity_key, text))) : null);

  const historyItem = (entry) => {
    const until = entry.ended ?? entry.said_on ?? (entry.until && format.date(entry.until));
    const value = entry.when ? `${entry.value} (${entry.when})` : String(entry.value);
    const facts = [entry.corrected ? "was wrong" : null, until && `until ${until}`, entry.by !== "unknown" && `by ${entry.by}`].filter(Boolean);
    return el("li", {}, `${entry.field.replaceAll("_", " ")}: `, el("bdi", {}, value), facts.length ? el("small", {}, facts.join(" · ")) : null);
  };
  const historySection = (entries) => {
    const history = (entries ?? []).filter((entry) => entry.value !== null);
    return history.length ? section("Before", el("ul", { class: "notes" }, history.reverse().map(historyItem))) : null;
  };

  const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
  const propertyText = (value) => {
    if (typeof value !== "string") return JSON.stringify(value);
    return TIMESTAMP.test(value) ? value.slice(0, 16).replace("T", " ") : value;
  };
  const propertiesSection = (properties) => {
    const rows = Object.entries(properties ?? {});
    if (!rows.length) return null;
    return section("Properties", el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, propertyText(value)))])));
  };
  const described = ({ description, trust }) => [
    description ? el("p", { class: "description" }, el("bdi", {}, description)) : null,
    trust === "unknown" ? el("p", { class: "quiet" }, UNKNOWN_SOURCE) : null,
  ];

  const level = (title, value, word, sample) => {
    if (value == null) return null;
    return [el("dt", {}, title), el("dd", {}, sample, word ? `${word} (${value} of 5)` : `${value} of 5`)];
  };

  const itemButton = (item, children, select) => el("button", { type: "button", class: "jump", onclick: () => select(item.id) }, ...children);

  const nodeDetails = (item, graph, select) => {
    const { node } = item;
    const cite = citing(graph, () => select(item.id));
    const connected = graph.relationships.filter(({ relationship }) =>
      [relationship.from_entity_key, relationship.to_entity_key].includes(node.entity_key),
    );
    return [
      el("p", { class: "kind" }, kg.legend.nodeSample(node.label, true), node.label),
      el("h2", {}, el("bdi", {}, format.nodeName(node))),
      described(node),
      explanation(item, true),
      passagesSection(item, cite),
      notesSection(node.notes, cite, graph),
      historySection(item.history),
      propertiesSection(node.properties),
      connected.length ? section("Relationships shown", el("ul", { class: "jumps" }, connected.map((other) => el("li", {}, itemButton(other, triplet(other.relationship), select))))) : null,
    ];
  };

  const triplet = (relationship) => [
    el("bdi", {}, relationship.from_name || relationship.from_entity_key),
    el("i", {}, " → ", el("bdi", {}, format.relationshipName(relationship)), " → "),
    el("bdi", {}, relationship.to_name || relationship.to_entity_key),
  ];

  const relationshipDetails = (item, graph, select) => {
    const { relationship } = item;
    const nodeItem = (key) => graph.nodes.find(({ node: { entity_key } }) => entity_key === key);
    return [
      el("p", { class: "kind" }, format.typeName(relationship.neo4j_type)),
      el("h2", {}, ...triplet(relationship)),
      described(relationship),
      el(
        "dl",
        { class: "levels" },
        level("Attitude", relationship.attitude, relationship.attitude_word, kg.legend.lineSample(relationship.attitude, 4)),
        level("Proximity", relationship.proximity, relationship.proximity_word, kg.legend.lineSample(null, format.proximityWidth(relationship.proximity))),
        relationship.when ? [el("dt", {}, "When"), el("dd", {}, item.past ? `${relationship.when}, past` : relationship.when)] : null,
      ),
      explanation(item, false),
      notesSection(relationship.notes, citing(graph, () => select(item.id)), graph),
      historySection(item.history),
      propertiesSection(relationship.properties),
      section(
        "Between",
        el("ul", { class: "jumps" }, [relationship.from_entity_key, relationship.to_entity_key].map(nodeItem).map((other) => el("li", {}, itemButton(other, [el("bdi", {}, format.nodeName(other.node))], select)))),
      ),
    ];
  };

  return {
    triplet,
    open: (item, graph, { select, close }) => {
      shown += 1;
      const panel = byId("details");
      const content = item.node ? nodeDetails(item, graph, select) : relationshipDetails(item, graph, select);
      show(panel, el("button", { type: "button", class: "close", "aria-label": "Close the details", onclick: close }, "×"), content);
      panel.classList.add("open");
      panel.scrollTop = 0;
    },
    close: (hint) => {
      shown += 1;
      const panel = byId("details");
      panel.classList.remove("open");
      show(panel, el("p", { class: "quiet" }, hint));
    },
  };
})();
