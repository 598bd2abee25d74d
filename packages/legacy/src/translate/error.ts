import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  legacyResourceNotFound,
  protocolVersion,
  type WireError,
} from '@x/schema'
import { capabilityNamesOf } from '@x/schema/internal'
import { isIgnoredCapability } from './capabilities.ts'

/** An error response, or the result of a tool that failed. */
export type LegacyFailure = { readonly error: WireError } | { readonly result: JsonObject }

/**
 * Translates an error of 2026-07-28. If a tool needs a capability that its client lacks, the failure is a result that
 * names it, because the model reads results.
 */
export function toLegacyFailure(error: WireError, method: string): LegacyFailure {
  const { code, message, data } = error
  if (code === errorCodes.invalidParams && method === 'resources/read' && isJsonObject(data) && 'uri' in data) {
    return { error: { code: legacyResourceNotFound, message, data } }
  }
  if (code === errorCodes.missingRequiredClientCapability) {
    const requiredCapabilities = isJsonObject(data) ? data['requiredCapabilities'] : undefined
    return createCapabilityFailure(isJsonObject(requiredCapabilities) ? requiredCapabilities : {}, method)
  }
  if (isModernErrorCode(code)) return { error: { code: errorCodes.invalidParams, message } }
  return { error }
}

/** For a call that needs capabilities that its client lacks. */
export function createCapabilityFailure(requiredCapabilities: JsonObject, method: string): LegacyFailure {
  const capabilityNames = capabilityNamesOf(requiredCapabilities)
  // A client may have declared tasks, but its revision keeps the call from becoming one.
  if (capabilityNames.some(isIgnoredCapability))
    return createUnsupportedFailure(`a client of revision ${protocolVersion}, because it only runs as a task`, method)
  return createUnsupportedFailure(
    capabilityNames.length === 0
      ? 'a capability that this client lacks'
      : `the client capability ${capabilityNames.join(', ')}`,
    method,
  )
}

/** For a call that needs something which this client cannot do, or its revision cannot express. */
export function createUnsupportedFailure(need: string, method: string): LegacyFailure {
  const message = `This needs ${need}`
  if (method !== 'tools/call') return { error: { code: errorCodes.invalidParams, message } }
  return { result: createFailedToolResult(message) }
}

export function createFailedToolResult(message: string): JsonObject {
  return { content: [{ type: 'text', text: message }], isError: true }
}

// basic/index, error codes: older revisions do not define these codes.
function isModernErrorCode(code: number): boolean {
  return code === errorCodes.headerMismatch || code === errorCodes.unsupportedProtocolVersion
}
