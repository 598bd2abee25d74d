import type { IncomingHttpHeaders } from 'node:http'

/**
 * Why a request is refused, as a status; undefined when it is served. The page can end processes, and it listens where every program
 * of this machine and every site in its user's browser can knock. A site that has its name point at this machine (DNS rebinding) is
 * known by its Host; one that sends a form or a script's request by its Origin and by a type that forms cannot send.
 */
export function refusalOf(headers: IncomingHttpHeaders, port: number, isCommand: boolean): number | undefined {
  const { host = '', origin, 'content-type': type = '' } = headers
  const names = ['127.0.0.1', 'localhost'].map((name) => `${name}:${port}`)
  if (!names.includes(host.toLowerCase())) return 403
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) return 403
  if (headers['sec-fetch-site'] !== undefined && headers['sec-fetch-site'] === 'cross-site') return 403
  return isCommand && type.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json' ? 415 : undefined
}
