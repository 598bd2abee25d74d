import { errorCodes, legacyResourceNotFound } from '@x/schema'

const callerErrorCodes: ReadonlySet<number> = new Set([
  errorCodes.parse,
  errorCodes.invalidRequest,
  errorCodes.methodNotFound,
  errorCodes.invalidParams,
  legacyResourceNotFound,
])

/** Returns true for the code of a mistake of the caller, which is no error of the server. */
export function isCallerError(code: number): boolean {
  return callerErrorCodes.has(code)
}
