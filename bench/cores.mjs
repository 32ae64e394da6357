// Assigns the cores: the last one to the server, the one before it to the measured client.
import { availableParallelism } from 'node:os'
import { programPath } from './prepare.mjs'

const cores = availableParallelism()
const taskset = programPath('taskset')

export const PINNED = cores > 1 && taskset !== null
const SERVER_CORE = cores - 1
const CLIENT_CORE = cores - 2

export function onServerCore(command) {
  return PINNED ? [taskset, '-c', String(SERVER_CORE), ...command] : command
}

export function onClientCore(command) {
  return PINNED ? [taskset, '-c', String(CLIENT_CORE), ...command] : command
}
