// Forms that talk to the HTTP interface: what is typed becomes JSON, what is refused is said in the library's words.

class Odd extends Error {}

function asNumber(control) {
  const text = control.value.trim().replace(",", ".").replace("−", "-");
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) {
    throw new Odd(`${labelOf(control)}: “${control.value}” is not a number.`);
  }
  return value;
}

function labelOf(control) {
  const label = control.getAttribute("aria-label") ?? control.labels?.[0]?.querySelector("span")?.textContent;
  return (label ?? control.name).trim();
}

function table(body, field, control, value) {
  const rows = (body[field] ??= []);
  const c = Number(control.dataset.c);
  const a = Number(control.dataset.a);
  while (rows.length <= c) rows.push([]);
  rows[c][a] = value;
}

function put(body, field, value) {
  const dot = field.indexOf(".");
  if (dot < 0) body[field] = value;
  else (body[field.slice(0, dot)] ??= {})[field.slice(dot + 1)] = value;
}

function situations(text) {
  const found = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const [name, kind = ""] = line.split(/:(.*)/s).map((one) => one.trim());
    if (!kind) throw new Odd(`“${line.trim()}” must look like “day: weekday, weekend” or “rain: number”.`);
    found[name] = ["number", "time"].includes(kind) ? kind : kind.split(",").map((one) => one.trim()).filter(Boolean);
  }
  return found;
}

const READERS = {
  number: (body, field, control) => put(body, field, asNumber(control)),
  whole: (body, field, control) => put(body, field, asNumber(control)),
  missing: (body, field, control) => {
    const missing = asNumber(control);
    if (missing) put(body, field, Number(control.dataset.of) - missing);
  },
  cell: (body, field, control) => table(body, field, control, control.value.trim() ? asNumber(control) : null),
  flag: (body, field, control) => { if (control.checked) body[field] = true; },
  situations: (body, field, control) => put(body, field, situations(control.value)),
  file: async (body, field, control) => { if (control.files.length) put(body, field, await control.files[0].text()); },
};

function isLeftOut(control) {
  const optional = control.closest("details[data-optional]");
  return control.disabled || control.closest("fieldset[disabled]") || (optional && !optional.open);
}

function tidied(body, form) {
  const shape = (rows, empty) => Array.from({ length: Number(form.dataset.contexts) }, (_, c) =>
    Array.from({ length: Number(form.dataset.stations) }, (_, a) => rows[c]?.[a] ?? empty));
  if (body.cells) body.cells = shape(body.cells, null);
  if (body.counts) body.counts = shape(body.counts, 0);
  if (body.placed) body.placed = shape(body.placed, 0);
  if (body.placed_csv) delete body.placed;
  return body;
}

async function bodyOf(form) {
  const body = {};
  for (const control of form.querySelectorAll("[data-field]")) {
    if (isLeftOut(control)) continue;
    const { field, type } = control.dataset;
    if (control.matches(".checks")) {
      const chosen = [...control.querySelectorAll("input:checked")].map((one) => one.value);
      if (chosen.length) body[field] = chosen;
      continue;
    }
    const always = ["cell", "flag", "file"].includes(type);
    if (!always && control.value.trim() === "") continue;
    if (type) await READERS[type](body, field, control);
    else put(body, field, control.value);
  }
  return tidied(body, form);
}

function report(form, words, lines = [], again = null) {
  const place = form.querySelector(".trouble");
  const text = document.createElement("div");
  text.textContent = words;
  place.replaceChildren(text);
  if (lines.length) {
    const list = document.createElement("ul");
    for (const line of lines) {
      const item = document.createElement("li");
      item.textContent = line;
      list.append(item);
    }
    place.append(list);
  }
  if (again) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "It is right: send it";
    button.addEventListener("click", again);
    place.append(button);
  }
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
}

function following(form, answer) {
  const filled = form.dataset.next.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(answer[key] ?? answer.plan ?? ""));
  return new URL(filled, location.href);
}

function go(address) {
  const same = address.pathname === location.pathname && address.search === location.search;
  if (same) location.reload();
  else location.assign(address);
}

async function send(form, more = {}) {
  const button = form.querySelector("button:not([type])");
  form.querySelector(".trouble").hidden = true;
  try {
    const body = { ...(await bodyOf(form)), ...("doubts" in form.dataset ? { insist: false } : {}), ...more };
    button.setAttribute("aria-busy", "true");
    const answer = await fetch(form.dataset.api, {
      method: form.dataset.method,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (answer.ok) {
      form.dataset.sent = "yes";
      go(following(form, said));
      return;
    }
    const doubtful = String(said.type ?? "").endsWith("doubtful");
    const again = doubtful ? () => send(form, { insist: true }) : null;
    const lines = said.lines ?? [];
    const words = lines.length ? (said.title ?? "The file has faults") : (said.detail ?? `The service answered ${answer.status}.`);
    report(form, `${words}${/[.!?]$/.test(words) ? "" : "."}`, lines, again);
  } catch (error) {
    report(form, error instanceof Odd ? error.message : "The service does not answer. Nothing was stored; try again.");
  } finally {
    button.removeAttribute("aria-busy");
  }
}

function kinds(form) {
  const show = () => {
    const chosen = form.querySelector("input[name=kind]:checked").value;
    for (const kind of form.querySelectorAll("[data-kind]")) {
      kind.hidden = kind.disabled = kind.dataset.kind !== chosen;
    }
  };
  for (const radio of form.querySelectorAll("input[name=kind]")) radio.addEventListener("change", show);
  show();
}

function drops(place) {
  const input = place.querySelector("input[type=file]");
  place.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("over"); });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

export function isTouched() {
  return [...document.querySelectorAll("form[data-api]")].some((form) => form.dataset.touched === "yes");
}

export function liveForms() {
  for (const form of document.querySelectorAll("form[data-api]")) {
    form.addEventListener("submit", (event) => { event.preventDefault(); send(form); });
    form.addEventListener("input", () => { form.dataset.touched = "yes"; });
    if ("kinds" in form.dataset) kinds(form);
  }
  for (const place of document.querySelectorAll(".drop")) drops(place);
}
