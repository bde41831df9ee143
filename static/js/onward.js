// Redirects after a link from another site, and keeps the fragment.
const link = document.querySelector("a[data-onward]");
if (link) {
  const url = new URL(link.href, location.href);
  // The same address with a fragment would only scroll; an extra parameter makes it load.
  if (location.hash) url.searchParams.set("onward", "1");
  url.hash = location.hash;
  location.replace(url);
}
