import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns the status with which a request is rejected; undefined when it is served. The page can end processes, and it listens where
 * every program of this machine and every site in its user's browser can knock. A site that has its name point at this
 * machine (DNS rebinding) is known by its Host; one that sends a form or a script's request by its Origin and by a type
 * that forms cannot send.
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
