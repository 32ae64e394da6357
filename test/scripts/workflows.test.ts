/**
 * The workflows of the forge: their form, what they may do, and that whatever they run is named by its digest. Nothing here
 * runs them.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseDocument } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.github/workflows')

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly 'runs-on': string
  readonly 'timeout-minutes': number
  readonly permissions: Readonly<Record<string, string>>
  readonly needs?: string
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly name: string
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}

/** What a workflow, a job and a step may have. Others exist; one that is needed is added here. */
const KEYS = {
  workflow: { required: ['name', 'on', 'permissions', 'jobs'], optional: ['concurrency'] },
  job: {
    required: ['runs-on', 'timeout-minutes', 'permissions', 'steps'],
    optional: ['needs', 'environment'],
  },
  step: { required: [], optional: ['uses', 'run', 'with', 'env', 'working-directory'] },
}

/** Not `pull_request_target` and `workflow_run`, which run with the rights of the repository for strangers. */
const EVENTS = ['branch_protection_rule', 'pull_request', 'push', 'schedule']

/** Whatever a job may write, and why. */
const MAY_WRITE: Readonly<Record<string, string>> = {
  'release.yml publish id-token': 'npm trusts the workflow by OIDC, and signs the provenance',
  'release.yml page contents': 'the page of the release',
  'codeql.yml analyze security-events': 'the findings',
  'scorecard.yml analysis security-events': 'the findings',
  'scorecard.yml analysis id-token': 'the result is signed for the workflow',
}

function checkKeys(kind: keyof typeof KEYS, value: object, place: string): void {
  const { required, optional } = KEYS[kind]
  for (const key of required) assert.ok(Object.hasOwn(value, key), `${place}: no ${key}`)
  const unknown = Object.keys(value).filter((key) => ![...required, ...optional].includes(key))
  assert.deepEqual(unknown, [], place)
}

const files = readdirSync(folder)
const texts = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))

function read(name: string): Workflow {
  const document = parseDocument(texts.get(name)!, { strict: true, uniqueKeys: true })
  assert.deepEqual([...document.errors, ...document.warnings], [], name)
  return document.toJS() as Workflow
}

const workflows = new Map(files.map((name) => [name, read(name)]))
const jobs = [...workflows].flatMap(([name, { jobs }]) =>
  Object.entries(jobs).map(([id, job]) => ({ name, id, job, place: `${name} ${id}` })),
)
const steps = jobs.flatMap(({ place, job }) => job.steps.map((step) => ({ place, step })))

test('there are workflows for checks, releases, CodeQL and the scorecard', () => {
  assert.deepEqual(files.sort(), ['check.yml', 'codeql.yml', 'release.yml', 'scorecard.yml'])
})

describe('a workflow', () => {
  test('has the form that the forge knows', () => {
    for (const [name, workflow] of workflows) {
      checkKeys('workflow', workflow, name)
      const unknown = Object.keys(workflow.on).filter((event) => !EVENTS.includes(event))
      assert.deepEqual(unknown, [], name)
    }
    for (const { name, place, job } of jobs) {
      checkKeys('job', job, place)
      assert.match(job['runs-on'], /^ubuntu-\d\d\.04$/, place)
      assert.ok(Number.isInteger(job['timeout-minutes']), place)
      if (job.needs !== undefined) assert.ok(Object.hasOwn(workflows.get(name)!.jobs, job.needs), place)
      assert.ok(job.steps.length > 0, place)
    }
    for (const { place, step } of steps) {
      checkKeys('step', step, place)
      assert.ok((step.uses === undefined) !== (step.run === undefined), `${place}: uses or run`)
    }
  })

  test('names what it uses by a digest, the same everywhere, with the version beside it', () => {
    const pins = new Map<string, string>()
    for (const { place, step } of steps.filter(({ step }) => step.uses !== undefined)) {
      const match = /^([\w-]+\/[\w-]+)(?:\/[\w-]+)?@([0-9a-f]{40})$/.exec(step.uses!)
      assert.ok(match !== null, `${place}: ${step.uses}`)
      const [, action, digest] = match as unknown as [string, string, string]
      assert.equal(pins.get(action) ?? digest, digest, `${place}: ${action} has two digests`)
      pins.set(action, digest)
      const lines = [...texts.values()].flatMap((text) => text.split('\n'))
      for (const line of lines.filter((line) => line.includes(digest))) {
        assert.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
      }
    }
    assert.ok(pins.size > 3)
  })

  test('has no right that it does not need', () => {
    const written = []
    for (const [name, { permissions }] of workflows) assert.deepEqual(permissions, {}, name)
    for (const { place, job } of jobs) {
      for (const [scope, right] of Object.entries(job.permissions)) {
        assert.ok(['contents', 'id-token', 'security-events'].includes(scope), `${place}: ${scope}`)
        if (right === 'write') written.push(`${place} ${scope}`)
        else assert.equal(right, 'read', place)
      }
      const usesCode = job.steps.some(({ uses }) => uses?.startsWith('actions/checkout@'))
      assert.equal(usesCode, job.permissions['contents'] === 'read', `${place}: contents`)
    }
    assert.deepEqual(written.sort(), Object.keys(MAY_WRITE).sort())
  })

  test('leaves no token behind, stores none, and puts no text of others into a command', () => {
    for (const { place, step } of steps) {
      if (step.uses?.startsWith('actions/checkout@')) {
        assert.equal(step.with?.['persist-credentials'], false, place)
      }
      assert.ok(!step.run?.includes('${{'), place)
    }
    for (const [name, text] of texts) assert.ok(!/\bsecrets\b/.test(text), name)
  })

  test('runs programs that exist', () => {
    const commands = steps.flatMap(({ step }) => step.run ?? [])
    assert.ok(commands.length > 4)
    for (const command of commands) {
      const [program, file] = command.split(' ')
      assert.ok(['bash', 'gh', 'node', 'npx', 'sha256sum'].includes(program!), command)
      if (program === 'bash' || program === 'node') assert.ok(existsSync(join(root, file!)), command)
      if (program === 'npx') assert.match(command, /^npx --yes [\w-]+@\d+\.\d+\.\d+ /)
    }
  })

  test('that publishes takes the bytes that were packed, and waits for the checks', () => {
    const { pack, publish } = workflows.get('release.yml')!.jobs as { pack: Job; publish: Job }
    assert.equal(publish.needs, 'pack')
    const words = (job: Job): string[] => job.steps.map(({ run, uses }) => run ?? uses!.split('@')[0]!)
    assert.deepEqual(words(pack).slice(1, 3), [
      'bash .ci/run',
      'node scripts/release/pack.mjs --tag="$GITHUB_REF_NAME"',
    ])
    const [download, check, publishing] = words(publish)
    assert.equal(download, 'actions/download-artifact')
    assert.equal(check, 'sha256sum --check --strict SHA256SUMS')
    assert.match(publishing!, /publish \.\/ventuno-\*\.tgz --provenance/)
    assert.ok(!words(publish).includes('actions/checkout'))
  })
})
