import { writeFile } from 'node:fs/promises'
import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { everything, filesystem, memory, peerOf, type Peer, temporaryFolder } from './older-server-peers.ts'
import { useServerEverything } from './server-everything.ts'

/** Connects a host to a proxy in front of a Node program. */
async function throughHop(...args: readonly string[]): Promise<Peer> {
  const connect = () => connectAny({ command: process.execPath, args }, { handshakeTimeoutMs: 60_000 })
  const server = proxy({ connect }, { name: 'upstream', version: '1.0.0', extensions: [legacy()] })
  const http = await serveHttp(server)
  return peerOf(connectAny(http.url), () => http.close())
}

test('server-everything passes its tools, prompts, resources, progress and questions through a proxy', async () => {
  await using peer = await throughHop(everything)
  await useServerEverything(peer)
  expect(peer.connection.peer).toEqual({ revision: '2026-07-28' })
})

test('server-filesystem and server-memory pass their tools through a proxy', async () => {
  await using folder = await temporaryFolder()
  await writeFile(`${folder.path}/note.txt`, 'hello')
  await using files = await throughHop(filesystem, folder.path)
  expect(textOf(await files.client.callTool('read_text_file', { path: `${folder.path}/note.txt` }))).toContain('hello')
  await using graph = await throughHop(memory)
  expect(textOf(await graph.client.callTool('read_graph'))).toContain('entities')
})
