import { errorRecord, type Log, type LogContext } from '@x/core'
import { type Call, taskAttemptKey } from '@x/exchange'
import { isJsonObject, type RpcRequest, traceContextOf } from '@x/schema'

/** Logs an error whose details the client does not receive. */
export function reportServerError(error: unknown, context: LogContext, { log }: { readonly log: Log }): void {
  log(errorRecord(error, context))
}

/** The parts of a request that a log record contains. */
export interface LoggedRequest extends Pick<RpcRequest, 'id' | 'method' | 'params'> {
  readonly call: Call
}

/** Fields of a log record that identify a request. */
export function logContextOf({ id, method, params, call }: LoggedRequest, name?: string): LogContext {
  const meta = params?.['_meta']
  const { traceparent } = traceContextOf(isJsonObject(meta) ? meta : undefined)
  return {
    method,
    name,
    requestId: id,
    taskId: call.context.get(taskAttemptKey)?.taskDigest,
    principal: call.principal?.subject,
    traceId: traceparent?.split('-')[1],
  }
}

/** The problems that known hosts may have with tools. */
export type HostProblemCode = 'name' | 'property_name' | 'schema_root' | 'pattern' | 'format' | 'tool_count'

/** Warnings for the author of a server, which continues after each of them. */
export type WarningCode =
  /** A handler caught the suspension that was to end its run. */
  | 'swallowed'
  /** A call has asked its client so many times that clients may give up. */
  | 'rounds'
  /** A handler returned without waiting for a step. */
  | 'unawaited'
  /** A handler behaves differently when it runs again. */
  | 'not_repeatable'
  /** A handler builds the schema of a question in each run. It could build it once with `form()`. */
  | 'rebuilt_form'
  /** Clients on other machines listen for changes, but changes at other instances do not reach them. */
  | 'local_bus'
  /** A known host, or the model API behind it, refuses a tool or the number of tools. */
  | HostProblemCode
  /** The search over tools keeps a tool listed that the server does not have. */
  | 'tool_rule_unmatched'
  /** The measurement of `shedding.load` failed. */
  | 'load'

/** About a handler or about the whole server. It becomes a log record. */
export interface ServerWarning {
  readonly code: WarningCode
  readonly message: string
  /** Method, and name of the tool, prompt or resource that the warning is about. */
  readonly where?: { readonly method: string; readonly name: string } | undefined
  /** Key of the question or step that the warning is about. */
  readonly key?: string | undefined
}
