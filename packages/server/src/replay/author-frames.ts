import type { ServerSettings } from '../compile/settings.ts'

/** Ours at the top of a stack: the `ctx` function, and the one that it calls. */
const contextFrameCount = 2

const authorFrameCount = 2

/**
 * How many calls of `ctx` functions one server remembers with their stack frames. Errors of further calls name the call
 * and show no frames.
 */
const maxRememberedCalls = 1000

/**
 * Captures where a `ctx` function was called, the first time that its server sees the key. Later calls with this key
 * come from the same line of the handler, and capturing takes as long as the rest of a step. `entry` is the function
 * below whose frame the stack begins.
 */
export function rememberAuthorFrames(
  authorFrames: ServerSettings['authorFrames'],
  callKey: string,
  entry: (...args: never) => unknown,
): void {
  if (authorFrames.size < maxRememberedCalls) authorFrames.set(callKey, captureAuthorFrames(entry))
}

const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

function captureAuthorFrames(entry: (...args: never) => unknown): string | undefined {
  if (typeof captureStackTrace !== 'function') return undefined
  const captured: { readonly stack?: string } = {}
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = Math.min(stackTraceLimit, contextFrameCount + authorFrameCount)
  captureStackTrace(captured, entry)
  Error.stackTraceLimit = stackTraceLimit
  const frames = captured.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  return frames.length <= contextFrameCount ? undefined : frames.slice(contextFrameCount).join('\n')
}
