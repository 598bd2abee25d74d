import {
  type CloseOptions,
  type Exchange,
  type HttpProtocolAdapter,
  type Middleware,
  type ServerExtension,
  serverOf,
  type ServerApis,
} from '@x/exchange'
import { McpError } from '@x/schema'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { createServer, DefinitionError, tool } from './index.ts'
import { callOf, callTool, createLogCollector, errorOf, requestOf, resultOf } from './testing/ask.ts'

const about = { name: 'demo', version: '1.0.0', tools: [tool('t', { description: 't', run: () => 'ran' })] }

/** A middleware that notes its name before and after each call. */
function noting(name: string, notes: string[]): Middleware {
  return (next) => async (request, call) => {
    notes.push(name)
    const response = await next(request, call)
    notes.push(`/${name}`)
    return response
  }
}

function extensionOf<Name extends string>(name: Name, more: Partial<ServerExtension> = {}): ServerExtension<Name> {
  return { extends: 'server', identifier: `com.example/${name}`, ...more, name }
}

/** An adapter that takes nothing. */
const adapter: HttpProtocolAdapter = { methods: [], exposedHeaders: [], matches: () => false, handle: () => false }

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}

describe('The order of a composition', () => {
  test('is use, then authorization, then the other extensions, then the core', async () => {
    const notes: string[] = []
    const server = createServer({
      ...about,
      extensions: [
        extensionOf('a', { middleware: noting('a', notes) }),
        extensionOf('guard', { needsPrincipal: true, middleware: noting('guard', notes) }),
        extensionOf('b', { start: () => ({ middleware: noting('b', notes) }) }),
      ],
      use: [noting('first', notes), noting('second', notes)],
    })
    await callTool(server, 't')
    expect(notes).toEqual(['first', 'second', 'guard', 'a', 'b', '/b', '/a', '/guard', '/second', '/first'])
  })

  test('has authorization outermost of the extensions in every permutation of the list', async () => {
    for (const names of permutations(['a', 'b', 'guard'])) {
      const notes: string[] = []
      const extensions = names.map((name) =>
        extensionOf(name, { needsPrincipal: name === 'guard', middleware: noting(name, notes) }),
      )
      await callTool(createServer({ ...about, extensions }), 't')
      expect(notes[0]).toBe('guard')
    }
  })

  test('gives each extension an inner exchange without use, without authorization and without itself', async () => {
    for (const names of permutations(['own', 'other', 'guard'])) {
      const notes: string[] = []
      let innerExchange: Exchange | undefined
      const extensions = names.map((name) =>
        extensionOf(name, {
          needsPrincipal: name === 'guard',
          start: (host) => {
            if (name === 'own') ({ innerExchange } = host)
            return { middleware: noting(name, notes) }
          },
        }),
      )
      createServer({ ...about, extensions, use: [noting('use', notes)] })
      await innerExchange?.(requestOf('tools/call', { name: 't' }), callOf())
      expect(notes).toEqual(['other', '/other'])
    }
  })
})

describe('An extension', () => {
  const counting = (): ServerExtension<'counting', { count(): number }> => ({
    extends: 'server',
    name: 'counting',
    identifier: 'com.example/counting',
    capabilities: { step: 1 },
    start: () => {
      let count = 0
      const increase = () => ({ count: ++count })
      return { api: { count: () => count }, methods: { 'com.example/count': increase } }
    },
  })

  test('serves its methods with what every result has, declares itself and adds its member', async () => {
    const server = createServer({ ...about, extensions: [counting()] })
    expectTypeOf(server.counting).toEqualTypeOf<{ count(): number }>()
    expect(await resultOf(server, 'com.example/count')).toEqual({
      resultType: 'complete',
      count: 1,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'demo', version: '1.0.0' } },
    })
    expect(server.counting.count()).toBe(1)
    expect(await resultOf(server, 'server/discover')).toMatchObject({
      capabilities: { extensions: { 'com.example/counting': { step: 1 } } },
    })
  })

  test('has a state of its own at each server', async () => {
    const extension = counting()
    const [one, two] = [
      createServer({ ...about, extensions: [extension] }),
      createServer({ ...about, extensions: [extension] }),
    ]
    await resultOf(one, 'com.example/count')
    expect([one.counting.count(), two.counting.count()]).toEqual([1, 0])
  })

  test('answers its own error codes, and hides what else it throws', async () => {
    const { reported, log } = createLogCollector()
    const methods = {
      'com.example/refuse': () => {
        throw new McpError(-32043, 'No such thing')
      },
      'com.example/fail': () => Promise.reject(new Error('password=hunter2')),
    }
    const server = createServer({ ...about, log, extensions: [extensionOf('a', { start: () => ({ methods }) })] })
    expect(await errorOf(server, 'com.example/refuse')).toEqual({ code: -32043, message: 'No such thing' })
    expect(await errorOf(server, 'com.example/fail')).toEqual({ code: -32603, message: 'Internal error' })
    expect(reported).toHaveLength(1)
  })

  test('checks the version of a request before its method runs [VER-001]', async () => {
    const server = createServer({ ...about, extensions: [counting()] })
    const meta = { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' }
    expect(await errorOf(server, 'com.example/count', {}, { meta })).toMatchObject({ code: -32022 })
    expect(server.counting.count()).toBe(0)
  })

  test('receives the notifications that it declares, and no others', () => {
    const received: string[] = []
    const start = () => ({ receive: ({ method }: { method: string }) => void received.push(method) })
    const server = createServer({
      ...about,
      extensions: [extensionOf('a', { notifications: ['com.example/hello'], start })],
    })
    for (const method of ['com.example/hello', 'com.example/other']) {
      server.receive({ jsonrpc: '2.0', method }, callOf())
    }
    expect(received).toEqual(['com.example/hello'])
  })

  test('of a client is a type error in a server, and of no side an error that says what to write', () => {
    const client = { extends: 'client', name: 'a', identifier: 'com.example/a' } as const
    // @ts-expect-error -- a client's extension
    expect(() => createServer({ ...about, extensions: [client] })).toThrow(/not a server extension; write the call/)
    // @ts-expect-error -- the factory in place of its result
    expect(() => createServer({ ...about, extensions: [counting] })).toThrow(/not a server extension; write the call/)
  })

  const duplicates: [string, ServerExtension[], RegExp][] = [
    ['two of one name', [extensionOf('a'), extensionOf('a')], /two extensions of this name/],
    ['the name of a member', [extensionOf('update')], /has a member of this name/],
    [
      'one method twice',
      ['a', 'b'].map((name) => extensionOf(name, { start: () => ({ methods: { 'x/y': () => ({}) } }) })),
      /the method x\/y already/,
    ],
    [
      'a method of the protocol',
      [extensionOf('a', { start: () => ({ methods: { 'tools/call': () => ({}) } }) })],
      /the server serves tools\/call itself/,
    ],
    [
      'capabilities of one identifier twice',
      ['a', 'b'].map((name) => extensionOf(name, { identifier: 'com.example/same', capabilities: {} })),
      /extension "b": another extension declares capabilities as com.example\/same already/,
    ],
    [
      'two adapters of one transport',
      ['a', 'b'].map((name) => extensionOf(name, { start: () => ({ adapters: { http: adapter } }) })),
      /adapter of the transport http already/,
    ],
  ]
  test.each(duplicates)('list with %s is a DefinitionError', (_, extensions, message) => {
    expect(() => createServer({ ...about, extensions })).toThrow(DefinitionError)
    expect(() => createServer({ ...about, extensions })).toThrow(message)
  })
})

describe('The safety of a composition', () => {
  test('is part of the server, also when its exchange is wrapped', () => {
    const server = createServer({ ...about, use: [(next) => next] })
    expect(server.singleProcess).toContain('sealedState')
    // @ts-expect-error -- an exchange alone is no server: its reason to stay local would be lost
    expect(() => serverOf(server.exchange, { info: server.info })).not.toThrow()
  })

  test.each([
    ['localOnly', { localOnly: 'its files are here' }, ['its files are here', undefined, false]],
    ['singleProcess', { start: () => ({ singleProcess: 'it has no key' }) }, [undefined, 'it has no key', false]],
    ['needsPrincipal', { needsPrincipal: true }, [undefined, undefined, true]],
  ])('takes %s from an extension', (_, more, expected) => {
    const server = createServer({ ...about, state: false, extensions: [extensionOf('a', more)] })
    expect([server.localOnly, server.singleProcess, server.needsPrincipal]).toEqual(expected)
  })
})

describe('The lifecycle of a server', () => {
  test('drains, closes and asks every extension once, even when one of them throws', async () => {
    const notes: string[] = []
    const { reported, log } = createLogCollector()
    const instanceOf = (name: string) => ({
      required: true,
      ready: () => name !== 'b',
      drain: () => {
        notes.push(`drain ${name}`)
        return () => void notes.push(`undrain ${name}`)
      },
      close: async ({ graceMs }: { graceMs: number }) => {
        notes.push(`close ${name} ${graceMs}`)
        if (name === 'a') throw new Error('cannot close')
      },
    })
    const extensions = ['a', 'b'].map((name) => extensionOf(name, { start: () => instanceOf(name) }))
    const server = createServer({ ...about, log, extensions })
    expect([await server.ready(), server.load.ready]).toEqual([false, true])
    const undrain = server.drain()
    expect(server.load.ready).toBe(false)
    undrain()
    expect(server.load.ready).toBe(true)
    await Promise.all([server.close({ graceMs: 7 }), server.close()])
    expect(notes).toEqual(['drain a', 'drain b', 'undrain a', 'undrain b', 'close a 7', 'close b 7'])
    expect(reported).toMatchObject([
      { error: { message: expect.stringContaining('"b" cannot reach what it depends on') } },
      { error: { message: 'cannot close' } },
    ])
  })

  test('closes what its author opened, once and after its extensions, and reports its error', async () => {
    const { reported, log } = createLogCollector()
    const notes: string[] = []
    const extension = extensionOf('a', { start: () => ({ close: async () => void notes.push('extension') }) })
    const close = async () => {
      notes.push('author')
      throw new Error('cannot quit')
    }
    const server = createServer({ ...about, log, close, extensions: [extension] })
    await Promise.all([server.close(), server.close()])
    expect(notes).toEqual(['extension', 'author'])
    expect(reported).toMatchObject([{ error: { message: 'cannot quit' } }])
  })

  test('closes with the last of its hosts', async () => {
    const closed: CloseOptions[] = []
    const close = async (options: CloseOptions) => void closed.push(options)
    const server = createServer({ ...about, extensions: [extensionOf('a', { start: () => ({ close }) })] })
    const [releaseHttp, releaseStdio] = [server.attachHost(), server.attachHost()]
    await releaseHttp({ graceMs: 1 })
    await releaseHttp({ graceMs: 2 })
    expect(closed).toEqual([])
    await releaseStdio({ graceMs: 3 })
    expect(closed).toEqual([{ graceMs: 3 }])
  })

  test('ends with `await using`', async () => {
    const closed: string[] = []
    const close = async () => void closed.push('closed')
    {
      await using server = createServer({ ...about, extensions: [extensionOf('a', { start: () => ({ close }) })] })
      await callTool(server, 't')
    }
    expect(closed).toEqual(['closed'])
  })
})

test('extensions without an api add no member', () => {
  expectTypeOf<ServerApis<readonly [ServerExtension<'a', undefined>]>>().toEqualTypeOf<{}>()
})
