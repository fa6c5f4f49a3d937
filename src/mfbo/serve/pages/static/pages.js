// What the pages do beyond showing: times in the reader's zone, charts by keys, forms, news of other processes.
import { walkCharts } from "./charts.js";
import { liveForms } from "./forms.js";
import { listen } from "./news.js";

for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  const near = Math.abs(Date.now() - at) < 300 * 86400e3;
  const parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", ...(near ? {} : { year: "numeric" }) };
  time.textContent = new Intl.DateTimeFormat("en-GB", parts).format(at);
  time.title = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" }).format(at);
}

for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => window.print());

for (const filter of document.querySelectorAll("input[data-filter]")) {
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const label of filter.closest("fieldset").querySelectorAll(".checks label")) {
      label.hidden = !label.textContent.toLowerCase().includes(wanted);
    }
  });
}

for (const form of document.querySelectorAll("form[data-slow]")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    button.textContent = form.dataset.slow;
    button.setAttribute("aria-busy", "true");
  });
}

async function fill(place) {
  try {
    const answer = await fetch(place.dataset.fragment);
    place.innerHTML = answer.ok ? await answer.text() : "–"; // our own server's template, escaped there
  } catch {
    place.textContent = "–";
  }
}

async function fillAll() {
  for (const place of document.querySelectorAll("[data-fragment]")) await fill(place);
}

walkCharts();
liveForms();
listen();
fillAll();
