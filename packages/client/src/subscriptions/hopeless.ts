import { errorCodes } from '@x/schema'
import type { ClientError } from '../client-error.ts'

const hopelessCodes: ReadonlySet<number> = new Set([
  errorCodes.invalidRequest,
  errorCodes.methodNotFound,
  errorCodes.invalidParams,
  errorCodes.headerMismatch,
  errorCodes.missingRequiredClientCapability,
  errorCodes.unsupportedProtocolVersion,
])

// HTTP: whoever is not let in has to come with other credentials.
const hopelessStatuses: ReadonlySet<unknown> = new Set([401, 403])

// A server's process that cannot be started, is no server, or ended so often that it is not started again.
const hopelessCauses: ReadonlySet<unknown> = new Set(['spawn', 'probe', 'restarts'])

/** Whether the same request would only fail in the same way again. */
export function isHopeless({ code, rpc, cause }: ClientError): boolean {
  if (code === 'unsupported_version' || code === 'input_required') return true
  if (code === 'rpc') return rpc !== undefined && hopelessCodes.has(rpc.code)
  if (code !== 'transport' || !(cause instanceof Error)) return false
  if ('status' in cause && hopelessStatuses.has(cause.status)) return true
  return 'code' in cause && hopelessCauses.has(cause.code)
}

/** How long the server asks to be left alone, in milliseconds; 0 when it does not say. */
export function retryAfterOf({ cause }: ClientError): number {
  const asked = cause instanceof Error && 'retryAfterMs' in cause ? cause.retryAfterMs : undefined
  return typeof asked === 'number' && asked > 0 ? asked : 0
}
