import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { findFreePort } from '@tooling/real-servers/free-port'
import { clientCredentials } from '@x/auth/machine'
import { protect } from '@x/auth/server'
import { gateway } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny, type ServerTarget } from '@x/legacy/client'
import { type HttpServer, serveHttp, type StopOptions } from '@x/transport-http/node'
import { keys, stateWith } from './asking.ts'
import { createBooking } from './booking-server.ts'
import { subjectHeader } from './gateway-user.ts'

/** A server that stops and starts again at the same port. */
export interface Restartable {
  readonly url: string
  stop(options: StopOptions): Promise<void>
  start(): Promise<void>
}

async function startRestartable(serve: (port: number) => Promise<HttpServer>): Promise<Restartable> {
  let http = await serve(0)
  const { port, url } = http
  return {
    url,
    stop: (options) => http.close(options),
    async start() {
      http = await serve(port)
    },
  }
}

/**
 * Three gateways in front of four servers: one of 2026-07-28 over HTTP, an older one over HTTP, an older one over stdio,
 * and one that requires an access token.
 */
export interface BookingFleet extends AsyncDisposable {
  /** The addresses of the gateways that a balancer selects: those that are ready. */
  readonly readyUrls: () => readonly string[]
  readonly modern: Restartable
  /** Restarts the gateways one after the other. */
  roll(): Promise<void>
}

/** A body that the servers refuse with 413. */
export const tooLargeText = 'x'.repeat(200_000)
const limits = { maxBodyBytes: 100_000 }

/** Starts the fleet. All servers write their bookings to one folder. */
export async function startBookingFleet(folder: string, stdio: ServerTarget): Promise<BookingFleet> {
  const modern = await startRestartable((port) => serveHttp(createBooking(folder), { ...limits, port }))
  const older = await serveHttp(createBooking(folder), limits)
  const issuer = await startScriptedAuthServer()
  // The address of a protected server is part of its tokens.
  const guardedPort = await findFreePort()
  const resource = `http://127.0.0.1:${guardedPort}/mcp`
  const auth = protect({ resource, issuers: [issuer.issuer] })
  const guarded = await serveHttp(createBooking(folder), { ...limits, port: guardedPort, auth })
  const accessToken = await issuer.sign({ claims: { aud: resource, sub: 'gateway', client_id: 'gateway' } })
  issuer.answer('/token', { json: { access_token: accessToken, token_type: 'Bearer', expires_in: 300 } })
  const account = { issuer: issuer.issuer, client: { id: 'gateway', secret: 'secret' } }
  const serveInstance = (port: number): Promise<HttpServer> => {
    const server = gateway({
      name: 'company',
      version: '1.0.0',
      state: stateWith(keys.first),
      upstreams: {
        modern: { connect: () => connectAny(modern.url) },
        'old-http': { connect: () => connectAny(older.url, { revision: 'older' }) },
        'old-stdio': { connect: () => connectAny(stdio, { revision: 'older' }) },
        guarded: { connect: () => connectAny(guarded.url, { http: { auth: clientCredentials(account) } }) },
      },
      extensions: [legacy()],
      log: () => {},
    })
    return serveHttp(server, { port, auth: (view) => ({ subject: view.header(subjectHeader) ?? 'nobody' }) })
  }
  const instances = await Promise.all([1, 2, 3].map(() => startRestartable(serveInstance)))
  const ready = new Set(instances)
  return {
    readyUrls: () => Array.from(ready, ({ url }) => url),
    modern,
    async roll() {
      for (const instance of instances) {
        ready.delete(instance)
        await instance.stop({ noticeMs: 200, graceMs: 5000 })
        await instance.start()
        ready.add(instance)
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(instances.map((instance) => instance.stop({ graceMs: 0 })))
      await Promise.all([
        modern.stop({ graceMs: 0 }),
        older.close({ graceMs: 0 }),
        guarded.close({ graceMs: 0 }),
        issuer.close(),
      ])
    },
  }
}
