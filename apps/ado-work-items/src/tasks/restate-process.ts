import { setTimeout } from 'node:timers/promises'
import { startRestate } from '@tooling/real-servers/restate'
import { serveParent } from '../fleet/child.ts'

// Runs a Restate server with its state in a temporary folder, which is deleted when the process exits. The process
// exits together with its parent.

const { RESTATE_ENDPOINT = '' } = process.env
const restate = await startRestate()
serveParent(Number(new URL(restate.ingress).port), () => restate.close())
// The instances start at the same time, so the registration is retried. A task that is sent before it is dispatched
// again.
for (;;) {
  const registered = restate.register(RESTATE_ENDPOINT, { isHttp1: true })
  if (await registered.then(() => true).catch(() => false)) break
  await setTimeout(100)
}
