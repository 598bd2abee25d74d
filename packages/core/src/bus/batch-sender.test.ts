import { describe, expect, test } from 'vitest'
import { createBatchSender, maxBatchCharacters, maxWaitingCharacters } from './batch-sender.ts'

/** A sender whose batches end when the test says so. */
function sender() {
  const sent: { readonly texts: readonly string[]; readonly end: (error?: Error) => void }[] = []
  const sendAll = (texts: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      sent.push({ texts, end: (error) => (error ? reject(error) : resolve()) })
    })
  const { send } = createBatchSender(sendAll, () => new Error('too much waits'))
  const { signal } = new AbortController()
  return {
    sent,
    send: (text: string, until = signal) => send(text, until),
    end: (at: number, error?: Error) => sent[at]?.end(error),
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('batches', () => {
  test('the first text goes at once; what comes meanwhile goes together, in order, when it has arrived', async () => {
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

  test('a batch that fails fails those whose texts were in it, and the next one goes', async () => {
    const { send, end } = sender()
    const all = Promise.allSettled(['a', 'b', 'c'].map((text) => send(text)))
    end(0)
    await turn()
    end(1, new Error('gone'))
    await turn()
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    const next = send('d')
    end(2)
    await next
  })

  test('a sender that throws at once rejects, and leaves the next one its turn', async () => {
    let calls = 0
    const throwOnce = (): Promise<void> => {
      if (++calls === 1) throw new Error('no pool')
      return Promise.resolve()
    }
    const { send } = createBatchSender(throwOnce, () => new Error())
    const { signal } = new AbortController()
    await expect(send('a', signal)).rejects.toThrow('no pool')
    await send('b', signal)
    expect(calls).toBe(2)
  })

  test('a text whose sender has given up while it waited is not sent', async () => {
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

  test('a batch is bounded, and a text longer than the bound goes alone', async () => {
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

  test('more than the bound does not wait, until something has gone', async () => {
    const { send, end } = sender()
    const first = send('a')
    const second = send('x'.repeat(maxWaitingCharacters))
    await expect(send('b')).rejects.toThrow('too much waits')
    end(0)
    await turn()
    const third = send('b')
    end(1)
    await turn()
    end(2)
    await Promise.all([first, second, third])
  })
})
