// What is measured inside of a page. These functions run in the browser: they see nothing of this module.

/** Texts with too little contrast, by the rule of WCAG 2 AA: 4.5, or 3 if they are large. */
export function paleTexts() {
  const pale = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim()
    const element = walker.currentNode.parentElement
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const style = getComputedStyle(element)
    const isDrawn = element instanceof SVGElement
    const back = backOf(element)
    const ratio = contrast(over(colourOf(isDrawn ? style.fill : style.color), back), back)
    const size = Number.parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) pale.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`)
  }
  return pale

  function backOf(element) {
    const layers = []
    for (let at = element; at !== null; at = at.parentElement)
      layers.push(colourOf(getComputedStyle(at).backgroundColor))
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1])
  }

  function colourOf(text) {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number)
    return text.startsWith('color(') ? [r * 255, g * 255, b * 255, a] : [r, g, b, a]
  }

  function over([r, g, b, a], [r2, g2, b2]) {
    return [r * a + r2 * (1 - a), g * a + g2 * (1 - a), b * a + b2 * (1 - a), 1]
  }

  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (high + 0.05) / (low + 0.05)
  }

  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
}

/** How much wider the page is than the window. */
export function overhang() {
  return document.documentElement.scrollWidth - document.documentElement.clientWidth
}

/** The beginnings of the elements that have to be scrolled sideways. */
export function wide(selector) {
  return [...document.querySelectorAll(selector)]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent.trim().slice(0, 40))
}

/** Whether the first element of each selector is shown. */
export function shown(...selectors) {
  return selectors.map((selector) => document.querySelector(selector).checkVisibility())
}

/** The element with the focus: what it is, whether it is in the window, and whether one sees that it has the focus. */
export function focused() {
  const element = document.activeElement
  // The buttons of the theme are invisible themselves: the text beside them shows their focus.
  const shown = element.matches('.theme input') ? element.nextElementSibling : element
  const { left, top, right, bottom } = shown.getBoundingClientRect()
  return {
    name: `${element.tagName.toLowerCase()} ${element.id || element.textContent.trim().slice(0, 30)}`,
    isInWindow: right > 0 && bottom > 0 && left < innerWidth && top < innerHeight,
    isMarked: getComputedStyle(shown).outlineStyle !== 'none',
  }
}
