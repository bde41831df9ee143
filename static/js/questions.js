// Questions with htmx: a card that was answered stays the present one, so that Undo is one key away and "j" goes on.

let answered = "";
let isPresent = false;

function makePresent(card) {
  for (const other of document.querySelectorAll("[data-hunk].now")) other.classList.remove("now");
  card.classList.add("now");
}

document.addEventListener("submit", (event) => {
  const card = event.target.closest(".question");
  const focused = document.activeElement?.closest("[data-hunk]") ?? card;
  if (card && focused === card) makePresent(card);
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const card = event.detail.target;
  answered = card?.matches?.(".question") ? card.id : "";
  if (!answered) return;
  isPresent = (document.activeElement?.closest("[data-hunk]") ?? document.querySelector("[data-hunk].now")) === card;
});
document.addEventListener("htmx:afterSettle", () => {
  const card = answered && document.getElementById(answered);
  answered = "";
  if (!card) return;
  // If the person moved on meanwhile, the focus stays there.
  if (!isPresent) {
    card.classList.remove("now");
    return;
  }
  makePresent(card);
  // Confirmations are focused, not ticked.
  (card.querySelector(".asked [type=checkbox]") ?? card).focus({ preventScroll: true });
});

// After a page load, the question in the address is the current one.
const named = location.hash.startsWith("#question-") && document.getElementById(location.hash.slice(1));
if (named) {
  named.closest("details")?.setAttribute("open", "");
  makePresent(named);
  named.focus();
}
