import type { RpcNotification } from '@x/schema'
import { expect, test } from 'vitest'
import { createRequest } from '../testing/requests.ts'
import { listeningCall, resultOf, scriptedLink } from '../testing/scripted-link.ts'

const requestId = 'x.transport-stdio/requestId'

function logMessage(meta?: object): RpcNotification {
  const params = { level: 'info', data: 'x', ...(meta && { _meta: { ...meta } }) }
  return { jsonrpc: '2.0', method: 'notifications/message', params }
}

test('a notification is written to the streams, and is rejected after they have ended', async () => {
  await using link = scriptedLink()
  const moved: RpcNotification = { jsonrpc: '2.0', method: 'com.example/moved', params: { to: 3 } }
  await link.connection.notify(moved)
  expect(await link.server.next()).toEqual(moved)
  await link.connection.close()
  await expect(link.connection.notify(moved)).rejects.toMatchObject({ code: 'closed' })
})

test.each([
  ['alone', {}, undefined],
  ['beside other members', { 'com.example/a': 1 }, { 'com.example/a': 1 }],
])('a log message has no request id of the streams, %s, since a proxy passes it on', async (_, others, passedOn) => {
  await using link = scriptedLink()
  const call = listeningCall()
  const request = createRequest(1, 'x', { meta: { 'io.modelcontextprotocol/logLevel': 'info' } })
  const answer = link.connection.exchange(request, call)
  const { id } = await link.server.next()
  link.server.say(logMessage({ [requestId]: id, ...others }), resultOf({ id }, ''))
  await answer
  expect(call.heard).toEqual([logMessage(passedOn)])
})
