// The button of slow work shows that it is running and cannot be pressed twice.
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.dataset.busy || event.defaultPrevented) return;
  button.dataset.was = button.textContent;
  button.textContent = button.dataset.busy;
  // After the form was read, as a disabled button is not included.
  setTimeout(() => (button.disabled = true));
  tellWaiting(button.dataset.long, button.dataset.progress, button.dataset.stop);
});

// Shows the progress and duration of long work, so that the page does not look frozen.
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

// Stops the work at its next step; the response to the form reports the result.
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
