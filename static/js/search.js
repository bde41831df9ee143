// The search field of the header: arrows step through the results, Escape closes them. Without this script the search,
// Tab and Enter still work.
const form = document.querySelector(".quick");
const field = form?.querySelector("input");
const found = document.getElementById("quick-found");

function links() {
  return [...found.querySelectorAll("a")];
}

function step(by) {
  const all = [field, ...links()];
  const at = all.indexOf(document.activeElement);
  all[Math.min(all.length - 1, Math.max(0, at + by))].focus();
}

form?.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    delete found.dataset.closed;
    step(event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
  } else if (event.key === "Escape" && links().length && !("closed" in found.dataset)) {
    found.dataset.closed = "";
    field.focus();
    event.preventDefault();
  }
});
field?.addEventListener("input", () => {
  delete found.dataset.closed;
  if (!field.value.trim()) found.replaceChildren();
});
