import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { boardUri } from '../fleet/tools.ts'
import { urlOf } from '../network/ports.ts'
import type { Host } from '../platform/virtual-time.ts'
import { callOnce, checkOutcome, type ClientContext, connectOptionsOf, runCalls } from './calls.ts'

/** The longest time from a change to its notification, in milliseconds. */
const maxLatencyMs = 2000

/** The longest pause before a stream of changes is opened again, in milliseconds. */
const maxReopenMs = 5000

/**
 * The time in milliseconds within which a stream must be acknowledged. It is shorter than the recovery of the fleet.
 */
const acknowledgeMs = 15_000

/** Runs a client that subscribes to the board, and that also changes the board. */
export async function runSubscriber(host: Host, context: ClientContext): Promise<void> {
  const { time, trace, report, server } = context
  const options = { name: host.name, version: '1.0.0', timeoutMs: acknowledgeMs }
  await using client = createClient(connectHttp(urlOf(server), connectOptionsOf(host, context)), options)
  const controller = new AbortController()
  let lastEventAt = Number.NEGATIVE_INFINITY
  const listen = async (): Promise<void> => {
    const reopen = { maxPauseMs: maxReopenMs, attempts: Number.POSITIVE_INFINITY }
    const listenOptions = { signal: controller.signal, reopen }
    for await (const { type } of client.listen({ resourceSubscriptions: [boardUri] }, listenOptions)) {
      trace.add(host.name, `receives ${type}`)
      if (type !== 'interrupted') lastEventAt = time.now()
    }
  }
  const listening = listen().catch(() => {})
  const call: Parameters<typeof runCalls>[2]['call'] = async ({ name, isHealthy }) => {
    trace.add(host.name, `changes ${name}`)
    const changedAt = time.now()
    const outcome = await callOnce(async () => client, 'change', name)
    checkOutcome({ tool: 'change', name, isHealthy, outcome }, context)
    await pause(maxLatencyMs)
    if (isHealthy && lastEventAt < changedAt) report('changes', `${host.name} has not received the change ${name}`)
  }
  await runCalls(host, context, { call, healthyAfterMs: 2 * maxReopenMs })
  controller.abort()
  await listening
}
