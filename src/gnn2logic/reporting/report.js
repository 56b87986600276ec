"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const byId = (id) => document.getElementById(id);
  const SVG = byId("stage-picture").namespaceURI;
  const UNIT = 100;
  const STAGE = byId("stage-picture");
  const cards = [...document.querySelectorAll(".card")];
  let formula = -1;
  let chosen = -1;
  let cursor = -1;

  // Drawing -----------------------------------------------------------------------------------

  const make = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (parent) parent.append(element);
    return element;
  };

  const edgeLine = (relation) =>
    relation < 0
      ? { strands: [[0, "solid"]], kind: data.relations.length ? "edge-plain" : "edge-0" }
      : {
          strands: data.relations[relation].strands,
          kind: data.is_chemical ? "edge-0" : `edge-${data.relations[relation].colour}`,
        };

  const drawLoop = (layer, x, y, r, kind) =>
    make("circle", { cx: x, cy: y - 1.15 * r, r: 0.7 * r, class: `edge ${kind}` }, layer);

  const drawArrow = (layer, from, to, r, line, shift) => {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const side = [-along[1] * shift, along[0] * shift];
    const tip = [to[0] - along[0] * 1.05 * r + side[0], to[1] - along[1] * 1.05 * r + side[1]];
    const back = [tip[0] - along[0] * 0.7 * r, tip[1] - along[1] * 0.7 * r];
    const wide = 0.32 * r;
    make("line", {
      x1: from[0] + side[0], y1: from[1] + side[1], x2: back[0], y2: back[1],
      class: `edge ${line.kind} ${line.strands[0][1]}`,
    }, layer);
    const corners = [
      tip,
      [back[0] - along[1] * wide, back[1] + along[0] * wide],
      [back[0] + along[1] * wide, back[1] - along[0] * wide],
    ];
    make("polygon", { points: corners.map((p) => p.join(",")).join(" "), class: `tip ${line.kind}` }, layer);
  };

  const drawEdges = (layer, drawing, places, r) => {
    const there = new Set(drawing.edges.map(([a, b]) => `${a} ${b}`));
    for (const [a, b, relation] of drawing.edges) {
      const line = edgeLine(relation);
      const [from, to] = [places[a], places[b]];
      if (a === b) {
        drawLoop(layer, from[0], from[1], r, line.kind);
      } else if (drawing.directed) {
        drawArrow(layer, from, to, r, line, there.has(`${b} ${a}`) ? 0.3 * r : 0);
      } else {
        const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
        const side = [-(to[1] - from[1]) / length, (to[0] - from[0]) / length];
        for (const [offset, pattern] of line.strands) {
          const [dx, dy] = [side[0] * offset * r, side[1] * offset * r];
          make("line", {
            x1: from[0] + dx, y1: from[1] + dy, x2: to[0] + dx, y2: to[1] + dy,
            class: `edge ${line.kind} ${pattern}`,
          }, layer);
        }
      }
    }
  };

  const drawNodes = (layer, example, places, r) => {
    const { drawing } = example;
    const extent = Math.max(...[0, 1].map((axis) => {
      const values = places.map((place) => place[axis]);
      return Math.max(...values) - Math.min(...values);
    }));
    const longest = Math.max(1, ...drawing.labels.map((text) => text.length));
    let size = Math.min(1.15 * r, (1.75 * r) / (0.6 * longest));
    const inside = size >= 0.5 * r;
    if (!inside) size = Math.min(0.75 * r, (3.2 * r) / (0.6 * longest));
    drawing.labels.forEach((text, place) => {
      const [x, y] = places[place];
      const node = drawing.nodes[place];
      const group = make("g", { class: "node", "data-node": node }, layer);
      // In a picture of many small nodes the ring must still be seen.
      if (node === example.node) make("circle", { cx: x, cy: y, r: Math.max(1.45 * r, 0.022 * extent), class: "ring" }, group);
      const dot = make("circle", { cx: x, cy: y, r, class: "dot" }, group);
      const category = drawing.categories && drawing.categories[place];
      if (category !== null && category in data.colours) {
        dot.style.setProperty("--category", data.colours[category]);
        group.classList.add("coloured");
      }
      const label = make("text", {
        x, y: inside ? y : y + r + 0.75 * size, "font-size": size, class: inside ? "inside" : "below",
      }, group);
      label.textContent = text;
    });
    return inside ? 0 : 1.6 * size;
  };

  const draw = (svg, example) => {
    const { drawing } = example;
    svg.replaceChildren();
    svg.classList.toggle("dense", drawing.nodes.length > 60);
    const r = drawing.radius * UNIT;
    const places = drawing.x.map((x, place) => [x * UNIT, -drawing.y[place] * UNIT]);
    drawEdges(make("g", {}, svg), drawing, places, r);
    const below = drawNodes(make("g", {}, svg), example, places, r);
    const xs = places.map((p) => p[0]);
    const ys = places.map((p) => p[1]);
    const margin = 1.8 * r;
    const box = [
      Math.min(...xs) - margin, Math.min(...ys) - margin - r,
      Math.max(...xs) - Math.min(...xs) + 2 * margin,
      Math.max(...ys) - Math.min(...ys) + 2 * margin + r + below,
    ];
    svg.setAttribute("viewBox", box.map((value) => value.toFixed(1)).join(" "));
  };

  // Lighting up -------------------------------------------------------------------------------

  const light = (svg, example) => {
    const bits = formula < 0 ? null : example.truth[formula];
    svg.classList.toggle("lit", bits !== null);
    svg.querySelectorAll(".node").forEach((node, place) => {
      node.classList.toggle("on", bits !== null && bits[place] === "1");
    });
  };

  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  const truthText = (example) => {
    if (formula < 0) return "";
    const count = example.counts[formula];
    return count === example.n_nodes
      ? `True at all ${plural(count, "node")}`
      : `True at ${count} of ${plural(example.n_nodes, "node")}`;
  };

  const trueNodes = (example) =>
    example.drawing.nodes.filter((_, place) => example.truth[formula][place] === "1");

  const lightAll = () => {
    cards.forEach((card, number) => {
      const svg = card.querySelector("svg");
      if (svg) light(svg, data.examples[number]);
      card.querySelector(".card-truth").textContent = truthText(data.examples[number]);
    });
    describe();
  };

  const describe = () => {
    if (chosen < 0) return;
    const example = data.examples[chosen];
    light(STAGE, example);
    let text = truthText(example);
    if (formula >= 0) {
      const nodes = trueNodes(example);
      if (nodes.length && nodes.length < example.n_nodes) {
        const whose = example.drawing.nodes.length < example.n_nodes ? "; of those drawn" : "";
        text += `${whose}: ${nodes.slice(0, 24).join(", ")}${nodes.length > 24 ? " and more" : ""}`;
      }
      text += ".";
    }
    byId("truth-line").textContent = text || "No formula is chosen: colours show the kinds of nodes.";
    byId("words-line").textContent = formula < 0 ? "" : `${data.formulas[formula].name} means: ${data.formulas[formula].words}.`;
    STAGE.setAttribute("aria-label", `Picture of ${example.name}. ${truthText(example)}`);
    document.querySelectorAll(".formula-button").forEach((button) => {
      button.setAttribute("aria-pressed", String(Number(button.dataset.formula) === formula));
    });
  };

  const chooseFormula = (number) => {
    formula = number;
    const radio = document.querySelector(`input[name="formula"][value="${number}"]`);
    if (radio) radio.checked = true;
    byId("lit-line").textContent = number < 0 ? "" : `Filled: nodes where ${data.formulas[number].name} is true.`;
    lightAll();
  };

  // Examples ----------------------------------------------------------------------------------

  const visible = () => cards.filter((card) => !card.hidden);

  const chooseExample = (number, scroll) => {
    chosen = number;
    cursor = -1;
    cards.forEach((card, place) => card.setAttribute("aria-selected", String(place === number)));
    document.querySelectorAll(".story").forEach((story, place) => { story.hidden = place !== number; });
    const list = byId("cards");
    if (number < 0) {
      list.removeAttribute("aria-activedescendant");
      return;
    }
    const example = data.examples[number];
    list.setAttribute("aria-activedescendant", `card-${number}`);
    if (scroll) cards[number].scrollIntoView({ block: "nearest" });
    byId("stage-title").textContent = example.name;
    byId("stage-answers").replaceChildren(
      ...[...cards[number].querySelector(".answers").children].map((part) => part.cloneNode(true))
    );
    byId("node-line").textContent = "Point at a node, or press the arrow keys in the picture, to read it.";
    draw(STAGE, example);
    describe();
  };

  const step = (by) => {
    const shown = visible();
    if (!shown.length) return;
    const place = shown.indexOf(cards[chosen]);
    const next = place < 0 ? 0 : Math.min(Math.max(place + by, 0), shown.length - 1);
    chooseExample(cards.indexOf(shown[next]), true);
  };

  const inOneRow = () => {
    const shown = visible();
    return shown.filter((card) => card.offsetTop === shown[0].offsetTop).length || 1;
  };

  byId("cards").addEventListener("keydown", (event) => {
    const moves = {
      ArrowRight: 1, ArrowLeft: -1, Home: -cards.length, End: cards.length,
      ArrowDown: inOneRow(), ArrowUp: -inOneRow(),
    };
    if (event.key in moves) {
      event.preventDefault();
      step(moves[event.key]);
    }
  });
  cards.forEach((card, number) => card.addEventListener("click", () => {
    chooseExample(number, false);
    if (matchMedia("(max-width: 700px)").matches) byId("stage-title").scrollIntoView();
  }));
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));

  // Nodes of the large picture ----------------------------------------------------------------

  const tellNode = (place) => {
    const example = data.examples[chosen];
    const names = example.drawing.predicates[place].map((number) => data.predicates[number]);
    let text = `Node ${example.drawing.nodes[place]}: ${names.length ? names.join(", ") : "no predicate holds"}.`;
    if (formula >= 0) {
      text += example.truth[formula][place] === "1" ? " The formula is true here." : " The formula is false here.";
    }
    byId("node-line").textContent = text;
    STAGE.querySelectorAll(".node").forEach((node, number) => node.classList.toggle("cursor", number === place));
    cursor = place;
  };

  STAGE.addEventListener("pointerover", (event) => {
    const node = event.target.closest(".node");
    if (node) tellNode([...STAGE.querySelectorAll(".node")].indexOf(node));
  });
  STAGE.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (move && chosen >= 0) {
      event.preventDefault();
      const count = data.examples[chosen].drawing.nodes.length;
      tellNode(cursor < 0 ? (move > 0 ? 0 : count - 1) : (cursor + move + count) % count);
    }
  });

  // Search and filters ------------------------------------------------------------------------

  const value = (id) => (byId(id) ? byId(id).value : "");

  const filter = () => {
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const status = value("filter-status");
    for (const card of cards) {
      const text = card.dataset.text;
      card.hidden = !(
        words.every((word) => text.includes(word)) &&
        ["true", "predicted", "teacher"].every((who) => {
          const wanted = value(`filter-${who}`);
          return !wanted || card.dataset[who] === wanted;
        }) &&
        (!status || card.dataset.right === status || card.dataset.agrees === status)
      );
    }
    const shown = visible();
    byId("shown-count").textContent = `${shown.length} of ${plural(cards.length, "example")}`;
    byId("none-shown").hidden = shown.length > 0;
    if (shown.length && !shown.includes(cards[chosen])) chooseExample(cards.indexOf(shown[0]), false);
  };

  const form = document.querySelector(".filters");
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));

  byId("formula-list").addEventListener("change", (event) => chooseFormula(Number(event.target.value)));
  byId("formula-search").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    document.querySelectorAll("#formula-list label").forEach((label) => {
      const number = Number(label.querySelector("input").value);
      const own = number < 0 ? "" : `${label.textContent} ${data.formulas[number].words} ${data.formulas[number].text}`.toLowerCase();
      label.hidden = Boolean(wanted) && !own.includes(wanted);
    });
    document.querySelectorAll("#formula-list .group").forEach((group) => {
      group.hidden = !group.querySelector("label:not([hidden])");
    });
  });
  document.querySelectorAll(".formula-button").forEach((button) =>
    button.addEventListener("click", () => {
      const number = Number(button.dataset.formula);
      const goes = button.classList.contains("go");
      chooseFormula(number === formula && !goes ? -1 : number);
      if (goes) byId("stage-title").scrollIntoView();
    })
  );

  // Copying -----------------------------------------------------------------------------------

  document.querySelectorAll(".copy-button").forEach((button) => {
    const title = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        // Browsers may refuse in files; then it is at least selected.
        getSelection().selectAllChildren(source);
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = title; }, 2000);
    });
  });

  // Start -------------------------------------------------------------------------------------

  document.documentElement.classList.add("scripted");
  cards.forEach((card, number) => {
    card.dataset.text = card.textContent.toLowerCase().replace(/\s+/g, " ");
    draw(make("svg", { focusable: "false" }, card.querySelector(".thumb")), data.examples[number]);
  });
  const key = byId("edge-key");
  data.relations.forEach((relation, number) => {
    const entry = document.createElement("span");
    const svg = make("svg", { class: "key", viewBox: "0 0 30 12" }, entry);
    for (const [offset, pattern] of relation.strands) {
      make("line", { x1: 1, x2: 29, y1: 6 + 9 * offset, y2: 6 + 9 * offset, class: `edge ${edgeLine(number).kind} ${pattern}` }, svg);
    }
    entry.append(relation.name);
    key.append(entry);
  });
  chooseFormula(data.formulas.length ? 0 : -1);
  filter();
  if (!cards.length) chooseExample(-1, false);
})();
