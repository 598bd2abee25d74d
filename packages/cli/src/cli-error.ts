import { codeOf, messageOf } from '@x/core'

/** 0 is success, 1 a finding or a failure, 2 wrong usage, 5 a tool that returned an error. */
export type ExitCode = 0 | 1 | 2 | 5

/** A failure that the user can act on. It is printed as one message, without a stack trace. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: 'usage' | 'failure'

  constructor(code: CliError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * What keeps a server from listening, such as a port in use, is a failure that the user can act on. `portOption` is
 * where the user writes the port.
 */
export async function waitForListening<T>(listening: Promise<T>, portOption: string): Promise<T> {
  try {
    return await listening
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new CliError('failure', cause instanceof Error ? describeListenFailure(cause, portOption) : String(cause), {
      cause,
    })
  }
}

/** The advice of `serveHttp` for a port that is in use is for programs that read `PORT`. */
function describeListenFailure(error: Error, portOption: string): string {
  if (codeOf(error.cause) !== 'EADDRINUSE') return reasonsOf(error)
  const [problem] = error.message.split(': ', 1)
  return `${problem}: stop what listens there, or give another ${portOption} (0 picks a free one)`
}

export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof CliError && error.code === 'usage' ? 2 : 1
}

/**
 * What the user reads. An error with a code has a cause outside of this program, so its message is enough; any other is
 * a fault of this program, and shows its stack.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!('code' in error)) return `${error.stack ?? error.message}\nThis is a fault of mcpx. Please report it.`
  return reasonsOf(error)
}

/** An `AggregateError` of Node, such as of a failed connection, has no message of its own. */
function reasonsOf(error: Error): string {
  if (error.message !== '') return error.message
  const reasons = error instanceof AggregateError ? error.errors : []
  const messages = reasons.map(messageOf)
  return messages.length === 0 ? error.name : messages.join('; ')
}
