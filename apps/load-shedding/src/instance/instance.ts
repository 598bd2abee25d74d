import cluster from 'node:cluster'
import { type InstanceMessage, readOrder } from './instance-message.ts'
import { watchLateness } from './lateness.ts'
import { serveInstance } from './serve-instance.ts'
import { createThrottle } from './throttle.ts'

// One instance of the server, as a process of its own: behind Node's cluster, or on a port that a proxy knows.

const { PORT, STATE_KEY = '', SHEDDING, NOTICE_MS, GRACE_MS } = process.env

/** How long the cluster may take to say goodbye. */
const goodbyeMs = 500

const report = (message: InstanceMessage): void => {
  if (process.connected) process.send?.(message, ignoreFailure)
}
const instance = await serveInstance({ port: Number(PORT), stateKey: STATE_KEY, sheds: SHEDDING === 'on', report })
const throttle = createThrottle()

process.on('message', (value) => {
  const order = readOrder(value)
  if (order?.order === 'throttle') throttle(order.share)
  if (order?.order === 'shedding') instance.setShedding(order.on)
})
// A terminal sends Ctrl-C to every process; the supervisor says when to stop.
process.on('SIGINT', () => {})
process.once('SIGTERM', () => void stop())
// Whoever started it is gone.
process.once('disconnect', () => process.exit(0))

watchLateness((eventLoopDelayMs) => {
  const { running, ready: isReady } = instance.load()
  report({ kind: 'load', eventLoopDelayMs, running, isReady })
})
report({ kind: 'listening', pid: process.pid })

/** Takes no connection any more, hands running calls over, and ends when the last answer is given. */
async function stop(): Promise<void> {
  // The cluster knows no readiness: told like this, it hands nothing over any more, and what it has handed over is served.
  cluster.worker?.disconnect()
  await instance.http.close({ noticeMs: Number(NOTICE_MS), graceMs: Number(GRACE_MS) })
  if (cluster.worker === undefined) process.exit(0)
  // The cluster ends the channel when it knows that this end was wanted, and with it the process.
  setTimeout(() => process.exit(0), goodbyeMs)
}

function ignoreFailure(): void {}
