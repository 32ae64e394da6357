// A bill of materials in the format of CycloneDX 1.6: the package, which has no dependencies, and what it was built with.
// It says nothing that differs from one run to the next.
import { createHash } from 'node:crypto'

/** Of what the lock file has, what the build runs; the rest is for tests. */
const TOOLS = ['typescript', 'esbuild']

export function sbomOf({ manifest, lock, tarball, date }) {
  const { name, version, description, license } = manifest
  const purl = `pkg:npm/${name}@${version}`
  const hashes = ['SHA-256', 'SHA-512'].map((alg) => ({ alg, content: digest(alg, tarball) }))
  const tools = TOOLS.map((tool) => {
    const { version, integrity } = lock.packages[`node_modules/${tool}`]
    const [, content] = /^sha512-(.+)$/.exec(integrity)
    return {
      type: 'application',
      name: tool,
      version,
      purl: `pkg:npm/${tool}@${version}`,
      hashes: [{ alg: 'SHA-512', content: Buffer.from(content, 'base64').toString('hex') }],
    }
  })
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(hashes[0].content)}`,
    version: 1,
    metadata: {
      timestamp: `${date}T00:00:00Z`,
      lifecycles: [{ phase: 'build' }],
      tools: { components: tools },
      component: {
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        description,
        licenses: [{ license: { id: license } }],
        purl,
        hashes,
      },
    },
    components: [],
    dependencies: [{ ref: purl, dependsOn: [] }],
  }
}

export function digest(algorithm, bytes, encoding = 'hex') {
  return createHash(algorithm.replace('-', '').toLowerCase()).update(bytes).digest(encoding)
}

/** A UUID of version 8 (RFC 9562 §5.8) from a hash, so that the same package has the same one. */
function uuidOf(hash) {
  const variant = '89ab'[Number.parseInt(hash[16], 16) % 4]
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, variant + hash.slice(17, 20)]
  return [...parts, hash.slice(20, 32)].join('-')
}
