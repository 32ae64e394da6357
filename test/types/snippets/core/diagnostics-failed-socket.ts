import type { Socket } from 'node:net'
import type { DiagnosticsChannel } from 'undici'

export const failed = (message: DiagnosticsChannel.ClientConnectErrorMessage): Socket => message.socket
