// The package as it is published, in a folder of its own: what `files` names, the papers with links that work there,
// and a manifest without what only the repository needs.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const PAPERS = ['README.md', 'CHANGELOG.md', 'SECURITY.md']
/** `[text](target)` and `![text](target)`; the text may be an image. */
const LINK = /(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^[\]])*)\]\(([^)\s]+)\)/g
const PROGRAM = /(```[\s\S]*?```)/
const NOTE = 'The pages that this text names are in the folder `docs/` of the repository.'

/** Fills `folder` from the build in `root`; returns the manifest. */
export function stagePackage(root, folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { scripts: _, devDependencies: __, ...manifest } = readManifest(root)
  for (const name of ['dist', 'types', 'LICENSE']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const name of PAPERS) writeFileSync(join(folder, name), '')
  const files = new Set(readdirSync(folder, { recursive: true }).map((path) => path.replaceAll('\\', '/')))
  for (const name of PAPERS) {
    writeFileSync(join(folder, name), packedText(readFileSync(join(root, name), 'utf8'), files, manifest))
  }
  setModes(folder)
  return manifest
}

/** Files that all may read, whatever the umask was when they were checked out or built; npm marks programs itself. */
function setModes(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
}

export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/**
 * The text of a paper at the root of the package. What a link leads to is in the package, or in the repository at the tag of
 * the version; without a known repository, only the words of the link are left.
 */
export function packedText(text, files, { repository, version }) {
  const home = addressOf(repository)
  const written = text.split(PROGRAM).map((part, at) => (at % 2 === 1 ? part : withLinks(part)))
  return home === null ? written.join('').replace(/^# .*\n/, `$&\n${NOTE}\n`) : written.join('')

  function withLinks(part) {
    return part.replace(LINK, (whole, mark, words, target) => {
      const [path] = target.split('#')
      if (/^[a-z]+:/.test(target) || path === '' || files.has(posix.normalize(path))) return whole
      const inner = mark === '' ? withLinks(words) : words
      if (home === null) return mark === '' ? inner : ''
      return `${mark}[${inner}](${home}/${mark === '' ? 'blob' : 'raw'}/v${version}/${posix.normalize(target)})`
    })
  }
}

/** `https://host/owner/name` of the field `repository`, or null. */
function addressOf(repository) {
  const url = typeof repository === 'string' ? repository : repository?.url
  const [, address] = /^(?:git\+)?(https:\/\/[^#]+?)(?:\.git)?$/.exec(url ?? '') ?? []
  return address ?? null
}
