// The one-time code is in the fragment of the address, which browsers do not send: take it, clear it, post it.
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
// Opening the link in the window of the login page changes only the fragment and does not load a page.
addEventListener("hashchange", enter);
