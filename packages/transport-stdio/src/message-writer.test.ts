import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { MessageWriter } from './message-writer.ts'

const line = 'x'.repeat(100)

/** Creates a writer to a stream that holds about a thousand bytes until it is read. */
function writerTo(output = new PassThrough({ highWaterMark: 1000 })) {
  const failures: unknown[] = []
  const events = { onFull: () => {}, onDrain: () => {}, onFailure: (error: unknown) => failures.push(error) }
  return { output, failures, writer: new MessageWriter(output, events) }
}

/** A writer that has written more than its stream holds. */
async function full() {
  const made = writerTo()
  for (let count = 0; count < 30; count++) made.writer.write(line)
  await setImmediate()
  const drained = made.writer.waitForDrain()
  if (drained === undefined) throw new Error('the reader must be behind')
  return { ...made, drained }
}

describe('a reader', () => {
  test('is not behind before the first message, nor while it accepts messages', async () => {
    const { writer, output } = writerTo()
    expect(writer.waitForDrain()).toBeUndefined()
    output.resume()
    writer.write(line)
    await setImmediate()
    expect(writer.waitForDrain()).toBeUndefined()
  })

  test('that takes nothing is behind until it takes all', async () => {
    const { writer, output, drained } = await full()
    expect(writer.waitForDrain()).toBe(drained)
    output.resume()
    await drained
    expect(writer.waitForDrain()).toBeUndefined()
  })

  test('is behind as well by what one turn of the loop writes, until that is handed over', async () => {
    const { writer, output } = writerTo()
    output.resume()
    for (let count = 0; count < 30; count++) writer.write(line)
    const drained = writer.waitForDrain()
    expect(drained).toBeInstanceOf(Promise)
    await drained
    expect(writer.waitForDrain()).toBeUndefined()
  })

  test.each<[string, (output: PassThrough) => void]>([
    ['fails', (output) => output.destroy(new Error('EPIPE'))],
    ['closes', (output) => output.destroy()],
  ])('that %s is not waited for any longer, nor again', async (_, end) => {
    const { writer, output, drained } = await full()
    end(output)
    await drained
    writer.write(line)
    expect(writer.waitForDrain()).toBeUndefined()
  })

  test('that closes before all output is passed on is not awaited', async () => {
    const { writer, output } = writerTo()
    for (let count = 0; count < 30; count++) writer.write(line)
    const drained = writer.waitForDrain()
    output.end()
    await drained
    expect(writer.waitForDrain()).toBeUndefined()
  })
})

test('a message after a pause is part of an earlier flush, and is written once', async () => {
  const { writer, output } = writerTo()
  const chunks: string[] = []
  output.on('data', (chunk: Buffer) => chunks.push(String(chunk)))
  writer.writeAfterPause('response', 2)
  writer.write('other')
  await writer.flush()
  expect(chunks).toEqual(['other\nresponse\n'])
  writer.writeAfterPause('late', 1)
  await expect.poll(() => chunks).toEqual(['other\nresponse\n', 'late\n'])
})

test('a pause begins when the messages before it are written, however late that is', async () => {
  const { writer, output } = writerTo()
  const chunks: string[] = []
  output.on('data', (chunk: Buffer) => chunks.push(String(chunk)))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  using _ = { [Symbol.dispose]: () => void vi.useRealTimers() }
  writer.write('progress')
  writer.writeAfterPause('response', 5)
  // A handler blocks the event loop here, so that timers are due before anything is written.
  vi.runAllTimers()
  await setImmediate()
  expect(chunks).toEqual(['progress\n'])
  vi.runAllTimers()
  await setImmediate()
  expect(chunks).toEqual(['progress\n', 'response\n'])
})
