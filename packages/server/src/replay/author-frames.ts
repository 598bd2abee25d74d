import type { ServerSettings } from '../compile/settings.ts'

/**
 * The number of frames at the top of a stack that belong to this package: the function of the context, and the one that
 * it calls.
 */
const contextFrameCount = 2

/** The number of frames of the author's code that an error shows. */
const authorFrameCount = 2

/**
 * The maximum number of calls of `ctx` functions for which one server stores stack frames. The errors of further calls
 * name the call, and show no frames.
 */
const maxRememberedCalls = 1000

/**
 * Stores the stack frames of a call that its server makes for the first time. Later calls with the same key come from
 * the same line of the handler, and a capture of frames takes as long as the rest of a step. `entry` is the function
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

/**
 * Returns the stack frames of the author's code, without those of this package. Undefined on a platform that captures
 * no stack.
 */
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
