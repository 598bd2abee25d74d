import type { IncomingMessage, ServerResponse } from 'node:http'

/** Where balancers and supervisors look after a server; see {@link ServeHttpOptions.health}. */
export interface HealthOptions {
  /** Says that the process answers: 200 for as long as it does. `/healthz` by default, `false` for none. */
  readonly live?: string | false | undefined
  /** Says whether to send calls here: 200, or 503 while the server stops or is overloaded. `/readyz` by default, `false` for none. */
  readonly ready?: string | false | undefined
}

/** Answers a request for one of the paths; false for a request for anything else. */
export type HealthCheck = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Answers health checks without touching the exchange, so that they are answered whatever it is busy with. Whoever asks learns one word,
 * and needs no name that is allowed: a balancer calls an instance by its address.
 *
 * Throws a TypeError for a path that is none.
 */
export function healthCheck(options: false | HealthOptions, isReady: () => boolean): HealthCheck {
  if (options === false) return () => false
  const { live = '/healthz', ready = '/readyz' } = options
  const checks = new Map<string | undefined, () => boolean>()
  if (live !== false) checks.set(pathOf('live', live), () => true)
  if (ready !== false) checks.set(pathOf('ready', ready), isReady)
  return (request, response) => {
    const check = checks.get(request.url?.split('?', 1)[0])
    if (check === undefined) return false
    answer(request, response, check())
    return true
  }
}

function pathOf(name: keyof HealthOptions, path: string): string {
  if (path.startsWith('/')) return path
  throw new TypeError(`health.${name} is ${JSON.stringify(path)}: write a path such as "/healthz", or false`)
}

function answer({ method }: IncomingMessage, response: ServerResponse, isWell: boolean): void {
  const isRead = method === 'GET' || method === 'HEAD'
  const status = isRead ? (isWell ? 200 : 503) : 405
  const body = isRead ? `${JSON.stringify({ ok: isWell })}\n` : ''
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    ...(!isRead && { Allow: 'GET, HEAD' }),
  })
  response.end(method === 'HEAD' ? undefined : body)
}
