// The one-time code stands in the address's fragment, which is sent to no server: take it, clear it, post it.
function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  const form = document.querySelector("form[data-code]");
  if (token && form) {
    history.replaceState(null, "", location.pathname + location.search);
    form.elements.code.value = token;
    form.requestSubmit();
  }
}

enter();
// A link that is opened in the window that asks for it changes only the fragment, and loads nothing anew.
addEventListener("hashchange", enter);
