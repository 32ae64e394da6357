import { errors } from 'undici'

export function codeOf(error: unknown): string | undefined {
  if (error instanceof errors.HTTPParserError) {
    const { code } = error as errors.HTTPParserError & { code: 'HPE_INVALID_CONSTANT' }
    return code
  }
  return (error as errors.HTTPParserError).code.startsWith('HPE_') ? 'parser' : undefined
}
export const parser = (error: errors.UndiciError): boolean =>
  (error as errors.HTTPParserError).code === 'HPE_INTERNAL'
export const made: errors.HTTPParserError = Object.assign(new errors.HTTPParserError('no'), {
  code: 'HPE_USER',
})
