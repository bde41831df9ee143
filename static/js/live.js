// A page that keeps itself up to date asks only while somebody looks at it or wants to be notified, and at once when
// they come back.
// hx-trigger's own filters would need eval, which the page's policy forbids.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && !document.documentElement.hasAttribute("data-notify-on") && event.target.matches?.("[data-poll]")) event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("[data-poll]")) element.dispatchEvent(new Event("look"));
});

// A list beside the text stands where the text does.
const here = document.querySelector(".reader-side .now");
if (here) here.closest(".reader-side").scrollTop = here.offsetTop - 120;

// The server says how many proposals wait now: the tab's title and picture and the count in the menu follow.
document.addEventListener("waiting", (event) => {
  const { count, icon } = event.detail;
  document.title = (count ? `(${count}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  document.querySelector('link[rel="icon"]')?.setAttribute("href", icon);
  for (const place of document.querySelectorAll("[data-waiting]")) {
    place.hidden = !count;
    place.firstElementChild.textContent = count;
  }
});
