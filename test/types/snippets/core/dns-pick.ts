import { interceptors } from 'undici'

export const dns = interceptors.dns({
  pick: (origin, { records }, affinity) => {
    const [first] = records[affinity]?.ips ?? []
    if (first === undefined) throw new Error(`nothing for ${origin.hostname}`)
    return first
  },
})
