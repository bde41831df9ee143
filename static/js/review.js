// The review desk with htmx: the cards on the page, the current one, and open folds. Nothing here decides anything:
// every verdict is a form that works without this script.

// Evidence and the list of files are open on wide pages and folded on narrow ones.
const wide = matchMedia("(min-width: 821px)");
function unfold(root) {
  if (!wide.matches) return;
  for (const fold of root.querySelectorAll("details.proof, details.review-fold")) fold.open = true;
}
unfold(document);
document.addEventListener("htmx:load", (event) => unfold(event.detail.elt));

// Tells the server which cards are on the page, as it answers with the changed ones.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "post") return;
  const cards = [...document.querySelectorAll("[data-hunk][data-seen]")];
  event.detail.parameters.set("shown", cards.map((card) => `${card.dataset.hunk}:${card.dataset.seen}`).join());
});

// A replaced card stays the current one, and its evidence stays open.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const before = event.detail.target;
  const after = event.detail.fragment.firstElementChild;
  if (before?.classList.contains("here")) after?.classList.add("here");
  if (!before?.matches?.("[data-hunk], [data-file]") || !after) return;
  if (before.classList.contains("now")) after.classList.add("now");
  if (before.querySelector(".finding-rest[open]")) after.querySelector(".finding-rest")?.setAttribute("open", "");
  if (before.querySelector(".proof[open]")) after.querySelector(".proof")?.setAttribute("open", "");
});

// Keeps the current card at its position on the screen when parts above it are replaced. Scroll anchoring is off
// meanwhile: it would follow the removed card and move the page by the height of the new one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const asked = event.detail.requestConfig;
  const own = asked?.elt.closest("[data-hunk], [data-file]");
  // By id: the element of a queued form may have been replaced meanwhile.
  const held = own ? document.getElementById(own.id) : document.querySelector("[data-hunk].now, [data-file].now");
  if (asked?.verb !== "post" || !held) return;
  const { top, height } = held.getBoundingClientRect();
  document.documentElement.classList.add("still");
  setTimeout(() => {
    const now = document.getElementById(held.id);
    if (now && top < innerHeight && top > -height) {
      scrollBy({ top: now.getBoundingClientRect().top - top, behavior: "instant" });
      // New content below it, such as the reasons of a rejection, must not be hidden by the bar.
      const bar = document.getElementById("review-bar")?.offsetHeight ?? 0;
      const hidden = now.getBoundingClientRect().bottom - (innerHeight - bar);
      if (own && hidden > 0 && now.offsetHeight < innerHeight / 2) scrollBy({ top: hidden + 12, behavior: "instant" });
    }
    requestAnimationFrame(() => document.documentElement.classList.remove("still"));
  });
});

// A new list is shown from its beginning.
document.addEventListener("htmx:afterSwap", (event) => {
  const review = event.detail.target?.id === "review" && document.getElementById("review");
  if (review && review.getBoundingClientRect().top < 0) review.scrollIntoView({ block: "start", behavior: "instant" });
});

// Marks the current file in the list.
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

// The response may remove the focused element, such as the pressed button: then its card gets the focus, or the button
// that undoes the verdict.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const holder = event.detail.target;
  const stood = document.activeElement;
  if (!stood || stood === document.body || !holder?.contains(stood)) return;
  setTimeout(() => {
    const card = stood.closest("[data-hunk], [data-file]");
    const stays = (element) => element && document.getElementById(element.id);
    // A file marked as viewed folds its cards: then the file gets the focus.
    const places = [stays(card), stays(stood.closest("[data-file]")), document.getElementById("take-back"), document.querySelector("[data-hunk].now")];
    const next = places.find((element) => element?.checkVisibility());
    // After a reason was entered, keys continue from its card.
    const isDone = stood.matches(".chip-input") && document.activeElement.matches(".chip-input");
    if (!isDone && document.activeElement !== document.body) return;
    (next ?? document.getElementById("main")).focus({ preventScroll: true });
    if (next?.matches("[data-hunk], [data-file]")) mark(next);
  });
});

// "e" opens the text and focuses it; Escape closes it and restores the focus.
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

// The focused item is the current one, on which keys act.
function mark(there) {
  for (const other of document.querySelectorAll("[data-hunk].now, [data-file].now")) other.classList.remove("now");
  there.closest("[data-hunk], [data-file]")?.classList.add("now");
}

// Opens all folds around it. For a part of a decision, its card gets the focus.
function goTo(there, block = "start") {
  for (let fold = there.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  mark(there);
  (there.closest("[data-hunk], [data-file]") ?? there).focus({ preventScroll: true });
  there.scrollIntoView({ block });
}

function isPlain(event) {
  return !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
}

// Links to a file, a change or the next open decision on this page scroll there instead of loading a page.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[data-jump], a[href^="#hunk-"], a[data-next-open]');
  if (!link || !isPlain(event)) return;
  const there = "nextOpen" in link.dataset ? nextOpen() : document.getElementById(link.dataset.jump ?? link.hash.slice(1));
  if (!there) return;
  event.preventDefault();
  goTo(there, there.matches("[data-file]") ? "start" : "nearest");
});

// After the current one, else from the beginning.
function nextOpen() {
  const open = [...document.querySelectorAll("[data-open]")];
  const here = document.activeElement?.closest("[data-hunk], [data-file]") ?? document.querySelector("[data-hunk].now, [data-file].now");
  const isBehind = (card) => here.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING;
  return (here && open.find((card) => card !== here && isBehind(card))) ?? open[0];
}

// Goes to the undone decision, also on another page.
document.addEventListener("review:go", (event) => setTimeout(() => {
  const there = document.getElementById(event.detail.to);
  if (there) goTo(there, "nearest");
  else location.assign(event.detail.address);
}));

// Escape in the search field of the list returns the focus to the current item.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.id !== "files-q") return;
  event.preventDefault();
  (document.querySelector("[data-hunk].now, [data-file].now") ?? document.getElementById("main")).focus({ preventScroll: true });
});

// What is typed into that field while an answer is on its way stays, and is looked for next: the answer brings a new field.
const finder = () => document.getElementById("files-q");
let sent;
let typed;
document.addEventListener("htmx:configRequest", (event) => {
  if (event.target.contains(finder())) sent = finder().value;
});
document.addEventListener("htmx:beforeSwap", () => {
  const field = finder();
  typed = field === document.activeElement ? [field.value, field.selectionStart, field.selectionEnd] : null;
});
document.addEventListener("htmx:afterSwap", () => {
  const field = finder();
  if (!typed || !field || field.value === typed[0]) return;
  field.value = typed[0];
  field.setSelectionRange(typed[1], typed[2]);
});
document.addEventListener("htmx:afterSettle", (event) => {
  const field = finder();
  const isNew = field && field === document.activeElement && event.target.contains?.(field);
  if (isNew && field.value !== sent) field.dispatchEvent(new Event("change", { bubbles: true }));
});

// Sets the height of the bar, which depends on its text, for elements that stick above it.
const bar = document.getElementById("review-bar");
if (bar) {
  const tell = () => document.documentElement.style.setProperty("--foot", `${document.getElementById("review-bar")?.offsetHeight ?? 0}px`);
  new ResizeObserver(tell).observe(bar);
  document.addEventListener("htmx:afterSettle", tell);
  addEventListener("resize", tell);
}

// After a page load, the change in the address is the current one.
const named = location.hash.startsWith("#hunk-") && document.getElementById(location.hash.slice(1));
if (named) goTo(named, "nearest");

// Choosing "own text" in a conflict shows its field. A click focuses it; with arrow keys the focus stays.
document.addEventListener("click", (event) => {
  const chosen = event.target.matches?.('.place input[value="edit"]') && event.detail;
  if (chosen) event.target.closest(".place").querySelector("textarea").focus();
});
