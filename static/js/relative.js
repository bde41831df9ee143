// Updates texts like "3 min ago" while a page stays open.
const UNITS = [[60, 60, "min", "min"], [3600, 48, "h", "h"], [86400, 60, "day", "days"], [2592000, 24, "month", "months"]];

function words(seconds, round) {
  if (seconds < 60) return "";
  for (const [size, limit, one, many] of UNITS) {
    const number = round(seconds / size);
    if (number < limit) return `${number} ${number === 1 ? one : many}`;
  }
  const years = round(seconds / 31536000);
  return `${years} ${years === 1 ? "year" : "years"}`;
}

function relative(then, now, isDue) {
  // Rounds down for the past and up for the future, like the server, so that nothing is announced too early.
  const seconds = (now - then) / 1000;
  if (isDue) return seconds < 0 ? `in ${words(Math.ceil(-seconds), Math.ceil) || "less than a minute"}` : "now";
  const text = words(Math.floor(seconds), Math.floor);
  return text ? `${text} ago` : "just now";
}

function refresh() {
  if (document.hidden) return;
  const now = Date.now();
  for (const element of document.querySelectorAll("time[data-age], time[data-due]")) {
    const text = relative(Date.parse(element.dateTime), now, "due" in element.dataset);
    if (element.textContent !== text) element.textContent = text;
  }
}

setInterval(refresh, 30000);
document.addEventListener("visibilitychange", refresh);
