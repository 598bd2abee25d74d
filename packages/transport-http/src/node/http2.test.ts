import { once } from 'node:events'
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2'
import { expect, test } from 'vitest'
import { createProgressNotification, resultOf, testServer } from '../testing/exchanges.ts'
import { createPostRequest } from '../testing/sent.ts'
import { nodeHandler } from './node-handler.ts'

const callTool = createPostRequest('tools/call', { name: 'a' }, { headers: { host: null } })

/** Sends a call over HTTP/2. */
async function send(headers: IncomingHttpHeaders) {
  const server = testServer(
    async (request, call) => {
      call.notify(createProgressNotification(1))
      return resultOf(request)
    },
    { log: () => {} },
  )
  // The types of node:http2 are those of node:http, with more members.
  const http = createServer(nodeHandler(server) as never).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const address = http.address()
  const client = connect(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  const stream = client.request({ ':method': 'POST', ':path': '/mcp', ...callTool.headers, ...headers })
  let status: number | undefined
  let body = ''
  stream.on('response', (received) => (status = received[':status']))
  stream.setEncoding('utf8').on('data', (text: string) => (body += text))
  stream.end(callTool.body)
  await once(stream, 'close')
  client.close()
  http.close()
  await once(http, 'close')
  return { status, body }
}

test('the :authority of HTTP/2 counts as the Host, and progress is streamed', async () => {
  const { status, body } = await send({})
  expect([status, body]).toEqual([200, expect.stringMatching(/notifications\/progress[^]*"result"/)])
})

test.each([
  ['an :authority that is not allowed', { ':authority': 'evil.test' }, 403],
  ['an allowed :authority beside a Host that is not', { ':authority': 'localhost', host: 'evil.test' }, 400],
  ['an allowed Host beside an :authority that is not', { ':authority': 'evil.test', host: 'localhost' }, 400],
  ['an :authority and the same Host', { ':authority': 'localhost', host: 'localhost' }, 200],
  ['a page of another site', { origin: 'https://evil.test' }, 403],
])('over HTTP/2, %s has its status', async (_title, headers, expected) => {
  expect((await send(headers)).status).toBe(expected)
})
