import { callListener } from './callback.ts'
import { quoteText } from './quote-text.ts'
import { codeOf } from './thrown.ts'

/** How severe a {@link LogRecord} is. Each level is the name of a method of `console`, pino and winston. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One event for the operator of a server. All its parts report errors and warnings as such records. */
export interface LogRecord {
  readonly level: LogLevel
  /** A sentence for people. It may quote text that a peer sent. */
  readonly message: string
  /** Which kind of warning, from a fixed list of the package that writes it. */
  readonly code?: string | undefined
  /** Method of the request, or a part of the server, such as `ready`. */
  readonly method?: string | undefined
  /** Name or URI of the tool, prompt, resource or template. */
  readonly name?: string | undefined
  /** Key of the question or step that a warning is about. */
  readonly key?: string | undefined
  /** JSON-RPC id of the request. */
  readonly requestId?: string | number | undefined
  /** Digest of the task's id, for a call that runs as a task. A reader could use the task with the id itself. */
  readonly taskId?: string | undefined
  /** Subject of the caller's principal. */
  readonly principal?: string | undefined
  /** Trace id of the request's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string | undefined
  /** What was thrown, usually an `Error`. It, its stack and its causes may contain secrets. */
  readonly err?: unknown
}

/** Receives log records. */
export type Log = (record: LogRecord) => void

/** The fields that identify the request or the part of the server. */
export type LogContext = Omit<LogRecord, 'level' | 'message' | 'code' | 'err'>

/** Log record of an error that was thrown. */
export function errorRecord(err: unknown, context: LogContext = {}): LogRecord {
  return { ...context, level: 'error', message: describeThrown(err), err }
}

/**
 * Makes a log that never throws: a request must not fail for its logging, so what the given log throws or rejects with
 * is dropped. Throws a TypeError for a log that is no function, such as a logger object. Without a given log, each
 * record from `info` on becomes a line on the standard error, because a transport may use the standard output. The line
 * begins with the name of the package.
 */
export function createLog(log: Log | undefined, packageName: string): Log {
  if (log !== undefined && typeof log !== 'function')
    throw new TypeError('log must be a function that receives records, as in ({ level, message, err }) => { … }')
  const write = log ?? ((record) => writeConsoleLine(packageName, record))
  // The log itself fails, so its error cannot be logged.
  return (record) => callListener(write, record, () => {})
}

/** Log of a part that a server is given, such as a bus: the part's own, or else that of the server. */
export class PartLog {
  #log: Log
  readonly #isOwn: boolean

  constructor(own: Log | undefined, packageName: string) {
    this.#log = createLog(own, packageName)
    this.#isOwn = own !== undefined
  }

  readonly write: Log = (record) => this.#log(record)

  /** For the member `useLog` of the part. */
  readonly use = (log: Log): void => {
    if (!this.#isOwn) this.#log = log
  }
}

function writeConsoleLine(packageName: string, record: LogRecord): void {
  if (record.level === 'debug') return
  keepProcessWithoutStderr()
  // oxlint-disable-next-line no-console -- the destination of records whose author gave no other
  console.error(formatLogLine(packageName, record))
}

let isStderrGuarded = false

/**
 * The reader of the standard error may go away, and the next line would end the process; this makes such errors
 * harmless. Called by all that write there. Does nothing where there is no such stream.
 */
export function keepProcessWithoutStderr(): void {
  if (isStderrGuarded) return
  isStderrGuarded = true
  globalThis.process?.stderr?.on?.('error', () => {})
}

const maxLineLength = 2000
const maxCauses = 3

/** One line without control characters, because text of a peer must neither begin a new line nor control a terminal. */
function formatLogLine(packageName: string, record: LogRecord): string {
  const context = describeContext(record)
  const text = describeRecord(record)
  const prefix = context === '' || text.startsWith(context) ? '' : `${context}: `
  const line = `${packageName}: ${prefix}${text}`.replaceAll(/[\p{C}\s]+/gu, ' ')
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line
}

function describeContext({ method, name }: LogRecord): string {
  if (method === undefined) return name ?? ''
  return name === undefined ? method : `${method} ${quoteText(name)}`
}

function describeRecord({ message, err }: LogRecord): string {
  if (!(err instanceof Error)) return message
  const causes: string[] = []
  // If the record has another message than the error, the error itself is shown as the first cause.
  let cause: unknown = message === describeThrown(err) ? err.cause : err
  while (cause !== undefined && causes.length < maxCauses) {
    causes.push(` (cause: ${describeThrown(cause)})`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return `${message}${causes.join('')}${frameOf(err)}`
}

function describeThrown(error: unknown): string {
  if (error === undefined || error === null) return `${String(error)} was thrown`
  if (error instanceof Error) return describeWithName(error)
  if (typeof error === 'object') {
    if ('message' in error) return String(error.message)
    if ('reason' in error) return String(error.reason)
  }
  return `${typeof error} ${String(error)}`
}

function describeWithName(error: Error): string {
  // Some errors have a message for the peer, and `detail` for the operator.
  const detail = 'detail' in error && typeof error.detail === 'string' ? ` (${error.detail})` : ''
  const message = error.message === '' ? describeWithoutMessage(error) : error.message
  return `${message === '' ? classNameOf(error) : `${error.name}: ${message}`}${detail}`
}

/** The time limit of `@redis/client` throws an error that says no more than its class. */
function classNameOf(error: Error): string {
  return error.name === 'Error' ? error.constructor.name : error.name
}

/** Node rejects a connection to several addresses with an `AggregateError` whose own message is empty. */
function describeWithoutMessage(error: Error): string {
  const errors: unknown = Reflect.get(error, 'errors')
  const [first]: unknown[] = Array.isArray(errors) ? errors : []
  if (first instanceof Error && first !== error) return first.message
  return codeOf(error) ?? ''
}

/** First line of the stack in the author's own code, if the engine formats stacks as V8 does. */
function frameOf({ message, stack = '' }: Error): string {
  // A message may have frames of another process.
  const frames = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  const ownFrame = frames.find((line) => !/node:|node_modules|<anonymous>/.test(line))
  return ownFrame === undefined ? '' : ` ${ownFrame.trim()}`
}
