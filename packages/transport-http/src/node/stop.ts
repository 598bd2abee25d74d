import type { Server, Undrain } from '@x/schema'
import { type GracefulStopDeps, stopGracefully } from './graceful-stop.ts'

/** The options of a stop. */
export interface StopOptions {
  /**
   * Milliseconds that running calls have to finish before they are aborted and answered with 503. Default 10 seconds.
   */
  readonly graceMs?: number | undefined
  /**
   * Milliseconds for which calls are still served while `/readyz` is 503 already, so that balancers choose other
   * instances before calls are rejected. Default 0. Give at least the interval of the balancer's checks.
   */
  readonly noticeMs?: number | undefined
}

/** The phase of a server that stops. */
export interface StopState {
  /** `leaving`: not ready, and calls are still served. `refusing`: new calls are rejected. */
  phase: 'open' | 'leaving' | 'refusing'
}

/** The server that stops, and its settings. */
interface StopDeps extends GracefulStopDeps {
  readonly mcpServer: Server
  readonly stopState: StopState
  /** True or the options of a stop when signals stop the server. */
  readonly stopOnSignals: boolean | StopOptions
}

const defaultGraceMs = 10_000

/** Creates a function that stops a server once, for any number of calls. */
export function createStopFunction(deps: StopDeps): (options?: StopOptions) => Promise<void> {
  const { stopOnSignals: signalOptions } = deps
  const detachHost = deps.mcpServer.attachHost()
  let stopPromise: Promise<void> | undefined
  let ignoreStopSignals = (): void => {}
  const stop = (options: StopOptions = {}): Promise<void> => {
    ignoreStopSignals()
    stopPromise ??= stopHttpServer(deps, options).finally(() => detachHost(options))
    return stopPromise
  }
  if (signalOptions !== false)
    ignoreStopSignals = onStopSignal(
      () => void stop(signalOptions === true ? {} : signalOptions).finally(reportWhatKeepsProcess),
    )
  return stop
}

async function stopHttpServer(deps: StopDeps, { graceMs = defaultGraceMs, noticeMs = 0 }: StopOptions): Promise<void> {
  const { mcpServer, stopState, schedule } = deps
  stopState.phase = 'leaving'
  const undrainFunctions: Undrain[] = []
  if (noticeMs > 0) {
    // A balancer that still counts this instance as ready would send a handed-off call back to it.
    undrainFunctions.push(mcpServer.drain({ keepCalls: true }))
    await new Promise<void>((resolve) => void schedule(resolve, noticeMs))
  }
  undrainFunctions.push(mcpServer.drain({ graceMs }))
  stopState.phase = 'refusing'
  try {
    await stopGracefully(deps, graceMs)
  } finally {
    for (const undrain of undrainFunctions) undrain()
  }
}

/** Milliseconds after a stop in which a process without other resources has exited. */
const exitWaitMs = 5_000

/**
 * Emits a warning with the resources that keep the process alive after a stop, such as a database client that the
 * author left open. The timer itself keeps nothing alive.
 */
function reportWhatKeepsProcess(): void {
  setTimeout(() => {
    const resources = new Map<string, number>()
    for (const name of process.getActiveResourcesInfo()) resources.set(name, (resources.get(name) ?? 0) + 1)
    const names = [...resources].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`)).join(', ')
    const advice = 'close what the program has opened, such as a database client, or exit it with process.exit()'
    const seconds = exitWaitMs / 1000
    process.emitWarning(
      `The server stopped ${seconds} seconds ago, and the process is still alive (${names}): ${advice}`,
    )
  }, exitWaitMs).unref()
}

/** The signals with which supervisors and terminals ask a process to end. */
const stopSignals = ['SIGTERM', 'SIGINT'] as const

/**
 * Runs a function at the first signal that asks the process to end. A second signal ends the process at once, as it
 * does by default. The returned function removes the listeners.
 */
function onStopSignal(run: () => void): () => void {
  const removeSignalListeners = (): void => {
    for (const signal of stopSignals) process.off(signal, stop)
  }
  const stop = (): void => {
    removeSignalListeners()
    run()
  }
  for (const signal of stopSignals) process.on(signal, stop)
  return removeSignalListeners
}
