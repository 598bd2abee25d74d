import type { PageHandler } from '@apps/front/serve-page'

const path = /^\/instances\/(\d{1,6})\/kill$/

/**
 * Creates the handler of the page's button that kills an instance of the demo; other requests go to `next`. It accepts
 * only requests of the page itself, which the browser marks with `Sec-Fetch-Site: same-origin`.
 */
export function serveKill(kill: (instance: number) => void, next: PageHandler): PageHandler {
  return (request, response) => {
    const [, instance] = path.exec(request.url ?? '') ?? []
    if (instance === undefined) return next(request, response)
    const isAllowed = request.method === 'POST' && request.headers['sec-fetch-site'] === 'same-origin'
    response.writeHead(isAllowed ? 202 : 403).end()
    if (isAllowed) kill(Number(instance))
    return true
  }
}
