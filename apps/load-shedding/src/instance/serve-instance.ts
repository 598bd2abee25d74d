import { createServer, type Server, sealedState } from '@x/server'
import { type HttpServer, type ServedExchange, serveHttp } from '@x/transport-http/node'
import { countPrimes } from '../primes/prime-tool.ts'
import type { InstanceMessage } from './instance-message.ts'

/** What an instance is started with. */
export interface InstanceOptions {
  readonly port: number
  /** The same at every instance, so that each opens what another one sealed. */
  readonly stateKey: string
  readonly sheds: boolean
  readonly report: (message: InstanceMessage) => void
}

/** An instance that listens. */
export interface ServedInstance {
  readonly http: HttpServer
  /** Switches shedding, for calls that come from now on. */
  setShedding(on: boolean): void
  load(): Server['load']
}

/**
 * Serves the tool with shedding and without it, and gives each call to the one that is switched on. Both open the same states, so a call that was shed
 * before comes to its end whichever it reaches.
 */
export async function serveInstance({ port, stateKey, sheds, report }: InstanceOptions): Promise<ServedInstance> {
  const state = sealedState({ keys: [stateKey], audience: 'load-shedding' })
  const about = { name: 'load-shedding', version: '0.1.0', state, tools: [countPrimes(report)] }
  // Everything is ten times as quick as in a deployment: calls of seconds instead of minutes.
  const limits = { maxRunning: 6, maxEventLoopDelayMs: 80, minWorkMs: 150 }
  const shedding = createServer({ ...about, shedding: limits })
  const staying = createServer({ ...about, shedding: false })
  let current = sheds ? shedding : staying
  const exchange: ServedExchange = Object.assign<ServedExchange, Pick<ServedExchange, 'load' | 'drain'>>(
    (request, call) => current(request, call),
    {
      load: {
        get ready() {
          return current.load.ready
        },
      },
      drain: () => current.drain(),
    },
  )
  const http = await serveHttp(exchange, { port })
  const setShedding = (on: boolean): void => {
    current = on ? shedding : staying
  }
  return { http, setShedding, load: () => current.load }
}
