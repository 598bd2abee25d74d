import { createLog, errorRecord } from '@x/core'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UserLogin } from '../login/user-login.ts'

/** In place of the request's own host, which the client writes: the pages read path and query alone. */
const anyOrigin = 'http://localhost'

/** `Request` throws for these methods (https://fetch.spec.whatwg.org/#forbidden-method). A page has GET alone. */
const forbiddenMethods: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT'])

/** Serves the pages of {@link UserLogin}: pass the result to `serveHttp` as `onRequest`. */
export function loginPages(
  logins: Pick<UserLogin, 'handle'>,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const address = `${anyOrigin}${url}`
    if (!url.startsWith('/') || !URL.canParse(address)) return false
    const request = new Request(address, {
      method: forbiddenMethods.has(method) ? 'POST' : method,
      headers: { cookie: headers.cookie ?? '' },
    })
    const response = logins.handle(request)
    if (response === undefined) return false
    response.then((page) => writeWebResponse(page, outgoing)).catch((error: unknown) => failPage(error, outgoing))
    return true
  }
}

async function writeWebResponse(page: Response, outgoing: ServerResponse): Promise<void> {
  const text = await page.text()
  outgoing.writeHead(page.status, Object.fromEntries(page.headers))
  outgoing.end(text)
}

function failPage(error: unknown, outgoing: ServerResponse): void {
  createLog(undefined, '@x/auth')(errorRecord(error, { method: 'login' }))
  if (outgoing.headersSent) outgoing.destroy()
  else outgoing.writeHead(500).end()
}
