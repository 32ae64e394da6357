// Runs the checks of one program and reports each to the process that started this one.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import net from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNewest, Stage } from './support.mjs'

/** Milliseconds for one check. */
const PATIENCE = 20_000

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?)$/

const folder = fileURLToPath(new URL('.', import.meta.url))

let current = null
/** Errors between two checks are those of the one before, which has been reported. */
const stray = (error) => {
  if (current === null) console.error(error)
  else current(error)
}
process.on('uncaughtException', stray)
process.on('unhandledRejection', stray)
onlyLoopback()

const [, , name, column] = process.argv
const send = (message) => new Promise((resolve) => process.send(message, resolve))

try {
  const { default: program } = await import(`./programs/${name}.mjs`)
  await send(introduce(program))
  if (program.skip) process.exit()
  for (const [name, check] of Object.entries(program.checks)) {
    await send({ check: name, error: await outcome(check) })
  }
  await send({ end: true })
} catch (error) {
  await send({ broken: describe(error) })
}
process.exit()

/** The package, its version, and the version of the library that it uses. */
function introduce({ package: subject, about, own = false, undici = subject, row = true, skip }) {
  const file = manifest(subject)
  const library = own ? import.meta.resolve('#library') : createRequire(manifest(undici)).resolve('undici')
  const { name: found, version } = ownerOf(library)
  if (found !== column) throw new Error(`the column ${column} runs with ${found}`)
  const { version: release } = JSON.parse(readFileSync(file, 'utf8'))
  return { package: subject, version: release, about, row, library: version, skipped: skip }
}

/** Of the version that `#name` imports, if there are two. */
function manifest(subject) {
  const { imports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const isOfSubject = ([name]) => name === `#${subject}` || name.startsWith(`#${subject}/`)
  const [, targets] = Object.entries(imports).find(isOfSubject) ?? []
  const [name] = (isNewest && targets?.newest.split('/')) || [subject]
  return join(folder, 'node_modules', name, 'package.json')
}

/** The package of a file. */
function ownerOf(place) {
  for (let at = place.startsWith('file:') ? fileURLToPath(place) : place; ; at = dirname(at)) {
    const file = join(at, 'package.json')
    const found = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    if (found.version !== undefined) return found
  }
}

/** Null, or why the check failed. */
async function outcome(check) {
  const stage = new Stage()
  let timer
  try {
    await Promise.race([
      check(stage),
      new Promise((_, reject) => {
        current = (error) => reject(new Error('not caught', { cause: error }))
        timer = setTimeout(reject, PATIENCE, new Error('did not come to its end'))
      }),
    ])
    return null
  } catch (error) {
    return describe(error)
  } finally {
    clearTimeout(timer)
    current = null
    await stage.end()
  }
}

function describe(error) {
  const lines = []
  for (let reason = error; reason !== undefined && reason !== null; reason = reason.cause) {
    const text = reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason)
    lines.push(text.trim())
    if (process.env.VENTUNO_STACKS) lines.push(String(reason.stack))
  }
  return lines.join('\n  because: ')
}

/** A package that reports to its maker must not do so from here. */
function onlyLoopback() {
  const { connect } = net.Socket.prototype
  net.Socket.prototype.connect = function (...words) {
    const [options] = Array.isArray(words[0]) ? words[0] : words
    const host =
      typeof options === 'object' ? (options.path === undefined && options.host) || 'localhost' : null
    if (host !== null && !LOOPBACK.test(host)) {
      process.nextTick(() => this.destroy(new Error(`a connection to ${host} was refused: not on loopback`)))
      return this
    }
    return connect.apply(this, words)
  }
}
