// Sort a table by a click on its heading, search it, show one kind of item, open folds for printing.
"use strict";
const value = (row, place) => {
  const cell = row.cells[place];
  return !cell ? "" : "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim();
};
const order = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b
  : typeof a === "number" ? -1 : typeof b === "number" ? 1
  : a.localeCompare(b, undefined, { numeric: true });
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], rows = [...body.rows];
  if (rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = [...body.rows].sort((a, b) => order(value(a, place), value(b, place)));
      body.append(...(down ? sorted.reverse() : sorted));
    });
  });
  if (rows.length < 10) continue;
  const find = document.createElement("input");
  find.type = "search";
  find.placeholder = "Filter rows";
  find.setAttribute("aria-label", "Filter rows");
  find.className = "find";
  find.addEventListener("input", () => {
    const word = find.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(word);
  });
  table.parentElement.before(find);
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
});
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest("details");
  if (fold) fold.open = true;
};
addEventListener("hashchange", reveal);
reveal();
