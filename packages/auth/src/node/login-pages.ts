import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UserLogin } from '../login/user-login.ts'

/** The host of the addresses of requests. The pages read the path and the query alone, because a client writes `Host`. */
const anyOrigin = 'http://localhost'

/** Returns the option `onRequest` of `serveHttp` that serves the pages of {@link UserLogin}. */
export function loginPages(
  logins: Pick<UserLogin, 'handle'>,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const address = `${anyOrigin}${url}`
    if (!url.startsWith('/') || !URL.canParse(address)) return false
    const request = new Request(address, { method, headers: { cookie: headers.cookie ?? '' } })
    const response = logins.handle(request)
    if (response === undefined) return false
    void response.then(async (page) => {
      outgoing.writeHead(page.status, Object.fromEntries(page.headers))
      outgoing.end(await page.text())
    })
    return true
  }
}
