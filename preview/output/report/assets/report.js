"use strict";
// Everything comes from the page's own data and is put in as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const resources = data.resources;
  const tree = document.getElementById("tree");
  const nodes = []; // of each resource: its details element
  const byUrn = new Map(resources.map((resource, index) => [data.prefix + resource.u, index]));
  const FOLD_FROM = 5, FOLD_COMPONENTS_FROM = 13; // from these numbers on, siblings of one type share a row
  const FOLDS = "details:not(.own)";

  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // -- the tree

  const children = new Map();
  resources.forEach((resource, index) => {
    const parent = resource.p ?? -1;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(index);
  });

  const row = (index) => {
    const resource = resources[index];
    const details = make("details");
    details.id = "r" + index;
    const summary = make("summary");
    const inside = (children.get(index) || []).length;
    summary.append(make("span", "type", data.types[resource.t]), " ", make("bdi", "name", resource.n));
    if (resource.m) summary.append(" ", make("span", "tag", resource.m));
    if (inside) summary.append(" ", make("span", "count", resource.k + (resource.k === 1 ? " resource" : " resources")));
    for (const [severity, number] of Object.entries(resource.f || {})) {
      summary.append(" ", make("span", "tag " + severity, number + " " + severity + (number > 1 ? "s" : "")));
    }
    details.append(summary);
    details.addEventListener("toggle", () => details.open && fill(index));
    nodes[index] = details;
    branch(index, details);
    return details;
  };

  const branch = (parent, place) => {
    const siblings = new Map();
    for (const index of children.get(parent) || []) {
      const inner = children.has(index) || resources[index].c;
      const key = (inner ? "+" : "-") + resources[index].t;
      if (!siblings.has(key)) siblings.set(key, []);
      siblings.get(key).push(index);
    }
    for (const [key, group] of siblings) {
      let target = place;
      if (group.length >= (key[0] === "+" ? FOLD_COMPONENTS_FROM : FOLD_FROM)) {
        target = make("details", "siblings");
        const summary = make("summary");
        summary.append(make("span", "type", data.types[key.slice(1)]), " ", make("span", "count", "×" + group.length));
        target.append(summary);
        place.append(target);
      }
      for (const index of group) target.append(row(index));
    }
  };

  // -- what a resource holds, made when it is first opened

  const fill = (index) => {
    const details = nodes[index];
    if (details.querySelector(":scope > .body, :scope > .own")) return;
    const resource = resources[index];
    const body = make("div", "body");
    if (resource.s) body.append(make("p", "place", "declared at " + resource.s));
    body.append(make("p", "place", data.prefix + resource.u));
    for (const [, number] of (resource.a || {})[""] || []) {
      const link = make("a", "", "the whole object as a manifest");
      link.href = "#a" + number;
      body.append(link);
    }
    section(body, "Properties", resource.i, resource.a || {});
    section(body, "Outputs of the component", resource.o, {});
    section(body, "Options", resource.x, {});
    let place = body;
    if (children.has(index)) { // what is inside comes first; its own properties are one step further
      place = make("details", "own");
      place.append(make("summary", "soft", "properties"), body);
    }
    details.querySelector(":scope > summary").after(place);
    mark(body);
  };

  const section = (body, title, values, artefacts) => {
    const entries = Object.entries(values || {});
    if (!entries.length) return;
    if (title !== "Properties") body.append(make("h4", "", title));
    const table = make("table");
    const rows = make("tbody");
    for (const [key, value] of entries) {
      const line = make("tr");
      const head = make("th", "", key);
      head.scope = "row";
      const cell = make("td");
      const shown = make("pre", "value", written(value, 0));
      if (data.marks.includes(value)) shown.classList.add("mark");
      cell.append(shown);
      for (const [label, number] of Object.hasOwn(artefacts, key) ? artefacts[key] : []) {
        const link = make("a", "", "rendered" + (label ? ": " + label : ""));
        link.href = "#a" + number;
        cell.append(link, " ");
      }
      line.append(head, cell);
      rows.append(line);
    }
    table.append(rows);
    body.append(table);
  };

  // Nested values as people write them: indented, lists with dashes.
  const written = (value, depth) => {
    const pad = "  ".repeat(depth);
    if (Array.isArray(value)) {
      if (!value.length) return "[]";
      return value.map((inner) => pad + "- " + written(inner, depth + 1).trimStart()).join("\n");
    }
    if (value && typeof value === "object") {
      const entries = Object.entries(value);
      if (!entries.length) return "{}";
      return entries.map(([key, inner]) => {
        const nested = inner && typeof inner === "object" && Object.keys(inner).length;
        return pad + key + ":" + (nested ? "\n" + written(inner, depth + 1) : " " + written(inner, depth + 1));
      }).join("\n");
    }
    return value === null ? "null" : String(value);
  };

  // -- search

  const search = document.getElementById("search");
  const found = document.getElementById("found");
  let haystacks = null;
  let words = [];

  const haystack = (index) => {
    const resource = resources[index];
    const rendered = Object.values(resource.a || {}).flat().map(([, number]) => {
      const place = document.getElementById("a" + number);
      return place ? place.querySelector("pre").textContent : "";
    });
    return [data.types[resource.t], resource.n, written(resource.i || {}, 0), written(resource.o || {}, 0),
      written(resource.x || {}, 0), ...rendered].join("\n").toLowerCase();
  };

  const mark = (body) => {
    for (const line of body.querySelectorAll("tr")) {
      const text = line.textContent.toLowerCase();
      line.firstChild.classList.toggle("hit", words.length > 0 && words.some((word) => text.includes(word)));
    }
  };

  const look = () => {
    words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    tree.querySelectorAll(".match").forEach((element) => element.classList.remove("match"));
    if (!words.length) {
      for (const element of tree.querySelectorAll(FOLDS)) element.hidden = false;
      found.textContent = "";
      tree.querySelectorAll(".hit").forEach((element) => element.classList.remove("hit"));
      return;
    }
    haystacks ??= resources.map((_, index) => haystack(index));
    for (const element of tree.querySelectorAll(FOLDS)) element.hidden = true;
    let count = 0;
    resources.forEach((_, index) => {
      if (!words.every((word) => haystacks[index].includes(word))) return;
      count += 1;
      nodes[index].hidden = false;
      nodes[index].classList.add("match");
      for (let above = nodes[index].parentElement; above !== tree; above = above.parentElement) {
        above.hidden = false;
        above.open = true;
      }
    });
    tree.querySelectorAll(".body").forEach(mark);
    found.textContent = count + " of " + resources.length;
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 80);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      search.value = "";
      look();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      clearTimeout(waiting);
      look();
      const first = tree.querySelector("details.match > summary") || visible()[0];
      if (first) first.focus();
      event.preventDefault();
    }
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      search.focus();
      search.select();
      event.preventDefault();
    }
  });

  // -- moving in the tree: the browser opens and closes with Enter, the arrows go from row to row

  const visible = () => [...tree.querySelectorAll("summary")].filter((row) => row.offsetParent !== null);

  tree.addEventListener("keydown", (event) => {
    if (!(event.target instanceof HTMLElement) || event.target.tagName !== "SUMMARY") return;
    const details = event.target.parentElement;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const rows = visible();
      const next = rows[rows.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
      (next || (event.key === "ArrowUp" ? search : event.target)).focus();
    } else if (event.key === "ArrowRight") {
      details.open = true;
    } else if (event.key === "ArrowLeft") {
      const above = details.parentElement.closest("details");
      if (details.open) details.open = false;
      else if (above && tree.contains(above)) above.querySelector("summary").focus();
    } else {
      return;
    }
    event.preventDefault();
  });

  document.getElementById("close-all").addEventListener("click", () => {
    for (const element of tree.querySelectorAll("details")) element.open = false;
  });

  // -- findings

  for (const box of document.querySelectorAll(".filter input")) {
    box.addEventListener("change", () => {
      for (const item of document.querySelectorAll(".finding[data-severity]")) {
        if (item.dataset.severity === box.value) item.hidden = !box.checked;
      }
    });
  }

  // -- links into folded places

  const show = (id) => {
    const target = document.getElementById(id);
    if (!target) return;
    if (target.hidden) {
      search.value = "";
      look();
    }
    for (let place = target; place; place = place.parentElement && place.parentElement.closest("details")) place.open = true;
    target.scrollIntoView({ block: "center" });
    const row = target.querySelector("summary");
    if (row) row.focus({ preventScroll: true });
  };

  const follow = () => /^#[ra]\d+$/.test(location.hash) && show(location.hash.slice(1));

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
    const box = event.target.closest(".drawing [data-urn]");
    if (box && byUrn.has(box.dataset.urn)) location.hash = "r" + byUrn.get(box.dataset.urn);
  });
  window.addEventListener("hashchange", follow);

  branch(-1, tree);
  if (tree.querySelectorAll("summary").length < 40) {
    for (const element of tree.querySelectorAll(":scope > details")) element.open = children.has(Number(element.id.slice(1)));
  }
  follow();
})();
