import { defaultBounds } from '../messages/scan-text.ts'
import { isMcpError } from '../basic/mcp-error.ts'
import { parseMessage, rejectedRequestIdOf } from '../messages/parse-message.ts'
import type { RequestId } from '../basic/rpc.ts'

/** With the id 7 and further members. */
export const createCallText = (members: string): string => `{"jsonrpc":"2.0","id":7,"method":"tools/call"${members}}`

/** What `parseMessage` throws for a text. Fails when it throws nothing. */
export function errorOf(text: string, bounds = defaultBounds): unknown {
  try {
    parseMessage(text, bounds)
  } catch (error) {
    return error
  }
  throw new Error(`was not refused: ${text.slice(0, 200)}`)
}

/** Parts of the `McpError` with which `parseMessage` rejects a text. Fails when it throws another error, or none. */
export function refusalOf(
  text: string,
  bounds = defaultBounds,
): { code: number; message: string; id: RequestId | undefined } {
  const error = errorOf(text, bounds)
  if (isMcpError(error)) return { code: error.code, message: error.message, id: rejectedRequestIdOf(error) }
  throw error
}
