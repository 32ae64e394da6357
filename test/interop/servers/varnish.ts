/** Varnish. */
import { writeFileSync } from 'node:fs'
import type { HttpCache } from '../http-cache.ts'
import { freePort } from '../ports.ts'
import { findProgram } from '../server-process.ts'

const program = (origin: number): string => `
vcl 4.1;
backend origin {
  .host = "127.0.0.1";
  .port = "${origin}";
}
sub vcl_deliver {
  if (obj.hits > 0) { set resp.http.cache-status = "varnish; hit"; }
  else { set resp.http.cache-status = "varnish; fwd=miss"; }
}
`

export const varnish: HttpCache = {
  name: 'varnish',
  program: findProgram('varnishd'),
  takesH2c: true,
  addsAge: true,

  async start(stage, originPort) {
    const folder = stage.folder()
    const port = await freePort()
    const file = `${folder}/cache.vcl`
    writeFileSync(file, program(originPort))
    const args = ['-F', '-f', file, '-a', `127.0.0.1:${port}`, '-n', `${folder}/work`, '-s', 'malloc,16m']
    // Without a jail it needs no user of its own.
    args.push('-j', 'none', '-T', 'none', '-p', 'feature=+http2')
    await stage.start({ file: this.program!, args, ports: [port] })
    const url = `http://127.0.0.1:${port}`
    return { h1: url, h2c: url }
  },
}
