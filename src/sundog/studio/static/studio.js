// What the pages do beyond HTMX: follow a job by server-sent events, tick all lines, ask nobody outside. Text only, no markup.
"use strict";

for (const box of document.querySelectorAll("[data-events]")) {
  const now = box.querySelector("[data-now]");
  const log = box.querySelector("[data-log]");
  const clock = box.querySelector("[data-clock]");
  const begun = Date.now();
  const source = new EventSource(box.dataset.events);
  source.addEventListener("step", (event) => {
    now.textContent = event.data;
    if (log) {
      const line = document.createElement("li");
      line.textContent = event.data;
      log.append(line);
    }
  });
  source.addEventListener("ended", () => {
    source.close();
    location.reload();
  });
  if (clock) {
    setInterval(() => {
      const seconds = Math.round((Date.now() - begun) / 1000);
      clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} on this page`;
    }, 1000);
  }
}

for (const all of document.querySelectorAll("[data-all]")) {
  all.addEventListener("change", () => {
    for (const box of document.querySelectorAll(`input[name="${all.dataset.all}"]`)) {
      box.checked = all.checked;
    }
  });
}

// A second click while the first is on its way would only be answered with the same run; do not send it.
document.addEventListener("submit", (event) => {
  for (const button of event.target.querySelectorAll("button.spend")) {
    setTimeout(() => { button.disabled = true; }, 0);
  }
});
