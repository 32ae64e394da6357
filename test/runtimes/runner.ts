/**
 * The part of `node:test` that the tests use, for runtimes whose own is incomplete. Tests run one after the other.
 * Each result is one line of JSON on stdout; `scripts/test-runtimes.mjs` reads them.
 */
import { inspect } from 'node:util'
import { ALL, exceptionFor } from './exceptions.ts'

type Body = (t: Context) => unknown
type Hook = (t: Context) => unknown

interface Options {
  readonly skip?: boolean | string | undefined
  readonly timeout?: number | undefined
}

/** The clock of the runtime, also while a test replaces it. */
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis

/** Milliseconds for a test or a hook without a limit of its own. */
const PATIENCE = Number(process.env['VENTUNO_TEST_TIMEOUT'] ?? 20_000)

/** Only tests whose full name contains this text. */
const ONLY = process.env['VENTUNO_ONLY'] ?? ''

const file = process.env['VENTUNO_TEST_FILE'] ?? ''

class Suite {
  readonly name: string
  readonly skip: boolean | string
  readonly before: Hook[] = []
  readonly after: Hook[] = []
  readonly beforeEach: Hook[] = []
  readonly afterEach: Hook[] = []
  readonly parent: Suite | null
  readonly members: (Suite | Case)[] = []

  constructor(name: string, skip: boolean | string, parent: Suite | null) {
    this.name = name
    this.skip = skip
    this.parent = parent
  }
}

interface Case {
  readonly name: string
  readonly options: Options
  readonly body: Body
  readonly done: (passed: void) => void
}

interface MockedFunction {
  (...args: unknown[]): unknown
  mock: { calls: { arguments: unknown[]; this: unknown }[]; callCount(): number; restore(): void }
}

export class MockTracker {
  readonly #restore: (() => void)[] = []

  fn(original: (...args: never) => unknown = () => undefined, replacement = original): MockedFunction {
    return mocked(replacement, () => {})
  }

  method(
    target: object,
    name: PropertyKey,
    replacement?: ((...args: never) => unknown) | { times?: number },
  ): MockedFunction {
    const own = Reflect.getOwnPropertyDescriptor(target, name)
    const original = Reflect.get(target, name) as (...args: never) => unknown
    let restored = false
    const restore = (): void => {
      if (restored) return
      restored = true
      if (own === undefined) Reflect.deleteProperty(target, name)
      else Reflect.defineProperty(target, name, own)
    }
    const run = typeof replacement === 'function' ? replacement : original
    const value = mocked(run, restore)
    Reflect.defineProperty(target, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: own?.enumerable ?? true,
    })
    this.#restore.push(restore)
    return value
  }

  restoreAll(): void {
    for (const restore of this.#restore.splice(0).reverse()) restore()
  }
}

function mocked(run: (...args: never) => unknown, restore: () => void): MockedFunction {
  const calls: { arguments: unknown[]; this: unknown }[] = []
  const call = function (this: unknown, ...args: unknown[]): unknown {
    calls.push({ arguments: args, this: this })
    return Reflect.apply(run, this, args)
  }
  return Object.assign(call, { mock: { calls, callCount: () => calls.length, restore } })
}

class Skipped {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export class Context {
  readonly name: string
  readonly mock: MockTracker = new MockTracker()
  readonly #ended = new AbortController()
  readonly #after: Hook[] = []
  skipped: Skipped | null = null

  constructor(name: string) {
    this.name = name
  }

  get fullName(): string {
    return this.name
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  after(hook: Hook): void {
    this.#after.push(hook)
  }

  skip(reason = 'skipped'): void {
    this.skipped = new Skipped(reason)
  }

  diagnostic(): void {}

  /** Subtests run at once, inside the test. */
  async test(name: string, options: Options | Body, body?: Body): Promise<void> {
    const made = toCase(name, options, body)
    await runCase(made, `${this.name} > ${name}`, [], [])
  }

  /** Runs every hook, and throws the first error of one. */
  async end(): Promise<void> {
    this.#ended.abort()
    const errors: unknown[] = []
    for (const hook of this.#after) await limited(() => hook(this), PATIENCE).catch((e) => errors.push(e))
    this.mock.restoreAll()
    if (errors.length > 0) throw errors[0]
  }
}

const root = new Suite('', false, null)
let current = root
let running = false
let blame: ((error: unknown) => void) | null = null
const counts = { pass: 0, fail: 0, skip: 0 }

function toCase(name: string, options: Options | Body, body?: Body): Case {
  const run = typeof options === 'function' ? options : (body ?? (() => {}))
  return { name, options: typeof options === 'function' ? {} : options, body: run, done: () => {} }
}

export function test(name: string, options: Options | Body, body?: Body): Promise<void> {
  return new Promise((done) => {
    current.members.push({ ...toCase(name, options, body), done })
    start()
  })
}
test.skip = (name: string, ..._rest: unknown[]): Promise<void> => test(name, { skip: true }, () => {})
test.todo = test.skip

export function describe(name: string, options: Options | (() => void), body?: () => void): void {
  const define = typeof options === 'function' ? options : body!
  const suite = new Suite(name, (typeof options === 'function' ? false : options.skip) ?? false, current)
  current.members.push(suite)
  const outer = current
  current = suite
  try {
    define()
  } finally {
    current = outer
  }
  start()
}

export const it: typeof test = test
export const suite: typeof describe = describe
export const mock: MockTracker = new MockTracker()
export const before = (hook: Hook): number => current.before.push(hook)
export const after = (hook: Hook): number => current.after.push(hook)
export const beforeEach = (hook: Hook): number => current.beforeEach.push(hook)
export const afterEach = (hook: Hook): number => current.afterEach.push(hook)
export default Object.assign(test, { test, describe, it, suite, mock, before, after, beforeEach, afterEach })

function start(): void {
  if (running) return
  running = true
  process.on('uncaughtException', (error) => (blame ?? crash)(error))
  process.on('unhandledRejection', (error) => (blame ?? crash)(error))
  // A module may define its tests in several turns: the file has ended once nothing else is defined.
  setImmediate(() => void runSuite(root, '').then(finish, crash))
}

function finish(): void {
  print({ end: counts })
  process.exit(counts.fail === 0 ? 0 : 1)
}

function crash(error: unknown): void {
  counts.fail++
  print({ name: '(outside of every test)', failed: inspect(error) })
  finish()
}

function print(line: object): void {
  process.stdout.write(`\u0001${JSON.stringify(line)}\n`)
}

async function runSuite(suite: Suite, path: string): Promise<void> {
  if (suite.skip) {
    print({ name: path, skipped: String(suite.skip) })
    counts.skip++
    return
  }
  const context = new Context(path)
  for (const hook of suite.before) await limited(() => hook(context), PATIENCE)
  for (let i = 0; i < suite.members.length; i++) {
    const member = suite.members[i]!
    const name = path === '' ? member.name : `${path} > ${member.name}`
    if (member instanceof Suite) await runSuite(member, name)
    else await runCase(member, name, hooks(suite, 'beforeEach').reverse(), hooks(suite, 'afterEach'))
  }
  for (const hook of suite.after) await limited(() => hook(context), PATIENCE)
  await context.end()
}

/** The hooks of a suite and of those around it. */
function hooks(suite: Suite, kind: 'beforeEach' | 'afterEach'): Hook[] {
  return [...suite[kind], ...(suite.parent === null ? [] : hooks(suite.parent, kind))]
}

async function runCase(one: Case, name: string, first: Hook[], last: Hook[]): Promise<void> {
  if (!name.includes(ONLY)) return
  const exception = exceptionFor(file, name)
  const skip = one.options.skip || (exception !== null && !ALL && exception)
  if (skip) {
    counts.skip++
    const row = exception === null ? null : { excepted: exception }
    print({ name, skipped: String(skip), ...row })
    return one.done()
  }
  const context = new Context(name)
  const errors: unknown[] = []
  const keep = (error: unknown): number => errors.push(error)
  const start = Date.now()
  blame = keep
  for (const hook of first) await limited(() => hook(context), PATIENCE).catch(keep)
  await limited(() => one.body(context), one.options.timeout ?? PATIENCE).catch(keep)
  for (const hook of last) await limited(() => hook(context), PATIENCE).catch(keep)
  await context.end().catch(keep)
  // What the test left behind rejects now, not in the next test.
  await new Promise((resolve) => setImmediate(resolve))
  blame = null
  const ms = Date.now() - start
  const row = exception === null ? null : { excepted: exception }
  if (errors.length > 0) {
    counts.fail++
    print({ name, failed: errors.map((error) => inspect(error)).join('\n'), ms, ...row })
  } else if (context.skipped !== null) {
    counts.skip++
    print({ name, skipped: context.skipped.reason })
  } else {
    counts.pass++
    print({ name, ms, ...row })
  }
  one.done()
}

/** Rejects if the function has not ended in time. */
function limited(run: () => unknown, milliseconds: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_resolve, reject) => {
    timer = startTimer(() => reject(new Error(`not finished after ${milliseconds} ms`)), milliseconds)
  })
  const result = new Promise((resolve) => resolve(run()))
  return Promise.race([result, late]).finally(() => stopTimer(timer))
}
