import { httpHandler } from '@x/transport-http'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { mcp, oAuthDiscoveryMetadata, oAuthProtectedResourceMetadata, withMcpAuth } from 'better-auth/plugins'
import { callback, createItems, listen, type LoginService } from './authorization-servers.ts'
import { browse } from './oauth-example.ts'

/** better-auth with its plugin `mcp()`: opaque tokens, which its own guard checks in front of our handler. */
export async function serveBetterAuth(): Promise<LoginService> {
  const { origin, http, close } = await listen()
  const tables = ['user', 'session', 'account', 'verification', 'oauthApplication', 'oauthAccessToken', 'oauthConsent']
  const database: Record<string, object[]> = Object.fromEntries(tables.map((table) => [table, []]))
  const auth = betterAuth({
    baseURL: origin,
    secret: 'a secret of thirty-two characters',
    database: memoryAdapter(database),
    emailAndPassword: { enabled: true },
    logger: { disabled: true },
    plugins: [mcp({ loginPage: '/log-in' })],
  })
  const answerItems = httpHandler(createItems())
  const routes: Record<string, (request: Request) => Promise<Response>> = {
    '/mcp': withMcpAuth(auth, (request) => answerItems(request)),
    '/.well-known/oauth-protected-resource': oAuthProtectedResourceMetadata(auth),
    '/.well-known/oauth-authorization-server': oAuthDiscoveryMetadata(auth),
  }
  http.on(
    'request',
    toNodeHandler(async (request: Request) => (routes[new URL(request.url).pathname] ?? auth.handler)(request)),
  )
  const body = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'analytical engine' }
  const { headers } = await auth.api.signUpEmail({ body, asResponse: true })
  const cookies = headers.getSetCookie().map((line) => (line.split(';')[0] ?? '').split(/=(.*)/))
  return {
    url: `${origin}/mcp`,
    visit: (page) => browse(page, callback, new Map(cookies.map(([name = '', value = '']) => [name, value]))),
    forgetClients: async () => {
      database['oauthApplication']?.splice(0)
      for (const token of database['oauthAccessToken'] ?? [])
        Object.assign(token, { accessTokenExpiresAt: new Date(0) })
    },
    close,
  }
}
