// Keys of the labelling page, and parts of pages that keep themselves up to date.
// Every page works without this script.
"use strict";

const EVERY = 5000;

// 1. Labelling: keys for the buttons, and the time of each answer --------------------------------

const began = performance.now();
const answers = document.querySelector(".keys form");
let sent = false;

function writing() {
  const place = document.activeElement;
  return place !== null && (place.tagName === "TEXTAREA" || place.tagName === "INPUT");
}

function show(id, button) {
  const part = document.getElementById(id);
  part.hidden = !part.hidden;
  button.setAttribute("aria-expanded", String(!part.hidden));
  return !part.hidden;
}

function label() {
  for (const id of ["note-key", "help-key"]) {
    const button = document.getElementById(id);
    if (button !== null) button.hidden = false;
  }
  document.getElementById("note-key")?.addEventListener("click", (event) => {
    if (show("note-box", event.currentTarget)) document.getElementById("note").focus();
  });
  document.getElementById("help-key")?.addEventListener("click", (event) => {
    show("help", event.currentTarget);
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

  answers.addEventListener("submit", (event) => {
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
}

// 2. Parts that keep themselves up to date: data-refresh, every five seconds with an ETag ---------

const tags = new Map();

async function fetched(address) {
  const headers = {};
  if (tags.has(address)) headers["If-None-Match"] = tags.get(address);
  const answer = await fetch(address, { headers, credentials: "same-origin" });
  if (answer.status !== 200) return null;
  const tag = answer.headers.get("ETag");
  if (tag !== null) tags.set(address, tag);
  return answer.text();
}

function busy(part) {
  // Somebody who reads or types there must not be disturbed.
  const place = document.activeElement;
  const chosen = document.getSelection();
  return (
    document.hidden ||
    (place !== null && place !== part && part.contains(place)) ||
    (chosen !== null && !chosen.isCollapsed)
  );
}

function put(part, text) {
  const open = new Set([...part.querySelectorAll("details[open]")].map((one) => one.id));
  const loaded = [...part.querySelectorAll("[data-load]")].map((one) => one.innerHTML);
  part.innerHTML = text; // our own template: everything foreign in it is escaped
  for (const one of part.querySelectorAll("details")) if (open.has(one.id)) one.open = true;
  [...part.querySelectorAll("[data-load]")].forEach((one, k) => {
    if (loaded[k] !== undefined) one.innerHTML = loaded[k];
  });
  load(part);
}

async function refresh(part) {
  if (busy(part)) return;
  try {
    const text = await fetched(part.dataset.refresh);
    if (text !== null && !busy(part)) put(part, text);
  } catch {
    // The service may be away for a moment; the next look tries again.
  }
}

// 3. Parts that come after the page: data-load ----------------------------------------------------

async function load(page) {
  for (const part of page.querySelectorAll("[data-load]")) {
    const address = new URL(part.dataset.load, location.href);
    address.searchParams.set("part", "main");
    try {
      const text = await fetched(address.href);
      if (text !== null) part.innerHTML = text;
    } catch {
      // Its links stay.
    }
  }
}

if (answers !== null) label();
load(document);
for (const part of document.querySelectorAll("[data-refresh]")) {
  setInterval(() => refresh(part), EVERY);
}
