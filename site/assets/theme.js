// Remembers which colours were chosen. Choosing works without it: the rules look at the buttons themselves.
const KEY = 'ventuno-theme'

function remembered() {
  try {
    return localStorage.getItem(KEY)
  } catch {
    // Some browsers keep nothing for pages from a folder.
    return null
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // As above.
  }
}

// Before the page is painted, so that it does not flash.
const theme = remembered()
if (theme !== null) document.documentElement.dataset.theme = theme

addEventListener('DOMContentLoaded', () => {
  const chosen = document.getElementById(`theme-${theme}`)
  if (chosen !== null) chosen.checked = true
  document.querySelector('.theme').addEventListener('change', ({ target }) => {
    document.documentElement.dataset.theme = target.value
    remember(target.value)
  })
})
