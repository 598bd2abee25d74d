import { quoteText } from '@x/core'
import { callHeadersKey, type Call } from '@x/exchange'
import {
  type ClientCapabilities,
  decodeHeaderValue,
  errorCodes,
  McpError,
  metaKeys,
  type RequestMetaObject,
  findMissingCapabilities,
} from '@x/schema'
import { tasksCapability } from '../schema/task-params.ts'

/** True if this request declares the extension. What earlier requests declared does not count. */
export function declaresTasks(meta: RequestMetaObject): boolean {
  return findMissingCapabilities(meta[metaKeys.clientCapabilities], tasksCapability) === undefined
}

/** Throws if this request did not declare the extension (seps/2663-tasks-extension, protocol errors). */
export function requireTasks(meta: RequestMetaObject): void {
  if (declaresTasks(meta)) return
  const requiredCapabilities: ClientCapabilities = tasksCapability
  const message = `The client must declare the extension ${Object.keys(tasksCapability.extensions).join()} for this request`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, { data: { requiredCapabilities } })
}

/**
 * Checks that the header `Mcp-Name` names the same task as the body, because a proxy may have routed the request by the
 * header (seps/2663-tasks-extension, routing headers). Does nothing on a transport without headers.
 */
export function checkTaskNameHeader({ context }: Call, taskId: string): void {
  const headers = context.get(callHeadersKey)
  if (headers === undefined) return
  const header = headers.get('Mcp-Name')
  if (header === undefined) {
    throw new McpError(
      errorCodes.headerMismatch,
      `Mcp-Name is missing: it must repeat ${quoteText(taskId)} of the body`,
    )
  }
  if (decodeHeaderValue(header) === taskId) return
  throw new McpError(errorCodes.headerMismatch, `Mcp-Name is ${quoteText(header)}, the body says ${quoteText(taskId)}`)
}

/**
 * Another owner's task and one that does not exist get the same error, so that a caller cannot find out which ids
 * exist.
 */
export function unknownTaskError(taskId: string): McpError {
  const message = `Task ${quoteText(taskId)} is not found: it has expired, or it is not a task of this caller`
  return new McpError(errorCodes.invalidParams, message)
}
