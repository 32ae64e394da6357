// The parameters of the functions get their types from the options.
import { lookup } from 'node:dns'
import { Agent, interceptors } from 'undici'

export const agent = new Agent().compose(
  interceptors.dns({
    maxTTL: 10_000,
    dualStack: false,
    affinity: 4,
    pick: (origin, records, affinity) => {
      const found = affinity === 6 ? records.records[6] : records.records[4]
      const first = found?.ips[0]
      if (first === undefined) throw new Error(`nothing for ${origin.hostname}`)
      return { ...first, ttl: first.ttl + 1 }
    },
  }),
  interceptors.dns({
    lookup: (origin, options, callback) => {
      lookup(origin.hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, [])
        callback(
          null,
          addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4, ttl: 1_000 })),
        )
      })
    },
  }),
)
