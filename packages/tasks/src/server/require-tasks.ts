import {
  type ClientCapabilities,
  decodeHeaderValue,
  errorCodes,
  type Call,
  McpError,
  metaKeys,
  protocolVersion,
  type RequestMetaObject,
  supports,
} from '@x/schema'
import { tasksCapability } from '../schema/extension.ts'

/** Whether a request declares the extension; what earlier requests declared says nothing. */
export function declaresTasks(meta: RequestMetaObject): boolean {
  return supports(meta[metaKeys.clientCapabilities], tasksCapability) === undefined
}

/** Refuses a request of a client that did not declare the extension with it (seps/2663-tasks-extension, protocol errors). */
export function requireTasks(meta: RequestMetaObject): void {
  if (declaresTasks(meta)) return
  const requiredCapabilities: ClientCapabilities = tasksCapability
  const message = `The client must declare the extension ${Object.keys(tasksCapability.extensions).join()} for this request`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, { data: { requiredCapabilities } })
}

/** Refuses every revision but the one that has extensions. */
export function requireVersion(meta: RequestMetaObject): void {
  const requested = meta[metaKeys.protocolVersion]
  if (requested === protocolVersion) return
  const message = `Unsupported protocol version: tasks are served in ${protocolVersion}`
  const data = { supported: [protocolVersion], requested }
  throw new McpError(errorCodes.unsupportedProtocolVersion, message, { data })
}

/**
 * Holds `Mcp-Name` against the task that the body names, where the transport has headers (seps/2663-tasks-extension, routing
 * headers): somebody on the way has sent the request where the header says.
 */
export function matchTaskName({ headers }: Call, taskId: string): void {
  if (headers === undefined) return
  const header = headers().get('Mcp-Name')
  if (header === undefined) {
    throw new McpError(errorCodes.headerMismatch, `Mcp-Name is missing: it has to repeat ${quote(taskId)} of the body`)
  }
  if (decodeHeaderValue(header) === taskId) return
  throw new McpError(errorCodes.headerMismatch, `Mcp-Name is ${quote(header)}, the body says ${quote(taskId)}`)
}

/** The one answer for a task that is not there, and for one that is another's. */
export function unknownTask(taskId: string): McpError {
  const message = `Task ${quote(taskId)} is not found: it has expired, or there never was one for you`
  return new McpError(errorCodes.invalidParams, message)
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
