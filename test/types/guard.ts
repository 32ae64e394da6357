// A guard in all its places. Compiled, never run.
import {
  Agent,
  type BlockedAddressDetails,
  buildConnector,
  errors,
  type GuardInterceptorOptions,
  type GuardOptions,
  type GuardPolicy,
  type GuardTarget,
  H2CClient,
  interceptors,
  ProxyAgent,
} from '../../src/index.ts'

const frozen = { policy: 'public-only', allow: ['10.0.0.0/8'], deny: ['.x.test'], ports: [80, 443] } as const
const options: GuardOptions = frozen
const policy: GuardPolicy = 'any'
const named: GuardInterceptorOptions = {
  schemes: ['https'],
  hosts: ['x.test'],
  check: ({ address }) => address === null,
}
const check = ({ hostname, family, port }: GuardTarget): boolean =>
  hostname !== '' && family === 4 && port > 0
new Agent({ connect: { guard: { ...options, check, strict: true, resolve: null } } })
new H2CClient('http://x.test', { connect: { guard: policy } })
new ProxyAgent({ uri: 'http://proxy.test', requestTls: { guard: options }, proxyTls: { guard: null } })
buildConnector({ guard: 'public-only' })
new Agent().compose(
  interceptors.guard(named),
  interceptors.guard('any'),
  interceptors.guard(),
  interceptors.guard(null),
)

const details: BlockedAddressDetails = { rule: 'deny', entry: '.x.test' }
const { rule, address } = new errors.BlockedAddressError('no', details)
void [rule.length, address?.length]

// @ts-expect-error: not a policy
buildConnector({ guard: 'private' })
// @ts-expect-error: a check answers at once
buildConnector({ guard: { check: async () => true } })
// @ts-expect-error: not a scheme
interceptors.guard({ schemes: ['ftp'] })
// @ts-expect-error: the interceptor resolves nothing
interceptors.guard({ resolve: true })
