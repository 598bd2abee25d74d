import type { JsonObject } from '@x/schema'
import type { ProbeRequest, Reply } from './http-probe.ts'

/** In the order in which they are written. */
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

/** One sentence of what was found, and for a fault one of what to change. */
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
  /** Reaches a server that the doctor has started. Undefined for a server at a URL. */
  readonly send?: ((probe: RpcProbe) => Promise<Reply>) | undefined
  /** The tool that asks, for the check of rounds. */
  readonly tool: { readonly name: string; readonly args: JsonObject } | undefined
  /** The reply to a `server/discover` without a fault. */
  readonly discovered: Reply
  /** What the server serves: `server/discover`, or `initialize` of an older server. Undefined if it serves neither. */
  readonly served: RpcProbe | undefined
}

/** A JSON-RPC request of revision 2026-07-28, or an `initialize` of an older one. */
export interface RpcProbe {
  readonly method: string
  readonly params?: JsonObject
  /** Replace headers of an ordinary request. An undefined one is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Default: 1. */
  readonly id?: number | string
  /** Takes the place of the JSON of the request. */
  readonly body?: string
  /** Revision that the request claims. Default: 2026-07-28. */
  readonly version?: string
  readonly http?: Pick<ProbeRequest, 'agent' | 'timeoutMs' | 'onPiece'>
}

export const ok = (found: string): Finding => ({ status: 'ok', found })

/** The check could not be made, or does not apply. */
export const skipped = (found: string): Finding => ({ status: 'skipped', found })

export const wrong = (found: string, change: string): Finding => ({ status: 'wrong', found, change })
