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

// What the server refused, or did not answer, is said in its own words; the page and what is typed in it stay.
function tell(event, words, link) {
  const said = document.getElementById("messages");
  const { elt, requestConfig } = event.detail;
  // Asked by the page itself: the next time will do.
  if (!said || elt.matches?.("[data-poll]")) return;
  const message = document.createElement("div");
  message.className = "message error";
  message.append(words);
  if (link) {
    // Elsewhere, as what is typed here would go with this page.
    Object.assign(link, { target: "_blank", rel: "noopener", className: "" });
    message.append(" ", link);
  }
  said.replaceChildren(message);
  const isTyping = document.activeElement?.matches("textarea, input:not([type=checkbox], [type=radio])");
  // In the next frame: the browser first moves the page by the height of what has come above.
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

// A login in another window made this page's forms too old: they go on with the token of the answer that says so.
function takeOver(answer) {
  const token = answer.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!token || !document.body.hasAttribute("hx-headers")) return;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
}
