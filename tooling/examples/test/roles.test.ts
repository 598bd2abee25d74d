import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { createRolesServer, protectWithRoles, type RoleTable } from '../src/roles.ts'

const resource = 'https://mcp.example.com/mcp'

test('a role that changes while a client is connected changes its tools, with a notification [AUT-104]', async () => {
  const roleByUser = new Map([['ada', 'reader']])
  const listeners: ((user: string) => void)[] = []
  const roles: RoleTable = {
    roleOf: async (user) => roleByUser.get(user) ?? 'none',
    onChange: (listener) => void listeners.push(listener),
  }
  await using issuer = await startScriptedAuthServer({ aud: resource, sub: 'ada' })
  const auth = protectWithRoles(resource, issuer.issuer, roles)
  await using http = await serveHttp(createRolesServer(roles), { port: 0, auth })
  const headers = { authorization: `Bearer ${await issuer.sign()}` }
  await using client = createClient(connectHttp(http.url, { headers }), { name: 'test', version: '1.0.0' })
  const namesOf = async () => (await client.listTools()).map(({ name }) => name)
  expect(await namesOf()).toEqual(['look_up'])
  await expect(client.callTool('erase')).rejects.toMatchObject({ code: 'rpc' })
  for await (const event of client.listen({ toolsListChanged: true })) {
    if (event.type === 'toolsListChanged') break
    if (event.type !== 'opened') continue
    roleByUser.set('ada', 'admin')
    for (const listener of listeners) listener('ada')
  }
  expect(await namesOf()).toEqual(['look_up', 'erase'])
  expect(await client.callTool('erase')).toMatchObject({ content: [{ text: 'erased' }] })
})
