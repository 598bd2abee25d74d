/** The severity of a {@link LogRecord}: the levels that loggers share. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error'

/** One event for the operator of a server. Every part of a server writes its errors and warnings as such records. */
export interface LogRecord {
  readonly level: LogLevel
  /** A sentence for people. It may quote text of a peer. */
  readonly message: string
  /** The kind of a warning, from a closed table of the package that writes it. */
  readonly code?: string | undefined
  /** The method of the request, or the part of the server, such as `ready`. */
  readonly method?: string | undefined
  /** The name or URI of the tool, prompt, resource or template. */
  readonly name?: string | undefined
  /** The JSON-RPC id of the request. */
  readonly requestId?: string | number | undefined
  readonly taskId?: string | undefined
  /** The subject of the caller's principal. */
  readonly principal?: string | undefined
  /** The trace id of the request's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string | undefined
  /** The value that was thrown, usually an `Error`. It may hold secrets, as its stack and its causes may. */
  readonly err?: unknown
}

/** Receives log records. */
export type Log = (record: LogRecord) => void

/** The fields of a record that name the request or the part that it is about. */
export type LogContext = Omit<LogRecord, 'level' | 'message' | 'code' | 'err'>

/** Makes the record of an error that was thrown. */
export function errorRecord(err: unknown, context: LogContext = {}): LogRecord {
  return { ...context, level: 'error', message: messageOf(err), err }
}

/**
 * Returns a log that never throws: an error of the given log is dropped, because a request must not depend on how it is
 * logged. Without one, each record from `info` on is a line of the standard error: the standard output may be a
 * transport's. The line begins with the name of the package.
 */
export function createLog(log: Log | undefined, packageName: string): Log {
  const write = log ?? ((record) => writeConsoleLine(packageName, record))
  return (record) => {
    try {
      write(record)
    } catch {
      // An error of the log cannot be reported to it.
    }
  }
}

function writeConsoleLine(packageName: string, record: LogRecord): void {
  if (record.level === 'debug') return
  // oxlint-disable-next-line no-console -- the destination of records whose author gave no other
  console.error(formatLogLine(packageName, record))
}

const maxLineLength = 2000
const maxCauses = 3

/** Part of a record may be a peer's text, which must not begin a line of its own, nor steer a terminal. */
function formatLogLine(packageName: string, record: LogRecord): string {
  const context = describeContext(record)
  const text = describeRecord(record)
  const prefix = context === '' || text.startsWith(context) ? '' : `${context}: `
  const line = `${packageName}: ${prefix}${text}`.replaceAll(/[\p{C}\s]+/gu, ' ')
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line
}

function describeContext({ method, name }: LogRecord): string {
  if (method === undefined) return name ?? ''
  return name === undefined ? method : `${method} ${quoteName(name)}`
}

function describeRecord({ message, err }: LogRecord): string {
  if (!(err instanceof Error)) return message
  const causes: string[] = []
  // A message of its own does not repeat the error, which is then its first cause.
  let cause: unknown = message === messageOf(err) ? err.cause : err
  while (cause !== undefined && causes.length < maxCauses) {
    causes.push(` (cause: ${messageOf(cause)})`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return `${message}${causes.join('')}${frameOf(err)}`
}

function messageOf(error: unknown): string {
  if (error === undefined || error === null) return `${String(error)} was thrown`
  if (error instanceof Error) return error.message === '' ? error.name : `${error.name}: ${error.message}`
  if (typeof error === 'object') {
    if ('message' in error) return String(error.message)
    if ('reason' in error) return String(error.reason)
  }
  return `${typeof error} ${String(error)}`
}

/** The first line of the stack that is the author's own, where the engine writes stacks as V8 does. */
function frameOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  const ownFrame = frames.find((line) => !/node:|node_modules|<anonymous>/.test(line))
  return ownFrame === undefined ? '' : ` ${ownFrame.trim()}`
}

/** A name from a peer, for an error message: quoted, and never long. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}
