/** nginx with `proxy_cache`. It adds no Age, but passes the Date of the stored response on. */
import { writeFileSync } from 'node:fs'
import type { HttpCache } from '../http-cache.ts'
import { freePorts } from '../ports.ts'
import { findProgram } from '../server-process.ts'

const configuration = (folder: string, ports: { h1: number; h2c: number }, origin: number): string => `
    daemon off;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log stderr crit;
    events { worker_connections 512; }
    http {
      access_log off;
      keepalive_timeout 3600;
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      proxy_cache_path ${folder}/cache keys_zone=responses:1m;
      map $upstream_cache_status $handling { default "fwd=miss"; HIT "hit"; STALE "hit"; UPDATING "hit"; }
      server {
        listen 127.0.0.1:${ports.h1};
        listen 127.0.0.1:${ports.h2c} http2;
        location / {
          proxy_pass http://127.0.0.1:${origin};
          proxy_http_version 1.1;
          proxy_set_header connection '';
          proxy_cache responses;
          proxy_cache_revalidate on;
          proxy_cache_background_update on;
          proxy_pass_header Date;
          add_header Cache-Status "nginx; $handling" always;
        }
      }
    }`

export const nginxCache: HttpCache = {
  name: 'nginx',
  program: findProgram('nginx'),
  takesH2c: true,
  addsAge: false,

  async start(stage, originPort) {
    const folder = stage.folder()
    const ports = await freePorts(['h1', 'h2c'])
    const file = `${folder}/nginx.conf`
    writeFileSync(file, configuration(folder, ports, originPort))
    await stage.start({
      file: this.program!,
      args: ['-p', folder, '-c', file, '-e', 'stderr'],
      ports: Object.values(ports),
    })
    return { h1: `http://127.0.0.1:${ports.h1}`, h2c: `http://127.0.0.1:${ports.h2c}` }
  },
}
