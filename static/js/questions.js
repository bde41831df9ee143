// Questions with htmx: a card that was answered stays the present one, so that Undo is one key away and "j" goes on.

let answered = "";
document.addEventListener("htmx:beforeSwap", (event) => {
  const card = event.detail.target;
  answered = card?.matches?.(".question") ? card.id : "";
});
document.addEventListener("htmx:afterSettle", () => {
  const card = answered && document.getElementById(answered);
  answered = "";
  if (!card) return;
  for (const other of document.querySelectorAll("[data-hunk].now")) other.classList.remove("now");
  card.classList.add("now");
  // What wants a tick is gone to, not ticked.
  (card.querySelector(".asked input") ?? card).focus({ preventScroll: true });
});

// Come back to after a whole page load: the question the address names is the present one.
const named = location.hash.startsWith("#question-") && document.getElementById(location.hash.slice(1));
if (named) {
  named.closest("details")?.setAttribute("open", "");
  for (const other of document.querySelectorAll("[data-hunk].now")) other.classList.remove("now");
  named.classList.add("now");
  named.focus();
}
