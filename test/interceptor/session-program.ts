/** A program that uses a session: loads a jar, does its steps, and saves the jar. Each step is a line of output. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, CookieJar, fetch, interceptors } from '../../src/index.ts'

const [url, useH2c, file, ...steps] = process.argv.slice(2) as [string, string, string, ...string[]]
const jar = existsSync(file) ? CookieJar.fromJSON(readFileSync(file, 'utf8')) : new CookieJar()
const agent = new Agent({ useH2c: useH2c === 'true' })
const redirecting = agent.compose(
  interceptors.cookies({ jar }),
  interceptors.redirect({ maxRedirections: 5 }),
)
const dispatcher = agent.compose(interceptors.cookies({ jar }))

for (const step of steps) {
  const path = step.slice(step.indexOf(' ') + 1)
  if (step.startsWith('fetch ')) {
    const response = await fetch(`${url}${path}`, { dispatcher })
    console.log(response.status, await response.text())
  } else {
    const { statusCode, body } = await redirecting.request({
      origin: url,
      path,
      method: path === '/login' ? 'POST' : 'GET',
      body: path === '/login' ? 'user=ann' : null,
    })
    console.log(statusCode, await body.text())
  }
}
writeFileSync(file, JSON.stringify(jar))
await agent.close()
