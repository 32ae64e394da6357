import { errors } from 'undici'

export const error = new errors.RequestRetryError('Request failed', 503, { 'retry-after': '1' }, 'body')
