import type { Server } from '@x/schema'
import { type Stoppable, stopGracefully } from './graceful-stop.ts'

/** The options of a stop. */
export interface StopOptions {
  /** Milliseconds that running calls have to finish before they are aborted and answered with 503; 10 seconds when absent. */
  readonly graceMs?: number | undefined
  /**
   * For how many milliseconds calls are still served while `/readyz` says 503 already, so that balancers turn away before
   * anything is refused; 0 when absent. Give what a balancer that checks in intervals needs to notice.
   */
  readonly noticeMs?: number | undefined
}

/** The phase of a server that stops. */
export interface Stopping {
  /** While it leaves, it is not ready and still serves; then it refuses what comes. */
  phase: 'open' | 'leaving' | 'refusing'
}

/** The server that stops, and its settings. */
interface StopParts extends Stoppable {
  readonly mcpServer: Server
  readonly stopping: Stopping
  /** True or the options of a stop when signals stop the server. */
  readonly onSignals: boolean | StopOptions
}

const tenSeconds = 10_000

/** A function that stops a server once, however often it is called. */
export function stopOnce(parts: StopParts): (options?: StopOptions) => Promise<void> {
  const { onSignals } = parts
  const release = parts.mcpServer.attachHost()
  let stopped: Promise<void> | undefined
  let forgetSignals = (): void => {}
  const stop = (options: StopOptions = {}): Promise<void> => {
    forgetSignals()
    stopped ??= stopHttpServer(parts, options).finally(() => release(options))
    return stopped
  }
  if (onSignals !== false) forgetSignals = onStopSignal(() => void stop(onSignals === true ? {} : onSignals))
  return stop
}

async function stopHttpServer(parts: StopParts, { graceMs = tenSeconds, noticeMs = 0 }: StopOptions): Promise<void> {
  const { mcpServer, stopping, schedule } = parts
  stopping.phase = 'leaving'
  const undrains = [mcpServer.drain()]
  if (noticeMs > 0) {
    await new Promise<void>((resolve) => void schedule(resolve, noticeMs))
    // What came meanwhile has to leave as well.
    undrains.push(mcpServer.drain())
  }
  stopping.phase = 'refusing'
  try {
    await stopGracefully(parts, graceMs)
  } finally {
    for (const undrain of undrains) undrain()
  }
}

/** The signals with which supervisors and terminals ask a process to end. */
const asked = ['SIGTERM', 'SIGINT'] as const

/**
 * Runs a function at the first of the signals that ask the process to end. A second one ends it at once, as it would without this. What
 * is returned takes the listeners away.
 */
function onStopSignal(run: () => void): () => void {
  const forget = (): void => {
    for (const signal of asked) process.off(signal, stop)
  }
  const stop = (): void => {
    forget()
    run()
  }
  for (const signal of asked) process.on(signal, stop)
  return forget
}
