import { createClient } from '@x/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, isStdioError, type ProcessExit, type StdioConnectOptions } from '../src/index.ts'
import { createGate } from '@tooling/vitest/gate'
import { createRequest } from '../src/testing/requests.ts'
import { listeningCall } from '../src/testing/scripted-link.ts'
import { type BuiltPrograms, buildPrograms } from './built-programs.ts'
import { toScript } from './scripted-process.ts'

let programs: BuiltPrograms
beforeAll(async () => {
  programs = await buildPrograms()
})
afterAll(() => programs[Symbol.asyncDispose]())

const me = { name: 'host', version: '1.0.0' }
const toServer = (options: Partial<StdioConnectOptions> = {}) =>
  connectStdio({ command: process.execPath, args: [programs.path('server')], ...options })
const skipProbe = async (): Promise<void> => {}
const answering = `receive(({ id }) => say({ id, result }));`
const textOf = ({ content }: { readonly content: readonly object[] }): string => {
  const [first] = content
  return first !== undefined && 'text' in first ? String(first.text) : ''
}

describe('a server in a process of its own', () => {
  test('answers many calls at once, of clients that share it', async () => {
    await using connection = toServer()
    const clients = [createClient(connection, me), createClient(connection, me)]
    const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`)
    const answers = texts.map((text, index) => clients[index % 2]?.callTool('echo', { text }))
    expect((await Promise.all(answers)).map((result) => (result ? textOf(result) : ''))).toEqual(texts)
    expect(connection.process.restartCount).toBe(0)
  })

  test('is started once by all the calls that come first, and by none before', async () => {
    await using connection = toServer()
    expect(connection.process.pid).toBeUndefined()
    const client = createClient(connection, me)
    const pids = await Promise.all([1, 2, 3].map(async () => textOf(await client.callTool('pid'))))
    expect(pids).toEqual(Array(3).fill(String(connection.process.pid)))
  })

  test('gets its arguments unchanged, and few variables besides those of its options', async () => {
    const args = ['two words', '$(touch x)', '; exit 1', '"', "'", '%PATH%', '*', '']
    process.env['A_SECRET_OF_OURS'] = 'hunter2'
    await using connection = toServer({ args: [programs.path('server'), ...args], env: { GIVEN: 'x' }, cwd: '/' })
    const seen = JSON.parse(textOf(await createClient(connection, me).callTool('seen'))) as { readonly env: string[] }
    expect(seen).toMatchObject({ args, cwd: '/' })
    expect(seen.env).toContain('GIVEN')
    expect(seen.env).toContain('PATH')
    expect(seen.env).not.toContain('A_SECRET_OF_OURS')
    delete process.env['A_SECRET_OF_OURS']
  })

  test('is notified of a cancelled call, even if the connection is closed next', async () => {
    const lines: string[] = []
    const waiting = createGate()
    const receive = (line: string): void => {
      lines.push(line)
      if (line === 'waiting') waiting.open()
    }
    await using connection = toServer({ stderr: receive })
    const controller = new AbortController()
    const call = createClient(connection, me).callTool('waits', {}, { signal: controller.signal })
    await waiting.opened
    controller.abort('enough')
    await expect(call).rejects.toBe('enough')
    await connection.close()
    expect(lines).toEqual(['waiting', 'cancelled: enough'])
  })

  test('may write anything to stderr [STD-002]', async () => {
    const lines: string[] = []
    const source = `console.error('fatal error'); console.error('x'.repeat(20000)); ${answering}`
    await using connection = toScript(source, { stderr: (line) => lines.push(line) })
    expect(await connection.exchange(createRequest(1), listeningCall())).toHaveProperty('result')
    await connection.close()
    expect(lines).toEqual(['fatal error', `${'x'.repeat(256)}…`])
  })

  test('reports and skips output on stdout that is not a message', async () => {
    const errors: unknown[] = []
    const source = `console.log('Server is running'); ${answering}`
    await using connection = toScript(source, { log: ({ err }) => errors.push(err) })
    expect(await connection.exchange(createRequest(1), listeningCall())).toHaveProperty('result')
    expect(errors).toMatchObject([{ code: 'protocol', message: expect.stringContaining('Server is running') }])
  })
})

describe('a process that ends', () => {
  test('in the middle of a call fails it with words that say so, and is started again by the next [STD-014]', async () => {
    const hanging = createGate()
    await using connection = toServer({ stderr: () => hanging.open() })
    const client = createClient(connection, me)
    const call = client.callTool('hangs')
    await hanging.opened
    const { pid = 0 } = connection.process
    process.kill(pid, 'SIGKILL')
    const failure: unknown = await call.catch(({ cause }) => cause)
    expect(failure).toMatchObject({ name: 'StdioError', code: 'exited', signal: 'SIGKILL' })
    expect(failure).toMatchObject({ message: expect.stringContaining('may have acted') })
    expect(textOf(await client.callTool('pid'))).not.toBe(String(pid))
    expect(connection.process.restartCount).toBe(1)
  })

  test('before it has answered is started once, and the error has its first lines', async () => {
    const exits: ProcessExit[] = []
    const onExit = (exit: ProcessExit): void => void exits.push(exit)
    const source = `console.error('API_KEY is missing'); console.error('at line\\n'.repeat(200)); process.exit(7)`
    await using connection = toScript(source, { onExit })
    const client = createClient(connection, me)
    const message = 'ended with code 7 before it answered anything; its first output: API_KEY'
    for (let tries = 0; tries < 2; tries++)
      await expect(client.discover()).rejects.toMatchObject({
        message: expect.stringContaining(message),
        cause: { code: 'restarts', exitCode: 7 },
      })
    expect(exits).toHaveLength(1)
  })

  test('by an error gives the line that names it, and not the end of its stack', async () => {
    const source = `lines.on('line', () => { console.error('ready'); import('./no-such-file.mjs') })`
    await using connection = toScript(source, { onStart: skipProbe })
    const message = /; its last output: Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module '\S*no-such-file\.mjs'/
    const failure = connection.exchange(createRequest(1), listeningCall())
    await expect(failure).rejects.toMatchObject({ code: 'exited', message: expect.stringMatching(message) })
  })

  test('by itself gives its code and its last words, each time, until it is given up', async () => {
    const exits: ProcessExit[] = []
    const onExit = (exit: ProcessExit): void => void exits.push(exit)
    const source = `console.error('API_KEY is missing'); process.exitCode = 7; lines.close()`
    await using connection = toScript(source, { onExit, onStart: skipProbe })
    const codes: (string | undefined)[] = []
    for (let tries = 0; tries < 6; tries++) {
      const failure: unknown = await connection
        .exchange(createRequest(1), listeningCall())
        .catch((error: unknown) => error)
      expect(failure).toMatchObject({ exitCode: 7, stderr: 'API_KEY is missing' })
      codes.push(isStdioError(failure) ? failure.code : undefined)
    }
    expect(codes).toEqual([...Array<string>(5).fill('exited'), 'restarts'])
    expect(exits).toMatchObject(Array(5).fill({ exitCode: 7, expected: false, stderr: 'API_KEY is missing' }))
  })

  test('is not started again where that is not wanted', async () => {
    await using connection = toServer({ restart: false })
    const client = createClient(connection, me)
    await expect(client.callTool('exits')).rejects.toMatchObject({ cause: { code: 'exited', exitCode: 3 } })
    await expect(client.callTool('pid')).rejects.toMatchObject({ cause: { code: 'restarts', exitCode: 3 } })
  })

  test('behind its answer has answered', async () => {
    const exited = createGate()
    await using connection = toScript(`receive(({ id }) => say({ id, result }, () => process.exit(1)))`, {
      onStart: skipProbe,
      onExit: () => exited.open(),
    })
    expect(await connection.exchange(createRequest('a'), listeningCall())).toMatchObject({ id: 'a', result: {} })
    await exited.opened
    expect(await connection.exchange(createRequest('b'), listeningCall())).toMatchObject({ id: 'b', result: {} })
    expect(connection.process.restartCount).toBe(1)
  })

  test('in good order without a waiting call does not count as a failure', async () => {
    const exited = createGate()
    await using connection = toScript(`receive(({ id }) => say({ id, result }, () => process.exit(0)))`, {
      onStart: skipProbe,
      restart: false,
      onExit: () => exited.open(),
    })
    await connection.exchange(createRequest(1), listeningCall())
    await exited.opened
    expect(await connection.exchange(createRequest(2), listeningCall())).toHaveProperty('result')
  })
})

describe('a program that cannot be started', () => {
  test.each([
    [
      'because there is none',
      { command: 'no-such-program-anywhere', args: [] },
      'the program or the working directory does not exist',
    ],
    [
      'because its folder is not there',
      { cwd: '/no/such/folder' },
      'the program or the working directory does not exist',
    ],
    ['because an argument cannot be one', { args: ['\0'] }, 'null byte'],
    ['because it is no program', { command: '/etc/passwd', args: [] }, 'not executable'],
  ])('says so: %s', async (_, options, words) => {
    await using connection = toServer(options)
    for (const _try of [1, 2]) {
      await expect(connection.start()).rejects.toMatchObject({ code: 'spawn', message: expect.stringContaining(words) })
    }
  })
})

describe('closing a connection', () => {
  const stubborn = (names: string): string => `
    for (const name of ${names}) process.on(name, () => console.error(name))
    lines.on('close', () => console.error('closed'))
    setInterval(() => {}, 1000)
    ${answering}`

  test.each([
    ['closes stdin, which is enough for most', answering, [], { exitCode: 0, signal: undefined }],
    ['sends SIGTERM to one that does not exit', stubborn('[]'), ['closed'], { exitCode: undefined, signal: 'SIGTERM' }],
    [
      'sends SIGKILL to one that ignores SIGTERM',
      stubborn("['SIGTERM']"),
      ['closed', 'SIGTERM'],
      { exitCode: undefined, signal: 'SIGKILL' },
    ],
  ])('%s [STD-012 LEG-017]', async (_, source, said, end) => {
    const exits: ProcessExit[] = []
    const lines: string[] = []
    const connection = toScript(source, { onExit: (exit) => exits.push(exit), stderr: (line) => lines.push(line) })
    await connection.start()
    await connection.close()
    expect(lines).toEqual(said)
    expect(exits).toMatchObject([{ ...end, expected: true }])
    expect(connection.process.pid).toBeUndefined()
  })

  test('fails running calls, and starts no other process', async () => {
    const hanging = createGate()
    const connection = toServer({ stderr: () => hanging.open() })
    const call = createClient(connection, me).callTool('hangs')
    await hanging.opened
    const closed = connection.close()
    await expect(call).rejects.toMatchObject({ cause: { code: 'closed' } })
    await closed
    await expect(connection.start()).rejects.toMatchObject({ code: 'closed' })
    expect(connection.process.pid).toBeUndefined()
  })

  test('while the process starts ends it as well', async () => {
    const connection = toScript(`setInterval(() => {}, 1000)`)
    const call = connection.exchange(createRequest(1), listeningCall()).catch((error: unknown) => error)
    await connection.close()
    expect(await call).toMatchObject({ code: 'closed' })
    expect(connection.process.pid).toBeUndefined()
  })

  test('that was never used, or twice, does nothing', async () => {
    const connection = toServer()
    await Promise.all([connection.close(), connection.close()])
    expect(connection.process).toMatchObject({ pid: undefined, restartCount: 0 })
  })
})

test('a call that is cancelled while the process starts does not hold up the others', async () => {
  await using connection = toServer()
  const controller = new AbortController()
  const first = connection.exchange(createRequest(1), listeningCall(controller.signal))
  const second = connection.exchange(createRequest(2), listeningCall())
  controller.abort('enough')
  await expect(first).rejects.toBe('enough')
  expect(await second).toMatchObject({ id: 2, result: {} })
})

test('errors of a client name the program, and neither its folder nor its arguments', async () => {
  const connection = connectStdio({ command: '/opt/secret-place/program', args: ['--token=hunter2'] })
  expect(connection.url).toBe('stdio:program')
  const failure: unknown = await createClient(connection, me)
    .callTool('x')
    .catch((error: unknown) => error)
  expect(String(failure)).not.toContain('hunter2')
})
