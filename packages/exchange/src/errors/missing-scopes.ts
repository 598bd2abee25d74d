import type { LogContext } from '@x/core'
import { errorCodes, findMethodRow, isJsonObject, McpError, type WireError } from '@x/schema'
import type { Principal } from '../call/exchange.ts'
import type { HttpErrorContext } from './http-errors.ts'

const missingScopesReason = 'insufficient_scope'

/** Names all scopes that a request needs, for the client. */
export function createMissingScopesError(scopes: readonly string[]): McpError {
  return new McpError(errorCodes.invalidRequest, `This needs the scopes ${scopes.join(' ')}`, {
    data: { reason: missingScopesReason, scopes: [...scopes] },
  })
}

/** The scopes that an error says are needed. Undefined for any other error. */
export function neededScopesOf({ data }: WireError): readonly string[] | undefined {
  if (!isJsonObject(data) || data['reason'] !== missingScopesReason || !Array.isArray(data['scopes'])) return undefined
  return data['scopes'].filter((scope) => typeof scope === 'string')
}

/** Data of logged errors. An error passes the server and, over HTTP, `protect`, and is one line in the log. */
const loggedErrorData = new WeakSet<object>()

/** Logs which of the needed scopes a caller lacks. Does nothing for any other error. */
export function logMissingScopes(
  error: WireError,
  { request, principal, log }: HttpErrorContext,
  grantedScopes: readonly string[] = principal?.scopes ?? [],
): void {
  const neededScopes = neededScopesOf(error)
  if (neededScopes === undefined || !isJsonObject(error.data) || loggedErrorData.has(error.data)) return
  loggedErrorData.add(error.data)
  log({
    ...describeRequest(request),
    level: 'warn',
    code: missingScopesReason,
    principal: principal?.subject,
    message: describeMissingScopes(neededScopes, principal, grantedScopes),
  })
}

function describeMissingScopes(
  neededScopes: readonly string[],
  principal: Principal | undefined,
  grantedScopes: readonly string[],
): string {
  const missingScopes = neededScopes.filter((scope) => !grantedScopes.includes(scope))
  return `${principal?.subject ?? 'A caller without a principal'} lacks the scopes ${missingScopes.join(' ')}`
}

function describeRequest(request: HttpErrorContext['request']): LogContext {
  if (request === undefined) return {}
  const { id, method, params } = request
  const name = params?.[findMethodRow(method)?.targetParam ?? '']
  return { method, name: typeof name === 'string' ? name : undefined, requestId: id }
}
