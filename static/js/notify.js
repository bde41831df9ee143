// Notifications of new proposals, only after the person turned them on with the button. They are shown while a page is
// open, also in the background; the poll reports the number of proposals.
const ON = "notify-on";
const TOLD = "notify-told";
const root = document.documentElement;

function kept(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function keep(name, value) {
  try { localStorage.setItem(name, value); } catch { /* Without storage nobody is notified. */ }
}

function isOn() {
  return kept(ON) === "1" && Notification.permission === "granted";
}

function show() {
  root.toggleAttribute("data-notify-on", isOn());
  for (const row of document.querySelectorAll("[data-notify-row]")) row.hidden = false;
  for (const button of document.querySelectorAll("[data-notify]")) {
    button.textContent = isOn() ? "Stop" : "Notify me";
    button.setAttribute("aria-pressed", isOn());
  }
}

async function turn() {
  if (isOn()) {
    keep(ON, "0");
  } else if (await Notification.requestPermission() === "granted") {
    keep(ON, "1");
  } else {
    for (const place of document.querySelectorAll("[data-notify-says]")) {
      place.textContent = "This browser does not allow it. Change that in the browser’s settings for this page.";
    }
  }
  show();
}

// Only one of several open pages notifies.
function tell({ count, newest }) {
  if (!isOn() || newest <= Number(kept(TOLD) ?? 0)) return;
  keep(TOLD, newest);
  if (!count) return;
  const said = new Notification("memoryweb", { body: `${count} proposal${count === 1 ? "" : "s"} to review`, tag: "waiting" });
  said.addEventListener("click", () => {
    window.focus();
    location.assign("/next/");
    said.close();
  });
}

if ("Notification" in window) {
  show();
  document.addEventListener("click", (event) => event.target.closest?.("[data-notify]") && turn());
  document.addEventListener("waiting", (event) => tell(event.detail));
}
