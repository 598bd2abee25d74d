import { PassThrough } from 'node:stream'
import { createGate } from '@tooling/vitest/gate'
import { describe, expect, test } from 'vitest'
import { createRequest } from '../src/testing/requests.ts'
import { listeningCall } from '../src/testing/scripted-link.ts'
import { toScript } from './scripted-process.ts'

const skipProbe = async (): Promise<void> => {}
/** Answers requests with its process id, except for one method. */
const answersWithPid = `receive(({ id, method }) => method === 'hangs' || say({ id, result: { ...result, pid: process.pid } }))`
const pidOf = (response: object): unknown => ('result' in response ? Object(response.result).pid : response)

describe('a process whose end is asked for', () => {
  test('is started again by the next call, as often as it is killed', async () => {
    const pids = new Set<unknown>()
    let exitCount = 0
    await using connection = toScript(answersWithPid, { onStart: skipProbe, onExit: () => void exitCount++ })
    connection.process.kill()
    for (let count = 0; count < 7; count++) {
      pids.add(pidOf(await connection.exchange(createRequest(1), listeningCall())))
      const call = connection.exchange(createRequest(2, 'hangs'), listeningCall())
      connection.process.kill()
      await expect(call).rejects.toMatchObject({ code: 'exited', signal: 'SIGKILL' })
    }
    expect([pids.size, connection.process.restartCount, exitCount]).toEqual([7, 6, 7])
  })

  test('before it has answered fails its calls alone', async () => {
    await using connection = toScript(`console.error('started'); setInterval(() => {}, 1000)`, {
      stderr: () => connection.process.kill(),
    })
    for (const _try of [1, 2])
      await expect(connection.start()).rejects.toMatchObject({ code: 'exited', signal: 'SIGKILL' })
  })
})

test('a process that closes its stdout gets no more calls, and its error says so [STD-014]', async () => {
  const script = `setInterval(() => {}, 1000)
    receive(({ id, method }) => {
      if (method === 'closes') import('node:fs').then(({ closeSync }) => closeSync(1))
      else say({ id, result: { ...result, pid: process.pid } })
    })
    lines.on('close', () => console.error('ignored'))`
  const ignored = createGate()
  await using connection = toScript(script, { onStart: skipProbe, graceMs: 300, stderr: () => ignored.open() })
  const before = pidOf(await connection.exchange(createRequest(1), listeningCall()))
  const call = connection.exchange(createRequest(2, 'closes'), listeningCall())
  const failure = call.catch((error: unknown) => error)
  await ignored.opened
  const after = pidOf(await connection.exchange(createRequest(3), listeningCall()))
  const message = expect.stringContaining('closed its stdin or stdout, and was ended by SIGTERM before the response')
  expect(await failure).toMatchObject({ code: 'exited', message })
  expect(after).toEqual(expect.any(Number))
  expect(after).not.toBe(before)
})

describe('the streams of a process', () => {
  test('are those that wrapStreams returns, once for each process', async () => {
    const written: string[] = []
    const read: string[] = []
    const seenPids: unknown[] = []
    await using connection = toScript(answersWithPid, {
      onStart: skipProbe,
      wrapStreams: ({ input, output }, pid) => {
        seenPids.push(pid)
        const toProcess = new PassThrough().on('data', (chunk) => written.push(String(chunk)))
        const fromProcess = new PassThrough().on('data', (chunk) => read.push(String(chunk)))
        toProcess.pipe(output)
        return { input: input.pipe(fromProcess), output: toProcess }
      },
    })
    const first = pidOf(await connection.exchange(createRequest(1), listeningCall()))
    connection.process.kill()
    const second = pidOf(await connection.exchange(createRequest(2), listeningCall()))
    expect(seenPids).toEqual([first, second])
    expect(written).toHaveLength(2)
    expect(read.join('')).toContain(`"pid":${second}`)
  })

  test('fail the calls if it throws, and the process is ended', async () => {
    let pid = 0
    await using connection = toScript(answersWithPid, {
      wrapStreams: (_, started = 0) => {
        pid = started
        throw new Error('no record')
      },
    })
    await expect(connection.start()).rejects.toThrow('no record')
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})
