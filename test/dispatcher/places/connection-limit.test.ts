/** Which connections give up their places, and when: the rules alone, with a clock of the test. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { ConnectionLimit } from '../../../src/dispatcher/places/connection-limit.ts'
import { type Claimant, OriginPlaces } from '../../../src/dispatcher/places/origin-places.ts'
import type { Place } from '../../../src/dispatcher/places/place.ts'

const NEVER = Number.POSITIVE_INFINITY

class Clock {
  now = 1000

  constructor(t: TestContext) {
    t.mock.method(globalThis.performance, 'now', () => this.now)
  }
}

/** What origins ask for, and get. */
class Asking implements Claimant {
  place: Place | null = null

  onPlace(place: Place): void {
    this.place = place
  }

  onNoPlace(error: Error): void {
    assert.fail(error)
  }
}

function limitOf(maxConnections: number): ConnectionLimit {
  return new ConnectionLimit({ maxConnections, maxIdleConnections: NEVER, maxConnectionsWait: NEVER })
}

/** Asks for as many places; those that it gets. */
function ask(origin: OriginPlaces, count = 1): readonly Asking[] {
  const all = Array.from({ length: count }, () => new Asking())
  for (const one of all) origin.ask(one)
  return all
}

describe('which connections give up their places', () => {
  test('one whose turn is over, and sooner if its origin has more than its share', (t) => {
    const clock = new Clock(t)
    const limit = limitOf(3)
    const [many, few, none] = [new OriginPlaces(limit), new OriginPlaces(limit), new OriginPlaces(limit)]
    const two = ask(many, 2)
    const [one] = ask(few)
    clock.now += 1000
    assert.equal(two[0]!.place!.mustYield(0), false)
    const again = ask(few, 1)
    assert.equal(one!.place!.mustYield(0), false)
    const [waiting] = ask(none)
    // Its other connect waits, too, but it has its share.
    assert.equal(two[0]!.place!.mustYield(0), true)
    assert.equal(two[1]!.place!.mustYield(0), false)
    assert.equal(waiting!.place, null)
    two[0]!.place!.release()
    // The line is the order in which they asked.
    assert.ok(again[0]!.place)
    assert.equal(waiting!.place, null)
    clock.now += 99
    assert.equal(again[0]!.place!.mustYield(0), false)
    clock.now += 1
    assert.equal(again[0]!.place!.mustYield(0), true)
    again[0]!.place!.release()
    assert.ok(waiting!.place)
  })

  test('one of an origin with no more than its share after a turn of twice the length', (t) => {
    const clock = new Clock(t)
    const limit = limitOf(1)
    const [first] = ask(new OriginPlaces(limit))
    const [second] = ask(new OriginPlaces(limit))
    clock.now += 199
    assert.equal(first!.place!.mustYield(0), false)
    clock.now += 1
    assert.equal(first!.place!.mustYield(0), true)
    first!.place!.release()
    assert.ok(second!.place)
    clock.now += 1000
    assert.equal(second!.place!.mustYield(0), false)
  })

  test('none for another connect of its own origin', (t) => {
    const clock = new Clock(t)
    const limit = limitOf(1)
    const own = new OriginPlaces(limit)
    const [first] = ask(own, 2)
    clock.now += 1000
    assert.equal(first!.place!.mustYield(0), false)
  })

  test('one for each origin that waits; one that is slow to finish counts for a turn', (t) => {
    const clock = new Clock(t)
    const limit = limitOf(3)
    const places = ask(new OriginPlaces(limit), 3).map(({ place }) => place!)
    ask(new OriginPlaces(limit))
    clock.now += 1000
    assert.equal(places[0]!.mustYield(5), true)
    assert.equal(places[0]!.state, 'draining')
    assert.equal(places[1]!.mustYield(0), false)
    clock.now += 100
    assert.equal(places[1]!.mustYield(0), true)
    assert.equal(places[1]!.state, 'closing')
    clock.now += 1000
    assert.equal(places[2]!.mustYield(0), false)
  })

  test('an idle one at once, but no more than are needed', () => {
    const limit = limitOf(3)
    const closed: number[] = []
    const places = ask(new OriginPlaces(limit), 3).map(({ place }, index) => {
      place!.connection = { retire: () => void closed.push(index), onBroken: assert.fail }
      return place!
    })
    for (const index of [2, 0, 1]) places[index]!.onIdle()
    places[2]!.onBusy()
    const [first] = ask(new OriginPlaces(limit))
    assert.deepEqual(closed, [0])
    assert.equal(first!.place, null)
    const [second] = ask(new OriginPlaces(limit))
    assert.deepEqual(closed, [0, 1])
    places[1]!.release()
    assert.ok(first!.place)
    places[0]!.release()
    assert.ok(second!.place)
    // Nothing happens twice.
    places[0]!.release()
    places[0]!.onIdle()
    ask(new OriginPlaces(limit))
    assert.deepEqual(closed, [0, 1])
  })

  test('one that cannot be closed ends itself', () => {
    const limit = limitOf(1)
    const [first] = ask(new OriginPlaces(limit))
    const thrown = new Error('of a Duplex')
    const broken: Error[] = []
    first!.place!.connection = {
      retire: () => {
        throw thrown
      },
      onBroken: (error) => void broken.push(error),
    }
    first!.place!.onIdle()
    ask(new OriginPlaces(limit))
    assert.deepEqual(broken, [thrown])
  })
})
