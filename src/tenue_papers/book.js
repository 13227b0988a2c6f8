"use strict";
const field = document.getElementById("search");
const items = [...document.querySelectorAll(".exhibit")];
const nothing = document.getElementById("nothing");
function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const item of items) {
    const fits = words.every((word) => item.dataset.text.includes(word));
    item.hidden = !fits;
    found += fits;
  }
  for (const part of document.querySelectorAll("main > section:not(.exhibit)"))
    part.hidden = !part.querySelector(".exhibit:not([hidden])");
  if (nothing) nothing.hidden = found > 0;
}
field.addEventListener("input", search);
const closed = () => [...document.querySelectorAll("details")];
window.addEventListener("beforeprint", () => closed().forEach((one) => (one.open = true)));
