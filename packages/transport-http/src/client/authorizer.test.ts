import { describe, expect, test } from 'vitest'
import {
  type Answer,
  callWith,
  createJsonAnswer,
  rpcRequest,
  rpcResult,
  scriptedServer,
} from '../testing/scripted-server.ts'
import { type Connect, senders } from '../testing/senders.ts'
import type { HttpAuthorizer, HttpResponseHead, HttpTarget } from './options.ts'

/** Authorizes with `token-1`, `token-2` and so on, and notes what it is asked. */
function counting(decide: (head: HttpResponseHead, sends: number) => 'retry' | undefined): HttpAuthorizer & {
  readonly targets: HttpTarget[]
} {
  const targets: HttpTarget[] = []
  return {
    targets,
    headers: (target) => {
      targets.push(target)
      return { authorization: `Bearer token-${targets.length}` }
    },
    onResponse: (head) => decide(head, targets.length),
  }
}

const challenge = { 'www-authenticate': 'Bearer scope="a"' }
const until = (token: string): Answer => {
  return (response, received) => {
    const isRight = received.headers.authorization === `Bearer ${token}`
    createJsonAnswer(isRight ? rpcResult() : {}, isRight ? 200 : 401, isRight ? {} : challenge)(response, received)
  }
}
const retry401 = (head: HttpResponseHead): 'retry' | undefined => (head.status === 401 ? 'retry' : undefined)

describe.each(senders)('An authorizer over %s', (_name, connect: Connect) => {
  test('adds its headers to each request, and is asked again when it is sent again [AUT-038]', async () => {
    await using server = await scriptedServer(until('token-3'))
    const auth = counting(retry401)
    await using connection = connect(server.url, { auth, headers: { 'x-own': '1' } })
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
    expect(server.received.map(({ headers }) => [headers.authorization, headers['x-own']])).toEqual([
      ['Bearer token-1', '1'],
      ['Bearer token-2', '1'],
      ['Bearer token-3', '1'],
    ])
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(auth.targets).size).toBe(1)
    expect(auth.targets[0]).toMatchObject({ method: 'POST', operation: 'tools/call greet' })
    expect(auth.targets[0]?.url.href).toBe(server.url)
  })

  test('has a request sent four times at most, and the last answer is the answer', async () => {
    await using server = await scriptedServer(until('never'))
    await using connection = connect(server.url, { auth: counting(retry401) })
    const error = await connection.exchange(rpcRequest(), callWith()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'status', status: 401 })
    expect(server.received).toHaveLength(4)
  })

  test('rejects the call with what it throws, before and after the request', async () => {
    await using server = await scriptedServer(until('never'))
    const broken = new Error('no login')
    const before: HttpAuthorizer = { headers: () => Promise.reject(broken), onResponse: () => undefined }
    const after: HttpAuthorizer = { headers: () => ({}), onResponse: () => Promise.reject(broken) }
    for (const auth of [before, after]) {
      await using connection = connect(server.url, { auth })
      expect(await connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)).toBe(broken)
    }
    expect(server.received).toHaveLength(1)
  })

  test('sees the challenges of several lines', async () => {
    await using server = await scriptedServer((response) => {
      response.writeHead(401, { 'www-authenticate': ['Basic realm="x"', 'Bearer scope="a"'] }).end()
    })
    const seen: (string | undefined)[] = []
    const auth = counting((head) => void seen.push(head.header('www-authenticate')))
    await using connection = connect(server.url, { auth })
    await connection.exchange(rpcRequest(), callWith()).catch(() => undefined)
    expect(seen).toEqual(['Basic realm="x", Bearer scope="a"'])
  })

  test('may take its time: a server that continues to send fills no memory meanwhile', async () => {
    await using server = await scriptedServer((response, { headers }) => {
      if (headers.authorization === 'Bearer token-2')
        return createJsonAnswer(rpcResult())(response, server.received[1] as never)
      response.writeHead(401, { 'content-type': 'text/plain' })
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const auth: HttpAuthorizer = {
      ...counting(retry401),
      onResponse: async (head) => {
        if (head.status === 401) await server.received[0]?.closed
        return retry401(head)
      },
    }
    await using connection = connect(server.url, { auth })
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
  })

  test('passes on the body of an answer that it does not handle, without the credentials that it sent', async () => {
    await using server = await scriptedServer((response, { headers }) => {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`not for ${headers.authorization}`)
    })
    await using connection = connect(server.url, { auth: counting(() => undefined) })
    const error = await connection.exchange(rpcRequest(), callWith()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 403, excerpt: 'not for …' })
    expect(String(error)).not.toContain('token-1')
  })

  test('cannot set a header that the user sets, which the error names', async () => {
    await using server = await scriptedServer(createJsonAnswer(rpcResult()))
    await using connection = connect(server.url, {
      auth: counting(() => undefined),
      headers: { Authorization: 'Bearer x' },
    })
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toThrow(
      'authorization comes from `auth` and from `headers`',
    )
    expect(server.received).toHaveLength(0)
  })

  test('is notified when the connection closes', async () => {
    await using server = await scriptedServer(createJsonAnswer(rpcResult()))
    const auth = counting(() => undefined)
    const connection = connect(server.url, { auth })
    await connection.exchange(rpcRequest(), callWith())
    expect(auth.targets[0]?.signal.aborted).toBe(false)
    await connection.close()
    expect(auth.targets[0]?.signal.aborted).toBe(true)
  })

  test.each([307, 308])('sends nothing along a redirect %i to another origin [AUT-044]', async (status) => {
    await using other = await scriptedServer(createJsonAnswer(rpcResult()))
    await using server = await scriptedServer((response) =>
      response.writeHead(status, { location: `${other.origin}/mcp` }).end(),
    )
    await using connection = connect(server.url, { auth: counting(() => undefined) })
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'redirect' })
    expect(other.countBytes()).toBe(0)
  })
})
