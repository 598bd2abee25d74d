import type { JsonObject, Ledger, Log } from '@x/core'
import type { RpcRequest } from '@x/schema'
import type { Principal } from '../call/exchange.ts'

/** Rejects a request before a call exists. The body is a JSON-RPC error without an id. */
export interface HttpErrorResponse extends HttpErrorHead {
  /** What was wrong, and the remedy. The client receives it. */
  readonly message: string
  /** JSON-RPC error code. Default: `errorCodes.invalidRequest`. */
  readonly code?: number | undefined
  /** The reason for machines. The client receives it. */
  readonly data?: JsonObject | undefined
}

/** HTTP status and headers of a response with a JSON-RPC error. */
export interface HttpErrorHead {
  /** From 400 up, such as 401. */
  readonly status: number
  /** Additional headers, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Which request failed. */
export interface HttpErrorContext {
  /** Undefined if it could not be read. */
  readonly request: Pick<RpcRequest, 'id' | 'method' | 'params'> | undefined
  readonly principal: Principal | undefined
  readonly log: Log
}

/** What the authentication of a request may use of the server. The HTTP transport passes it. */
export interface AuthenticationContext {
  /** Limits introspections and proofs, for example. */
  readonly ledger: Ledger
  /** Key of the client's address in the ledger. */
  readonly callerKey: string
  /** Reports an error that belongs to this request, such as an issuer that cannot be reached. */
  report(error: unknown): void
}
