// The one-time code stands in the address's fragment, which is sent to no server: take it, clear it, post it.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const form = document.querySelector("form[data-code]");
if (token && form) {
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.code.value = token;
  form.requestSubmit();
}
