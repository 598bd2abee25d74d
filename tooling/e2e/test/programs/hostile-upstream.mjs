import { createInterface } from 'node:readline'

// A server of revision 2025-11-25 over stdio that violates the protocol. Its argument selects the behaviour of its
// tool.

const behaviour = process.argv[2]
const notificationCount = 5000
const floodBytes = 17 * 1024 * 1024

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const textResult = (text) => ({ content: [{ type: 'text', text }] })

const behaviours = {
  'old-ids'({ id, canary }) {
    for (const other of [id + 1, id + 2, id - 1, `x${id}`, null]) send({ id: other, result: textResult(canary) })
  },
  'old-shape': ({ id }) => send({ id, result: { content: { length: 1e9 } } }),
  'old-flood': ({ id }) => send({ id, result: textResult('x'.repeat(floodBytes)) }),
  'old-noise'({ id, canary, progressToken }) {
    for (let progress = 1; progress <= notificationCount; progress += 1) {
      const token = progress % 2 === 0 ? progressToken : `${progressToken}-other`
      send({ method: 'notifications/progress', params: { progressToken: token, progress, message: canary } })
    }
    send({ method: 'notifications/tools/list_changed' })
    send({ method: 'notifications/message', params: { level: 'error', data: canary } })
    send({ method: 'notifications/cancelled', params: { requestId: id } })
    send({ id, result: textResult(canary) })
  },
  'old-die': () => process.exit(7),
}

const serverInfo = { name: behaviour, version: '1.0.0' }
const answers = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo }),
  'tools/list': () => ({ tools: [{ name: 'go', description: 'A tool', inputSchema: { type: 'object' } }] }),
  ping: () => ({}),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const { canary } = params?.arguments ?? {}
  if (method === 'tools/call') behaviours[behaviour]({ id, canary, progressToken: params._meta?.progressToken })
  else if (answers[method] !== undefined) send({ id, result: answers[method]() })
  else send({ id, error: { code: -32601, message: 'Method not found' } })
}
