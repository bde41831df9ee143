// A page that keeps itself up to date asks only while somebody looks at it, and at once when they come back.
// hx-trigger's own filters would need eval, which the page's policy forbids.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.target.matches?.("[data-poll]")) event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("[data-poll]")) element.dispatchEvent(new Event("look"));
});
