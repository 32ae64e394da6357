/** The proxy as a process: `tunnel-process.ts <h1 or h2>`. */
import { startTunnelPeer, type TunnelWire } from './tunnel-peer.ts'

const { url } = await startTunnelPeer(process.argv[2] as TunnelWire)
// The parent has ended, so this process is no longer needed.
process.on('disconnect', () => process.exit())
process.send!(url)
