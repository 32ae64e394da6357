import { type MIMEType, parseMIMEType, serializeAMimeType } from 'undici'

const type = parseMIMEType('text/html; charset=utf-8')
export const text: string = type === 'failure' ? '' : serializeAMimeType(type)
export const essence = (value: MIMEType): string => `${value.essence} ${value.parameters.get('charset')}`
