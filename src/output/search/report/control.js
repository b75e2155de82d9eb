const alignments = () => document.querySelectorAll("details");
document.querySelector(".buttons").hidden = false;
document.getElementById("open").onclick = () => alignments().forEach(one => one.open = true);
document.getElementById("close").onclick = () => alignments().forEach(one => one.open = false);
// Unfolds the target of a link.
function unfold() {
  const one = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (one && one.tagName === "DETAILS") {
    one.open = true;
    one.scrollIntoView();
  }
}
addEventListener("hashchange", unfold);
document.addEventListener("click", event => {
  const link = event.target.closest && event.target.closest("a");
  // A second click on the same link does not change the address.
  if (link && link.getAttribute("href") === location.hash) unfold();
});
unfold();
