import { canHandOffKey, type Middleware, type ServerLoad, withContext } from '@x/schema'
import { createServer, sealedState } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { telemetry } from '@x/server/otel'
import { serveHttp } from '@x/transport-http/node'
import { createPacedCount, type PacedWork } from '../primes/paced-count.ts'
import { countPrimes } from '../primes/prime-tool.ts'
import type { InstanceMessage } from './instance-message.ts'

/** Settings with which an instance is started. */
export interface InstanceOptions {
  readonly port: number
  /** The address to listen on, and the names by which clients call it. Default: this machine. */
  readonly host?: string | undefined
  readonly allowedHosts?: readonly string[] | undefined
  /** The same at every instance, so that each opens what another one sealed. */
  readonly stateKeys: readonly string[]
  readonly sheds: boolean
  /** The notice of a stop before calls are refused, and the time that running calls then have, in milliseconds. */
  readonly stop: { readonly noticeMs: number; readonly graceMs: number }
  readonly report: (message: InstanceMessage) => void
  /** For how many milliseconds each chunk of work holds the event loop; as long as counting takes when absent. */
  readonly chunkMs?: number | undefined
}

/** Everything is ten times as quick as in a deployment: calls of seconds instead of minutes. */
export const shedding = { maxRunningCalls: 6, maxEventLoopDelayMs: 80, minWorkMs: 150 } as const

/** An instance that listens until SIGTERM or SIGINT. */
export interface ServedInstance {
  readonly url: string
  /** Switches shedding, for calls that come from now on. */
  setShedding(on: boolean): void
  load(): ServerLoad
}

/**
 * Serves the tool. Without shedding, a call counts as one whose retry reaches no other instance, and stays to its end.
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
    extensions: [telemetry()],
  })
  const { url } = await serveHttp(server, { port, host, allowedHosts, stopOnSignals: stop })
  const setShedding = (on: boolean): void => {
    sheds = on
  }
  return { url, setShedding, load: () => server.load }
}
