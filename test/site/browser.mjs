// A real browser for the tests of the site: Chromium without a window, driven through a pipe with its DevTools protocol.
// It resolves no name, so that nothing it does leaves the machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FLAGS = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--hide-scrollbars',
  '--no-first-run',
  // Chromium refuses to run as root with its sandbox. It only gets pages of this project.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

const KEYS = {
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Escape: { key: 'Escape', code: 'Escape', windowsVirtualKeyCode: 27 },
  ArrowDown: { key: 'ArrowDown', code: 'ArrowDown', windowsVirtualKeyCode: 40 },
}

export class Browser {
  #process
  #profile = mkdtempSync(join(tmpdir(), 'ventuno-browser-'))
  #calls = new Map()
  #listeners = new Set()
  #number = 0
  #rest = ''

  constructor(program) {
    this.#process = spawn(program, [...FLAGS, `--user-data-dir=${this.#profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    this.#process.on('exit', () => {
      for (const { reject } of this.#calls.values()) reject(new Error('the browser has ended'))
    })
    this.#process.stdio[4].setEncoding('utf8').on('data', (text) => {
      const messages = (this.#rest + text).split('\0')
      this.#rest = messages.pop()
      for (const message of messages) this.#receive(JSON.parse(message))
    })
  }

  #receive({ id, result, error, method, params, sessionId }) {
    if (id === undefined) {
      for (const listener of this.#listeners) listener(method, params, sessionId)
      return
    }
    const { resolve, reject } = this.#calls.get(id)
    this.#calls.delete(id)
    if (error === undefined) resolve(result)
    else reject(new Error(error.message))
  }

  call(method, params = {}, sessionId) {
    const id = ++this.#number
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }))
  }

  listen(listener) {
    this.#listeners.add(listener)
  }

  async newPage() {
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true })
    const page = new Page(this, sessionId)
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.call(`${domain}.enable`)
    return page
  }

  async close() {
    const ended = once(this.#process, 'exit')
    this.call('Browser.close').catch(() => {})
    await ended
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

class Page {
  /** Every URL that was asked for. */
  requests = []
  /** What the console would show as an error or a warning. */
  complaints = []
  #browser
  #session
  #loaded = () => {}

  constructor(browser, session) {
    this.#browser = browser
    this.#session = session
    browser.listen((method, params, from) => {
      if (from !== session) return
      if (method === 'Page.loadEventFired') this.#loaded()
      else if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url)
      else if (method === 'Log.entryAdded') this.complaints.push(params.entry.text)
      else if (method === 'Runtime.consoleAPICalled') this.complaints.push(JSON.stringify(params.args))
      else if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.text)
    })
  }

  call(method, params) {
    return this.#browser.call(method, params, this.#session)
  }

  /** Waits for the page to which the action leads. */
  async loads(action) {
    const loaded = new Promise((resolve) => {
      this.#loaded = resolve
    })
    await action()
    await loaded
  }

  open(url) {
    return this.loads(() => this.call('Page.navigate', { url }))
  }

  /** Runs a function in the page, with arguments that JSON can hold, and awaits its result. */
  async run(code, ...args) {
    const expression = `(${code})(...${JSON.stringify(args)})`
    const options = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', options)
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception.description)
    return result.value
  }

  /** Waits until an element is there. */
  appears(selector) {
    return this.run(async (wanted) => {
      while (document.querySelector(wanted) === null) await new Promise(requestAnimationFrame)
    }, selector)
  }

  async press(name) {
    const key = KEYS[name]
    await this.call('Input.dispatchKeyEvent', { type: 'keyDown', ...key })
    await this.call('Input.dispatchKeyEvent', { type: 'keyUp', ...key })
  }

  type(text) {
    return this.call('Input.insertText', { text })
  }

  resize(width, height, mobile = false) {
    const deviceScaleFactor = mobile ? 2 : 1
    return this.call('Emulation.setDeviceMetricsOverride', { width, height, mobile, deviceScaleFactor })
  }

  prefer(scheme, media = 'screen') {
    return this.call('Emulation.setEmulatedMedia', {
      media,
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    })
  }

  withoutScripts(value) {
    return this.call('Emulation.setScriptExecutionDisabled', { value })
  }

  async screenshot(file) {
    const { data } = await this.call('Page.captureScreenshot', { format: 'png' })
    writeFileSync(file, Buffer.from(data, 'base64'))
  }
}
