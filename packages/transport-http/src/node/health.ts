import type { IncomingMessage, ServerResponse } from 'node:http'

/** What Kubernetes documents, and most balancers use. */
const healthPaths = { live: '/healthz', ready: '/readyz' } as const

type HealthCheck = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Answers health checks. It does not use the exchange, so a busy exchange does not delay the answers. The ready path
 * also checks the dependencies, at most once a second and for at most 5 seconds. Every `Host` is accepted, because a
 * balancer requests an instance by its address. `isOpen` is true while the server accepts calls.
 */
export function createHealthCheck(isOpen: () => boolean, canReachDependencies: () => Promise<boolean>): HealthCheck {
  const checkDependencies = cacheReadiness(canReachDependencies)
  const checks = new Map<string | undefined, () => boolean | Promise<boolean>>([
    [healthPaths.live, () => true],
    [healthPaths.ready, () => isOpen() && checkDependencies()],
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

/** How long a check's result is reused, and how long a check may take, in milliseconds. */
const readinessTimes = { freshMs: 1000, limitMs: 5000 }

/** Any client may send such requests, so all within one second share a result. */
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
