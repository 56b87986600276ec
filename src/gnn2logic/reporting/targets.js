"use strict";
const pages = JSON.parse(document.getElementById("pages").textContent);
const picker = document.getElementById("target");
function show() {
  document.getElementById("page").srcdoc = pages[picker.selectedIndex];
}
picker.addEventListener("change", show);
show();
