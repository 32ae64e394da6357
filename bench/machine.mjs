// The machine that produced the figures, as far as it matters for reading them. It does not identify a computer.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, release } from 'node:os'
import { PINNED } from './cores.mjs'
import { benchNode, programPath } from './prepare.mjs'

export function describeMachine(peers) {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    kernel: release().replace(/-.*$/, ''),
    pinned: PINNED,
    node: execFileSync(benchNode(), ['--version'], { encoding: 'utf8' }).trim(),
    systemNode: process.version,
    nginx: spawnSync(programPath('nginx'), ['-v'], { encoding: 'utf8' })
      .stderr.trim()
      .replace(/^.*nginx\//, ''),
    load: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]),
    peers,
  }
}
