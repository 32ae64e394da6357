// Finds what esbuild writes into a bundle beside the code of the sources, so that it can be deleted again. It reads the
// syntax tree: text that only looks like a name may be part of a string or a regular expression.
import { parse } from 'acorn'

/**
 * The ranges to delete:
 * - The underscore of `Client = class _Client`, which esbuild writes for a class that refers to itself, and of the
 *   references to it: otherwise `Client.name` differs from the source.
 * - Line breaks within strings. A bundler that indents the code it wraps, as Rollup does, puts its tabs into the string.
 */
export function esbuildMarks(code) {
  const marks = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    if (node.type === 'VariableDeclarator') marks.push(...underscores(node))
    else if (node.type === 'Literal' && typeof node.value === 'string') marks.push(...lineBreaks(node, code))
    else if (node.type === 'TemplateElement') marks.push(...lineBreaks(node, code))
  })
  return marks.sort((a, b) => a.start - b.start)
}

function underscores({ id: variable, init }) {
  if (init?.type !== 'ClassExpression' || !init.id?.name.startsWith('_')) return []
  const inner = init.id.name
  const name = inner.slice(1)
  // If another class has the name, the variable ends in a number.
  if (variable.name.replace(/\d+$/, '') !== name && variable.name !== name) return []
  const marks = []
  visit(init, (node, parent) => {
    if (node.type !== 'Identifier' || isKey(node, parent)) return
    if (node.name === name) throw new Error(`class ${inner} uses another ${name}`)
    if (node.name === inner) marks.push({ start: node.start, end: node.start + 1 })
  })
  return marks
}

/** Whether an identifier is the name of a property, and not a reference. */
function isKey(node, { type, key, property, computed, shorthand }) {
  if (computed) return false
  if (type === 'MemberExpression') return property === node
  if (type === 'Property' && shorthand) return false
  return (type === 'Property' || type === 'MethodDefinition' || type === 'PropertyDefinition') && key === node
}

/** Backslashes before the end of a line; any other backslash belongs to the character after it. */
function lineBreaks({ start, end }, code) {
  const marks = []
  for (let at = code.indexOf('\\', start); at !== -1 && at < end; at = code.indexOf('\\', at + 2)) {
    if (code[at + 1] === '\n') marks.push({ start: at, end: at + 2 })
  }
  return marks
}

function visit(node, see, parent = null) {
  see(node, parent)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') visit(child, see, node)
    }
  }
}
