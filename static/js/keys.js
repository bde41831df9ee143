// Keys for those who like them: every one of them presses a button or follows a link that is on the page.
//
// A page marks what keys act on: data-hunk and data-file on the things to walk through (j/k and n/p), and
// data-key="a" on a button or link inside the present one, or anywhere on the page. `?` opens the sheet (#keys).
// Ignored in fields and with Ctrl, Alt or Meta; switched off by the box in the sheet.
const OFF = "keys-off";

function isOff() {
  try { return localStorage.getItem(OFF) === "1"; } catch { return false; }
}

// A box to tick takes no letters: only where one types are keys left alone.
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

// Where a walk starts from: the present one's place; with none, between those before and behind the present file.
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
  // One thing is the present one: keys act on it, and on nothing out of sight.
  for (const element of document.querySelectorAll("[data-hunk].now, [data-file].now")) element.classList.remove("now");
  next.classList.add("now");
  if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
  next.focus({ preventScroll: true });
  // Of a file its head is wanted, and what comes first in it.
  next.scrollIntoView({ block: next.hasAttribute("data-file") ? "start" : "nearest" });
}

// What a key could press on a card.
function offered(card, wanted) {
  return [...card.querySelectorAll(wanted)].filter((element) => (!element.checked || "toggle" in element.dataset) && element.checkVisibility());
}

// `heldFor`: the card that a press was for which waited; keys may act on another one since.
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
  // Nobody has chosen a card yet: the first undecided one with this key becomes the present one, and a second press acts.
  if (!target && !inside) {
    const could = shown("[data-hunk]").filter((card) => offered(card, wanted).length && !card.querySelector('[aria-pressed="true"]'));
    const first = could.find((card) => file?.contains(card)) ?? could.find(isInSight) ?? could[0];
    if (first) makePresent(first);
    return Boolean(first);
  }
  // A field is gone to; a click by a script would leave the keyboard where it is.
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

// What is pressed while an answer is on its way waits for it: that answer puts the card anew, and a form that is gone sends nothing.
// Each press is made on its own card, in order, as if every answer had been there at once.
const held = [];
let last = null;
let isMaking = false;
const isSending = () => document.querySelector("form[hx-post].htmx-request") !== null;

function isWaitedFor(card) {
  return Boolean(card) && (card.querySelector("form.htmx-request") !== null || held.some((one) => one.card === card.id));
}

// A button of the card itself, and a submit, wait where they are sent. A field, and the next decision, are gone to at once.
function mustWait(target, inside) {
  if (isMaking || (!isSending() && !held.length)) return false;
  const sends = target?.type === "submit" && (inside?.contains(target) || target.dataset.busy);
  if (sends || (target && (inField(target) || "nextOpen" in target.dataset))) return false;
  return isWaitedFor(inside) || Boolean(target?.matches("a[href]"));
}

function hold(one) {
  // On a card, pressed once more because nothing seemed to happen: the same press.
  if (one.card && ["card", "key", "action", "name", "value"].every((part) => one[part] === last?.[part])) return;
  held.push(one);
  last = one;
  if (held.length === 1) setTimeout(makeHeld, 50, 0);
}

// Three looks: one that waits its turn is sent once the one before is answered, and forms that are new are made ready.
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

// What was not kept is told, and looked at first.
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

// Keys act on nothing out of sight: what was scrolled away from is come back to first.
function isInSight(card) {
  const box = card.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

// What wants a person's word is gone to first, and answered by a second press: nothing is ticked unseen.
function step(first, all) {
  const stood = all.includes(document.activeElement) ? document.activeElement : null;
  stood?.click();
  const next = stood ? all[all.indexOf(stood) + 1] ?? stood.form?.querySelector("[data-step-end]") : first;
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

let left = null;

// Opened from wherever one is, and closed back to there.
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

// Between a key that leads to another page and that page, the next key is meant for what comes: it acts on nothing here. Only for a
// while, as a download leads nowhere. Who is asked about a text that is not saved may stay.
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
  // What is typed behind it is meant for the text that it will open.
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
