import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { replayOf } from '../../src/relay/replay.ts'
import { CollectedParts, Dispenser } from '../support/old-streams.ts'

describe('whether a body can be sent again', () => {
  test('values always can', () => {
    for (const body of [null, undefined, 'text', Buffer.from('bytes'), new Blob(['blob']), ['array']]) {
      assert.equal(replayOf(body), 'always')
    }
  })

  test('what begins once can only before it was read', async () => {
    async function* generator(): AsyncGenerator<string> {
      yield 'piece'
    }
    assert.equal(replayOf(generator()), 'unread')
    const stream = Readable.from(['piece'])
    assert.equal(replayOf(stream), 'unread')
    await stream.toArray()
    assert.equal(replayOf(stream), 'spent')
    const web = new Blob(['web']).stream()
    assert.equal(replayOf(web), 'unread')
    web.getReader()
    assert.equal(replayOf(web), 'spent')
  })

  test('a stream of older make never can: it does not know whether it was read', () => {
    assert.equal(replayOf(new CollectedParts(['part'])), 'spent')
    assert.equal(replayOf(new Dispenser([Buffer.from('part')])), 'spent')
  })
})
