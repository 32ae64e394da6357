/** The short form of `npm run test:unread`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overEachWire } from '../support/wire.ts'
import { CarelessRun, HABITS } from './careless-run.ts'
import { Random } from './random.ts'

const REQUESTS = 60

overEachWire('a program that leaves every second body unread', (wire) => {
  for (const habit of HABITS) {
    test(`lives and leaves no connection: ${habit}`, async () => {
      const { problems } = await new CarelessRun(wire, habit, new Random(21)).run(REQUESTS)
      assert.deepEqual(problems, [])
    })
  }
})
