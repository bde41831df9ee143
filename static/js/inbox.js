// "Select all" without a page load, and the number of selected items. Without JavaScript the link loads the page with all
// boxes ticked.
const boxes = () => [...document.querySelectorAll('.waiting input[name="proposal"]')];

function tell() {
  const place = document.querySelector("[data-selected]");
  if (!place) return;
  const count = boxes().filter((box) => box.checked).length;
  place.textContent = count ? `${count} selected` : "";
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-select-all]");
  if (!link) return;
  event.preventDefault();
  const all = boxes();
  const isAll = all.every((box) => box.checked);
  for (const box of all) box.checked = !isAll;
  tell();
});
document.addEventListener("change", tell);
document.addEventListener("htmx:afterSwap", tell);
tell();
