import { type ScriptedAuthServer, startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { type Clock, createLedger, type Ledger, type Log, type LogRecord } from '@x/core'
import { type Exchange, type Principal, serverOf } from '@x/exchange'
import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { type FetchHandler, httpHandler, type RequestView } from '@x/transport-http'
import type { ProtectOptions, Protection } from '../server.ts'
import { createProtection } from '../server/protect.ts'
import type { ProtectInternals } from '../server/protect-options.ts'

/** The endpoint that tests protect. */
export const resource = 'https://mcp.example.com/mcp'

/** Accepts the tokens of a scripted authorization server. The test controls its clock. */
export interface ProtectedServer extends AsyncDisposable {
  readonly issuer: ScriptedAuthServer
  readonly auth: Protection
  readonly handler: FetchHandler
  readonly principals: (Principal | undefined)[]
  readonly errors: unknown[]
  readonly records: readonly LogRecord[]
  /** With a token, or with the headers in `options`. */
  send(token?: string, options?: SendOptions): Promise<Response>
  /** Advances all clocks, and runs the timers that are due. */
  advanceTime(ms: number): void
  /** Changes the time of day alone, as a correction of the clock does. */
  changeClock(ms: number): void
  /** Codes of all logged errors. */
  listErrorCodes(): unknown[]
}

/** What a test changes about a call. */
export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly url?: string
  readonly method?: string
  readonly params?: JsonObject
}

export interface ScriptedOptions
  extends Partial<Omit<ProtectOptions, 'issuers'>>,
    Pick<ProtectInternals, 'cacheMs' | 'fetch'> {
  readonly issuers?: (issuer: string) => ProtectOptions['issuers']
  readonly middleware?: (next: Exchange) => Exchange
  readonly ledger?: Ledger
}

/** Starts a scripted authorization server, and a protected server whose exchange answers every request. */
export async function createProtectedServer(options: ScriptedOptions = {}): Promise<ProtectedServer> {
  const claims = { aud: resource, sub: 'ada', client_id: 'cli', scope: 'items:read' }
  const issuer = await startScriptedAuthServer(claims)
  const { issuers = (one) => [one], middleware = (next) => next, ledger = createLedger(), ...given } = options
  const { cacheMs, fetch, ...others } = given
  let now = Date.now()
  const { clock, advance } = createManualClock()
  const errors: unknown[] = []
  const principals: (Principal | undefined)[] = []
  const auth = createProtection(
    { resource, issuers: issuers(issuer.issuer), scopes: ['items:read'], ...others },
    { now: () => now, clock, cacheMs, fetch },
  )
  const exchange: Exchange = async ({ id }, { principal }) => {
    principals.push(principal)
    return { jsonrpc: '2.0', id, result: { resultType: 'complete' } }
  }
  const info = { name: 'test', version: '1.0.0' }
  const records: LogRecord[] = []
  const log: Log = (record) => {
    records.push(record)
    errors.push(record.err)
  }
  const server = { ...serverOf(middleware(exchange), { info, localOnly: undefined, log }), ledger }
  const clientAddress = ({ header }: RequestView) => header('x-client-address')
  const handler = httpHandler(server, { allowedHosts: '*', clientAddress, auth })
  return {
    issuer,
    auth,
    handler,
    principals,
    errors,
    records,
    send: (token, changes) => handler(requestOf(token, changes)),
    advanceTime: (ms) => {
      now += ms
      advance(ms)
    },
    changeClock: (ms) => void (now += ms),
    listErrorCodes: () => errors.map((error) => (error instanceof Error && 'code' in error ? error.code : error)),
    [Symbol.asyncDispose]: () => issuer.close(),
  }
}

function createManualClock(): { readonly clock: Clock; readonly advance: (ms: number) => void } {
  let time = 0
  const timers = new Map<object, { readonly run: () => void; readonly dueAt: number }>()
  const clock: Clock = {
    monotonicNow: () => time,
    setTimeout: (run, ms) => {
      const timer = {}
      timers.set(timer, { run, dueAt: time + ms })
      return timer
    },
    clearTimeout: (timer) => void timers.delete(Object(timer)),
  }
  const advance = (ms: number): void => {
    time += ms
    for (const [timer, { run, dueAt }] of timers) {
      if (dueAt > time) continue
      timers.delete(timer)
      run()
    }
  }
  return { clock, advance }
}

function requestOf(token: string | undefined, options: SendOptions = {}): Request {
  const { headers, url = resource, method = 'tools/list', params = {} } = options
  const name = params['name'] ?? params['uri']
  const _meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
  return new Request(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  })
}
