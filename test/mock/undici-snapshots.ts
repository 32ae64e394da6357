/** A file that `SnapshotAgent` of undici 8.12.4 has recorded, with fewer response headers. */
import type { SnapshotData } from '../../src/index.ts'

export const FROM_UNDICI: readonly SnapshotData[] = [
  {
    hash: 'ZzMKJNtQhBz3UjYSJoeg6LSBRaYb2OvbF57cyP9UP2c',
    snapshot: {
      request: {
        method: 'GET',
        url: 'http://127.0.0.1:45871/a?b=2&a=1',
        headers: {
          'x-b': '1',
          accept: 'x, y',
        },
        body: '',
      },
      responses: [
        {
          statusCode: 200,
          headers: {
            'content-type': 'text/plain',
            'set-cookie': 'a=1, b=2',
            'x-n': '1',
          },
          body: 'aGkgL2E/Yj0yJmE9MSAgMQ==',
          trailers: {},
        },
        {
          statusCode: 200,
          headers: {
            'content-type': 'text/plain',
            'set-cookie': 'a=1, b=2',
            'x-n': '1',
          },
          body: 'aGkgL2E/Yj0yJmE9MSAgMg==',
          trailers: {},
        },
      ],
      callCount: 0,
      timestamp: '2026-11-16T12:51:21.219Z',
    },
  },
  {
    hash: 'eb_vQC6L1heIovVw_X3DUTsdjppMuZFgjyu5dnXnYJ4',
    snapshot: {
      request: {
        method: 'POST',
        url: 'http://127.0.0.1:45871/p',
        headers: {
          'content-type': 'text/x',
          authorization: 'Bearer s',
        },
        body: 'body',
      },
      responses: [
        {
          statusCode: 200,
          headers: {
            'content-type': 'text/plain',
            'set-cookie': 'a=1, b=2',
            'x-n': '1',
          },
          body: 'aGkgL3AgYm9keSAz',
          trailers: {},
        },
      ],
      callCount: 0,
      timestamp: '2026-11-16T12:51:21.226Z',
    },
  },
  {
    hash: 'BskYleUl-7SHRk81Cf05tAoZwZ88i1PKuGiAS_La5AA',
    snapshot: {
      request: {
        method: 'GET',
        url: 'http://127.0.0.1:45871/g',
        headers: {
          accept: '*/*',
          'accept-language': '*',
          'sec-fetch-mode': 'cors',
          'user-agent': 'undici',
          'accept-encoding': 'gzip, deflate',
        },
        body: '',
      },
      responses: [
        {
          statusCode: 200,
          headers: {
            'content-type': 'text/plain',
            'set-cookie': 'a=1, b=2',
            'x-n': '1',
          },
          body: 'aGkgL2cgIDY=',
          trailers: {},
        },
      ],
      callCount: 0,
      timestamp: '2026-11-16T12:51:21.273Z',
    },
  },
]
