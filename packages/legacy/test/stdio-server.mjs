// A server of an older revision, whose behaviour at the probe its first argument says; its stderr repeats what it is
// sent.
import { createInterface } from 'node:readline'

const [mode = 'answers', revision = '2025-11-25'] = process.argv.slice(2)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const isModern = mode === 'slow'
let isBroken = false
let isBegun = false
let call

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const { id, method, params } = message
  process.stderr.write(`${method ?? 'response'} ${JSON.stringify(message)}\n`)
  if (isBroken) continue
  if (method === 'server/discover' && mode === 'breaks') isBroken = true
  else if (method === 'initialize' && isModern) send({ id, error: { code: -32601, message: 'no initialize here' } })
  else if (method === 'initialize') {
    isBegun = true
    const capabilities = { tools: { listChanged: true }, logging: {} }
    send({ id, result: { protocolVersion: revision, capabilities, serverInfo: { name: 'plain', version: '1' } } })
  } else if (method === 'server/discover' && isModern) {
    const result = {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {},
      ttlMs: 0,
      cacheScope: 'private',
    }
    setTimeout(() => send({ id, result }), 400)
  } else if (!isBegun && mode === 'exits') process.exit(3)
  else if (!isBegun && mode === 'silent') continue
  else if (!isBegun) send({ id, error: { code: -32602, message: 'Invalid request parameters' } })
  else if (method === 'tools/call' && params.name === 'die') process.exit(1)
  else if (method === 'tools/call' && params.name === 'ask') {
    call = id
    const token = params._meta.progressToken
    send({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } })
    send({ method: 'notifications/message', params: { level: 'info', data: 'log' } })
    send({ method: 'notifications/tools/list_changed' })
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    send({ id: 'q', method: 'elicitation/create', state: { a: 1 }, params: { message: 'Name?', requestedSchema } })
  } else if (method === 'tools/call' && params.name === 'late') {
    send({ id, result: { content: [] } })
    send({ id: 'late', method: 'elicitation/create', params: { message: 'Name?', requestedSchema: {} } })
  } else if (method === 'tools/call' && params.name === 'forever') continue
  else if (method === undefined && id === 'q') {
    send({ id: call, result: { content: [{ type: 'text', text: JSON.stringify([message.result, message.state]) }] } })
  } else if (method !== undefined && id !== undefined)
    send({ id, result: method === 'tools/list' ? { tools: [] } : { content: [] } })
}
