import { IncomingMessage } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import { needScopes, protect, type Protection, requireScopes } from '@x/auth/server'
import { createServer, type McpServer, type Principal, tool, ToolError } from '@x/server'
import { type KeyInput, sealedState, type StateStore } from '@x/state-codec'
import { documentHandler, httpHandler } from '@x/transport-http'
import { type HttpServer, nodeHandler, serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

// #region handler
const items = new Map([
  ['1', { owner: 'ada', title: 'Milk' }],
  ['2', { owner: 'eve', title: 'Bread' }],
])

export const eraseItem = tool('erase_item', {
  description: 'Erases an item. An item of another user requires the scope items:admin',
  input: z.object({ id: z.string() }),
  run({ id }, ctx) {
    if (items.get(id)?.owner !== ctx.principal?.subject) needScopes(ctx, 'items:admin')
    return `${id} is erased`
  },
})
// #endregion

const listItems = tool('list_items', {
  description: 'Lists your items',
  run: (_, { principal }) =>
    Array.from(items.values(), ({ owner, title }) => (owner === principal?.subject ? title : '')).join(''),
})

const updateItem = tool('update_item', {
  description: 'Changes the title of an item',
  input: z.object({ id: z.string(), title: z.string() }),
  run: ({ id, title }) => `${id} is now ${title}`,
})

// #region user
const notes = new Map<string, readonly string[]>()
const keyOf = ({ issuer = '', subject }: Principal): string => JSON.stringify([issuer, subject])

export const listNotes = tool('list_notes', {
  description: 'Lists your notes',
  run(_, { principal }) {
    if (principal === undefined) throw new ToolError('Notes belong to a user: log in first')
    return (notes.get(keyOf(principal)) ?? []).join('\n')
  },
})
// #endregion

export function protectItems(issuer: string): Protection {
  return protect({
    resource: 'https://mcp.example.com/mcp',
    issuers: [issuer],
    scopes: ['items:read'],
    supportedScopes: ['items:read', 'items:write'],
  })
}

// #region scopes
export const itemScopes = requireScopes({
  'tools/call': { update_item: ['items:write'] },
  'resources/read': ['items:read'],
})
// #endregion

export const createItemsServer = (): McpServer =>
  createServer({
    name: 'items',
    version: '1.0.0',
    // No handler asks the user, so no keys are needed.
    state: false,
    tools: [listItems, updateItem, eraseItem],
    extensions: [itemScopes],
  })

export function serveItems(auth: Protection): Promise<HttpServer> {
  return serveHttp(createItemsServer(), { port: 0, auth })
}

export function protectByRole(issuer: string): Protection {
  return protect({
    resource: 'https://mcp.example.com/mcp',
    issuers: [issuer],
    scopes: ['items:read'],
    impliedScopes: { 'items:admin': ['items:write'], 'items:write': ['items:read'] },
  })
}

export function protectByIntrospection(issuer: string, secret: string): Protection {
  return protect({
    resource: 'https://mcp.example.com/mcp',
    issuers: [{ issuer, introspection: { client: { id: 'items-server', secret } } }],
  })
}

export function protectBound(issuer: string, keys: readonly KeyInput[], usedProofs: StateStore): Protection {
  return protect({
    resource: 'https://mcp.example.com/mcp',
    issuers: [issuer],
    dpop: { required: true, usedProofs, state: sealedState({ keys, audience: 'items' }) },
  })
}

/** Serves over TLS, and accepts tokens that are bound to a client certificate. */
export function serveCertificates(issuer: string, tls: { key: string; cert: string }): TlsServer {
  const auth = protect({
    resource: 'https://mcp.example.com/mcp',
    issuers: [issuer],
    certificateOf: ({ source }) => certificateIn(source),
  })
  // Certificates of any CA are accepted, because a bound token contains the digest of its certificate.
  const options = { ...tls, requestCert: true, rejectUnauthorized: false }
  return createTlsServer(options, nodeHandler(createItemsServer(), { allowedHosts: ['mcp.example.com'], auth }))
}

function certificateIn(source: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (!(source instanceof IncomingMessage && source.socket instanceof TLSSocket)) return undefined
  const certificate = source.socket.getPeerX509Certificate()
  return certificate && new Uint8Array(certificate.raw)
}

// #region principal
export function protectWithPermissions(issuer: string): Protection {
  return protect({
    resource: 'https://mcp.example.com/mcp',
    issuers: [issuer],
    toPrincipal: ({ sub, azp, exp, permissions }) => ({
      subject: z.string().parse(sub),
      issuer,
      client: z.string().optional().parse(azp),
      scopes: z.array(z.string()).parse(permissions ?? []),
      expiresAt: z.number().parse(exp) * 1000,
    }),
  })
}
// #endregion

// #region fetch
export function route(server: McpServer, auth: Protection): (request: Request) => Promise<Response> {
  const documents = documentHandler(auth)
  const endpoint = httpHandler(server, { allowedHosts: ['mcp.example.com'], auth })
  return async (request) => documents(request) ?? endpoint(request)
}
// #endregion
