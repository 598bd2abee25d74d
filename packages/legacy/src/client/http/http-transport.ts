import type { Clock } from '@x/core'
import { isJsonObject, type RpcRequest } from '@x/schema'
import { createHttpClient, HttpError, isHttpError } from '@x/transport-http/client'
import type { Transport } from '../connection/transport.ts'
import type { HttpOptions } from '../options.ts'
import { createHttpPort } from './http-port.ts'

const defaultMaxStreamBytes = 64 * 1024 * 1024

// Servers of older revisions reject a request without a session with one of these codes.
const sessionErrorCodes: ReadonlySet<unknown> = new Set([-32_000, -32_001])
const refusalStatuses: ReadonlySet<unknown> = new Set([400, 404, 405])

/** Sends nothing before the first request. Throws a `TypeError` for headers that cannot be sent. */
export function createHttpTransport(url: URL, options: HttpOptions, clock: Clock): Transport {
  const http = createHttpClient(url, { ...options, runtime: clock })
  const { headers, maxStreamBytes = defaultMaxStreamBytes } = options
  return {
    exchange: http.exchange,
    notify: http.notify,
    onStateChange: http.onStateChange,
    hasOpenLogin: () => http.state.status === 'login_needed',
    sessionKeyOf: async (request: RpcRequest) =>
      typeof headers === 'function' ? JSON.stringify(Object.entries(await headers(request)).toSorted()) : '',
    open: (request, negotiate) => negotiate(createHttpPort({ http, clock, maxStreamBytes, relatedRequest: request })),
    createError: (code, message) => new HttpError(code, message, { origin: url.origin, mayHaveRun: false }),
    isRefusal: (outcome) => {
      if (isHttpError(outcome)) return refusalStatuses.has(outcome.status)
      const error = isJsonObject(outcome) ? outcome['error'] : undefined
      return isJsonObject(error) && sessionErrorCodes.has(error['code'])
    },
    close: () => http.close(),
  }
}
