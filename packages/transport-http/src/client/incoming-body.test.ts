import { expect, test } from 'vitest'
import { IncomingBody } from './incoming-body.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Creates a body and its reader, and counts the chunks and stops. */
function reading() {
  const seen = { text: '', stops: 0 }
  const body = new IncomingBody(() => {
    seen.stops += 1
  })
  const take = (chunk: Uint8Array): void => {
    seen.text += new TextDecoder().decode(chunk)
  }
  return { body, seen, read: () => body.read(take) }
}

test('chunks that arrive before a reader are passed on first, the others on arrival', async () => {
  const { body, seen, read } = reading()
  body.receiveChunk(bytes('a'))
  body.receiveChunk(bytes('b'))
  const end = read()
  expect(seen.text).toBe('ab')
  body.receiveChunk(bytes('c'))
  expect(seen.text).toBe('abc')
  expect(body.isFinished()).toBe(false)
  body.end()
  await expect(end).resolves.toBeUndefined()
  expect(body.isFinished()).toBe(true)
})

test('a body that has ended before it is read is read whole', async () => {
  const { body, seen, read } = reading()
  body.receiveChunk(bytes('all'))
  body.end()
  await expect(read()).resolves.toBeUndefined()
  expect(seen).toEqual({ text: 'all', stops: 0 })
})

test.each([
  ['before it is read', true],
  ['while it is read', false],
])('what a body fails of %s reaches its reader, after what came', async (_title, before) => {
  const { body, seen, read } = reading()
  const reason = new Error('reset')
  body.receiveChunk(bytes('half'))
  if (before) body.fail(reason)
  const end = read()
  if (!before) body.fail(reason)
  await expect(end).rejects.toBe(reason)
  expect(seen.text).toBe('half')
  expect(body.isFinished()).toBe(true)
})

test.each([
  ['that came early', true],
  ['that comes later', false],
])(
  'a reader that throws at a chunk %s stops the body, and its error is what the reading ends with',
  async (_title, early) => {
    let stops = 0
    const body = new IncomingBody(() => {
      stops += 1
      body.fail(new Error('stopped'))
    })
    if (early) for (const chunk of ['too much', 'and more']) body.receiveChunk(bytes(chunk))
    const end = body.read(() => {
      throw new RangeError('enough')
    })
    if (!early) body.receiveChunk(bytes('too much'))
    await expect(end).rejects.toThrow(new RangeError('enough'))
    expect(stops).toBe(1)
  },
)

test('an error after the end changes nothing', async () => {
  const { body, read } = reading()
  body.end()
  body.fail(new Error('too late'))
  await expect(read()).resolves.toBeUndefined()
})
