import { startAuthServer } from '@tooling/auth-server'
import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { createClient } from '@x/client'
import { memoryStore, randomKey } from '@x/state-codec'
import { connectHttp } from '@x/transport-http/client'
import type { HttpServer } from '@x/transport-http/node'
import { expect, test, vi } from 'vitest'
import {
  createItemsServer,
  protectBound,
  protectByIntrospection,
  protectByRole,
  protectItems,
  protectWithPermissions,
  route,
  serveItems,
} from '../src/protect.ts'

const resource = 'https://mcp.example.com/mcp'
const job = { id: 'job', secret: 's' }

const call = ({ url }: HttpServer, token: string, ...[name, args]: [name: string, args?: Record<string, string>]) =>
  createClient(connectHttp(url, { headers: { authorization: `Bearer ${token}` } }), {
    name: 'test',
    version: '1.0.0',
  }).callTool(name, args ?? {})

const missingScopes = (...scopes: string[]) => ({ rpc: { data: { reason: 'insufficient_scope', scopes } } })

test('the server of the guide accepts tokens of an authorization server, and requests further scopes', async () => {
  const client = { client_id: job.id, client_secret: job.secret, grant_types: ['client_credentials'] }
  await using real = await startAuthServer({
    resources: [{ resource, scopes: ['items:read', 'items:write'] }],
    clients: [{ ...client, redirect_uris: [], response_types: [] }],
  })
  await using http = await serveItems(protectItems(real.issuer))
  const reader = await real.issue({ ...job, resource, scope: 'items:read' })
  await expect(call(http, reader, 'list_items')).resolves.toMatchObject({ content: [{ text: '' }] })
  await expect(call(http, reader, 'update_item', { id: '1', title: 'a' })).rejects.toMatchObject(
    missingScopes('items:write'),
  )
  await expect(call(http, reader, 'erase_item', { id: '1' })).rejects.toMatchObject(missingScopes('items:admin'))
  const writer = await real.issue({ ...job, resource, scope: 'items:read items:write' })
  await expect(call(http, writer, 'update_item', { id: '1', title: 'a' })).resolves.toMatchObject({
    content: [{ text: '1 is now a' }],
  })
})

test('the server logs the reason why a token is rejected', async () => {
  await using issuer = await startScriptedAuthServer({ aud: `${resource}/`, sub: 'ada' })
  const warned = vi.spyOn(console, 'error').mockImplementation(() => {})
  await using http = await serveItems(protectItems(issuer.issuer))
  await expect(call(http, await issuer.sign(), 'list_items')).rejects.toMatchObject({ rpc: { code: -32600 } })
  expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/tools\/call "list_items": TokenError: /))
})

test('implied scopes, permissions of a provider, and introspection have the effects in the guide', async () => {
  await using issuer = await startScriptedAuthServer({ aud: resource, sub: 'ada', azp: 'cli' })
  await using byRole = await serveItems(protectByRole(issuer.issuer))
  const admin = await issuer.sign({ claims: { scope: 'items:admin' } })
  await expect(call(byRole, admin, 'erase_item', { id: '2' })).resolves.toMatchObject({
    content: [{ text: '2 is erased' }],
  })
  await using byPermission = await serveItems(protectWithPermissions(issuer.issuer))
  const permitted = await issuer.sign({ claims: { permissions: ['items:write'] } })
  await expect(call(byPermission, permitted, 'update_item', { id: '1', title: 'b' })).resolves.toBeDefined()
  issuer.answer('/introspect', { json: { active: true, aud: resource, sub: 'ada' } })
  await using introspected = await serveItems(protectByIntrospection(issuer.issuer, 'secret'))
  await expect(call(introspected, 'opaque', 'list_items')).resolves.toMatchObject({ content: [{ text: 'Milk' }] })
})

test('the challenge requires DPoP if tokens must be bound', async () => {
  await using issuer = await startScriptedAuthServer({ aud: resource, sub: 'ada' })
  await using http = await serveItems(protectBound(issuer.issuer, [randomKey()], memoryStore()))
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(http.url, { method: 'POST', headers, body: '{}' })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^DPoP /)])
})

test('a fetch handler serves the metadata beside the endpoint', async () => {
  await using issuer = await startScriptedAuthServer()
  const handle = route(createItemsServer(), protectItems(issuer.issuer))
  const metadata = await handle(new Request('https://mcp.example.com/.well-known/oauth-protected-resource/mcp'))
  expect(await metadata.json()).toMatchObject({ resource, scopes_supported: ['items:read', 'items:write'] })
  expect(
    (
      await handle(
        new Request(resource, { method: 'POST', headers: { 'content-type': 'application/json', accept: '*/*' } }),
      )
    ).status,
  ).toBe(401)
})
