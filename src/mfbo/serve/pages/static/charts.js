// Charts by keys and pointer: one stop for Tab, arrows walk through the marks, the line below says what is there.

function say(mark) {
  const readout = mark.closest("figure")?.querySelector(".readout");
  if (readout) readout.textContent = mark.querySelector("title").textContent;
}

function choose(station) {
  for (const chosen of document.querySelectorAll(".chosen")) chosen.classList.remove("chosen");
  if (station === undefined) return;
  for (const same of document.querySelectorAll(`[data-station="${Number(station)}"]`)) same.classList.add("chosen");
}

function walk(chart) {
  const marks = [...chart.querySelectorAll(".mark")];
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  chart.addEventListener("keydown", (event) => {
    const here = marks.indexOf(document.activeElement);
    if (here < 0) return;
    let next = here + (steps[event.key] ?? 0);
    if (event.key === "Home") next = 0;
    if (event.key === "End") next = marks.length - 1;
    if (next === here || !marks[next]) return;
    event.preventDefault();
    marks[here].tabIndex = -1;
    marks[next].tabIndex = 0;
    marks[next].focus();
  });
  for (const mark of marks) {
    if (!mark.hasAttribute("tabindex")) mark.tabIndex = -1;
    mark.addEventListener("focus", () => { say(mark); choose(mark.dataset.station); });
    mark.addEventListener("pointerenter", () => { say(mark); choose(mark.dataset.station); });
  }
}

export function walkCharts() {
  for (const chart of document.querySelectorAll("svg.chart")) walk(chart);
  for (const row of document.querySelectorAll("tr[data-station]")) {
    row.addEventListener("pointerenter", () => choose(row.dataset.station));
    row.addEventListener("pointerleave", () => choose(undefined));
  }
}
