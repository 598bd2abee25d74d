/**
 * A failure of a tool that its model should read, such as the reason why arguments make no sense. Thrown in a tool's `run`,
 * it ends the call with a result with `isError` whose text is the message (server/tools, error handling); it is not
 * reported to `onError`. The text of any other error stays with the server.
 *
 * @example
 * if (divisor === 0) throw new ToolError('The divisor must not be 0')
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** Returns true for a {@link ToolError}, from this copy of the package or another. */
export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && error.name === 'ToolError'
}
