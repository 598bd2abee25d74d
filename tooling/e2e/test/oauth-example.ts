import { findFreePort } from '@tooling/real-servers/free-port'
import { protect } from '@x/auth/server'
import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

export const scope = 'items:read'

/** The issuer and the server of the guide on OAuth from end to end. The server also serves older clients. */
export async function serveExample(
  options: { readonly users?: readonly string[] } = {},
): Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }> {
  const [port, issuerPort] = [await findFreePort(), await findFreePort()]
  const resource = `http://localhost:${port}/mcp`
  const { startIssuer } = await import('@tooling/examples/oauth/issuer')
  const { issuer, close } = await startIssuer({ port: issuerPort, resource, scope, ...options })
  const whoAmI = tool('who_am_i', {
    description: 'Names the caller',
    run: (_, ctx) => ctx.principal?.subject ?? 'nobody',
  })
  const server = createServer({ name: 'items', version: '1.0.0', tools: [whoAmI], extensions: [legacy()] })
  const auth = protect({ resource, issuers: [issuer], scopes: [scope] })
  const http = await serveHttp(server, { port, host: 'localhost', auth })
  return {
    url: resource,
    [Symbol.asyncDispose]: async () => {
      await http.close({ graceMs: 0 })
      close()
    },
  }
}

/** Plays the browser of a user, up to the redirect URI. On a page it presses the last button. Twenty pages are a loop. */
export async function browse(url: URL, redirectUri: string, cookies = new Map<string, string>()): Promise<URL> {
  let next = url
  for (let redirects = 0; redirects < 20; redirects += 1) {
    if (next.href.startsWith(redirectUri)) return next
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ')
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/)
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    next = new URL(location ?? (await pressButton(response)), next)
  }
  throw new Error(`The login does not end: ${next}`)
}

async function pressButton(response: Response): Promise<string> {
  const text = await response.text()
  const user = /.*<button name="user" value="(\w+)"/.exec(text)?.[1]
  if (user === undefined) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return `?user=${user}`
}
