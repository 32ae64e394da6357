/** The interceptors, as one namespace: each is a function that takes options and returns an argument of `compose()`. */

export { cache } from '../cache/interceptor.ts'
export { circuitBreaker } from './circuit-breaker/interceptor.ts'
export { decompress } from './decompress/interceptor.ts'
export { deduplicate } from './deduplicate/interceptor.ts'
export { dns } from './dns/interceptor.ts'
export { dump } from './dump/interceptor.ts'
export { hedge } from './hedge/interceptor.ts'
export { redirect } from './redirect/interceptor.ts'
export { responseError } from './response-error/interceptor.ts'
export { retry } from './retry/interceptor.ts'
