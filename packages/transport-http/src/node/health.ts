import type { IncomingMessage, ServerResponse } from 'node:http'

/** The paths that Kubernetes documents for these checks, which balancers are usually configured with. */
const healthPaths = { live: '/healthz', ready: '/readyz' } as const

/** The readiness of a server. */
interface ReadyState {
  /** Returns true when it takes calls at all. Called for every check. */
  isOpen(): boolean
  /** Returns true when its dependencies can be reached. */
  canReachDependencies(): Promise<boolean>
}

/** Answers a request for one of the paths. Returns false for any other request. */
type HealthCheck = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Answers health checks beside the exchange, so that a busy exchange does not delay them. The ready path also asks the
 * dependencies, at most once a second and for at most 5 seconds. The answer is one word, for every `Host`, because a
 * balancer calls an instance by its address.
 */
export function createHealthCheck(state: ReadyState): HealthCheck {
  const checkDependencies = cacheReadiness(state.canReachDependencies)
  const checks = new Map<string | undefined, () => boolean | Promise<boolean>>([
    [healthPaths.live, () => true],
    [healthPaths.ready, () => state.isOpen() && checkDependencies()],
  ])
  return (request, response) => {
    const check = checks.get(request.url?.split('?', 1)[0])
    if (check === undefined) return false
    const healthResult = check()
    if (typeof healthResult === 'boolean') sendHealth(request, response, healthResult)
    else void healthResult.then((isHealthy) => sendHealth(request, response, isHealthy))
    return true
  }
}

/** Times of an answer about the server's dependencies, in milliseconds: how long it holds, and how long it may take. */
const readinessTimes = { freshMs: 1000, limitMs: 5000 }

/** Shares one readiness check among the requests of one second, because any client may send them. */
function cacheReadiness(isReady: () => Promise<boolean>): () => Promise<boolean> {
  let lastCheck: { readonly askedAt: number; readonly healthPromise: Promise<boolean> } | undefined
  return () => {
    const now = performance.now()
    if (lastCheck === undefined || now - lastCheck.askedAt >= readinessTimes.freshMs)
      lastCheck = { askedAt: now, healthPromise: withReadinessTimeout(isReady()) }
    return lastCheck.healthPromise
  }
}

function withReadinessTimeout(healthPromise: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, readinessTimes.limitMs, false).unref()
    const finish = (isHealthy: boolean): void => {
      clearTimeout(timer)
      resolve(isHealthy)
    }
    healthPromise.then(finish, () => finish(false))
  })
}

function sendHealth({ method }: IncomingMessage, response: ServerResponse, isHealthy: boolean): void {
  const isReadMethod = method === 'GET' || method === 'HEAD'
  const status = isReadMethod ? (isHealthy ? 200 : 503) : 405
  const body = isReadMethod ? `${JSON.stringify({ ok: isHealthy })}\n` : ''
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    ...(!isReadMethod && { Allow: 'GET, HEAD' }),
  })
  response.end(method === 'HEAD' ? undefined : body)
}
