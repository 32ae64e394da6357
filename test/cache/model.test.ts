/**
 * Random requests, clock steps and changes at the origin; a judge says whether each response that came from the cache
 * was allowed. `CACHE_MODEL_STEPS` sets the number of steps, `CACHE_MODEL_SEED` the seed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import { type Asked, forbidden, ODD_MEMBERS, type Sent } from './model.ts'
import { type Answer, cached, installDate, settle } from './support.ts'

const STEPS = Number(process.env['CACHE_MODEL_STEPS'] ?? 2000)
const SEED = Number(process.env['CACHE_MODEL_SEED'] ?? 1)

function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

for (const collapse of [false, true]) {
  test(`${STEPS} steps${collapse ? ', collapsed' : ''}: nothing is served that RFC 9111 forbids`, async (t) => {
    const clock = installDate(t)
    const pick = random(SEED)
    const one = <T>(list: readonly T[]): T => list[pick(list.length)]!
    const sent: Sent[] = []
    const made = new Set<number>()
    /** Responses since the last change, by URL. */
    const live = new Map<string, Sent[]>()
    let down = false
    // The same for all responses of a step: of two confirmations at one time the cache keeps one.
    let stepAge = 0
    let hits = 0
    let confirmations = 0
    const store = new MemoryCacheStore({ maxCount: 40 })

    const invalidate = (url: string): void => {
      for (const old of live.get(url) ?? []) old.invalidated = true
      live.delete(url)
    }

    const origin = cached(
      ({ method, path: target, headers }): Answer => {
        const path = `${headers['host'] ?? ''}${target}`
        if (method === 'POST') {
          const status = one([200, 204, 303, 400, 500])
          if (status < 400) invalidate(path)
          return { status }
        }
        if (down)
          return one([
            { status: 503, body: 'down' },
            { error: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) },
          ])
        const age = stepAge
        const validator = headers['if-none-match']
        const known = typeof validator === 'string' ? sent[Number(validator.slice(1, -1))] : undefined
        if (known !== undefined && pick(3) > 0) {
          known.confirmed = { at: clock.now, age }
          confirmations++
          return { status: 304, headers: { age: String(age), ...(pick(2) === 0 && { etag: known.etag! }) } }
        }
        const flags = new Set<string>()
        for (const flag of [
          'no-store',
          'private',
          'no-cache',
          'must-revalidate',
          'proxy-revalidate',
          'public',
          'immutable',
        ]) {
          if (pick(10) === 0) flags.add(flag)
        }
        const response: Sent = {
          id: sent.length,
          url: path,
          at: clock.now,
          maxAge: one([null, 0, 5, 5, 20]),
          sMaxAge: one([null, null, null, 10]),
          age,
          flags,
          odd: pick(6) === 0 ? one(ODD_MEMBERS) : '',
          swr: one([0, 0, 10]),
          sie: one([0, 0, 30]),
          etag: pick(2) === 0 ? `"${sent.length}"` : null,
          accept: (headers['accept'] as string | undefined) ?? '',
          varies: pick(3) === 0,
          setsCookie: pick(12) === 0,
          authorized: headers['authorization'] !== undefined,
          confirmed: { at: clock.now, age },
          invalidated: false,
        }
        sent.push(response)
        if (!live.get(path)?.push(response)) live.set(path, [response])
        made.add(response.id)
        const control = [...flags]
        if (response.odd !== '') control.splice(pick(control.length + 1), 0, response.odd)
        if (response.maxAge !== null) control.push(`max-age=${response.maxAge}`)
        if (response.sMaxAge !== null) control.push(`s-maxage=${response.sMaxAge}`)
        if (response.swr > 0) control.push(`stale-while-revalidate=${response.swr}`)
        if (response.sie > 0) control.push(`stale-if-error=${response.sie}`)
        return {
          headers: {
            'cache-control': control.join(', '),
            id: String(response.id),
            age: String(age),
            ...(response.etag !== null && { etag: response.etag }),
            ...(response.varies && { vary: 'accept' }),
            ...(response.setsCookie && { 'set-cookie': 'a=b' }),
          },
          body: `body ${response.id}`,
        }
      },
      { store, collapse },
    )

    for (let step = 0; step < STEPS; step++) {
      const what = pick(20)
      stepAge = one([0, 0, 3])
      if (what < 6) clock.advance(one([1, 500, 2000, 6000, 15_000]))
      if (what === 6) down = !down && pick(2) === 0
      const path = `/${pick(4)}`
      const host: Record<string, string> = pick(3) === 0 ? { host: 'v.test' } : {}
      const url = `${host['host'] ?? ''}${path}`
      if (what === 7) {
        await origin.get(path, host, { method: 'POST' })
        continue
      }
      const accept = one(['a', 'b'])
      const flags = new Set(pick(12) === 0 ? ['no-cache'] : [])
      const control: Asked['control'] = {
        flags,
        ...(pick(10) === 0 && { maxAge: one([0, 3]) }),
        ...(pick(12) === 0 && { minFresh: 4 }),
        ...(pick(10) === 0 && { maxStale: one([2, 1000]) }),
      }
      const text = [...flags]
      if (control.maxAge !== undefined) text.push(`max-age=${control.maxAge}`)
      if (control.minFresh !== undefined) text.push(`min-fresh=${control.minFresh}`)
      if (control.maxStale !== undefined) text.push(`max-stale=${control.maxStale}`)
      const before = confirmations
      made.clear()
      const requests = Array.from({ length: collapse ? 1 + pick(3) : 1 }, () =>
        origin.get(path, {
          accept,
          ...host,
          ...(text.length > 0 && { 'cache-control': text.join(', ') }),
          ...(pick(15) === 0 && { authorization: 'x' }),
        }),
      )
      const handlers = await Promise.all(requests)
      for (const handler of handlers) {
        assert.equal(
          handler.calls.filter((call) => call === 'onResponseEnd' || call === 'onResponseError').length,
          1,
        )
        if (handler.error !== undefined || handler.status !== 200) continue
        const id = Number(handler.headers!['id'])
        assert.equal(handler.body, `body ${id}`)
        if (made.has(id) || confirmations > before) continue
        hits++
        const reason = forbidden(sent[id]!, { url, accept, control }, clock.now, down)
        assert.equal(
          reason,
          null,
          `step ${step}: ${JSON.stringify({ ...sent[id], flags: [...sent[id]!.flags] })} for ${url} ${text}`,
        )
        const age = Math.floor(sent[id]!.confirmed.age + (clock.now - sent[id]!.confirmed.at) / 1000)
        assert.equal(handler.headers!['age'], String(age), `step ${step}: the age`)
      }
      await settle()
    }
    assert.ok(hits > STEPS / 20, `only ${hits} hits`)
    assert.ok(confirmations > 0)
  })
}
