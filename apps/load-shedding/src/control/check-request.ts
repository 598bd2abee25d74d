import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns the status with which a request is rejected, or undefined if the request is valid. Commands end processes,
 * and every site in the user's browser can send requests to a loopback port. DNS rebinding is detected by `Host`.
 * Requests of other sites are detected by `Origin` and `Sec-Fetch-Site`, and forms by `Content-Type`: they cannot send
 * JSON.
 */
export function rejectionStatusOf(headers: IncomingHttpHeaders, port: number, isCommand: boolean): number | undefined {
  const host = headers.host?.toLowerCase() ?? ''
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return 403
  if (!isOwn(headers.origin, host) || headers['sec-fetch-site'] === 'cross-site') return 403
  return isCommand && !isJson(headers['content-type']) ? 415 : undefined
}

function isOwn(origin: string | undefined, host: string): boolean {
  return origin === undefined || origin.toLowerCase() === `http://${host}`
}

function isJson(type = ''): boolean {
  return type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}
