import type { PageHandler } from '@apps/front/serve-page'

const path = /^\/instances\/(\d{1,6})\/kill$/

/**
 * Serves the button of the page that kills an instance of the demo, and everything else with `next`. Only the page itself
 * may ask: a browser says with `Sec-Fetch-Site` that no other site sent the request.
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
