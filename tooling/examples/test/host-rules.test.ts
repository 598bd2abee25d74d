import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { readWithRules } from '../src/host-rules.ts'

test('rules of a host are added to a server of its file', async () => {
  const tools = ['find', 'drop'].map((name) => tool(name, { description: 'Does it', run: () => name }))
  await using http = await serveHttp(createServer({ name: 'crm', version: '1.0.0', tools }))
  const folder = await mkdtemp(join(tmpdir(), 'rules-'))
  const path = join(folder, 'mcp.json')
  await writeFile(path, JSON.stringify({ mcpServers: { crm: { url: http.url } } }))
  const host = { name: 'my-host', version: '1.0.0' }
  await using server = gateway({ ...host, upstreams: await readWithRules(path) })
  expect((await createClient(server, host).listTools()).map(({ name }) => name)).toEqual(['crm__find'])
  await rm(folder, { recursive: true })
})
