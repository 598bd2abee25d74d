import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import type { LogRecord } from '@x/core'
import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { needScopes, protect } from '../src/server.ts'

const resource = 'https://items.example/mcp'

describe('a client of an older revision', () => {
  const call = (id: number, name: string) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: {} },
  })

  const records: LogRecord[] = []

  async function post(revision: string, body: unknown): Promise<Response> {
    await using issuer = await startScriptedAuthServer({ aud: resource, sub: 'ada', scope: 'items:read' })
    const list = tool('list', { description: 'Lists', run: () => 'done' })
    const erase = tool('erase', {
      description: 'Erases',
      run(_, ctx) {
        needScopes(ctx, 'items:write')
        return 'done'
      },
    })
    records.length = 0
    await using server = createServer({
      name: 'items',
      version: '1.0.0',
      state: false,
      tools: [list, erase],
      extensions: [legacy()],
      log: (record) => records.push(record),
    })
    await using http = await serveHttp(server, {
      auth: protect({ resource, issuers: [issuer.issuer], scopes: ['items:read'] }),
    })
    const response = await fetch(http.url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${await issuer.sign()}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
      },
    })
    return new Response(await response.text(), response)
  }

  test('gets 403 with the same challenge [AUE-011 AUT-053 AUT-054]', async () => {
    const response = await post('2025-11-25', call(1, 'erase'))
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('Bearer error="insufficient_scope", scope="items:read items:write"'),
    ])
    expect(await response.json()).toMatchObject({ id: 1, error: { data: { scopes: ['items:write'] } } })
    expect(records).toMatchObject([{ code: 'insufficient_scope', name: 'erase', principal: 'ada' }])
    expect((await post('2025-11-25', call(1, 'list'))).status).toBe(200)
  })

  test('gets the error in the body for a call of a batch, whose others are served', async () => {
    const lacking = { id: 2, error: { data: { reason: 'insufficient_scope' } } }
    const alone = await post('2025-03-26', [call(2, 'erase')])
    expect([alone.status, await alone.json()]).toMatchObject([200, [lacking]])
    const both = await post('2025-03-26', [call(1, 'list'), call(2, 'erase')])
    const responses = z.array(z.looseObject({ id: z.number() })).parse(await both.json())
    expect([both.status, responses.toSorted((one, other) => one.id - other.id)]).toMatchObject([
      200,
      [{ id: 1, result: { content: [{ text: 'done' }] } }, lacking],
    ])
  })
})
