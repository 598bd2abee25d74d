import { errorCodes, isJsonObject, type JsonObject, legacyResourceNotFound, type WireError } from '@x/schema'

/** An error response, or a tool's result that tells of one. */
export type LegacyFailure = { readonly error: WireError } | { readonly result: JsonObject }

/**
 * An error of this revision in the terms of an older one. A tool that needs what its client lacks answers so in its result, where the
 * model reads it.
 */
export function legacyError(error: WireError, method: string): LegacyFailure {
  const { code, message, data } = error
  if (code === errorCodes.invalidParams && method === 'resources/read' && isJsonObject(data) && 'uri' in data) {
    return { error: { code: legacyResourceNotFound, message, data } }
  }
  if (code === errorCodes.missingRequiredClientCapability) {
    const required = isJsonObject(data) ? data['requiredCapabilities'] : undefined
    return missingCapability(isJsonObject(required) ? required : {}, method)
  }
  if (isOfThisRevision(code)) return { error: { code: errorCodes.invalidParams, message } }
  return { error }
}

/** The failure of a call that needs something which its client cannot do. */
export function missingCapability(required: JsonObject, method: string): LegacyFailure {
  const names = namesOf(required)
  const extension = required['extensions'] === undefined ? '' : ', which clients of revision 2026-07-28 have'
  const what = names.length === 0 ? 'a capability that this client lacks' : `the client capability ${names.join(', ')}`
  const message = `This needs ${what}${extension}`
  if (method !== 'tools/call') return { error: { code: errorCodes.invalidParams, message } }
  return { result: failedToolResult(message) }
}

/** The result of a tool that failed. */
export function failedToolResult(message: string): JsonObject {
  return { content: [{ type: 'text', text: message }], isError: true }
}

function namesOf(required: JsonObject): string[] {
  return Object.entries(required).flatMap(([name, value]) => {
    const inner = isJsonObject(value) ? Object.keys(value) : []
    return inner.length === 0 ? [name] : inner.map((key) => `${name}.${key}`)
  })
}

// basic/index, error codes: older clients do not know these.
function isOfThisRevision(code: number): boolean {
  return code === errorCodes.headerMismatch || code === errorCodes.unsupportedProtocolVersion
}
