import { canHandOffKey, type Middleware, type ServerLoad, withContext } from '@x/exchange'
import { createServer, sealedState } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { serveHttp } from '@x/transport-http/node'
import { createPacedCount, type PacedWork } from '../primes/paced-count.ts'
import { countPrimes } from '../primes/prime-tool.ts'
import type { InstanceMessage } from './instance-message.ts'

/** Options of an instance. */
export interface InstanceOptions {
  readonly port: number
  /** The address to listen on. Default: the loopback address. */
  readonly host?: string | undefined
  /** The host names that requests may contain in `Host`. Default: the names of the loopback address. */
  readonly allowedHosts?: readonly string[] | undefined
  /**
   * The keys that seal the state of calls. All instances have the same keys, so that each opens state of the others.
   */
  readonly stateKeys: readonly string[]
  readonly sheds: boolean
  /**
   * The time limits of a stop in milliseconds. During `noticeMs` the instance accepts new calls; after that, running
   * calls have `graceMs` to end.
   */
  readonly stop: { readonly noticeMs: number; readonly graceMs: number }
  readonly report: (message: InstanceMessage) => void
  /**
   * The time in milliseconds for which each chunk of work blocks the event loop. Default: the time that counting takes.
   */
  readonly chunkMs?: number | undefined
}

/** The limits above which an instance sheds calls. All times are a tenth of those in a deployment. */
export const shedding = { maxRunningCalls: 6, maxEventLoopDelayMs: 80, minWorkMs: 150 } as const

/** An instance that listens until the process receives SIGTERM or SIGINT. */
export interface ServedInstance {
  readonly url: string
  /** Switches load shedding on or off for new calls. */
  setShedding(on: boolean): void
  load(): ServerLoad
}

/**
 * Serves the tool over HTTP. While shedding is off, calls are marked as impossible to hand off, and run to their end
 * here.
 */
export async function serveInstance(options: InstanceOptions): Promise<ServedInstance> {
  const { port, host, allowedHosts, stateKeys, report, stop, chunkMs } = options
  let { sheds } = options
  const disableHandOff: Middleware = (next) => (request, call) =>
    next(request, sheds ? call : withContext(call, canHandOffKey, false))
  const reportPacedWork = (work: PacedWork): void => report({ kind: 'paced', ...work })
  const count = chunkMs === undefined ? undefined : createPacedCount(chunkMs, reportPacedWork)
  const server = createServer({
    name: 'load-shedding',
    version: '0.1.0',
    state: sealedState({ keys: [...stateKeys], audience: 'load-shedding' }),
    tools: [countPrimes(report, count)],
    shedding: sheddingSettings(shedding),
    use: [disableHandOff],
  })
  const { url } = await serveHttp(server, { port, host, allowedHosts, stopOnSignals: stop })
  const setShedding = (on: boolean): void => {
    sheds = on
  }
  return { url, setShedding, load: () => server.load }
}
