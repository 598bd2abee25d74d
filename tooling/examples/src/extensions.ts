import type { ClientExtension } from '@x/client'
import type { Call, Middleware, ServerExtension } from '@x/exchange'
import { errorCodes, errorResponse, McpError } from '@x/schema'

// #region server
/** The member `quota` of a server. */
export interface QuotaApi {
  /** Returns how many tool calls a subject may still make in this hour. */
  left(subject: string): number
}

/** Limits the calls of tools that one subject may make in an hour, at each instance. */
export function quota({ callsPerHour }: { readonly callsPerHour: number }): ServerExtension<'quota', QuotaApi> {
  return {
    extends: 'server',
    name: 'quota',
    identifier: 'com.example/quota',
    capabilities: { callsPerHour },
    // The decisions of the extension depend on the caller. So its middleware runs before that of extensions without
    // `needsPrincipal`, and the HTTP transport accepts other machines only with `auth`.
    needsPrincipal: true,
    start({ runtime }) {
      const used = new Map<string, number>()
      let hour = 0
      const left = (subject: string): number => {
        const now = Math.floor(runtime.now() / 3_600_000)
        if (now !== hour) used.clear()
        hour = now
        return callsPerHour - (used.get(subject) ?? 0)
      }
      const middleware: Middleware = (next) => (request, call) => {
        if (request.method !== 'tools/call') return next(request, call)
        const subject = subjectOf(call)
        if (left(subject) === 0) return Promise.resolve(errorResponse(request.id, usedUp()))
        used.set(subject, (used.get(subject) ?? 0) + 1)
        return next(request, call)
      }
      const methods = { 'com.example/quota/read': (_: unknown, call: Call) => ({ left: left(subjectOf(call)) }) }
      return { api: { left }, middleware, methods }
    },
  }
}

function usedUp(): McpError {
  return new McpError(errorCodes.internal, 'The quota of this hour is used up: call again in the next')
}

function subjectOf({ principal }: Call): string {
  return principal?.subject ?? ''
}
// #endregion server

// #region client
/** The member `quota` of a client. */
export interface QuotaCalls {
  /** Returns the number of calls that are left in this hour. */
  left(): Promise<number>
}

/** Reads the quota from the server extension `quota`. */
export function quotaOfServer(): ClientExtension<'quota', QuotaCalls> {
  return {
    extends: 'client',
    name: 'quota',
    identifier: 'com.example/quota',
    capabilities: { extensions: { 'com.example/quota': {} } },
    start: ({ request }) => ({
      api: { left: async () => Number((await request('com.example/quota/read', {}))['left']) },
    }),
  }
}
// #endregion client

/** Reports the duration of every request, including one that fails. */
export function timing(report: (method: string, milliseconds: number) => void): Middleware {
  return (next) => async (request, call) => {
    const startedAt = performance.now()
    try {
      return await next(request, call)
    } finally {
      report(request.method, performance.now() - startedAt)
    }
  }
}
