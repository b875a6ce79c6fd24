// Copies commands, opens what a link leads into, and takes "/" to the search. The pages read well without it.
"use strict";

function copied(button, text) {
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  if (navigator.clipboard) {
    navigator.clipboard.writeText(text).then(done, () => selected(text, done));
  } else {
    selected(text, done);
  }
}

function selected(text, done) { // where the clipboard is not to be had
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  if (document.execCommand("copy")) done();
  field.remove();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const next = "copyNext" in button.dataset && button.closest("section").querySelector("pre");
  copied(button, next ? next.textContent : button.dataset.copy);
});

function opened() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const within = target.matches(".call") && target.querySelector("details");
  if (within) within.open = true;
  target.scrollIntoView({ block: target.tagName === "MARK" ? "center" : "start" });
}
addEventListener("hashchange", opened);
opened();

document.addEventListener("keydown", (event) => {
  const field = document.querySelector("#words, #find");
  if (event.key === "/" && field && !event.ctrlKey && !event.metaKey && !event.target.closest("input, select, textarea")) {
    event.preventDefault();
    field.focus();
  }
});
