import { SnapshotAgent, setGlobalDispatcher } from 'undici'

const agent = new SnapshotAgent({
  mode: 'playback',
  snapshotPath: './snapshots.json',
  ignoreHeaders: ['date'],
  matchHeaders: ['accept'],
})
setGlobalDispatcher(agent)
export const save = async (): Promise<void> => {
  await agent.saveSnapshots()
  await agent.loadSnapshots('./other.json')
  await agent.close()
}
export const mode: 'record' | 'playback' | 'update' = agent.getMode()
