import { callListener } from './callback.ts'
import { quoteText } from './quote-text.ts'

/** The severity of a {@link LogRecord}. Each is the name of a method of `console`, pino and winston. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One event for the operator of a server. Every part of a server writes its errors and warnings as such records. */
export interface LogRecord {
  readonly level: LogLevel
  /** The message, a sentence for people. It may quote text that a peer sent. */
  readonly message: string
  /** The kind of a warning, from a fixed list of the package that writes the warning. */
  readonly code?: string | undefined
  /** The method of the request, or the part of the server, such as `ready`. */
  readonly method?: string | undefined
  /** The name or URI of the tool, prompt, resource or template. */
  readonly name?: string | undefined
  /** The key of the question or step that a warning is about. */
  readonly key?: string | undefined
  /** The JSON-RPC id of the request. */
  readonly requestId?: string | number | undefined
  /** A digest of the task's id, for a call that runs as a task. The id itself would let a reader use the task. */
  readonly taskId?: string | undefined
  /** The subject of the caller's principal. */
  readonly principal?: string | undefined
  /** The trace id of the request's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string | undefined
  /** The value that was thrown, usually an `Error`. The value, its stack and its causes may contain secrets. */
  readonly err?: unknown
}

/** Receives log records. */
export type Log = (record: LogRecord) => void

/** The fields of a record that identify the request or the part of the server. */
export type LogContext = Omit<LogRecord, 'level' | 'message' | 'code' | 'err'>

/** Makes the log record of an error that was thrown. */
export function errorRecord(err: unknown, context: LogContext = {}): LogRecord {
  return { ...context, level: 'error', message: describeThrown(err), err }
}

/**
 * Returns a log that never throws: errors of the given log, and rejections of an async one, are dropped, because a
 * request must not fail for its logging. Throws a TypeError for a log that is no function, such as a logger object.
 * Without a given log, each record from `info` on is written as a line to the standard error. The standard output may
 * be in use by a transport. The line begins with the name of the package.
 */
export function createLog(log: Log | undefined, packageName: string): Log {
  if (log !== undefined && typeof log !== 'function')
    throw new TypeError('log must be a function that receives records, as in ({ level, message, err }) => { … }')
  const write = log ?? ((record) => writeConsoleLine(packageName, record))
  // The log itself fails, so its error cannot be logged.
  return (record) => callListener(write, record, () => {})
}

function writeConsoleLine(packageName: string, record: LogRecord): void {
  if (record.level === 'debug') return
  keepProcessWithoutStderr()
  // oxlint-disable-next-line no-console -- the destination of records whose author gave no other
  console.error(formatLogLine(packageName, record))
}

let isStderrGuarded = false

/**
 * Makes errors of the standard error harmless for the rest of the process: its reader may go away, and the next line
 * would end the process. Called by whatever writes there. Does nothing where there is no such stream.
 */
export function keepProcessWithoutStderr(): void {
  if (isStderrGuarded) return
  isStderrGuarded = true
  globalThis.process?.stderr?.on?.('error', () => {})
}

const maxLineLength = 2000
const maxCauses = 3

/**
 * Formats a record as one line without control characters, because text of a peer must neither begin a new line nor
 * control a terminal.
 */
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
  if (error instanceof Error) {
    // The message of some errors is what a peer may read, and `detail` is what the operator needs.
    const detail = 'detail' in error && typeof error.detail === 'string' ? ` (${error.detail})` : ''
    return `${error.message === '' ? error.name : `${error.name}: ${error.message}`}${detail}`
  }
  if (typeof error === 'object') {
    if ('message' in error) return String(error.message)
    if ('reason' in error) return String(error.reason)
  }
  return `${typeof error} ${String(error)}`
}

/** Returns the first line of the stack in the author's own code, if the engine formats stacks as V8 does. */
function frameOf({ message, stack = '' }: Error): string {
  // A message may have frames of another process.
  const frames = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  const ownFrame = frames.find((line) => !/node:|node_modules|<anonymous>/.test(line))
  return ownFrame === undefined ? '' : ` ${ownFrame.trim()}`
}
