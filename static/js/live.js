// A login link that was opened by somebody who is logged in: its unused code does not stay in the address.
if (location.hash.startsWith("#token=")) history.replaceState(null, "", location.pathname + location.search);

// Pages poll only while they are visible or notifications are on, and immediately when they become visible.
// The filters of hx-trigger would need eval, which the content security policy forbids.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && !document.documentElement.hasAttribute("data-notify-on") && event.target.matches?.("[data-poll]")) event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("[data-poll]")) element.dispatchEvent(new Event("look"));
});

// Scrolls the list beside the text to the current entry.
const here = document.querySelector(".reader-side .now");
if (here) here.closest(".reader-side").scrollTop = here.offsetTop - 120;

// Updates the tab's title and icon and the count in the menu when the number of waiting proposals changes.
document.addEventListener("waiting", (event) => {
  const { count, icon } = event.detail;
  document.title = (count ? `(${count}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  document.querySelector('link[rel="icon"]')?.setAttribute("href", icon);
  for (const place of document.querySelectorAll("[data-waiting]")) {
    place.hidden = !count;
    place.firstElementChild.textContent = count;
  }
});

// Shows the server's message for a refused or failed request; the page and typed text stay.
function tell(event, words, link) {
  const said = document.getElementById("messages");
  const { elt, requestConfig } = event.detail;
  // A poll is not reported, as it is repeated.
  if (!said || elt.matches?.("[data-poll]")) return;
  const message = document.createElement("div");
  message.className = "message error";
  message.dataset.failed = "";
  message.append(words);
  if (link) {
    // In a new tab, to keep typed text on this page.
    Object.assign(link, { target: "_blank", rel: "noopener", className: "" });
    message.append(" ", link);
  }
  said.replaceChildren(message);
  const isTyping = document.activeElement?.matches("textarea, input:not([type=checkbox], [type=radio])");
  // In the next frame, after the browser has adjusted the scroll position.
  if (requestConfig.verb !== "get" && !isTyping) requestAnimationFrame(() => setTimeout(() => message.scrollIntoView({ block: "center" })));
}
document.addEventListener("htmx:sendError", (event) => {
  const isAsked = event.detail.requestConfig.verb !== "get";
  tell(event, "The server did not answer." + (isAsked ? " Reload the page to see whether it was done." : ""));
});
document.addEventListener("htmx:responseError", (event) => {
  const answer = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  const [title, why] = ["h1", "h1 ~ p:not(.sr-only)"].map((part) => answer.querySelector(part)?.textContent.trim() ?? "");
  const login = answer.querySelector('.actions a[href^="/login/"]');
  takeOver(answer);
  tell(event, title ? `${title}. ${why}` : "The server could not do that.", login && document.adoptNode(login));
});
// It is out of date once a later change was done.
document.addEventListener("htmx:afterRequest", (event) => {
  const { successful, requestConfig } = event.detail;
  if (successful && requestConfig.verb !== "get") document.querySelector("#messages > [data-failed]")?.remove();
});

// After a login in another window, the forms of this page take the new CSRF token from the error response.
function takeOver(answer) {
  const token = answer.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!token || !document.body.hasAttribute("hx-headers")) return;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
}
