// The errors that each version of TypeScript finds in a program, with their files.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './packed.mjs'

export const COMPILERS = { 5: errorsOfVersion5, 7: errorsOfVersion7 }

const VERSION_7 = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

function errorsOfVersion7(folder, name, compilerOptions, files) {
  const project = join(folder, `${name}.json`)
  writeFileSync(project, JSON.stringify({ compilerOptions, files }))
  const words = [VERSION_7, '-p', project, '--pretty', 'false']
  const { stdout, stderr, error } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
  assert.ok(error === undefined && stderr === '', `${error} ${stderr}`)
  const entries = stdout.split(/\n(?=\S)/).map((entry) => entry.trim())
  return entries
    .filter((entry) => entry !== '')
    .map((text) => {
      const [, file] = /^(.+?)\(\d+,\d+\): error /.exec(text) ?? assert.fail(text)
      return { file: join(folder, file), text }
    })
}

/** Files that programs with the same settings share: parsing them takes longer than checking a snippet. */
const parsed = new Map()

/** Checks only the given files and the declarations of the package: to check all others takes ten times as long. */
function errorsOfVersion5(folder, _name, settings, files) {
  const { options, errors } = ts.convertCompilerOptionsFromJson(settings, folder)
  assert.deepEqual(errors, [])
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, ...rest) => {
    if (files.includes(file)) return getSourceFile(file, ...rest)
    if (!parsed.has(file)) parsed.set(file, getSourceFile(file, ...rest))
    return parsed.get(file)
  }
  const program = ts.createProgram(files, options, host)
  const checked = program
    .getSourceFiles()
    .filter(({ fileName }) => files.includes(fileName) || fileName.includes('/node_modules/ventuno/'))
  return [
    ...program.getOptionsDiagnostics(),
    ...checked.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ].map((found) => {
    const text = ts.flattenDiagnosticMessageText(found.messageText, '\n')
    assert.ok(found.file, text)
    const { line } = found.file.getLineAndCharacterOfPosition(found.start)
    return {
      file: found.file.fileName,
      text: `${found.file.fileName}(${line + 1}): error TS${found.code}: ${text}`,
    }
  })
}
