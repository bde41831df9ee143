// Leads on from a link that another site gave, and takes the fragment along.
const link = document.querySelector("a[data-onward]");
if (link) {
  const url = new URL(link.href, location.href);
  // The same address with a fragment would only scroll: one parameter more makes it a new visit.
  if (location.hash) url.searchParams.set("onward", "1");
  url.hash = location.hash;
  location.replace(url);
}
