import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { expect, test } from 'vitest'
import { serveCertificates } from '../src/protect.ts'
import { type SelfSigned, selfSigned } from './self-signed.ts'

const [server, client, other] = ['mcp.example.com', 'client', 'other'].map(selfSigned) as [
  SelfSigned,
  SelfSigned,
  SelfSigned,
]

/** Calls a tool over TLS and returns the status. */
async function call(port: number, token: string, own?: SelfSigned): Promise<number | undefined> {
  const agent = new Agent({
    ca: server.cert,
    servername: 'mcp.example.com',
    checkServerIdentity: () => undefined,
    ...own,
  })
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const sent = request({
    agent,
    port,
    host: '127.0.0.1',
    path: '/mcp',
    method: 'POST',
    headers: {
      host: 'mcp.example.com',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
  })
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }))
  const [response] = await once(sent, 'response')
  await text(response)
  agent.destroy()
  return response.statusCode
}

test('a token bound to a certificate is accepted only over a connection with that certificate [AUE-016]', async () => {
  await using issuer = await startScriptedAuthServer({ aud: 'https://mcp.example.com/mcp', sub: 'ada' })
  const https = serveCertificates(issuer.issuer, { key: server.key, cert: server.cert })
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve))
  const at = https.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  const thumbprint = createHash('sha256').update(client.der).digest('base64url')
  const bound = await issuer.sign({ claims: { cnf: { 'x5t#S256': thumbprint } } })
  expect(await call(port, bound, client)).toBe(200)
  expect([await call(port, bound, other), await call(port, bound)]).toEqual([401, 401])
  expect(await call(port, await issuer.sign())).toBe(200)
  https.closeAllConnections()
  https.close()
})
