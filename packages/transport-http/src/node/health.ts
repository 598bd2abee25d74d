import type { IncomingMessage, ServerResponse } from 'node:http'

/** The paths of health checks; see {@link ServeHttpOptions.health}. */
export interface HealthOptions {
  /** Says that the process answers: 200 for as long as it does. `/healthz` by default, `false` for none. */
  readonly live?: string | false | undefined
  /** Says whether to send calls here: 200, or 503 while the server stops or is overloaded. `/readyz` by default, `false` for none. */
  readonly ready?: string | false | undefined
}

/** The readiness of a server. */
export interface ReadyState {
  /** Returns true when it takes calls at all; asked every time. */
  isOpen(): boolean
  /** Returns true when its dependencies can be reached. */
  dependencies(): Promise<boolean>
}

/** Answers a request for one of the paths; false for a request for anything else. */
export type HealthCheck = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Answers health checks beside the exchange, so that they are answered whatever it is busy with. `ready` also asks the server for what it
 * depends on, at most once a second and for at most 5 seconds. Whoever asks learns one word,
 * and needs no name that is allowed: a balancer calls an instance by its address.
 *
 * Throws a TypeError for a path that is none.
 */
export function healthCheck(options: false | HealthOptions, state: ReadyState): HealthCheck {
  if (options === false) return () => false
  const { live = '/healthz', ready = '/readyz' } = options
  const checks = new Map<string | undefined, () => boolean | Promise<boolean>>()
  if (live !== false) checks.set(checkedPath('live', live), () => true)
  if (ready !== false) {
    const dependencies = shared(state.dependencies)
    checks.set(checkedPath('ready', ready), () => state.isOpen() && dependencies())
  }
  return (request, response) => {
    const check = checks.get(request.url?.split('?', 1)[0])
    if (check === undefined) return false
    const well = check()
    if (typeof well === 'boolean') sendHealth(request, response, well)
    else void well.then((isWell) => sendHealth(request, response, isWell))
    return true
  }
}

/** Times of an answer about the server's dependencies, in milliseconds: how long it holds, and how long it may take. */
const times = { freshMs: 1000, limitMs: 5000 }

/** Balancers and strangers may ask as often as they like: those who ask within a second share one answer. */
function shared(isReady: () => Promise<boolean>): () => Promise<boolean> {
  let asked: { readonly at: number; readonly well: Promise<boolean> } | undefined
  return () => {
    const now = performance.now()
    if (asked === undefined || now - asked.at >= times.freshMs) asked = { at: now, well: withinLimit(isReady()) }
    return asked.well
  }
}

function withinLimit(well: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, times.limitMs, false).unref()
    const finish = (isWell: boolean): void => {
      clearTimeout(timer)
      resolve(isWell)
    }
    well.then(finish, () => finish(false))
  })
}

function checkedPath(name: keyof HealthOptions, path: string): string {
  if (path.startsWith('/')) return path
  throw new TypeError(`health.${name} is ${JSON.stringify(path)}: write a path such as "/healthz", or false`)
}

function sendHealth({ method }: IncomingMessage, response: ServerResponse, isWell: boolean): void {
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
