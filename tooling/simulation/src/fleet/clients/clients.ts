import type { Host } from '../platform/virtual-time.ts'
import { type CallingKind, runCallingClient } from './calling-client.ts'
import type { ClientContext } from './calls.ts'
import { runSessionClient } from './session-client.ts'
import { runSubscriber } from './subscriber.ts'

/** The kinds of clients. */
export type ClientKind = CallingKind | 'session' | 'subscriber'

/** The share of clients that are killed during the faults. */
const killedShare = 0.1

/** Starts the clients. Some are killed during the faults. */
export function startClients(kinds: readonly ClientKind[], context: ClientContext, faultyMs: number): void {
  const { time, faults, network, report, counts } = context
  kinds.forEach((kind, index) => {
    const host = time.addHost(`${'abcdef'[index]}-${kind}`)
    let isRunning = true
    const end = (): void => {
      if (isRunning) counts.runningClients -= 1
      isRunning = false
    }
    time.schedule(host, 0, () => {
      runClient(host, kind, context).then(end, (error: unknown) =>
        report('calls', `${host.name} failed: ${String(error)}`),
      )
    })
    if (faults.random() < killedShare)
      time.schedule(undefined, faults.random() * faultyMs, () => {
        if (!isRunning) return
        faults.record(host.name, 'client_killed')
        network.breakConnections(host)
        time.remove(host)
        end()
      })
  })
}

function runClient(host: Host, kind: ClientKind, context: ClientContext): Promise<void> {
  if (kind === 'session') return runSessionClient(host, context)
  return kind === 'subscriber' ? runSubscriber(host, context) : runCallingClient(host, kind, context)
}
