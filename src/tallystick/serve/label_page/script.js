// Keys for the buttons, and the time of each answer. The page works without this script.
"use strict";

const began = performance.now();
const form = document.querySelector(".keys form");
const note = document.getElementById("note-box");
let sent = false;

function writing() {
  const place = document.activeElement;
  return place !== null && (place.tagName === "TEXTAREA" || place.id === "grade");
}

for (const id of ["note-key", "help-key"]) {
  const button = document.getElementById(id);
  if (button !== null) button.hidden = false;
}

document.getElementById("note-key")?.addEventListener("click", () => {
  note.hidden = !note.hidden;
  if (!note.hidden) document.getElementById("note").focus();
});

document.getElementById("help-key")?.addEventListener("click", () => {
  const help = document.getElementById("help");
  help.hidden = !help.hidden;
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && writing()) {
    document.activeElement.blur();
    return;
  }
  if (writing() || event.repeat) return;
  for (const button of document.querySelectorAll("button[data-key]")) {
    if (button.dataset.key !== "" && button.dataset.key === event.key) {
      event.preventDefault();
      button.click();
      return;
    }
  }
});

form.addEventListener("submit", (event) => {
  // A key pressed twice would answer the next item unseen.
  if (sent) {
    event.preventDefault();
    return;
  }
  sent = true;
  document.getElementById("seconds").value = ((performance.now() - began) / 1000).toFixed(1);
});

// A page that comes back from the browser's memory shows an item that may be answered already.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
