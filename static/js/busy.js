// A decision that was made a moment ago may still be on its way: what is written waits for it, and is then pressed as the page has it.
let held = null;
const isSending = () => document.querySelector(".htmx-request") !== null;
function pressWhenKept(quiet) {
  if (!held) return;
  // Three times, as one that waits its turn is sent once the one before is answered.
  const still = isSending() ? 0 : quiet + 1;
  if (still < 3) {
    setTimeout(pressWhenKept, 50, still);
    return;
  }
  const { address, name, value } = held;
  held = null;
  const same = (button) => button.form?.action === address && button.name === name && button.value === value;
  [...document.querySelectorAll("button[data-busy]:not([aria-disabled])")].find(same)?.click();
}
// One that was not kept is told, and looked at first.
for (const failure of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(failure, () => (held = null));
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!isSending() || !button?.dataset.busy) return;
  event.preventDefault();
  event.stopPropagation();
  const isFirst = !held;
  held = { address: button.form.action, name: button.name, value: button.value };
  if (isFirst) pressWhenKept(0);
  const says = document.getElementById("submit-says");
  if (says) says.textContent = "Submits when the last decision is kept.";
}, true);

// Writing many files takes a while: that is said on the button, which cannot be pressed twice.
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.dataset.busy || event.defaultPrevented) return;
  button.dataset.was = button.textContent;
  button.textContent = button.dataset.busy;
  // After the form is read: a button that is off is not sent along.
  setTimeout(() => (button.disabled = true));
  tellWaiting(button.dataset.long, button.dataset.progress, button.dataset.stop);
});

// Of what lasts, the page says how far it is and for how long already: one that stands still looks dead.
let waiting = null;
function tellWaiting(what, progress, stop) {
  const says = document.getElementById("submit-says");
  if (!what || !says) return;
  const begun = Date.now();
  const before = [...says.childNodes];
  const words = document.createElement("span");
  words.textContent = what;
  if (progress) words.setAttribute("hx-get", progress);
  words.setAttribute("hx-trigger", "every 1s");
  const time = document.createElement("span");
  const tell = () => {
    const seconds = Math.round((Date.now() - begun) / 1000);
    time.textContent = ` · ${seconds} s `;
    if (seconds < 2) document.getElementById("submit-said").textContent = what;
    if (words.isConnected) return;
    says.classList.add("under-way");
    says.replaceChildren(words, time, stop ? stopping(stop) : "");
    htmx.process(says);
  };
  waiting = { says, before, timer: setInterval(tell, 1000) };
}

// Ends the work at its next step; the page that is being waited for says what became of it.
function stopping(address) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = "Stop";
  button.setAttribute("hx-post", address);
  button.setAttribute("hx-swap", "none");
  button.addEventListener("htmx:beforeRequest", () => {
    button.disabled = true;
    button.textContent = "Stopping…";
  });
  return button;
}
addEventListener("pageshow", () => {
  if (waiting) {
    clearInterval(waiting.timer);
    waiting.says.classList.remove("under-way");
    waiting.says.replaceChildren(...waiting.before);
    waiting = null;
  }
  for (const button of document.querySelectorAll("button[data-was]")) {
    button.textContent = button.dataset.was;
    button.disabled = false;
  }
});
