import { createServer, type ServerResponse } from 'node:http'
import { metaKeys } from '@x/schema'
import { answerQuestions } from './answer-questions.ts'

// The minimum of a server of event streams: it reads and parses the body, stores the response object, and writes a text
// of the same size to each of them.
const streams = new Set<{ readonly response: ServerResponse; readonly change: string }>()

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    // Only the benchmark sends requests, so the body has this type.
    const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly id: number }
    const event = (method: string, more: object): string => {
      const params = { ...more, _meta: { [metaKeys.subscriptionId]: id } }
      return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`
    }
    const stream = { response, change: event('notifications/tools/list_changed', {}) }
    streams.add(stream)
    response.on('close', () => streams.delete(stream))
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
    response.write(event('notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true } }))
  })
})

answerQuestions(server, () => {
  for (const { response, change } of streams) response.write(change)
})
