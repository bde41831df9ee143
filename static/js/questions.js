// Questions with htmx: a card that was answered stays the present one, so that Undo is one key away and "j" goes on.
// "u" pressed before the answer is there takes it back when it comes.

let answered = "";
let isPresent = false;
let then = "";

function makePresent(card) {
  for (const other of document.querySelectorAll("[data-hunk].now")) other.classList.remove("now");
  card.classList.add("now");
}

// On its way from the press on, also while it waits behind another answer.
document.addEventListener("submit", (event) => {
  const card = event.target.closest(".question");
  if (!card) return;
  card.dataset.sent = "";
  makePresent(card);
});
document.addEventListener("htmx:afterRequest", (event) => {
  const card = !event.detail.successful && event.detail.elt.closest(".question");
  if (!card) return;
  delete card.dataset.sent;
  delete card.dataset.then;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const card = event.detail.target;
  answered = card?.matches?.(".question") ? card.id : "";
  if (!answered) return;
  isPresent = (document.activeElement?.closest("[data-hunk]") ?? document.querySelector("[data-hunk].now")) === card;
  then = card.dataset.then ?? "";
});
document.addEventListener("htmx:afterSettle", () => {
  const card = answered && document.getElementById(answered);
  answered = "";
  if (!card) return;
  // Who went on meanwhile is not called back.
  if (!isPresent) {
    card.classList.remove("now");
    return;
  }
  makePresent(card);
  // What wants a tick is gone to, not ticked.
  (card.querySelector(".asked input") ?? card).focus({ preventScroll: true });
  if (then) card.querySelector(`[data-key="${then}"]`)?.click();
});

// Come back to after a whole page load: the question the address names is the present one.
const named = location.hash.startsWith("#question-") && document.getElementById(location.hash.slice(1));
if (named) {
  named.closest("details")?.setAttribute("open", "");
  makePresent(named);
  named.focus();
}
