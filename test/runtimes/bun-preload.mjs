// Replaces `node:test`: Bun's own works only under `bun test`, and a plugin cannot replace a builtin module. So the
// tests are loaded with another import.
import { readFileSync } from 'node:fs'
import { plugin } from 'bun'

const runner = JSON.stringify(new URL('runner.ts', import.meta.url).pathname)

plugin({
  name: 'node:test',
  setup(build) {
    build.onLoad({ filter: /[/\\]test[/\\].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/from 'node:test'/g, `from ${runner}`),
      loader: 'ts',
    }))
  },
})
