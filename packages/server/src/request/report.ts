import { errorRecord, type Log, type LogContext } from '@x/core'
import { type Call, isJsonObject, type RpcRequest, traceContextOf } from '@x/schema'

/** The part of a server's settings that reports errors. */
export interface ErrorReporter {
  /** Never throws. */
  readonly log: Log
}

/** Logs an error that the peer does not see whole. */
export function reportServerError(error: unknown, context: LogContext, { log }: ErrorReporter): void {
  log(errorRecord(error, context))
}

/** A request, as a log record names it. */
export interface LoggedRequest extends Pick<RpcRequest, 'id' | 'method' | 'params'> {
  readonly call: Call
}

/** Returns the fields of a log record that name a request. */
export function logContextOf({ id, method, params, call }: LoggedRequest, name?: string): LogContext {
  const meta = params?.['_meta']
  const { traceparent } = traceContextOf(isJsonObject(meta) ? meta : undefined)
  return { method, name, requestId: id, principal: call.principal?.subject, traceId: traceparent?.split('-')[1] }
}

/** A warning for the author of a server, though the call continues. */
export type WarningCode =
  /** A handler caught the suspension that a question ends its run with. */
  | 'swallowed'
  /** A call has asked so often that clients may give up. */
  | 'rounds'
  /** A handler does not do the same when it runs again. */
  | 'not_repeatable'
  /** A handler builds the schema of a question in each run. It could build it once with `form()`. */
  | 'rebuilt_form'
  /** `requestState` is sealed with a random key, which no other instance has. */
  | 'random_key'
  /** Clients of other machines listen, and changes at other instances do not reach them. */
  | 'local_bus'
  /** A tool's name has a form that some hosts reject. */
  | 'name'
  /** The measurement of `shedding.load` failed. */
  | 'load'

/** A warning about one of the server's handlers, or about the server, before it is a log record. */
export interface ServerWarning {
  readonly code: WarningCode
  readonly message: string
  /** The method, tool, prompt or resource that it is about. */
  readonly where?: { readonly method: string; readonly name: string } | undefined
  /** The key that the handler gave. */
  readonly key?: string | undefined
}
