// CHANGELOG.md: which version comes next, and its heading with the date.
const UNRELEASED = '## Unreleased\n'
const LEVELS = ['major', 'minor', 'patch']

/** The version after `version`; `current` is that version itself, if it was never released. */
export function nextVersion(version, level) {
  if (level === 'current') return version
  const at = LEVELS.indexOf(level)
  if (at < 0) throw new Error(`expected major, minor, patch or current, got ${level}`)
  const numbers = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number)
  if (numbers === undefined) throw new Error(`${version} is no version`)
  return numbers.map((number, index) => (index < at ? number : index === at ? number + 1 : 0)).join('.')
}

/** The text with what was unreleased under the heading of a version; unchanged if it has that already. */
export function withHeading(text, version, date) {
  if (sectionOf(text, version) !== null) return text
  if (!text.includes(UNRELEASED)) throw new Error('CHANGELOG.md has no heading "Unreleased"')
  return text.replace(UNRELEASED, `${UNRELEASED}\n## ${version} - ${date}\n`)
}

/** Why the text cannot be that of a release of this version; null if it can. */
export function problemOf(text, version) {
  const unreleased = text.split(UNRELEASED)[1]
  if (unreleased === undefined) return 'the changelog has no heading "Unreleased"'
  const isEmpty = /^\s*(?:## |$)/.test(unreleased)
  if (sectionOf(text, version) === null)
    return isEmpty ? 'the changelog has nothing under "Unreleased"' : null
  return isEmpty ? null : `the changelog has lines under "Unreleased", and a heading for ${version}`
}

/** A day of the calendar, as `2027-01-02`. */
export function isDate(text) {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null
  return date !== null && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** The date of a version. */
export function dateOf(text, version) {
  const date = headingOf(text, version)?.[1]
  if (date === undefined) throw new Error(`CHANGELOG.md has no heading for ${version}`)
  return date
}

/** What the changelog says about a version; null without such a heading. */
export function sectionOf(text, version) {
  const heading = headingOf(text, version)
  if (heading === null) return null
  const [section] = text.slice(heading.index + heading[0].length).split(/^## /m)
  return section.trim()
}

function headingOf(text, version) {
  return new RegExp(`^## ${version.replaceAll('.', '\\.')} - (\\d{4}-\\d{2}-\\d{2})\\n`, 'm').exec(text)
}
