import { createCall } from '@x/exchange'
import { connectAny } from '@x/legacy/client'
import { connectStdio } from '@x/transport-stdio'
import { expect, test } from 'vitest'
import { proxy, type UpstreamOptions } from '../index.ts'
import { createGateway } from '../testing/gateway-kit.ts'
import { createToolCall } from '../testing/scripted-upstream.ts'

/** A server of 2026-07-28, or of 2025-11-25 if its argument is `older`. Its tool `die` ends it as a crash would. */
const program = `
const isOlder = process.argv[1] === 'older'
const described = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' }
const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'crm', version: '1' } }
const results = {
  ...(isOlder ? { initialize: initialized } : { 'server/discover': described }),
  'tools/call': { ...(isOlder ? {} : { resultType: 'complete' }), content: [{ type: 'text', text: String(process.pid) }] },
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (params?.name === 'die') process.kill(process.pid, 'SIGKILL')
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})`

// After one crash such a connection is as far as one without this option is after five.
const givesUp = { restart: false } as const
const startAny = (revision: string) => () =>
  connectAny({ command: process.execPath, args: ['-e', program, revision] }, { stdio: givesUp, log: () => {} })
const startStdio = () => connectStdio({ command: process.execPath, args: ['-e', program], ...givesUp })

const createProxy = (upstream: UpstreamOptions) => proxy(upstream, { name: 'crm', version: '1.0.0', log: () => {} })
const gatewayOf = (crm: UpstreamOptions) => createGateway({ crm })

test.each([
  ['a proxy', 'an older server', createProxy, startAny('older'), ''],
  ['a proxy', 'a server of 2026-07-28', createProxy, startAny('2026-07-28'), ''],
  ['a proxy', 'a server of 2026-07-28 over connectStdio', createProxy, startStdio, ''],
  ['a gateway', 'an older server', gatewayOf, startAny('older'), 'crm__'],
  ['a gateway', 'a server of 2026-07-28', gatewayOf, startAny('2026-07-28'), 'crm__'],
])(
  '%s starts %s again for the next call after its connection has given the program up',
  async (_, __, create, connect, prefix) => {
    const server = create({ connect })
    const callTool = (name: string) => server.exchange(createToolCall({ name: prefix + name }), createCall())
    const first = await callTool('pid')
    expect(await callTool('die')).toHaveProperty('error')
    const second = await callTool('pid')
    expect(second).toHaveProperty('result')
    expect(second).not.toEqual(first)
    await server.close()
  },
)
