import diagnosticsChannel from 'node:diagnostics_channel'
import type { DiagnosticsChannel } from 'undici'

diagnosticsChannel.channel('undici:client:connectError').subscribe((message) => {
  const { error, connectParams, connector } = message as DiagnosticsChannel.ClientConnectErrorMessage
  console.error(error.message, connectParams.host, connectParams.servername, typeof connector)
})
export const before = ({ connectParams, connector }: DiagnosticsChannel.ClientBeforeConnectMessage): string =>
  `${connectParams.protocol}//${connectParams.hostname}:${connectParams.port} ${connector.name}`
export const sent = ({ request, headers, socket }: DiagnosticsChannel.ClientSendHeadersMessage): string =>
  `${headers} ${request.path} ${socket.localPort}`
export const chunk = (message: DiagnosticsChannel.RequestBodyChunkSentMessage): number => message.chunk.length
export const received = (message: DiagnosticsChannel.RequestBodyChunkReceivedMessage): Buffer => message.chunk
