// A variable of this package's type holds a dispatcher of undici.
import type { Dispatcher } from 'undici'
import * as undici from 'undici8'

export const ours: Dispatcher = undici.getGlobalDispatcher()
