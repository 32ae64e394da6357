// The code of each class is a literal.
import { errors } from 'undici'

export const timeout: 'UND_ERR_CONNECT_TIMEOUT' = new errors.ConnectTimeoutError().code
export const headers: 'UND_ERR_HEADERS_TIMEOUT' = new errors.HeadersTimeoutError().code
export const aborted: 'UND_ERR_ABORTED' = new errors.RequestAbortedError().code
export const socket: 'UND_ERR_SOCKET' = new errors.SocketError().code
export const argument: 'UND_ERR_INVALID_ARG' = new errors.InvalidArgumentError().code
export const destroyed: 'UND_ERR_DESTROYED' = new errors.ClientDestroyedError().code
export const closed: 'UND_ERR_CLOSED' = new errors.ClientClosedError().code
export const info: 'UND_ERR_INFO' = new errors.InformationalError().code
export const name: 'ConnectTimeoutError' = new errors.ConnectTimeoutError().name
