import cluster from 'node:cluster'
import type { InstanceCommand, InstanceMessage } from './instance-message.ts'
import { watchEventLoopDelay } from './event-loop-delay.ts'
import { serveInstance } from './serve-instance.ts'
import { createThrottle } from './throttle.ts'

// Runs one instance of the server in its own process, behind Node's cluster or on a port that a proxy forwards to.

const { PORT, STATE_KEYS = '', SHEDDING, NOTICE_MS, GRACE_MS, CHUNK_MS } = process.env

const report = (message: InstanceMessage): void => {
  if (process.connected) process.send?.(message, ignoreFailure)
}
const stop = { noticeMs: Number(NOTICE_MS), graceMs: Number(GRACE_MS) }
const instance = await serveInstance({
  port: Number(PORT),
  stateKeys: STATE_KEYS.split(','),
  sheds: SHEDDING === 'on',
  stop,
  report,
  chunkMs: CHUNK_MS === undefined ? undefined : Number(CHUNK_MS),
})
const throttle = createThrottle()

process.on('message', (command: InstanceCommand) => {
  if (command.kind === 'throttle') throttle(command.share)
  else instance.setShedding(command.on)
})
// Node's cluster does not check readiness. After `disconnect()` it sends no new connection to this worker, and the
// worker serves the connections that it has.
process.once('SIGTERM', () => {
  if (cluster.worker === undefined) return
  // The primary may be passing a connection to this worker, which has to return it. If the process exited before the
  // primary confirms the disconnect, that connection would stay open, and nobody would serve it.
  process.channel?.ref()
  cluster.worker.disconnect()
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))

watchEventLoopDelay((eventLoopDelayMs) => {
  const { running, ready: isReady } = instance.load()
  report({ kind: 'load', eventLoopDelayMs, running, isReady })
})
report({ kind: 'listening', pid: process.pid })
// Until SIGTERM, the server keeps the process alive, and the channel does not.
process.channel?.unref()

function ignoreFailure(): void {}
