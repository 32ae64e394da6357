// Shows the page's own entry in the list of pages, which can be longer than the window.
const list = document.getElementById('navigation')
const entry = list.querySelector('[aria-current]')

/** Without `scrollIntoView()`, after which the Tab key would begin there. */
function reveal() {
  if (entry === null || entry.offsetTop + entry.offsetHeight <= list.clientHeight) return
  list.scrollTop = entry.offsetTop - list.clientHeight / 2
}

reveal()
// On a phone the list has no places before it is opened.
list.addEventListener('toggle', reveal)
