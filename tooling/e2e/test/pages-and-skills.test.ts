import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createClient } from '@x/client'
import { proxy } from '@x/gateway'
import { skillsClient } from '@x/skills/client'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { createExtendedServer, page } from './extended-server.ts'

const pagesCapability = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }

test('skills and pages pass through a proxy, and the client verifies each file', async () => {
  await using upstream = await serveHttp(await createExtendedServer())
  const hop = proxy({ connect: () => connectHttp(upstream.url) }, { name: 'hop', version: '1.0.0' })
  await using http = await serveHttp(hop)
  const capabilities = { extensions: pagesCapability }
  const host = { name: 'host', version: '1.0.0', capabilities, extensions: [skillsClient()] }
  await using client = createClient(connectHttp(http.url), host)
  const [skill] = await client.skills.list()
  if (skill === undefined) throw new Error('the list is empty')
  expect((await client.skills.read(skill, 'reference/severities.md')).text).toContain('loses or reveals data')
  expect((await client.listTools()).map(({ name, _meta }) => [name, _meta?.['ui']])).toEqual([
    ['board', { resourceUri: page.uri }],
    ['refresh', { resourceUri: page.uri, visibility: ['app'] }],
  ])
  expect((await client.readResource(page.uri)).contents).toMatchObject([{ text: page.html }])
})

test.each([
  ['with pages', { extensions: pagesCapability }, ['board', 'refresh']],
  ['without pages', {}, ['board']],
])('a host of an earlier revision %s receives the tools that it can use', async (_case, capabilities, names) => {
  await using http = await serveHttp(await createExtendedServer())
  const client = new OlderClient({ name: 'older', version: '1.0.0' }, { capabilities })
  await client.connect(new OlderTransport(new URL(http.url)))
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names)
  expect(await client.callTool({ name: 'board' })).toMatchObject({ content: [{ text: 'The board has 3 cards.' }] })
  expect((await client.readResource({ uri: page.uri })).contents).toMatchObject([{ text: page.html }])
  await client.close()
})
