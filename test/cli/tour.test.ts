import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Origin, WAYS } from '../../scripts/tour/origin.ts'
import { Stage } from '../../scripts/tour/stage.ts'
import { tour } from '../../scripts/tour/tour.ts'
import { type Output, TextLayout } from '../../src/cli/text-layout.ts'
import { Screen } from './origin.ts'

test('the tour runs through', async () => {
  const screen = new Screen()
  assert.equal(await tour(screen as Output, {}), 0, screen.text)
  for (const { name } of WAYS) assert.ok(screen.text.includes(`\n${name} `))
  for (const step of [
    'request',
    'stream',
    'pipeline',
    'trailers',
    'cookies',
    'interceptors',
    'upgrade',
    'abort',
    'timeout',
    'a loss',
  ]) {
    assert.equal(screen.text.split(`\n  ${step} `).length - 1, WAYS.length, step)
  }
  assert.match(screen.text, /· connect · disconnect: other side closed/)
  assert.ok(screen.text.endsWith('\nEvery step did what it says.\n'))
  for (const line of screen.text.split('\n')) assert.ok([...line].length <= 80, line)
})

test('a step that does not do what it says is shown, and counted', async () => {
  const screen = new Screen()
  const stage = new Stage(screen as Output, new TextLayout(80, false))
  const origin = await Origin.start(WAYS[0]!)
  const client = origin.client()
  await stage.step('wrong', async () => {
    const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
    await body.dump()
    assert.equal(statusCode, 500)
    return { sent: 'GET /', received: String(statusCode) }
  })
  await client.close()
  await origin.close()
  assert.equal(stage.failures, 1)
  assert.match(screen.text, /^ {2}wrong +→ \n +← FAILED: AssertionError/)
})
