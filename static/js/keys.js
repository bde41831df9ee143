// Keyboard shortcuts: each presses a button or follows a link on the page.
//
// Pages mark the targets: data-hunk and data-file on the items to step through (j/k and n/p), and data-key="a" on a
// button or link in the current item or anywhere on the page. `?` opens the list of keys (#keys).
// Ignored in fields and with Ctrl, Alt or Meta; the checkbox in the list turns them off.
const OFF = "keys-off";

function isOff() {
  try { return localStorage.getItem(OFF) === "1"; } catch { return false; }
}

// Keys are ignored only in fields for text, not on checkboxes and buttons.
function inField(target) {
  if (target.tagName === "INPUT") return !/^(checkbox|radio|button|submit)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

function shown(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility());
}

function present(selector) {
  return document.activeElement?.closest(selector) ?? document.querySelector(`${selector}.now`);
}

// Where a step starts: at the current item; without one, between the items before and after the start of the current file.
function place(all, selector) {
  const at = all.indexOf(present(selector));
  const file = at < 0 && selector === "[data-hunk]" && present("[data-file]");
  if (!file) return { before: at < 0 ? all.length : at, behind: at };
  const first = all.findIndex((element) => file.contains(element) || file.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  return { before: first < 0 ? all.length : first, behind: first < 0 ? all.length - 1 : first - 1 };
}

function walk(selector, step) {
  const all = shown(selector);
  if (!all.length) return;
  const { before, behind } = place(all, selector);
  const next = all[Math.min(all.length - 1, Math.max(0, step > 0 ? behind + 1 : before - 1))];
  makePresent(next);
}

function makePresent(next) {
  // Only one item is the current one, on which keys act.
  for (const element of document.querySelectorAll("[data-hunk].now, [data-file].now")) element.classList.remove("now");
  next.classList.add("now");
  if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
  next.focus({ preventScroll: true });
  // For a file, scroll to its head.
  next.scrollIntoView({ block: next.hasAttribute("data-file") ? "start" : "nearest" });
}

// The elements of a card that a key can press.
function offered(card, wanted) {
  return [...card.querySelectorAll(wanted)].filter((element) => (!element.checked || "toggle" in element.dataset) && element.checkVisibility());
}

// `heldFor`: the card of a delayed press; another one may be current since.
function press(key, heldFor = null) {
  const wanted = `[data-key="${CSS.escape(key)}"]`;
  const inside = heldFor ?? present("[data-hunk]");
  const file = (inside ?? present("[data-file]"))?.closest("[data-file]");
  const free = shown(wanted).filter((element) => !element.closest("[data-hunk]"));
  const mine = inside && offered(inside, wanted);
  if (mine?.length && !heldFor && !isInSight(inside)) {
    inside.scrollIntoView({ block: "nearest" });
    return true;
  }
  const target = mine?.[0] ?? free.find((element) => file?.contains(element)) ?? free[0];
  if (mustWait(target, inside)) {
    hold({ card: inside?.id, key });
    return true;
  }
  // No card is current yet, or only a question, which no such key answers: the first undecided one with this key becomes
  // current, and a second press acts.
  const isAsked = inside?.matches(".question");
  if (!target && (!inside || isAsked)) {
    const undecided = (card) => offered(card, wanted).length && !card.querySelector('[aria-pressed="true"]');
    const could = shown(`[data-hunk]${isAsked ? ":not(.question)" : ""}`).filter(undecided);
    const first = could.find((card) => file?.contains(card)) ?? could.find(isInSight) ?? could[0];
    if (first) makePresent(first);
    return Boolean(first);
  }
  // Fields are focused: a click by a script would not do that.
  if (target && inField(target)) {
    target.focus();
    target.select?.();
  } else if (target?.dataset.step !== undefined) {
    step(target, mine ?? []);
  } else {
    target?.click();
  }
  return Boolean(target);
}

// Presses during a request wait for its response: that replaces the card, and a removed form sends nothing.
// They are then made in order, each on its card.
const held = [];
let last = null;
let isMaking = false;
const isSending = () => document.querySelector("form[hx-post].htmx-request") !== null;

function isWaitedFor(card) {
  return Boolean(card) && (card.querySelector("form.htmx-request") !== null || held.some((one) => one.card === card.id));
}

// The card's buttons and the submit are delayed by the submit listener below. Fields and the next decision do not wait.
function mustWait(target, inside) {
  if (isMaking || (!isSending() && !held.length)) return false;
  const sends = target?.type === "submit" && (inside?.contains(target) || target.dataset.busy);
  if (sends || (target && (inField(target) || "nextOpen" in target.dataset))) return false;
  return isWaitedFor(inside) || Boolean(target?.matches("a[href]"));
}

function hold(one) {
  // A repeated press on the same card, because nothing seemed to happen, counts once.
  if (one.card && ["card", "key", "action", "name", "value"].every((part) => one[part] === last?.[part])) return;
  held.push(one);
  last = one;
  if (held.length === 1) setTimeout(makeHeld, 50, 0);
}

// Needs three checks without a request: htmx may send a queued one next, and new forms must be initialised.
function makeHeld(quiet) {
  if (!held.length) return;
  if (isSending() || quiet < 2) {
    setTimeout(makeHeld, 50, isSending() ? 0 : quiet + 1);
    return;
  }
  const { card, key, action, name, value } = held.shift();
  const inside = card ? document.getElementById(card) : document;
  const isIt = (button) => button.form?.action === action && button.name === name && button.value === value;
  isMaking = true;
  if (key && inside) press(key, inside === document ? null : inside);
  else if (inside) [...inside.querySelectorAll("button:not([aria-disabled=true])")].find(isIt)?.click();
  isMaking = false;
  if (held.length) setTimeout(makeHeld, 50, 0);
}

// After a failure, shown by live.js, waiting presses are dropped.
for (const failure of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(failure, () => {
  held.length = 0;
  last = null;
});
document.addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  if (form.method !== "post" || !button) return;
  const one = { card: form.closest("[data-hunk]")?.id, action: form.action, name: button.name, value: button.value };
  if (isMaking || (!isSending() && !held.length)) {
    last = one;
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  hold(one);
  const says = button.dataset.busy && document.getElementById("submit-says");
  if (says) says.textContent = "Submits when the last decision is kept.";
}, true);

// Keys do not act on invisible cards: the page first scrolls back to them.
function isInSight(card) {
  const box = card.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

// Confirmations are focused first and ticked by a second press, so that none is ticked unseen.
function step(first, all) {
  const stood = all.includes(document.activeElement) ? document.activeElement : null;
  stood?.click();
  const next = stood ? all[all.indexOf(stood) + 1] ?? stood.form?.querySelector("[data-step-end]") : first;
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

let left = null;

// Opens the list of keys; closing it restores the focus.
function sheet(open) {
  const keys = document.getElementById("keys");
  if (!keys) return false;
  if (open) left = document.activeElement;
  keys.open = open;
  if (open) keys.querySelector("summary").focus({ preventScroll: true });
  else if (left && left !== document.body) left.focus({ preventScroll: true });
  else document.activeElement.blur();
  return true;
}

// After a key that leads to another page, further keys are meant for that page and are ignored here. Only for a while, as a
// download does not leave the page; and not if a prompt about unsaved text keeps the person here.
const LEAVING_MS = 3000;
let leavingSince = -Infinity;
addEventListener("beforeunload", (event) => {
  leavingSince = performance.now();
  setTimeout(() => {
    if (event.defaultPrevented) leavingSince = -Infinity;
  });
});
addEventListener("pageshow", () => (leavingSince = -Infinity));

const WALKS = { j: ["[data-hunk]", 1], k: ["[data-hunk]", -1], n: ["[data-file]", 1], p: ["[data-file]", -1] };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || inField(event.target)) return;
  if (event.key === "Escape") {
    if (document.getElementById("keys")?.open) sheet(false);
    return;
  }
  if (event.key === "?") {
    if (sheet(!document.getElementById("keys")?.open)) event.preventDefault();
    return;
  }
  if (event.key === "Enter" && !isOff() && event.target.matches("li[data-hunk]")) {
    event.target.querySelector('[data-key="o"]')?.click();
    return;
  }
  if (isOff() || event.key.length !== 1 || performance.now() - leavingSince < LEAVING_MS) return;
  // Keys after a waiting "e" are meant for the text field that it will open.
  if (held.some((one) => one.key === "e")) return;
  if (WALKS[event.key] && document.querySelector(WALKS[event.key][0])) {
    walk(...WALKS[event.key]);
    event.preventDefault();
  } else if (/^[a-z1-9/*]$/.test(event.key) && press(event.key)) {
    event.preventDefault();
  }
});

const box = document.querySelector("[data-keys-switch]");
if (box) {
  box.checked = !isOff();
  box.addEventListener("change", () => {
    try { localStorage.setItem(OFF, box.checked ? "0" : "1"); } catch { /* Storage may be refused; then keys stay on. */ }
  });
}
