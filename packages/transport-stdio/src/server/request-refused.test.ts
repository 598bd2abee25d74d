import type { ServerEvent } from '@x/exchange'
import { expect, test } from 'vitest'
import { echo, testServer } from '../testing/exchanges.ts'
import { createRequest } from '../testing/requests.ts'
import { serveRaw } from '../testing/serve-raw.ts'

const canary = 'canary-of-a-refused-line'

test.each([
  ['a line that is not JSON', `{"${canary}\n`, 'syntax'],
  ['a message that is not JSON-RPC', `{"id":1,"params":"${canary}"}\n`, 'syntax'],
  ['a line that is too long', `{"text":"${canary.repeat(100)}"}\n`, 'size'],
])('reports %s to observers, without a value of the client [OPS-001]', async (_title, line, reason) => {
  const events: ServerEvent[] = []
  const server = { ...testServer(echo), emit: (event: ServerEvent) => void events.push(event) }
  await using served = serveRaw(server, {}, { maxLineBytes: 1000 })
  served.peer.say(line)
  expect(await served.peer.next()).toHaveProperty('error')
  served.peer.say(createRequest(1))
  expect(await served.peer.next()).toMatchObject({ id: 1, result: {} })
  expect(events).toEqual([{ type: 'request_refused', transport: 'stdio', status: undefined, reason }])
})
