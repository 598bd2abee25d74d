import { createServer, type Server } from 'node:http'
import {
  authErrorOf,
  type AuthStore,
  authorizedFetch,
  oauth,
  type OAuth,
  pageRedirect,
  type WebStorage,
  webStorageStore,
} from '@x/auth/client'
import { fileStore, guardedFetch, loopbackRedirect } from '@x/auth/node'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

// #region identity
export const commandLine = (): OAuth =>
  oauth({
    client: {
      name: 'Items',
      metadataUrl: 'https://items.example.com/client.json',
      registrations: [{ issuer: 'https://login.example.com', id: 'items-cli' }],
    },
    redirect: loopbackRedirect({ ports: [33418, 33419] }),
    store: fileStore('items-cli'),
  })
// #endregion identity

export async function logIn(auth: OAuth, url: string): Promise<void> {
  await auth.login(url, { signal: AbortSignal.timeout(120_000) })
}

export async function logOut(auth: OAuth, url: string): Promise<void> {
  await auth.logout(url)
}

// #region web
/** Serves `/tools`, which shows the tools of an MCP server to a user who is logged in there. */
export function serveWeb(mcpUrl: string, base: string, storeOf: (cookie?: string) => AuthStore): Server {
  const authOf = (cookie?: string): OAuth =>
    oauth({
      client: { name: 'Items on the web' },
      redirect: pageRedirect({ uri: `${base}/callback` }),
      // Find the user in your own session: the user who began a login must be the one who finishes it.
      store: storeOf(cookie),
    })
  return createServer(async (request, response) => {
    const address = new URL(request.url ?? '/', base)
    const auth = authOf(request.headers.cookie)
    try {
      if (address.pathname === '/callback') {
        await auth.finishLogin(address)
        return response.writeHead(303, { location: '/tools' }).end()
      }
      await using connection = connectHttp(mcpUrl, { auth })
      const tools = await createClient(connection, { name: 'items-web', version: '1.0.0' }).listTools()
      return response.end(tools.map(({ name }) => name).join('\n'))
    } catch (error) {
      const reason = authErrorOf(error)
      if (reason?.code === 'authorization_needed' && reason.url !== undefined) {
        return response.writeHead(303, { location: reason.url.href }).end()
      }
      return response.writeHead(502).end(reason?.message ?? 'The server cannot be reached')
    }
  })
}
// #endregion web

/** Finishes a login after the redirect. A call that needs a login navigates the browser away from this page. */
export async function openPage(
  location: { href: string; assign(url: string): void },
  sessionStorage: WebStorage,
  history: { replaceState(data: unknown, unused: string, url: string): void },
): Promise<OAuth> {
  // #region page
  const page = new URL(location.href)
  const auth = oauth({
    client: { name: 'Items in the browser' },
    redirect: pageRedirect({ uri: page.origin, assign: (url) => location.assign(url.href) }),
    store: webStorageStore(sessionStorage),
  })
  if (page.searchParams.has('state')) {
    await auth.finishLogin(page)
    // Or a reload would finish the same login again.
    history.replaceState(null, '', page.pathname)
  }
  // #endregion page
  return auth
}

export async function download(auth: OAuth, endpoint: string, file: string): Promise<Uint8Array> {
  const fetch = authorizedFetch(auth, { endpoint })
  const response = await fetch(new URL(file, endpoint))
  return new Uint8Array(await response.arrayBuffer())
}

export const hosted = (redirectUri: string, store: AuthStore): OAuth =>
  oauth({ client: { name: 'Items' }, redirect: pageRedirect({ uri: redirectUri }), store, fetch: guardedFetch() })
