// The review desk with htmx: which changes are on the page, where one is, and what is open. Nothing here decides
// anything: every verdict is a form that works without it.

// What needs a button without scripts does itself.
document.documentElement.dataset.scripted = "";

// On a wide page evidence and the list of files stand open; only a narrow one folds them.
const wide = matchMedia("(min-width: 821px)");
function unfold(root) {
  if (!wide.matches) return;
  for (const fold of root.querySelectorAll("details.proof, details.review-fold")) fold.open = true;
}
unfold(document);
document.addEventListener("htmx:load", (event) => unfold(event.detail.elt));

// The server answers with the cards that changed; only those on the page can be put in place.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "post") return;
  event.detail.parameters.set("shown", [...document.querySelectorAll("[data-hunk]")].map((card) => card.dataset.hunk).join());
});

// A card that is replaced stays the present one, and its evidence stays open.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const before = event.detail.target;
  const after = event.detail.fragment.firstElementChild;
  if (!before?.matches?.("[data-hunk], [data-file]") || !after) return;
  if (before.classList.contains("now")) after.classList.add("now");
  if (before.querySelector(".proof[open]")) after.querySelector(".proof")?.setAttribute("open", "");
});

// "e" opens the text and goes there; Escape closes it again and goes back.
document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details.edit[open]")) event.target.querySelector("textarea")?.focus();
}, true);
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && event.target.closest?.("details.edit[open]");
  if (!open) return;
  open.open = false;
  open.closest("[data-hunk]")?.focus();
});

// A file that is on the page is gone to, not loaded anew.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-jump]");
  // One that is still to come stands there as a line, and loads when it comes into view.
  const there = link && (document.getElementById(link.dataset.jump) ?? document.getElementById(link.dataset.jump.replace("file", "later")));
  if (!there || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  there.scrollIntoView({ block: "start" });
  there.focus({ preventScroll: true });
});

// A link to a change opens whatever it stands in, and makes it the present one.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#hunk-"]');
  const there = link && document.getElementById(link.hash.slice(1));
  if (!there || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  there.closest("details")?.setAttribute("open", "");
  for (const card of document.querySelectorAll("[data-hunk].now")) card.classList.remove("now");
  there.classList.add("now");
  there.focus({ preventScroll: true });
});

// Come back to after a whole page load: the change the address names is the present one.
const named = location.hash.startsWith("#hunk-") && document.getElementById(location.hash.slice(1));
if (named) {
  named.classList.add("now");
  named.focus({ preventScroll: true });
}

// What the server refused or could not be reached for must be seen: nothing was decided then.
for (const name of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(name, () => {
    const said = document.getElementById("messages");
    if (!said) return;
    const message = document.createElement("div");
    message.className = "message error";
    message.textContent = "That did not reach the server, so nothing was decided. Reload the page and try again.";
    said.replaceChildren(message);
    message.scrollIntoView({ block: "center" });
  });
}

// Choosing one's own text at a conflict shows the field. A click goes there; who walks by arrows goes on walking.
document.addEventListener("click", (event) => {
  const chosen = event.target.matches?.('.place input[value="edit"]') && event.detail;
  if (chosen) event.target.closest(".place").querySelector("textarea").focus();
});
