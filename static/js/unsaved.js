// Warns before unsaved text in fields with data-unsaved is lost.
function typed(inside) {
  return [...inside.querySelectorAll("[data-unsaved]")].filter((field) => isRefused(field) || (field.type === "checkbox" ? field.checked !== field.defaultChecked : isOther(field)));
}

// A refused form is shown again with the typed text, which is still unsaved.
function isRefused(field) {
  return field.form?.dataset.refused !== undefined;
}

function isOther(field) {
  if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
  const first = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
  return first !== field.selectedOptions[0];
}

// A form that is being sent is not unsaved.
let sent = null;
document.addEventListener("submit", (event) => { sent = event.target; });
addEventListener("pageshow", () => { sent = null; });
for (const failure of ["htmx:sendError", "htmx:responseError"]) document.addEventListener(failure, () => { sent = null; });
addEventListener("beforeunload", (event) => {
  if (typed(document).some((field) => field.form !== sent)) event.preventDefault();
});

// Replacing a part of the page would discard the text in it.
document.addEventListener("htmx:beforeRequest", (event) => {
  const target = event.detail.target;
  const isLost = event.detail.requestConfig.verb === "get" && target && typed(target).length;
  if (!isLost || confirm("A text that you typed is not kept yet. Go on without it?")) return;
  event.preventDefault();
  event.detail.elt.closest("form")?.reset();
});
