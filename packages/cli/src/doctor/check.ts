import type { JsonObject } from '@x/schema'
import type { ProbeRequest, Reply } from './http-probe.ts'

/** The ids of the checks, in the order in which they are written. */
export const checkIds = [
  'reach',
  'own-host',
  'auth',
  'headers',
  'discover',
  'probe-shape',
  'host',
  'origin',
  'cors',
  'media',
  'size',
  'depth',
  'lists',
  'unknown-method',
  'unknown-tool',
  'keep-alive',
  'stream',
  'heartbeat',
  'health',
  'rounds',
] as const

export type CheckId = (typeof checkIds)[number]

/** The result of a check: one sentence of what was found, and for a fault one of what to change. */
export type Finding =
  | { readonly status: 'ok'; readonly found: string }
  | { readonly status: 'skipped'; readonly found: string }
  | { readonly status: 'wrong'; readonly found: string; readonly change: string }

/** The server under examination, and a request that it serves. */
export interface Target {
  /** The address, or for a command a URL of the scheme `stdio:` with the name of the program. */
  readonly url: URL
  readonly token: string | undefined
  readonly signal: AbortSignal
  /** Sends a probe to a server that the doctor has started. Undefined for a server at a URL. */
  readonly send?: ((probe: RpcProbe) => Promise<Reply>) | undefined
  /** The tool that asks, for the check of rounds. */
  readonly tool: { readonly name: string; readonly args: JsonObject } | undefined
  /** The reply to a `server/discover` without a fault. */
  readonly discovered: Reply
  /** The request that the server serves: `server/discover`, or `initialize` of an older server. Undefined if none is. */
  readonly served: RpcProbe | undefined
}

/** A JSON-RPC request of revision 2026-07-28, or an `initialize` of an older one. */
export interface RpcProbe {
  readonly method: string
  readonly params?: JsonObject
  /** Headers that replace those of an ordinary request. An undefined one is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** The body, if it is not the JSON of the request. */
  readonly body?: string
  /** The revision that the request claims. Default: 2026-07-28. */
  readonly version?: string
  readonly http?: Pick<ProbeRequest, 'agent' | 'timeoutMs' | 'onPiece'>
}

/** Creates a finding that all is well. */
export const ok = (found: string): Finding => ({ status: 'ok', found })

/** Creates a finding of a check that could not be made, or that does not apply. */
export const skipped = (found: string): Finding => ({ status: 'skipped', found })

/** Creates a finding of a fault. */
export const wrong = (found: string, change: string): Finding => ({ status: 'wrong', found, change })
