// The review desk with htmx: which changes are on the page, where one is, and what is open. Nothing here decides
// anything: every verdict is a form that works without it.

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
  const cards = [...document.querySelectorAll("[data-hunk][data-seen]")];
  event.detail.parameters.set("shown", cards.map((card) => `${card.dataset.hunk}:${card.dataset.seen}`).join());
});

// A card that is replaced stays the present one, and its evidence stays open.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const before = event.detail.target;
  const after = event.detail.fragment.firstElementChild;
  if (before?.classList.contains("here")) after?.classList.add("here");
  if (!before?.matches?.("[data-hunk], [data-file]") || !after) return;
  if (before.classList.contains("now")) after.classList.add("now");
  if (before.querySelector(".finding-rest[open]")) after.querySelector(".finding-rest")?.setAttribute("open", "");
  if (before.querySelector(".proof[open]")) after.querySelector(".proof")?.setAttribute("open", "");
});

// The card one looks at stays where it is on the screen, whatever is put in place above it. The browser's own anchoring
// is off for that moment: it holds on to the card that goes, and moves the page by the height of the new one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const asked = event.detail.requestConfig;
  const own = asked?.elt.closest("[data-hunk], [data-file]");
  // By its name: a form that waited its turn may have been put anew meanwhile.
  const held = own ? document.getElementById(own.id) : document.querySelector("[data-hunk].now, [data-file].now");
  if (asked?.verb !== "post" || !held) return;
  const { top, height } = held.getBoundingClientRect();
  document.documentElement.classList.add("still");
  setTimeout(() => {
    const now = document.getElementById(held.id);
    if (now && top < innerHeight && top > -height) {
      scrollBy({ top: now.getBoundingClientRect().top - top, behavior: "instant" });
      // What came beneath it, as the reasons of a rejection, must not stand behind the bar.
      const bar = document.getElementById("review-bar")?.offsetHeight ?? 0;
      const hidden = now.getBoundingClientRect().bottom - (innerHeight - bar);
      if (own && hidden > 0 && now.offsetHeight < innerHeight / 2) scrollBy({ top: hidden + 12, behavior: "instant" });
    }
    requestAnimationFrame(() => document.documentElement.classList.remove("still"));
  });
});

// Another list is read from its beginning.
document.addEventListener("htmx:afterSwap", (event) => {
  const review = event.detail.target?.id === "review" && document.getElementById("review");
  if (review && review.getBoundingClientRect().top < 0) review.scrollIntoView({ block: "start", behavior: "instant" });
});

// The list says which file one is in.
document.addEventListener("focusin", (event) => {
  const file = event.target.closest?.("[data-file]");
  const entry = file && document.getElementById(`entry-${file.dataset.file}`);
  if (!entry) return;
  for (const other of document.querySelectorAll(".files > .here")) other.classList.remove("here");
  entry.classList.add("here");
  const side = entry.closest(".review-side");
  const from = entry.getBoundingClientRect().top - side.getBoundingClientRect().top;
  if (from < 0 || from > side.clientHeight - entry.offsetHeight) side.scrollTop += from - side.clientHeight / 2;
});

// What one stood on may be gone with the answer, as the button that was pressed: the keyboard goes on from its card,
// or from the button that takes the verdict back.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const holder = event.detail.target;
  const stood = document.activeElement;
  if (!stood || stood === document.body || !holder?.contains(stood)) return;
  setTimeout(() => {
    const card = stood.closest("[data-hunk], [data-file]");
    const stays = (element) => element && document.getElementById(element.id);
    // A file that was ticked as viewed folds its cards away: then one stands on the file.
    const places = [stays(card), stays(stood.closest("[data-file]")), document.getElementById("take-back"), document.querySelector("[data-hunk].now")];
    const next = places.find((element) => element?.checkVisibility());
    // A reason that was written is done with; keys walk on from its card.
    const isDone = stood.matches(".chip-input") && document.activeElement.matches(".chip-input");
    if (!isDone && document.activeElement !== document.body) return;
    (next ?? document.getElementById("main")).focus({ preventScroll: true });
    if (next?.matches("[data-hunk], [data-file]")) mark(next);
  });
});

// "e" opens the text and goes there; Escape closes it again and goes back.
document.addEventListener("toggle", (event) => {
  if (!event.target.matches?.("details.edit[open]")) return;
  event.target.querySelector("textarea")?.focus({ preventScroll: true });
  event.target.scrollIntoView({ block: "nearest" });
}, true);
document.addEventListener("keydown", (event) => {
  const open = event.target.closest?.("details.edit[open]");
  if (event.key === "Escape" && (open || event.target.matches?.(".chip-input"))) {
    if (open) open.open = false;
    event.target.closest("[data-hunk]")?.focus();
  } else if (open && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    open.querySelector("form").requestSubmit();
  }
});

// One thing at a time is the present one: what keys act on is what has the focus.
function mark(there) {
  for (const other of document.querySelectorAll("[data-hunk].now, [data-file].now")) other.classList.remove("now");
  there.closest("[data-hunk], [data-file]")?.classList.add("now");
}

// Opens whatever it is in. A part of a decision is shown with its card, which takes the focus.
function goTo(there, block = "start") {
  for (let fold = there.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  mark(there);
  (there.closest("[data-hunk], [data-file]") ?? there).focus({ preventScroll: true });
  there.scrollIntoView({ block });
}

function isPlain(event) {
  return !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
}

// What is on the page is gone to, not loaded anew: a file, a change, the next decision that is open.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[data-jump], a[href^="#hunk-"], a[data-next-open]');
  if (!link || !isPlain(event)) return;
  const there = "nextOpen" in link.dataset ? nextOpen() : document.getElementById(link.dataset.jump ?? link.hash.slice(1));
  if (!there) return;
  event.preventDefault();
  goTo(there, there.matches("[data-file]") ? "start" : "nearest");
});

// Behind the present one, else from the beginning.
function nextOpen() {
  const open = [...document.querySelectorAll("[data-open]")];
  const here = document.activeElement?.closest("[data-hunk], [data-file]") ?? document.querySelector("[data-hunk].now, [data-file].now");
  const isBehind = (card) => here.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING;
  return (here && open.find((card) => card !== here && isBehind(card))) ?? open[0];
}

// What was undone is gone to, wherever it is.
document.addEventListener("review:go", (event) => setTimeout(() => {
  const there = document.getElementById(event.detail.to);
  if (there) goTo(there, "nearest");
  else location.assign(event.detail.address);
}));

// The list is left where one was before.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.id !== "files-q") return;
  event.preventDefault();
  (document.querySelector("[data-hunk].now, [data-file].now") ?? document.getElementById("main")).focus({ preventScroll: true });
});

// The bar is as high as its words need: what sticks above it must know.
const bar = document.getElementById("review-bar");
if (bar) {
  const tell = () => document.documentElement.style.setProperty("--foot", `${document.getElementById("review-bar")?.offsetHeight ?? 0}px`);
  new ResizeObserver(tell).observe(bar);
  document.addEventListener("htmx:afterSettle", tell);
  addEventListener("resize", tell);
}

// Come back to after a whole page load: the change the address names is the present one.
const named = location.hash.startsWith("#hunk-") && document.getElementById(location.hash.slice(1));
if (named) goTo(named, "nearest");

// Choosing one's own text at a conflict shows the field. A click goes there; who walks by arrows goes on walking.
document.addEventListener("click", (event) => {
  const chosen = event.target.matches?.('.place input[value="edit"]') && event.detail;
  if (chosen) event.target.closest(".place").querySelector("textarea").focus();
});
