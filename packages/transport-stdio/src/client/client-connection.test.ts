import { parseMessage, type RpcNotification } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRequest } from '../testing/requests.ts'
import { listeningCall, resultOf, scriptedLink } from '../testing/scripted-link.ts'

const reason = new Error('the user pressed stop: hunter2')
const subscriptionId = 'io.modelcontextprotocol/subscriptionId'
const logLevel = 'io.modelcontextprotocol/logLevel'

describe('calls over one connection', () => {
  test('have ids of the connection, so that clients with the same ids get their own answers [BAS-005]', async () => {
    await using link = scriptedLink()
    const answers = ['a', 'b', 'c'].map((text) =>
      link.connection.exchange(createRequest(1, 'x', { text }), listeningCall()),
    )
    const asked = [await link.server.next(), await link.server.next(), await link.server.next()]
    expect(new Set(asked.map(({ id }) => id)).size).toBe(3)
    for (const one of asked.toReversed()) link.server.say(resultOf(one, JSON.stringify(one['params'])))
    for (const [index, answer] of (await Promise.all(answers)).entries()) {
      expect(answer).toMatchObject({
        id: 1,
        result: { text: expect.stringContaining(['"a"', '"b"', '"c"'][index] ?? '') },
      })
    }
  })

  test('give the errors of the server under the id of the caller', async () => {
    await using link = scriptedLink()
    const answer = link.connection.exchange(createRequest('mine'), listeningCall())
    const { id } = await link.server.next()
    link.server.say({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } })
    expect(await answer).toEqual({ jsonrpc: '2.0', id: 'mine', error: { code: -32602, message: 'no' } })
  })

  test('take progress and an answer whose ids are the numbers of the connection as strings', async () => {
    await using link = scriptedLink()
    const call = listeningCall()
    const answer = link.connection.exchange(createRequest('mine', 'x', { meta: { progressToken: 'token' } }), call)
    const { id } = await link.server.next()
    const params = { progressToken: String(id), progress: 1 }
    link.server.say({ jsonrpc: '2.0', id: `0${id}`, result: { resultType: 'complete', text: 'another form' } })
    link.server.say({ jsonrpc: '2.0', method: 'notifications/progress', params })
    link.server.say({ jsonrpc: '2.0', id: String(id), result: { resultType: 'complete', text: 'mine' } })
    expect(await answer).toMatchObject({ id: 'mine', result: { text: 'mine' } })
    expect(call.heard).toMatchObject([{ params: { progressToken: 'token' } }])
  })

  test('write one message a line and no response, for any content [STD-001 STD-004 STD-006]', async () => {
    const params = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), {
      noNullPrototype: true,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(params, { minLength: 1, maxLength: 5 }), async (all) => {
        await using link = scriptedLink()
        const calls = all.map((given, id) =>
          link.connection.exchange(createRequest(id, 'x\n', { given }), listeningCall()),
        )
        link.server.say({ jsonrpc: '2.0', id: 1, method: 'roots/list' }, '"noise"\n', '[]\n')
        for (const _ of all) link.server.say(resultOf(await link.server.next(), ''))
        await Promise.all(calls)
        await link.connection.close()
        expect(link.server.listUnread()).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  test('have progress tokens of the connection, and get their own progress with their own token', async () => {
    await using link = scriptedLink()
    const [first, second] = [listeningCall(), listeningCall()]
    const answers = [first, second].map((call) =>
      link.connection.exchange(createRequest(1, 'x', { meta: { progressToken: 'same' } }), call),
    )
    for (const asked of [await link.server.next(), await link.server.next()]) {
      const meta = asked['params'] as { readonly _meta: { readonly progressToken: number } }
      const { progressToken } = meta._meta
      expect(progressToken).toBe(asked['id'])
      const params = { progressToken, progress: progressToken }
      link.server.say({ jsonrpc: '2.0', method: 'notifications/progress', params }, resultOf(asked, ''))
    }
    await Promise.all(answers)
    const heard = [first, second].map((call) => call.heard.map(({ params }) => params))
    expect(heard).toEqual([[{ progressToken: 'same', progress: 1 }], [{ progressToken: 'same', progress: 2 }]])
  })

  test('of a subscription get what carries its id, and the end of it [STD-007 SUB-008]', async () => {
    await using link = scriptedLink()
    const [first, second] = [listeningCall(), listeningCall()]
    const answers = [first, second].map((call) =>
      link.connection.exchange(createRequest('mine', 'subscriptions/listen'), call),
    )
    const asked = [await link.server.next(), await link.server.next()]
    const changed = (id: unknown): object => ({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { [subscriptionId]: id } },
    })
    link.server.say(changed(asked[1]?.['id']), changed(asked[0]?.['id']), changed(asked[1]?.['id']), changed(99))
    for (const { id } of asked) {
      link.server.say({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [subscriptionId]: id } } })
    }
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ id: 'mine', result: { _meta: { [subscriptionId]: 'mine' } } })
    }
    const mine = { method: 'notifications/tools/list_changed', params: { _meta: { [subscriptionId]: 'mine' } } }
    expect([first.heard, second.heard]).toMatchObject([[mine], [mine, mine]])
    expect(link.strayNotifications).toEqual([])
  })
})

describe('a log message', () => {
  const log = (meta?: object): RpcNotification => ({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'x', ...(meta && { _meta: { ...meta } }) },
  })
  const asking = createRequest(1, 'x', { meta: { [logLevel]: 'info' } })

  test('that names its request goes to that call alone', async () => {
    await using link = scriptedLink()
    const calls = [listeningCall(), listeningCall()]
    const answers = calls.map((call) => link.connection.exchange(asking, call))
    const asked = [await link.server.next(), await link.server.next()]
    link.server.say(log({ 'x.transport-stdio/requestId': asked[1]?.['id'] }))
    for (const one of asked) link.server.say(resultOf(one, ''))
    await Promise.all(answers)
    expect(calls.map(({ heard }) => heard)).toEqual([[], [log()]])
  })

  test('that names none goes to the one call that asked for logs', async () => {
    await using link = scriptedLink()
    const calls = [listeningCall(), listeningCall()]
    const answers = [
      link.connection.exchange(asking, calls[0] ?? listeningCall()),
      link.connection.exchange(createRequest(1), calls[1] ?? listeningCall()),
    ]
    const asked = [await link.server.next(), await link.server.next()]
    link.server.say(log(), ...asked.map((one) => resultOf(one, '')))
    await Promise.all(answers)
    expect(calls.map(({ heard }) => heard.length)).toEqual([1, 0])
  })

  test('that could be of several calls is given to none of them', async () => {
    await using link = scriptedLink()
    const calls = [listeningCall(), listeningCall()]
    const answers = calls.map((call) => link.connection.exchange(asking, call))
    const asked = [await link.server.next(), await link.server.next()]
    link.server.say(log(), ...asked.map((one) => resultOf(one, '')))
    await Promise.all(answers)
    expect(calls.map(({ heard }) => heard.length)).toEqual([0, 0])
    expect(link.strayNotifications).toEqual([log()])
  })
})

describe('a call that is cancelled', () => {
  test('says so to the server by its id, and rejects with the reason [STD-009 CAN-001 CAN-005]', async () => {
    await using link = scriptedLink()
    const controller = new AbortController()
    const answer = link.connection.exchange(createRequest('mine'), listeningCall(controller.signal))
    const { id } = await link.server.next()
    controller.abort(reason)
    await expect(answer).rejects.toBe(reason)
    expect(await link.server.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id },
    })
  })

  test.each([
    ['a text', 'no longer wanted', 'no longer wanted'],
    ['what the platform says', undefined, 'This operation was aborted'],
    ['an error of this side', reason, undefined],
  ])('sends the reason when it is %s', async (_, given, said) => {
    await using link = scriptedLink()
    const controller = new AbortController()
    const answer = link.connection.exchange(createRequest(1), listeningCall(controller.signal))
    await link.server.next()
    controller.abort(given)
    await expect(answer).rejects.toBe(controller.signal.reason)
    expect((await link.server.next())['params']).toEqual({ requestId: 1, ...(said !== undefined && { reason: said }) })
  })

  test('does not mind a late answer, nor late progress [CAN-013 CAN-014]', async () => {
    await using link = scriptedLink()
    const controller = new AbortController()
    const call = listeningCall(controller.signal)
    const answer = link.connection.exchange(createRequest(1, 'x', { meta: { progressToken: 1 } }), call)
    const asked = await link.server.next()
    controller.abort(reason)
    await expect(answer).rejects.toBe(reason)
    const late = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: asked['id'], progress: 1 },
    }
    const next = link.connection.exchange(createRequest(1), listeningCall())
    await link.server.next()
    link.server.say(late, resultOf(asked, 'late'), resultOf(await link.server.next(), 'mine'))
    expect(await next).toMatchObject({ result: { text: 'mine' } })
    expect([call.heard, link.errors, link.strayNotifications]).toEqual([[], [], []])
  })

  test('before it began, or after its answer, sends nothing [CAN-010 CAN-014]', async () => {
    await using link = scriptedLink()
    await expect(link.connection.exchange(createRequest(1), listeningCall(AbortSignal.abort(reason)))).rejects.toBe(
      reason,
    )
    const controller = new AbortController()
    const answer = link.connection.exchange(createRequest(2), listeningCall(controller.signal))
    link.server.say(resultOf(await link.server.next(), 'in time'))
    expect(await answer).toMatchObject({ id: 2, result: { text: 'in time' } })
    controller.abort(reason)
    await link.connection.close()
    expect(link.server.listUnread()).toEqual([])
  })

  test('because its listener threw rejects with what it threw', async () => {
    await using link = scriptedLink()
    const notify = (): void => {
      throw reason
    }
    const answer = link.connection.exchange(createRequest(1, 'x', { meta: { progressToken: 1 } }), {
      ...listeningCall(),
      notify,
    })
    const { id } = await link.server.next()
    link.server.say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } })
    await expect(answer).rejects.toBe(reason)
    expect(await link.server.next()).toMatchObject({ params: { requestId: id } })
  })
})

describe('a message that a server must not send', () => {
  test.each([
    ['noise', 'Listening on port 3000\n'],
    ['half a message', '{"jsonrpc":"2.0",\n'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"result":{}}]\n'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x0a])],
    ['a line that is too long', `${'x'.repeat(5000)}\n`],
    ['a request [STD-006]', '{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'],
    ['an answer to nothing', '{"jsonrpc":"2.0","id":77,"result":{}}\n'],
    ['an answer to a text', '{"jsonrpc":"2.0","id":"01","result":{}}\n'],
    ['an error without an id', '{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}\n'],
    ['the cancellation of a call', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'],
  ])('is reported and skipped, and the call continues: %s', async (_, line) => {
    await using link = scriptedLink({}, { maxLineBytes: 4000 })
    const answer = link.connection.exchange(createRequest(1), listeningCall())
    const asked = await link.server.next()
    link.server.say(line, resultOf(asked, 'in spite of it'))
    expect(await answer).toMatchObject({ result: { text: 'in spite of it' } })
    expect(link.errors).toMatchObject([{ name: 'StdioError', code: 'protocol' }])
    await link.connection.close()
    expect(link.server.listUnread()).toEqual([])
  })

  test('fails the call that it answers, where its id can be read: an answer too long', async () => {
    await using link = scriptedLink({}, { maxLineBytes: 1000 })
    const answer = link.connection.exchange(createRequest(1), listeningCall())
    link.server.say(resultOf(await link.server.next(), 'x'.repeat(2000)))
    await expect(answer).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('1000 bytes') })
  })

  test('ends a subscription, and that alone: a cancellation [CAN-011]', async () => {
    await using link = scriptedLink()
    const answer = link.connection.exchange(createRequest(1, 'subscriptions/listen'), listeningCall())
    const { id } = await link.server.next()
    link.server.say({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'too slow' },
    })
    await expect(answer).rejects.toMatchObject({ code: 'ended', message: expect.stringContaining('too slow') })
    expect(link.errors).toEqual([])
  })
})

describe('a connection over streams', () => {
  test('fails running and later calls when the server ends them', async () => {
    await using link = scriptedLink()
    const answer = link.connection.exchange(createRequest(1), listeningCall())
    await link.server.next()
    link.server.end()
    await expect(answer).rejects.toMatchObject({ name: 'StdioError', code: 'closed' })
    await expect(link.connection.exchange(createRequest(2), listeningCall())).rejects.toMatchObject({ code: 'closed' })
  })

  test('fails running calls when it is closed, and ends the stream to the server', async () => {
    const link = scriptedLink()
    const answer = link.connection.exchange(createRequest(1), listeningCall())
    await link.server.next()
    const closed = link.connection.close()
    await expect(answer).rejects.toMatchObject({ code: 'closed' })
    expect(await link.server.ended).toEqual([])
    await closed
  })

  test('names the reason why the streams failed', async () => {
    await using link = scriptedLink()
    const answer = link.connection.exchange(createRequest(1), listeningCall())
    await link.server.next()
    const cause = new Error('ECONNRESET')
    link.clientStream.emit('error', cause)
    await expect(answer).rejects.toMatchObject({ code: 'closed', cause })
  })

  test('rejects a request that cannot be written, and continues', async () => {
    await using link = scriptedLink()
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    const broken = { ...createRequest(1), params: loop as Record<string, never> }
    await expect(link.connection.exchange(broken, listeningCall())).rejects.toThrow(TypeError)
    const answer = link.connection.exchange(createRequest(2), listeningCall())
    const asked = await link.server.next()
    expect(() => parseMessage(JSON.stringify(asked))).not.toThrow()
    link.server.say(resultOf(asked, 'fine'))
    expect(await answer).toMatchObject({ result: { text: 'fine' } })
  })
})
