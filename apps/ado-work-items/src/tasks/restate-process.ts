import { setTimeout } from 'node:timers/promises'
import { startRestate } from '@tooling/real-servers/restate'
import { serveParent } from '../fleet/child.ts'

// A Restate server of this run, with its state in a folder of its own that is deleted at the end. A process beside it
// ends it together with the process that started both.

const { RESTATE_ENDPOINT = '' } = process.env
const restate = await startRestate()
serveParent(Number(new URL(restate.ingress).port), () => restate.close())
// The instances start at the same time, and a task that comes before is dispatched again.
for (;;) {
  const registered = restate.register(RESTATE_ENDPOINT, { isHttp1: true })
  if (await registered.then(() => true).catch(() => false)) break
  await setTimeout(100)
}
