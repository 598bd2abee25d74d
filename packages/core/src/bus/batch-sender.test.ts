import { describe, expect, test } from 'vitest'
import { createBatchSender, maxBatchCharacters, maxWaitingCharacters } from './batch-sender.ts'

/** A sender whose batches the test ends. */
function sender() {
  const sent: { readonly texts: readonly string[]; readonly end: (error?: Error) => void }[] = []
  const sendAll = (texts: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      sent.push({ texts, end: (error) => (error ? reject(error) : resolve()) })
    })
  const send = createBatchSender(sendAll, () => new Error('too many characters wait'))
  const { signal } = new AbortController()
  return {
    sent,
    send: (text: string, until = signal) => send(text, until),
    end: (at: number, error?: Error) => sent[at]?.end(error),
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('batches', () => {
  test('the first text is sent at once, and texts that arrive in the meantime form the next batch, in order', async () => {
    const { sent, send, end } = sender()
    const all = ['a', 'b', 'c'].map((text) => send(text))
    await turn()
    expect(sent.map(({ texts }) => texts)).toEqual([['a']])
    end(0)
    await turn()
    expect(sent.map(({ texts }) => texts)).toEqual([['a'], ['b', 'c']])
    end(1)
    await Promise.all(all)
    const later = send('d')
    end(2)
    await later
  })

  test('a failed batch rejects the calls of its texts, and the next batch is sent', async () => {
    const { send, end } = sender()
    const all = Promise.allSettled(['a', 'b', 'c'].map((text) => send(text)))
    end(0)
    await turn()
    end(1, new Error('failed'))
    await turn()
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    const next = send('d')
    end(2)
    await next
  })

  test('a send function that throws rejects the call, and the next text is sent', async () => {
    let calls = 0
    const throwOnce = (): Promise<void> => {
      if (++calls === 1) throw new Error('no pool')
      return Promise.resolve()
    }
    const send = createBatchSender(throwOnce, () => new Error())
    const { signal } = new AbortController()
    await expect(send('a', signal)).rejects.toThrow('no pool')
    await send('b', signal)
    expect(calls).toBe(2)
  })

  test('a text whose signal aborts while it waits is not sent', async () => {
    const { sent, send, end } = sender()
    const controller = new AbortController()
    const first = send('a')
    void send('b', controller.signal)
    const last = send('c')
    controller.abort()
    end(0)
    await turn()
    end(1)
    await Promise.all([first, last])
    expect(sent.map(({ texts }) => texts)).toEqual([['a'], ['c']])
  })

  test('a batch has a limit, and a text longer than the limit is a batch of its own', async () => {
    const { sent, send, end } = sender()
    const half = 'x'.repeat(maxBatchCharacters / 2)
    const texts = ['a', half, half, 'b', `${half}${half}y`]
    const all = texts.map((text) => send(text))
    for (let at = 0; at < 4; at++) {
      await turn()
      end(at)
    }
    await Promise.all(all)
    expect(sent.map((batch) => batch.texts.map((text) => text.length))).toEqual([
      [1],
      [maxBatchCharacters / 2, maxBatchCharacters / 2],
      [1],
      [maxBatchCharacters + 1],
    ])
  })

  test('a text beyond the limit of waiting characters is rejected until a batch has been sent', async () => {
    const { send, end } = sender()
    const first = send('a')
    const second = send('x'.repeat(maxWaitingCharacters))
    await expect(send('b')).rejects.toThrow('too many characters wait')
    end(0)
    await turn()
    const third = send('b')
    end(1)
    await turn()
    end(2)
    await Promise.all([first, second, third])
  })
})
