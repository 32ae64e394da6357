/** Runs the conversations of test/cases/http1/*.md whole, byte by byte and at every split point. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type Conversation, everySplit, singleBytes, transcript, whole } from './transcript.ts'

interface Case extends Conversation {
  readonly title: string
  readonly bytes: Buffer
  readonly events: string
}

const folder = new URL('../../cases/http1/', import.meta.url)

function block(section: string, language: string): string {
  const found = section.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0]
  assert.ok(found !== undefined, `no ${language} block in: ${section}`)
  return found
}

function setting(section: string, name: string): string | null {
  const line = section.split('\n').find((text) => text.startsWith(`- ${name}: `))
  return line === undefined ? null : line.slice(name.length + 4).trim()
}

/** Line breaks of the document are ignored; `\r`, `\n`, `\t`, `\\` and `\xNN` denote single bytes. */
function decodeBytes(text: string): Buffer {
  const plain: Record<string, string> = { r: '\r', n: '\n', t: '\t', '\\': '\\' }
  const decoded = text
    .replaceAll('\n', '')
    .replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, letter: string) =>
      hex === undefined ? plain[letter]! : String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(decoded, 'latin1')
}

function readCases(file: string): Case[] {
  const sections = readFileSync(new URL(file, folder), 'utf8').split('\n## ').slice(1)
  return sections.map((section) => ({
    title: section.split('\n')[0]!,
    requests: (setting(section, 'requests') ?? 'GET').split(', ').filter((request) => request !== 'none'),
    close: setting(section, 'then') === 'close',
    maxHeaderSize: Number(setting(section, 'max header size') ?? 16_384),
    bytes: decodeBytes(block(section, 'http')),
    events: block(section, 'events'),
  }))
}

for (const file of readdirSync(folder)) {
  describe(`cases/http1/${file}`, () => {
    for (const example of readCases(file)) {
      it(example.title, () => {
        assert.equal(transcript(whole(example.bytes), example).join('\n'), example.events)
        assert.equal(
          transcript(singleBytes(example.bytes), example).join('\n'),
          example.events,
          'single bytes',
        )
        for (const pieces of everySplit(example.bytes)) {
          const at = `split at ${pieces[0]!.length}`
          assert.equal(transcript(pieces, example).join('\n'), example.events, at)
        }
      })
    }
  })
}
