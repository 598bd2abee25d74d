/** The command line, or what it asks for, cannot be used; the message says what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The whole number that an option was given as, within two bounds. Throws {@link UsageError}. */
export function wholeNumber(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d{1,5}$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(`${name} is "${text}"; it should be a whole number from ${least} to ${most}`)
}

/** Describes the reason why a port cannot be used. */
export function portRefusal(error: unknown, port: number): UsageError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new UsageError(
      `port ${port} is taken by another program: stop that, or give another one with --port (0 picks a free one)`,
    )
  }
  if (code === 'EACCES') {
    return new UsageError(`port ${port} needs rights that this user lacks: give one from 1024 up with --port`)
  }
  return new UsageError(`port ${port} cannot be used (${String(code ?? error)}): give another one with --port`)
}

/**
 * Runs an application, and resolves to its exit code. Of an expected error it prints the message alone, because that says
 * what would be right.
 */
export async function runMain(
  main: () => Promise<number>,
  expectedErrors: readonly (new (message: string) => Error)[] = [UsageError],
): Promise<number> {
  try {
    return await main()
  } catch (error) {
    const isExpected = error instanceof Error && expectedErrors.some((type) => error instanceof type)
    console.error(isExpected ? `Cannot start: ${error.message.replaceAll('\n', '\n  ')}` : error)
    return 1
  } finally {
    // The channel to the process that started this one would keep it alive.
    if (process.connected) process.disconnect()
  }
}

/** Creates a controller that aborts at a signal to stop, or when the process that started this one has ended. */
export function stopOnSignals(): AbortController {
  const stop = new AbortController()
  const abort = () => stop.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, abort)
  process.once('disconnect', abort)
  return stop
}
