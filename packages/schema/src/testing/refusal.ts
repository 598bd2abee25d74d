import { defaultBounds } from '../basic/bounds.ts'
import { isMcpError } from '../basic/mcp-error.ts'
import { parseMessage, unreadRequestId } from '../basic/parse-message.ts'
import type { RequestId } from '../basic/rpc.ts'

/** The text of a request with the id 7 and further members. */
export const call = (members: string): string => `{"jsonrpc":"2.0","id":7,"method":"tools/call"${members}}`

/** How `parseMessage` refuses a text; fails when it does not. */
export function refusalOf(
  text: string,
  bounds = defaultBounds,
): { code: number; message: string; id: RequestId | undefined } {
  try {
    parseMessage(text, bounds)
  } catch (error) {
    if (isMcpError(error)) return { code: error.code, message: error.message, id: unreadRequestId(error) }
    throw error
  }
  throw new Error(`was not refused: ${text.slice(0, 200)}`)
}
