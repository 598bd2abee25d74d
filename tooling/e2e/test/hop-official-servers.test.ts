import { writeFile } from 'node:fs/promises'
import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { everything, filesystem, memory, peerOf, type Peer, temporaryFolder } from './older-server-peers.ts'

/** A host in front of a proxy, in front of a program of Node. */
async function throughHop(...args: readonly string[]): Promise<Peer> {
  const connect = () => connectAny({ command: process.execPath, args }, { handshakeTimeoutMs: 60_000 })
  const server = proxy({ connect }, { name: 'upstream', version: '1.0.0', extensions: [legacy()] })
  const http = await serveHttp(server)
  return peerOf(connectAny(http.url), () => http.close())
}

test('server-everything passes its tools, prompts, resources, progress and questions through a proxy', async () => {
  await using peer = await throughHop(everything)
  const { client, connection, asked } = peer
  expect((await client.discover()).capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {} })
  expect(connection.peer).toEqual({ era: 'modern' })
  expect(textOf(await client.callTool('echo', { message: 'hello' }))).toContain('hello')
  expect((await client.listPrompts()).length).toBeGreaterThan(0)
  const [first] = await client.listResources()
  expect((await client.readResource(first?.uri ?? '')).contents.length).toBeGreaterThan(0)
  const steps: number[] = []
  await client.callTool(
    'trigger-long-running-operation',
    { duration: 0.4, steps: 4 },
    { onProgress: ({ progress }) => steps.push(progress) },
  )
  expect(steps).toEqual([1, 2, 3, 4])
  expect(JSON.stringify(await client.callTool('trigger-elicitation-request'))).toContain('Ada')
  expect(textOf(await client.callTool('trigger-sampling-request', { prompt: 'say', maxTokens: 10 }))).toContain(
    'sampled',
  )
  expect(asked).toEqual([expect.any(String), 'sample'])
}, 60_000)

test('server-filesystem and server-memory pass their tools through a proxy', async () => {
  await using folder = await temporaryFolder()
  await writeFile(`${folder.path}/note.txt`, 'hello')
  await using files = await throughHop(filesystem, folder.path)
  expect(textOf(await files.client.callTool('read_text_file', { path: `${folder.path}/note.txt` }))).toContain('hello')
  await using graph = await throughHop(memory)
  expect(textOf(await graph.client.callTool('read_graph'))).toContain('entities')
}, 60_000)
