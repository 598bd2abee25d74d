import { Socket } from 'node:net'
import { type Log, maxTimerMs, type OptionTable, type ResolvedOptions, resolveOptions } from '@x/core'
import { onStopSignal } from '@x/core/node'
import type { Server, Undrain } from '@x/exchange'
import { timerBounds } from '../server/handler-settings.ts'
import { type GracefulStopDeps, stopGracefully } from './graceful-stop.ts'

/** How a server stops. */
export interface StopOptions {
  /**
   * Milliseconds that running calls have to finish. Afterwards they are aborted and answered with 503. Default: 10
   * seconds.
   */
  readonly graceMs?: number | undefined
  /**
   * Milliseconds for which calls are still served while `/readyz` returns 503, so that balancers choose other instances
   * before calls are rejected. Default 0. Set at least the interval of the balancer's health checks.
   */
  readonly noticeMs?: number | undefined
}

/** `leaving`: `/readyz` returns 503, and calls are still served. `refusing`: new calls are rejected as well. */
export type StopPhase = 'open' | 'leaving' | 'refusing'

interface StopDeps extends GracefulStopDeps {
  readonly mcpServer: Server
  readonly onPhase: (phase: StopPhase) => void
  readonly stopOnSignals: boolean | StopOptions
}

export const stopOptionTable = {
  // limit: `graceMs` of `close` | ms | running calls of a server that stops | 503
  graceMs: { default: 10_000, ...timerBounds },
  noticeMs: { default: 0, ...timerBounds },
} satisfies OptionTable<StopOptions>

/** All calls of the returned function return the same promise, except those with invalid options, which reject. */
export function createStopFunction(deps: StopDeps): (options?: StopOptions) => Promise<void> {
  const { stopOnSignals: signalOptions } = deps
  const detachHost = deps.mcpServer.attachHost()
  let stopPromise: Promise<void> | undefined
  let ignoreStopSignals = (): void => {}
  const begin = (times: StopTimes): Promise<void> => {
    const undrainFunctions: Undrain[] = []
    return (
      stopHttpServer(deps, times, undrainFunctions)
        .finally(() => releaseHost(detachHost({ graceMs: times.graceMs }), times, deps))
        // Other hosts of the server go on. Before it is closed, it would take new work, such as the tasks just released.
        .finally(() => undrainFunctions.forEach((undrain) => undrain()))
        .finally(ignoreStopSignals)
    )
  }
  const stop = (options: StopOptions = {}): Promise<void> => {
    try {
      const times = resolveOptions(options, stopOptionTable, 'close')
      stopPromise ??= begin(times)
      return stopPromise
    } catch (error) {
      return Promise.reject(error)
    }
  }
  if (signalOptions !== false)
    ignoreStopSignals = onStopSignal(
      () =>
        void stop(signalOptions === true ? {} : signalOptions).finally(() =>
          reportWhatKeepsProcess(deps.mcpServer.log),
        ),
    )
  return stop
}

type StopTimes = ResolvedOptions<StopOptions, typeof stopOptionTable>

async function stopHttpServer(
  deps: StopDeps,
  { graceMs, noticeMs }: StopTimes,
  undrainFunctions: Undrain[],
): Promise<void> {
  const { mcpServer, onPhase, schedule } = deps
  onPhase('leaving')
  if (noticeMs > 0) {
    // Running calls are not handed off yet: a balancer that still counts this instance as ready would send them back to
    // it.
    undrainFunctions.push(mcpServer.drain({ keepCalls: true }))
    await new Promise<void>((resolve) => void schedule(resolve, noticeMs))
  }
  undrainFunctions.push(mcpServer.drain({ graceMs }))
  onPhase('refusing')
  await stopGracefully(deps, graceMs)
}

/** Milliseconds beyond `graceMs` in which a server closes, together with its extensions. */
const closeWaitMs = 5_000

/** Waits until the server is closed. A `close` that never ends would else hold up the stop without a word in the log. */
function releaseHost(closing: Promise<void>, { graceMs }: StopTimes, { mcpServer, schedule }: StopDeps): Promise<void> {
  const limitMs = Math.min(graceMs + closeWaitMs, maxTimerMs)
  return new Promise((resolve, reject) => {
    const cancelLimit = schedule(() => {
      const message = `The connections are closed, and \`close\` of the server or of an extension has not ended within ${limitMs} ms: it must resolve also if what it waits for never comes`
      mcpServer.log({ level: 'warn', method: 'http', code: 'alive', message })
      resolve()
    }, limitMs)
    closing.finally(cancelLimit).then(resolve, reject)
  })
}

/** Milliseconds after a stop within which a process without other resources exits. */
const exitWaitMs = 5_000

/**
 * Warns if the process still runs some time after a stop, with the resources that keep it alive, such as a database
 * client that was not closed. This timer itself does not.
 */
function reportWhatKeepsProcess(log: Log): void {
  setTimeout(() => {
    const peers = countEach(activePeers())
    const resources = countEach(process.getActiveResourcesInfo()) + (peers && `; connected to ${peers}`)
    const advice =
      'close what the program has opened, such as a database client (one that tries to connect again is a Timeout), or exit it with process.exit()'
    const seconds = exitWaitMs / 1000
    const message = `The server stopped ${seconds} seconds ago, and the process is still alive (${resources}): ${advice}`
    log({ level: 'warn', method: 'http', code: 'alive', message })
  }, exitWaitMs).unref()
}

/** Addresses of the other ends of open connections. */
function activePeers(): readonly string[] {
  // Undocumented: without it, the warning only lacks the addresses.
  const getHandles: unknown = Reflect.get(process, '_getActiveHandles')
  const handles: unknown = typeof getHandles === 'function' ? getHandles.call(process) : []
  return (Array.isArray(handles) ? handles : []).flatMap((handle: unknown) =>
    handle instanceof Socket && handle.remoteAddress !== undefined
      ? [`${handle.remoteAddress}:${handle.remotePort}`]
      : [],
  )
}

/** Such as `Timeout, TCPSocketWrap × 2`. */
function countEach(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`)).join(', ')
}
