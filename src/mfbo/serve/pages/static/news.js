// News of other processes: the page shows itself anew, or asks first if something is being typed.
import { isTouched } from "./forms.js";

const WORDS = {
  asked: "A plan was made", leased: "A plan changed hands", told: "A result was told", failed: "A plan failed",
  abandoned: "A plan was given up", amended: "A result was corrected", withdrawn: "A round was withdrawn",
  reinstated: "A round was reinstated", changed: "The fleet was changed", added: "A past day was added",
};

export function listen() {
  const address = document.body.dataset.events;
  if (!address) return;
  const source = new EventSource(address);
  const bar = document.getElementById("news");
  bar.querySelector("button").addEventListener("click", () => location.reload());
  source.addEventListener("change", (event) => {
    const sent = document.querySelector("form[data-sent]");
    if (sent) return; // our own doing: the page is on its way
    const news = JSON.parse(event.data);
    if (!isTouched() && !document.querySelector("[aria-busy=true]")) {
      location.reload();
      return;
    }
    bar.querySelector("span").textContent = `${WORDS[news.kind] ?? "Something changed"}${news.plan == null ? "" : ` (plan ${news.plan})`}.`;
    bar.hidden = false;
  });
  window.addEventListener("pagehide", () => source.close());
}
